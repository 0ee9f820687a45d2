//! Rust: facts by tree-sitter, names by the rules of crates and modules, members by light type inference.
//!
//! [`reader`] and its submodules read one file; everything that reads other files starts at [`referrers`].

mod cargo;
mod conditions;
mod expressions;
mod extractor;
mod grammar;
mod imports;
mod items;
mod macro_output;
mod macros;
mod members;
mod modules;
mod names;
mod operators;
mod outgoing;
mod paths;
mod patterns;
mod referrers;
mod standard;
#[cfg(test)]
mod tests;
mod tokens;
mod types;
mod values;

pub(crate) use operators::{TraitUses, trait_uses};

use super::{Language, Rules};
use crate::facts::Facts;
use crate::reference::{FileReferences, Place, Reference, Target};
use crate::world::{FileId, World};

/// Returns the name of the library in paths, for the package in a directory. `None` if there is no package.
pub(crate) fn library_of(world: &dyn World, directory: &str) -> Option<String> {
    cargo::Package::of(world, directory).map(|package| package.library.clone())
}

pub(super) struct Rust;

impl Rules for Rust {
    fn facts(&self, _path: &str, text: &str) -> Facts {
        extractor::read(text).unwrap_or_else(|| Facts::unparsable(Language::Rust))
    }

    fn referrers(&self, world: &dyn World, target: &Target<'_>) -> Vec<Reference> {
        referrers::find(world, target)
    }

    fn unresolved_imports(&self, world: &dyn World, file: FileId) -> Vec<Place> {
        outgoing::unresolved_imports(world, file)
    }

    fn outgoing(&self, world: &dyn World, file: FileId) -> FileReferences {
        outgoing::find(world, file)
    }
}
