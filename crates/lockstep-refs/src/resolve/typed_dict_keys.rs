//! Keys: members that are named by a string in brackets or braces, on types that declare them (`TypedDict`).

use super::Symbol;
use super::names::Resolver;
use super::search::Search;
use super::types::{Place, Type};
use crate::facts::{Shape, Use};
use crate::limits::Limit;
use crate::reference::Certainty;
use crate::world::FileId;

/// Longer chains of bases are treated as cycles.
const MAX_BASES: usize = 16;

impl Search<'_, '_> {
    /// Checks a key of a value. A value that is not known to have keys is ignored.
    pub(super) fn key(&mut self, file: FileId, usage: &Use, of: &Shape) {
        let place = Place { file, within: usage.within, this: None };
        for one in self.resolver.types(&place, of).iter() {
            let Type::Instance(class) = *one else { continue };
            if !self.resolver.has_keys(class, 0) {
                continue;
            }
            let members = self.resolver.members(class, &usage.name).symbols;
            if let Some(at) = members.iter().find_map(|symbol| self.wanted.get(symbol).copied()) {
                self.keep_use(file, usage, at, Certainty::Resolved, None);
            }
        }
    }
}

impl Resolver<'_> {
    /// Returns true if the members of a type are its keys.
    fn has_keys(&self, class: Symbol, depth: usize) -> bool {
        if depth == MAX_BASES {
            Limit::Subtypes.reach();
            return false;
        }
        let Some(definition) = self.definition(class) else { return false };
        let says_so = |base: &str| base.rsplit('.').next() == Some("TypedDict");
        definition.extends.iter().any(|base| says_so(base))
            || self.bases(class, &mut false).into_iter().any(|base| self.has_keys(base, depth + 1))
    }
}
