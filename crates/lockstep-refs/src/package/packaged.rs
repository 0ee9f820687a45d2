//! The rules of a language that is read by a [`Grammar`] and resolved by its [`Packages`].

use super::{Packages, outgoing, referrers};
use crate::facts::Facts;
use crate::language::Rules;
use crate::reference::{Outgoing, Reference, Target};
use crate::walk::{self, Grammar};
use crate::world::{FileId, World};

/// How a language is read, and how it shares names.
pub(crate) struct Packaged {
    pub(crate) grammar: &'static Grammar,
    pub(crate) packages: &'static dyn Packages,
}

impl Rules for Packaged {
    fn facts(&self, _path: &str, text: &str) -> Facts {
        walk::facts(self.grammar, text)
    }

    fn reads_alike(&self, one: &str, other: &str) -> bool {
        walk::reads_alike(self.grammar, one, other)
    }

    fn referrers(&self, world: &dyn World, target: &Target<'_>) -> Vec<Reference> {
        referrers(world, self.packages, target)
    }

    fn outgoing(&self, world: &dyn World, file: FileId) -> Outgoing {
        outgoing(world, self.packages, file)
    }
}
