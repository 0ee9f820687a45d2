//! The definitions whose users in the changed file may be broken, and the facts of the file with those that it no longer has.

use std::sync::Arc;

use super::{NO_LINE, is_overload};
use crate::definition_diff::{
    DefinitionChangeKind, SymbolChange, compare_reaching, is_implicit, renamed_path, renamed_types,
};
use crate::facts::{Definition, DefinitionKind, Facts, Reach};
use crate::language::Language;
use crate::parses::Parses;
use crate::syntax::is_empty_digest;

/// The definitions whose users in the same file may be broken.
pub(super) struct Suspects {
    /// The definitions in the extended facts, in the order of `changes`.
    pub(super) symbols: Vec<Definition>,
    pub(super) changes: Vec<SymbolChange>,
    /// Every changed definition of the file, private ones included.
    pub(super) changed: Vec<SymbolChange>,
}

impl Suspects {
    /// `settle` takes back the changes that only follow from a rename in another file.
    pub(super) fn new(
        old: &Facts,
        new: &Facts,
        public: &[SymbolChange],
        settle: impl Fn(&mut [SymbolChange]),
    ) -> Self {
        let mut suspects = Self { symbols: Vec::new(), changes: Vec::new(), changed: Vec::new() };
        let mut private = compare_reaching(old, new, Reach::File);
        private.retain(|change| change.was.reach == Reach::File);
        settle(&mut private);
        let renamed = renamed_types(old, new);
        suspects.changed = public.iter().cloned().chain(private).collect();
        for change in suspects.changed.clone() {
            let container = change.was.container.as_deref().map(|path| renamed_path(path, &renamed).into());
            if let Some(symbol) = suspect(new, &change, container) {
                suspects.symbols.push(symbol);
                suspects.changes.push(change);
            }
        }
        suspects
    }

    /// The facts of the file with the definitions that it no longer has behind its own.
    pub(super) fn extended(&self, parses: &Parses, path: &str, text: &Arc<str>, present: &Facts) -> Facts {
        let mut removed = self.symbols.iter().filter(|definition| definition.line == NO_LINE).peekable();
        let mut facts = match removed.peek() {
            Some(_) => Facts::clone(&parses.facts_with_unbound_names(path, text)),
            None => present.clone(),
        };
        facts.definitions.extend(removed.cloned());
        facts
    }
}

/// Returns the definition that users of a changed one resolve to in the extended facts. `None` if none of
/// them can be broken.
fn suspect(new: &Facts, change: &SymbolChange, container: Option<Box<str>>) -> Option<Definition> {
    let same_path =
        |definition: &&Definition| definition.name == change.was.name && definition.container == container;
    match &change.what {
        DefinitionChangeKind::Removed | DefinitionChangeKind::Renamed(_) => {
            let is_there = new.definitions.iter().any(|definition| {
                same_path(&definition)
                    && !is_apart(new, definition, &change.was)
                    && !is_only_declared(definition, &change.was)
                    && !is_overload(new.language, definition, &change.was)
            });
            let removed = Definition { container, line: NO_LINE, end_line: NO_LINE, ..change.was.clone() };
            (!is_there).then_some(removed)
        }
        DefinitionChangeKind::SignatureChanged { .. } | DefinitionChangeKind::ParametersRenamed { .. } => {
            let mut present = new
                .definitions
                .iter()
                .filter(same_path)
                .filter(|definition| definition.kind == change.was.kind);
            let present = present.find(|definition| {
                definition.signature != change.was.signature || definition.parameters != change.was.parameters
            });
            let unwritten =
                || Definition { container: container.clone(), line: NO_LINE, ..change.was.clone() };
            let present = present.cloned().or_else(|| is_implicit(&change.was).then(unwritten))?;
            // A call with the former number of arguments meant this one.
            Some(Definition { arity: change.was.arity, ..present })
        }
        DefinitionChangeKind::VisibilityReduced
        | DefinitionChangeKind::BodyChanged
        | DefinitionChangeKind::Compatible
        | DefinitionChangeKind::Unknown => None,
    }
}

/// Returns true if a function of C that had a body is only declared.
fn is_only_declared(is: &Definition, was: &Definition) -> bool {
    is.kind == DefinitionKind::Function && is_empty_digest(is.body) && !is_empty_digest(was.body)
}

/// Returns true if two definitions may share a path and are distinguished by their use: a field and a method
/// of Rust or Java.
fn is_apart(facts: &Facts, one: &Definition, other: &Definition) -> bool {
    let is_field = |definition: &Definition| definition.kind == DefinitionKind::Field;
    matches!(facts.language, Language::Rust | Language::Java) && is_field(one) != is_field(other)
}
