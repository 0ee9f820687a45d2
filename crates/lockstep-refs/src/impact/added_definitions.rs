//! Definitions that a change adds to files: a definition that one file lost and another gained has only
//! moved.

use std::cell::{Cell, OnceCell};
use std::collections::{BTreeSet, HashMap};

use super::edit::Edit;
use crate::facts::{Definition, DefinitionKind, Facts};
use crate::world::World;

/// The definitions that a set of edits adds, by name. Computed on first use.
pub(super) struct AddedDefinitions<'a> {
    now: &'a dyn World,
    after: &'a dyn World,
    edits: &'a [Edit],
    is_over: &'a dyn Fn() -> bool,
    found: OnceCell<HashMap<Box<str>, Vec<AddedDefinition>>>,
    is_cut: Cell<bool>,
}

/// A definition that was not in its file before.
pub(super) struct AddedDefinition {
    pub(super) path: String,
    pub(super) definition: Definition,
}

impl<'a> AddedDefinitions<'a> {
    pub(super) fn new(
        now: &'a dyn World,
        after: &'a dyn World,
        edits: &'a [Edit],
        is_over: &'a dyn Fn() -> bool,
    ) -> Self {
        Self { now, after, edits, is_over, found: OnceCell::new(), is_cut: Cell::new(false) }
    }

    /// Returns true if the deadline passed before all edits were searched.
    pub(super) fn is_cut(&self) -> bool {
        self.is_cut.get()
    }

    /// Returns the other locations where a definition of a file may be now.
    pub(super) fn of(&self, path: &str, was: &Definition) -> impl Iterator<Item = &AddedDefinition> {
        let found = self.found.get_or_init(|| self.search());
        let same = |definition: &Definition| key(definition) == key(was) && definition.reach >= was.reach;
        let named = found.get(&was.name).into_iter().flatten();
        named.filter(move |added_definition| {
            added_definition.path != path && same(&added_definition.definition)
        })
    }

    fn search(&self) -> HashMap<Box<str>, Vec<AddedDefinition>> {
        let mut found: HashMap<Box<str>, Vec<AddedDefinition>> = HashMap::new();
        // A single edited file cannot both lose and gain a definition.
        for edit in self.edits.iter().filter(|_| self.edits.len() > 1) {
            if (self.is_over)() {
                self.is_cut.set(true);
                break;
            }
            let Some(after) = edit.present_facts(self.after) else { continue };
            let before = edit.former_content(self.now).map(|(facts, _)| facts);
            let known: BTreeSet<_> = before.iter().flat_map(|facts| keys(facts)).collect();
            for definition in after.definitions.iter().filter(|definition| !known.contains(&key(definition)))
            {
                let arrival = AddedDefinition { path: edit.path.clone(), definition: definition.clone() };
                found.entry(definition.name.clone()).or_default().push(arrival);
            }
        }
        found
    }
}

fn key(definition: &Definition) -> (Option<&str>, DefinitionKind, &str) {
    (definition.container.as_deref(), definition.kind, &definition.name)
}

fn keys(facts: &Facts) -> impl Iterator<Item = (Option<&str>, DefinitionKind, &str)> {
    facts.definitions.iter().map(key)
}
