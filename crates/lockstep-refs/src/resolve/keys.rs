//! Keys: members that are named by a string in brackets or braces, where a type says which there are (`TypedDict`).

use super::Symbol;
use super::names::Resolver;
use super::search::Search;
use super::types::{Place, Type};
use crate::facts::{Shape, Use};
use crate::reference::Certainty;
use crate::world::FileId;

/// Types that extend one another longer than this are taken for a loop.
const MAX_BASES: usize = 16;

impl Search<'_, '_> {
    /// A key of a value. Of one that is not known to have keys, nothing is said.
    pub(super) fn key(&mut self, file: FileId, it: &Use, of: &Shape) {
        let place = Place { file, within: it.within, this: None };
        for one in self.resolver.types(&place, of) {
            let Type::Instance(class) = one else { continue };
            if !self.resolver.has_keys(class, 0) {
                continue;
            }
            let members = self.resolver.members(class, &it.name).symbols;
            if let Some(at) = members.iter().find_map(|symbol| self.wanted.get(symbol).copied()) {
                self.keep_use(file, it, at, Certainty::Resolved, None);
            }
        }
    }
}

impl Resolver<'_> {
    /// Whether the members of a type are its keys.
    fn has_keys(&self, class: Symbol, depth: usize) -> bool {
        let Some(definition) = self.definition(class).filter(|_| depth < MAX_BASES) else { return false };
        let says_so = |base: &str| base.rsplit('.').next() == Some("TypedDict");
        definition.extends.iter().any(|base| says_so(base))
            || self.bases(class, &mut false).into_iter().any(|base| self.has_keys(base, depth + 1))
    }
}
