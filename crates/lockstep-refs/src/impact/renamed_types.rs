//! Definitions that the edits renamed in any file. A signature that contains a renamed type has the same
//! parameters and result as before; a place that used a renamed definition must use its new name.

use std::cell::{Cell, OnceCell};
use std::collections::BTreeMap;
use std::sync::Arc;

use super::edit::{Before, Edit};
use crate::definition_diff::{DefinitionChangeKind, SymbolChange, renamed_types, settle_foreign_renames};
use crate::facts::Facts;
use crate::world::World;

/// The former and the present name of each. Computed when they are first needed.
pub(super) struct TypeRenames<'a> {
    edits: &'a [Edit],
    is_over: &'a dyn Fn() -> bool,
    names: OnceCell<Vec<(Box<str>, Box<str>)>>,
    definitions: OnceCell<BTreeMap<Box<str>, Box<str>>>,
    is_cut: Cell<bool>,
}

impl<'a> TypeRenames<'a> {
    pub(super) fn new(edits: &'a [Edit], is_over: &'a dyn Fn() -> bool) -> Self {
        let is_cut = Cell::new(false);
        Self { edits, is_over, names: OnceCell::new(), definitions: OnceCell::new(), is_cut }
    }

    /// Returns true if the deadline passed before all edits were compared.
    pub(super) fn is_cut(&self) -> bool {
        self.is_cut.get()
    }

    /// Takes back the changes of signatures that a renamed type explains. `present` is the content of the changed file, `world` has
    /// every file as the edits leave it.
    pub(super) fn settle(&self, world: &dyn World, present: Option<&Facts>, changes: &mut [SymbolChange]) {
        let has_resigned =
            changes.iter().any(|change| matches!(change.what, DefinitionChangeKind::SignatureChanged { .. }));
        if let Some(present) = present.filter(|_| self.edits.len() > 1 && has_resigned) {
            settle_foreign_renames(changes, present, self.names.get_or_init(|| self.collect(world)));
        }
    }

    /// Returns the present name of every renamed definition by its former name.
    pub(super) fn definitions(&self, world: &dyn World) -> &BTreeMap<Box<str>, Box<str>> {
        self.definitions.get_or_init(|| {
            let mut names = BTreeMap::new();
            for (edit, old, new) in self.compared(world) {
                for change in edit.symbol_changes(&old, Some(&new)) {
                    if let DefinitionChangeKind::Renamed(to) = change.what {
                        names.insert(change.was.name, to);
                    }
                }
            }
            names
        })
    }

    fn collect(&self, world: &dyn World) -> Vec<(Box<str>, Box<str>)> {
        let mut names = Vec::new();
        for (_, old, new) in self.compared(world) {
            names.extend(renamed_types(&old, &new).into_iter().map(|(from, to)| (from.into(), to.into())));
        }
        names
    }

    /// The edited files whose definitions are known before and after.
    fn compared<'s>(
        &'s self,
        world: &'s dyn World,
    ) -> impl Iterator<Item = (&'s Edit, Arc<Facts>, Arc<Facts>)> + 's {
        let known = self.edits.iter().filter(|edit| !matches!(edit.before, Before::Unknown));
        let in_time = |_: &&Edit| {
            self.is_cut.set(self.is_cut.get() || (self.is_over)());
            !self.is_cut.get()
        };
        known
            .take_while(in_time)
            .filter_map(move |edit| Some((edit, edit.former_content(world)?.0, edit.present_facts(world)?)))
    }
}
