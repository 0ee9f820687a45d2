//! Resolution for languages in which names come from imports: what a name in one file means in the others.
//!
//! A language says where its modules are ([`Scheme`]); the rest is the same for all: [`names`] follows names through imports
//! and re-exports, [`types`] follows values through what the text says about their types, [`search`] asks both about every
//! candidate for a target.

mod built;
mod conform;
mod contextual;
mod heirs;
mod hidden;
mod keys;
mod members;
mod missing;
mod names;
mod outside;
mod redefined;
mod search;
mod stand_ins;
mod types;

use std::rc::Rc;

use crate::entity::is_generic;
use crate::facts::{Definition, Facts, Import};
use crate::language::Language;
use crate::world::{FileId, World, base, parent};

pub(crate) use hidden::is_hidden;
pub(crate) use missing::missing_names;
pub(crate) use search::{outgoing, referrers};

/// What names are taken from.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Module {
    /// A file.
    File(FileId),
    /// A directory that is a module without having a file of its own.
    Folder(Rc<str>),
}

/// Where an import leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Found {
    /// Into the project.
    Here(Module),
    /// Out of the project: a package, the standard library.
    Outside,
    /// Nowhere, although it should lead into the project.
    Missing,
}

/// How a language of imports finds modules and names.
pub(crate) trait Scheme: Sync {
    /// Whether files of this language take part.
    fn speaks(&self, language: Language) -> bool;

    /// The module that an import of a file names.
    fn module(&self, world: &dyn World, from: FileId, module: &str) -> Found;

    /// What the import of a module as a whole binds, where it gives it no name: `a` for `import a.b`.
    fn bound(&self, world: &dyn World, from: FileId, module: &str) -> Found {
        self.module(world, from, module)
    }

    /// A module inside a module.
    fn submodule(&self, _world: &dyn World, _of: &Module, _name: &str) -> Option<Module> {
        None
    }

    /// Whether a name that a file imports can be imported from there: otherwise only what it re-exports.
    fn hands_on_what_it_imports(&self) -> bool;

    /// Whether an import is there for others: what it takes is handed on.
    fn is_for_others(&self, _path: &str, import: &Import) -> bool {
        import.reexport
    }

    /// The methods that a call of a type calls.
    fn constructors(&self) -> &[&'static str];

    /// What separates the parts of a name in [`Shape::Name`](crate::facts::Shape::Name).
    fn separator(&self) -> char;

    /// Words of which one stands in every file that imports the module under any name: for what is imported without being
    /// named, such as a default export.
    fn module_words(&self, world: &dyn World, file: FileId) -> Vec<String> {
        // A file that stands for its directory is imported by the directory's name.
        let path = world.path(file);
        let stem = base(path).split('.').next().unwrap_or_default();
        let folder = if is_generic(base(path)) { base(parent(path)) } else { "" };
        [stem, folder].into_iter().filter(|word| !word.is_empty()).map(str::to_owned).collect()
    }

    /// Whether a file in which one of the [`module_words`](Self::module_words) of another stands may import that one.
    fn may_import(&self, _world: &dyn World, _from: FileId, _file: FileId, _word: &str) -> bool {
        true
    }

    /// Whether a value fits a type by its members, whatever it is declared as.
    fn is_structural(&self) -> bool {
        false
    }

    /// Whether values of the language's own types have such a member: then its name says nothing about whose it is.
    fn is_everybodys(&self, _member: &str) -> bool {
        false
    }

    /// Whether redefining a method of a base without saying so is held against its signature.
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

/// What a definition is called inside its file, with what it belongs to.
pub(crate) fn path_of(definition: &Definition) -> String {
    match &definition.container {
        Some(container) => format!("{container}.{}", definition.name),
        None => definition.name.to_string(),
    }
}

/// The position of a definition among the facts it was taken from.
pub(crate) fn position_of(facts: &Facts, definition: &Definition) -> Option<u32> {
    let same = |it: &Definition| {
        it.name == definition.name && it.container == definition.container && it.kind == definition.kind
    };
    let exact = facts.definitions.iter().position(|it| same(it) && it.line == definition.line);
    let at = exact.or_else(|| facts.definitions.iter().position(same))?;
    u32::try_from(at).ok()
}
