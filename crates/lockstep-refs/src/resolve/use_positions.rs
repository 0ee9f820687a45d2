//! Positions of the uses of a file, so that a search looks only at those that may matter to it.

use std::cell::OnceCell;

use super::contextual_typing::expected_of;
use super::types::Consulted;
use crate::by_name::ByName;
use crate::facts::{Facts, Role, Shape};

/// Positions of uses, each list made when it is first needed.
#[derive(Default)]
pub(super) struct UsePositions {
    by_name: OnceCell<ByName>,
    quoted: OnceCell<Vec<usize>>,
    conforming: OnceCell<Vec<usize>>,
    expecting: OnceCell<Vec<Expecting>>,
}

/// A use of a parameter whose type comes from its context, or of a value that is derived from one.
pub(super) struct Expecting {
    pub(super) at: usize,
    /// The expected function type.
    pub(super) expected: Shape,
    /// True if anything is expected; and the definitions that this relies on.
    pub(super) result: OnceCell<(bool, Consulted)>,
}

impl UsePositions {
    /// The uses of a name.
    pub(super) fn of(&self, facts: &Facts, name: &str) -> impl Iterator<Item = usize> {
        let uses = &facts.uses;
        let by_name = self.by_name.get_or_init(|| ByName::new(uses.iter().map(|usage| &*usage.name)));
        by_name.of(name).filter(move |at| uses.get(*at).is_some_and(|usage| *usage.name == *name))
    }

    pub(super) fn quoted(&self, facts: &Facts) -> &[usize] {
        self.quoted.get_or_init(|| with_role(facts, Role::Quoted))
    }

    pub(super) fn conforming(&self, facts: &Facts) -> &[usize] {
        self.conforming.get_or_init(|| with_role(facts, Role::Conform))
    }

    pub(super) fn expecting(&self, facts: &Facts) -> &[Expecting] {
        self.expecting.get_or_init(|| {
            let uses = facts.uses.iter().enumerate();
            let expecting = uses.filter_map(|(at, usage)| Some((at, expected_of(usage)?)));
            expecting.map(|(at, expected)| Expecting { at, expected, result: OnceCell::new() }).collect()
        })
    }

    pub(super) fn expecting_at(&self, facts: &Facts, at: usize) -> Option<&Expecting> {
        let all = self.expecting(facts);
        all.get(all.binary_search_by_key(&at, |expecting| expecting.at).ok()?)
    }
}

fn with_role(facts: &Facts, role: Role) -> Vec<usize> {
    let uses = facts.uses.iter().enumerate();
    uses.filter(|(_, usage)| usage.role == role).map(|(at, _)| at).collect()
}
