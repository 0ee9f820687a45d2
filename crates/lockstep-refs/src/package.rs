//! Resolution for languages in which files share names by package, namespace, include or program: names are
//! not re-exported one by one, and a full name identifies a definition.
//!
//! A language defines the package of a file and the bindings of its imports ([`Packages`]). The rest is
//! shared: [`names`] converts written names to full names, [`types`] finds the types of values, and
//! [`search`] checks for every candidate whether its uses [mean](use_matching) the [definition](search_target).

mod conversions;
mod inherited;
mod missing;
mod names;
mod packaged;
mod results;
mod search;
mod search_target;
mod subtypes;
mod type_parameters;
mod types;
mod use_matching;

use crate::facts::{Definition, DefinitionKind, Facts, Import};
use crate::language::Language;
use crate::world::{FileId, World};

pub(crate) use conversions::unfit_conversions;
pub(crate) use inherited::{is_inherited, is_subtype};
pub(crate) use missing::missing_members;
pub(crate) use names::Query;
pub(crate) use packaged::Packaged;
pub(crate) use search::{outgoing, referrers, unresolved_imports, users};
pub(crate) use search_target::MAX_FILES;

/// The rules by which a language shares names among files. Full names have `.` between their parts.
pub(crate) trait Packages: Sync {
    /// The language by which the results of a query are kept.
    fn language(&self) -> Language;

    /// Returns true if files of this language take part.
    fn speaks(&self, language: Language) -> bool {
        language == self.language()
    }

    /// Returns the package of a file, the prefix of the full names of its definitions. Empty if there is
    /// none.
    fn package(&self, _world: &dyn World, _file: FileId, facts: &Facts) -> String {
        facts.package.as_deref().unwrap_or_default().to_owned()
    }

    /// Returns the directory of a package of the project, in languages in which every package is a directory.
    fn directory<'p>(&self, _package: &'p str) -> Option<&'p str> {
        None
    }

    /// Returns a name that every file contains which is outside the package in a directory and names something of it without a receiver.
    fn mark<'p>(&self, _world: &dyn World, _directory: &'p str) -> Option<&'p str> {
        None
    }

    /// Returns true if an interface of the standard library has a method of this name.
    fn is_standard_method(&self, _name: &str) -> bool {
        false
    }

    /// Returns the bindings of a file's imports.
    fn bindings(&self, _world: &dyn World, _file: FileId, _facts: &Facts) -> Bindings {
        Bindings::default()
    }

    /// Returns the files that an import resolves to.
    fn resolve_import(&self, query: &Query<'_>, file: FileId, import: &Import) -> Leads;

    /// Returns true if a file sees the names of the enclosing packages.
    fn sees_around(&self) -> bool {
        false
    }

    /// Returns true if imports name files: then only names of directly or indirectly imported files are
    /// visible.
    fn includes(&self) -> bool {
        false
    }

    /// Returns true if several functions may share a name.
    fn overloads(&self) -> bool {
        true
    }

    /// Returns true if a method is a constructor: it is called by the type's name.
    fn constructs(&self, method: &Definition) -> bool {
        method.container.as_deref().and_then(|path| path.rsplit('.').next()) == Some(&method.name)
    }

    /// Returns true if a type without its own constructor inherits that of its base.
    fn inherits_constructors(&self) -> bool {
        false
    }

    /// Returns true if a type satisfies an interface by having its methods, without a declaration.
    fn is_structural(&self) -> bool {
        false
    }

    /// Returns true if members of a type of another module give no type of the project, unless the type has it as an
    /// argument.
    fn keeps_outside(&self) -> bool {
        false
    }

    /// Returns the methods of a standard library interface, by its full name.
    fn standard_methods(&self, _interface: &str) -> Option<&'static [&'static str]> {
        None
    }

    /// Returns the interface of a parameter of a standard library function, by full names.
    fn standard_parameter(&self, _function: &str, _at: usize) -> Option<&'static str> {
        None
    }

    /// The interface that a field of a type of the standard library holds, by full names.
    fn standard_field(&self, _field: &str) -> Option<&'static str> {
        None
    }

    /// Returns the file names that conventionally contain a type of this name. They are searched if too many
    /// files contain the name to search them all.
    fn homes(&self, _name: &str) -> Vec<String> {
        Vec::new()
    }

    /// Returns the name by which a type may be written too: `Fast` for the attribute `FastAttribute` of C#.
    fn short_name<'n>(&self, _name: &'n str) -> Option<&'n str> {
        None
    }

    /// Names of types that every file has without importing them.
    fn built_in(&self) -> &'static [&'static str] {
        &[]
    }
}

/// The bindings of a file's imports.
#[derive(Debug, Clone, Default)]
pub(crate) struct Bindings {
    /// Local names, with their full names.
    pub(crate) names: Vec<Bound>,
    /// Packages and types whose names are all visible.
    pub(crate) globs: Vec<String>,
}

#[derive(Debug, Clone)]
pub(crate) struct Bound {
    pub(crate) local: Box<str>,
    pub(crate) full: String,
    pub(crate) line: u32,
}

/// The targets of an import.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Leads {
    /// Files of the project.
    To(Vec<FileId>),
    Outside,
    /// Unresolved, although it should be in the project.
    Missing,
}

/// Returns true if a definition is a type of any kind.
pub(crate) fn is_type(definition: &Definition) -> bool {
    matches!(definition.kind, DefinitionKind::Type | DefinitionKind::Interface)
}

/// Returns true if a definition is a member of a type.
pub(crate) fn is_member(definition: &Definition) -> bool {
    matches!(definition.kind, DefinitionKind::Method | DefinitionKind::Field | DefinitionKind::Variant)
        && definition.container.is_some()
}
