//! The rules of a language that is read by a [`Grammar`] and resolved by its [`Packages`].

use std::ops::Range;

use super::{
    Packages, is_inherited, is_subtype, missing_members, outgoing, referrers, unfit_conversions,
    unresolved_imports, users,
};
use crate::facts::{Definition, Facts};
use crate::language::Rules;
use crate::reference::{FileReferences, MissingName, Place, Reference, Target};
use crate::walk::{self, Grammar};
use crate::world::{FileId, World};

/// The grammar of a language, and its rules for sharing names.
pub(crate) struct Packaged {
    pub(crate) grammar: &'static Grammar,
    pub(crate) packages: &'static dyn Packages,
}

impl Rules for Packaged {
    fn facts(&self, _path: &str, text: &str) -> Facts {
        walk::facts(self.grammar, text)
    }

    fn same_tokens(&self, one: &str, other: &str) -> bool {
        walk::same_tokens(self.grammar, one, other)
    }

    fn referrers(&self, world: &dyn World, target: &Target<'_>) -> Vec<Reference> {
        referrers(world, self.packages, target)
    }

    fn users(
        &self,
        world: &dyn World,
        targets: &[Target<'_>],
        with_losses: bool,
        is_over: &dyn Fn() -> bool,
    ) -> Vec<(usize, Reference)> {
        users(world, self.packages, targets, with_losses, is_over)
    }

    fn unresolved_imports(&self, world: &dyn World, file: FileId) -> Vec<Place> {
        unresolved_imports(world, self.packages, file)
    }

    fn missing_members(&self, world: &dyn World, file: FileId, lines: &[Range<u32>]) -> Vec<MissingName> {
        missing_members(world, self.packages, file, lines)
    }

    fn is_inherited(&self, world: &dyn World, file: FileId, member: &Definition) -> bool {
        is_inherited(world, self.packages, file, member)
    }

    fn is_subtype(&self, world: &dyn World, place: (FileId, Option<&str>), sub: &str, base: &str) -> bool {
        is_subtype(world, self.packages, place, sub, base)
    }

    fn unfit_conversions(
        &self,
        world: &dyn World,
        interface: (FileId, &Definition),
        method: &str,
    ) -> Vec<Reference> {
        unfit_conversions(world, self.packages, interface, method)
    }

    fn outgoing(&self, world: &dyn World, file: FileId) -> FileReferences {
        outgoing(world, self.packages, file)
    }
}
