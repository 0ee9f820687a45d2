//! Resolution for languages in which names come from imports.
//!
//! A language locates its modules ([`Scheme`]); the rest is shared: [`names`] follows names through imports
//! and re-exports, [`types`] infers the types of values, and [`search`] uses both for every candidate of a
//! target.

mod assignability;
mod contextual_typing;
mod decorated_signatures;
mod external_types;
mod function_aliases;
mod indirect_users;
mod instantiability;
mod members;
mod missing;
mod missing_members;
mod names;
mod overrides;
mod search;
mod typed_dict_keys;
mod types;
mod use_positions;

use std::rc::Rc;

use crate::entity::is_common_file_name;
use crate::facts::{Definition, Facts, Import};
use crate::language::Language;
use crate::world::{FileId, World, base, parent};

pub(crate) use decorated_signatures::is_hidden;
pub(crate) use missing::missing_names;
pub(crate) use missing_members::missing_members;
pub(crate) use search::{outgoing, referrers, unresolved_imports, users};

/// The source of imported names.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Module {
    File(FileId),
    /// A directory that is a module without its own file.
    Folder(Rc<str>),
}

/// The target of an import.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Found {
    Here(Module),
    /// Outside the project: a package, the standard library.
    Outside,
    /// Unresolved, although it should be in the project.
    Missing,
}

/// The rules by which a language finds modules and names.
pub(crate) trait Scheme {
    /// The language by which the results of its resolver are kept.
    fn language(&self) -> Language;

    /// Returns true if files of this language take part.
    fn speaks(&self, language: Language) -> bool;

    /// The module that an import of a file names.
    fn module(&self, world: &dyn World, from: FileId, module: &str) -> Found;

    /// Returns the module that an import without an alias binds: `a` for `import a.b`.
    fn bound(&self, world: &dyn World, from: FileId, module: &str) -> Found {
        self.module(world, from, module)
    }

    fn submodule(&self, _world: &dyn World, _of: &Module, _name: &str) -> Option<Module> {
        None
    }

    /// Returns true if names that a file imports can be imported from there; otherwise only its re-exports.
    fn hands_on_what_it_imports(&self) -> bool;

    /// Returns true if an import is a re-export.
    fn is_for_others(&self, _path: &str, import: &Import) -> bool {
        import.reexport
    }

    /// The methods that a call of a type calls.
    fn constructors(&self) -> &[&'static str];

    /// The separator between the parts of a name in [`Shape::Name`](crate::facts::Shape::Name).
    fn separator(&self) -> char;

    /// Returns words of which every file that imports the module contains at least one, for names that are
    /// imported implicitly, such as a default export.
    fn module_words(&self, world: &dyn World, file: FileId) -> Vec<String> {
        // A file that represents its directory is imported by the directory's name.
        let path = world.path(file);
        let stem = base(path).split('.').next().unwrap_or_default();
        let folder = if is_common_file_name(base(path)) { base(parent(path)) } else { "" };
        [stem, folder].into_iter().filter(|word| !word.is_empty()).map(str::to_owned).collect()
    }

    /// Returns true if a file that contains one of the [`module_words`](Self::module_words) of another may
    /// import that one.
    fn may_import(&self, _world: &dyn World, _from: FileId, _file: FileId, _word: &str) -> bool {
        true
    }

    /// Returns true if a value fits a type by its members, regardless of its declaration.
    fn is_structural(&self) -> bool {
        false
    }

    /// Returns true if values of the language's own types have such a member, so that its name does not
    /// identify an owner.
    fn is_everybodys(&self, _member: &str) -> bool {
        false
    }

    /// Returns true if an override without a keyword is checked against the signature of the base method.
    fn compares_redefinition(&self, name: &str) -> bool {
        !self.constructors().contains(&name)
    }
}

/// A definition of a file of the world, by its position.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Symbol {
    pub(crate) file: FileId,
    pub(crate) at: u32,
}

/// Returns the path of a definition in its file, including its container.
pub(crate) fn path_of(definition: &Definition) -> String {
    match &definition.container {
        Some(container) => format!("{container}.{}", definition.name),
        None => definition.name.to_string(),
    }
}

/// Returns the index of a definition in its facts.
pub(crate) fn position_of(facts: &Facts, definition: &Definition) -> Option<u32> {
    let same = |candidate: &Definition| {
        candidate.name == definition.name
            && candidate.container == definition.container
            && candidate.kind == definition.kind
    };
    let exact =
        facts.definitions.iter().position(|candidate| same(candidate) && candidate.line == definition.line);
    let at = exact.or_else(|| facts.definitions.iter().position(same))?;
    u32::try_from(at).ok()
}
