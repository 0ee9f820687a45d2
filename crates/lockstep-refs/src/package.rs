//! Resolution for languages in which files share names by package, namespace, include or program: nobody hands names on one
//! by one, a full name says which definition is meant.
//!
//! A language says what a file's package is and what its imports bind ([`Packages`]). The rest is the same for all: [`names`]
//! turns what is written into full names, [`types`] follows values to their types, [`search`] asks about every candidate
//! whether its uses [mean](meaning) the definition that is [wanted].

mod meaning;
mod names;
mod packaged;
mod search;
mod types;
mod wanted;

use crate::facts::{Definition, DefinitionKind, Facts, Import};
use crate::language::Language;
use crate::world::{FileId, World};

pub(crate) use names::{Query, full_name};
pub(crate) use packaged::Packaged;
pub(crate) use search::{outgoing, referrers};

/// How a language shares names among files. Full names have `.` between their parts.
pub(crate) trait Packages: Sync {
    /// Whether files of this language take part.
    fn speaks(&self, language: Language) -> bool;

    /// The package of a file: what the full names of its definitions begin with. Empty where there is none.
    fn package(&self, world: &dyn World, file: FileId, facts: &Facts) -> String;

    /// What the imports of a file bind.
    fn bindings(&self, world: &dyn World, file: FileId, facts: &Facts) -> Bindings;

    /// The files that an import leads to.
    fn leads(&self, query: &Query<'_>, file: FileId, import: &Import) -> Leads;

    /// Whether a file sees what the packages around its own hold.
    fn sees_around(&self) -> bool {
        false
    }

    /// Whether imports name files: then what is not imported, by whatever way, is not seen.
    fn includes(&self) -> bool {
        false
    }

    /// Whether several functions may share a name.
    fn overloads(&self) -> bool {
        true
    }

    /// Whether a method makes objects of its type: it is called by the type's name.
    fn constructs(&self, method: &Definition) -> bool {
        method.container.as_deref().and_then(|path| path.rsplit('.').next()) == Some(&method.name)
    }

    /// Whether a type that has no constructor of its own has that of the type it extends.
    fn inherits_constructors(&self) -> bool {
        false
    }

    /// Whether a type fits an interface by having its methods, without saying so.
    fn is_structural(&self) -> bool {
        false
    }

    /// File names that a type of this name may be in, where the language has such a custom. They are looked into where too many
    /// files write the name to look into all.
    fn homes(&self, _name: &str) -> Vec<String> {
        Vec::new()
    }

    /// Names of types that every file has without importing them.
    fn built_in(&self) -> &'static [&'static str] {
        &[]
    }
}

/// What a file's imports bind.
#[derive(Debug, Clone, Default)]
pub(crate) struct Bindings {
    /// Local names, with the full names they stand for.
    pub(crate) names: Vec<Bound>,
    /// Packages and types whose names are all there.
    pub(crate) globs: Vec<String>,
}

/// A local name.
#[derive(Debug, Clone)]
pub(crate) struct Bound {
    pub(crate) local: Box<str>,
    pub(crate) full: String,
    pub(crate) line: u32,
}

/// Where an import leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Leads {
    /// To files of the project.
    To(Vec<FileId>),
    /// Out of the project.
    Outside,
    /// Nowhere, although it should lead into the project.
    Missing,
}

/// Whether a definition is a type of any kind.
pub(crate) fn is_type(definition: &Definition) -> bool {
    matches!(definition.kind, DefinitionKind::Type | DefinitionKind::Interface)
}

/// Whether a definition belongs to a type.
pub(crate) fn is_member(definition: &Definition) -> bool {
    matches!(definition.kind, DefinitionKind::Method | DefinitionKind::Field | DefinitionKind::Variant)
        && definition.container.is_some()
}
