//! Functions of C that other files know by their declaration: a caller is compiled against that, not against the definition.

use std::collections::BTreeSet;

use crate::change::{SymbolChange, What};
use crate::facts::Role;
use crate::reference::Reference;
use crate::world::{FileId, World};

/// The changed definitions of a source file that another file declares, by their positions.
pub(super) struct Declared(BTreeSet<usize>);

impl Declared {
    pub(super) fn new(world: &dyn World, file: FileId, references: &[Reference]) -> Self {
        let extension = world.path(file).rsplit('.').next().unwrap_or_default();
        if !matches!(extension, "c" | "cc" | "cpp" | "cxx") {
            return Self(BTreeSet::new());
        }
        let declares = |it: &&Reference| it.role == Role::Override && it.file != file;
        Self(references.iter().filter(declares).filter_map(|it| it.symbol).collect())
    }

    /// Whether a use fits the declaration, which a changed signature of the definition leaves as it is.
    pub(super) fn shields(&self, change: &SymbolChange, reference: &Reference) -> bool {
        let uses = matches!(reference.role, Role::Call | Role::Covered | Role::Value);
        let declared = reference.symbol.is_some_and(|at| self.0.contains(&at));
        uses && declared && matches!(change.what, What::Resigned { .. })
    }
}
