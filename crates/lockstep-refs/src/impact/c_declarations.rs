//! Functions of C that other files know by their declaration: a caller is compiled against that, not against
//! the definition.

use std::collections::BTreeSet;

use crate::definition_diff::{DefinitionChangeKind, SymbolChange};
use crate::facts::{Definition, DefinitionKind, Facts, Reach, Role};
use crate::reference::Reference;
use crate::syntax::is_empty_digest;
use crate::world::{FileId, World, base};

/// The changed definitions of a source file, by their positions.
pub(super) struct Declared {
    /// Definitions that another file declares.
    declared: BTreeSet<usize>,
    /// Names of definitions that the compiler rejects because an included declaration differs.
    conflicting: BTreeSet<Box<str>>,
    /// Functions that another source file defines too: each belongs to a separate program.
    defined_again: BTreeSet<usize>,
}

impl Declared {
    pub(super) fn new(
        world: &dyn World,
        file: FileId,
        symbols: &[Definition],
        references: &[Reference],
        conflicting: BTreeSet<Box<str>>,
    ) -> Self {
        if !is_source(world.path(file)) {
            return Self { declared: BTreeSet::new(), conflicting, defined_again: BTreeSet::new() };
        }
        let declares = |reference: &&Reference| reference.role == Role::Override && reference.file != file;
        let mut defined_again = BTreeSet::new();
        for (at, symbol) in symbols.iter().enumerate() {
            let of_it = references.iter().filter(declares).filter(|reference| reference.symbol == Some(at));
            let headers: Vec<&str> = of_it.map(|reference| base(world.path(reference.file))).collect();
            if is_defined_again(world, file, symbol, &headers) {
                defined_again.insert(at);
            }
        }
        Self {
            declared: references.iter().filter(declares).filter_map(|reference| reference.symbol).collect(),
            conflicting,
            defined_again,
        }
    }

    /// Returns true if a reference is the declaration or a use that fits it, which a changed signature of the definition leaves as it is, or if another
    /// definition is there for it.
    pub(super) fn reexport_outlives_removal(&self, change: &SymbolChange, reference: &Reference) -> bool {
        let Some(at) = reference.symbol else { return false };
        let is_use = matches!(reference.role, Role::Call | Role::Covered | Role::Value);
        // The compiler rejects the definition, not the declaration.
        let is_declaration = reference.role == Role::Override && self.conflicting.contains(&change.was.name);
        let is_resigned = matches!(change.what, DefinitionChangeKind::SignatureChanged { .. });
        self.defined_again.contains(&at)
            || self.declared.contains(&at)
                && (is_resigned && (is_use || is_declaration)
                    || is_declaration && change.what == DefinitionChangeKind::VisibilityReduced)
    }
}

fn is_source(path: &str) -> bool {
    matches!(path.rsplit('.').next(), Some("c" | "cc" | "cpp" | "cxx"))
}

/// Returns true if another source file that includes a header with the declaration has a function of the same
/// name with a body.
fn is_defined_again(world: &dyn World, file: FileId, own: &Definition, headers: &[&str]) -> bool {
    if own.kind != DefinitionKind::Function || headers.is_empty() {
        return false;
    }
    let is_same = |definition: &Definition| {
        definition.kind == DefinitionKind::Function
            && definition.name == own.name
            && definition.container.is_none()
            && definition.reach != Reach::File
            && !is_empty_digest(definition.body)
    };
    let includes = |facts: &Facts| facts.imports.iter().any(|import| headers.contains(&base(&import.module)));
    let others = world
        .containing(&own.name)
        .into_iter()
        .filter(|candidate| *candidate != file && is_source(world.path(*candidate)));
    let mut others = others.filter_map(|other| world.facts(other));
    others.any(|facts| includes(&facts) && facts.definitions.iter().any(is_same))
}
