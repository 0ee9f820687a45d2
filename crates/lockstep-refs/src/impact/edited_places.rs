//! Places in files that the same set of edits changed: they may already follow the change.

use std::cell::RefCell;
use std::collections::HashMap;

use super::edit::{After, Before, Edit};
use super::hunks::Hunks;
use crate::definition_diff::{DefinitionChangeKind, SymbolChange};
use crate::facts::{Definition, Facts, Role, Use};
use crate::reference::Reference;
use crate::signature::{self, Agreement};
use crate::world::{FileId, World};

/// The changed lines of every edited file.
pub(super) struct Edited<'a> {
    world: &'a dyn World,
    edits: HashMap<FileId, &'a Edit>,
    hunks: RefCell<HashMap<FileId, Hunks>>,
}

impl<'a> Edited<'a> {
    pub(super) fn new(world: &'a dyn World, edits: &'a [Edit]) -> Self {
        let known = edits.iter().filter_map(|edit| Some((world.find(&edit.path)?, edit)));
        Self { world, edits: known.collect(), hunks: RefCell::default() }
    }

    /// Returns true if a place was written for the new signature: it is on a changed line and passes a
    /// fitting number of arguments, or it is a definition with the same parameters and result as the changed
    /// one. `after` has the changed definition as it is now.
    pub(super) fn follows(
        &self,
        change: &SymbolChange,
        after: Option<&Facts>,
        reference: &Reference,
    ) -> bool {
        let (arity, effect) = match &change.what {
            DefinitionChangeKind::SignatureChanged { arity, effect, .. } => (*arity, effect.as_deref()),
            DefinitionChangeKind::ParametersRenamed { .. } => (None, None),
            _ => return false,
        };
        let is_again = matches!(reference.role, Role::Override | Role::Redefine);
        if effect.is_some_and(|effect| effect.forbids_overrides) && is_again {
            return false;
        }
        let redefines = matches!(reference.role, Role::Override | Role::Redefine | Role::Implement);
        let agreement = if redefines { self.agreement(change, after, reference) } else { None };
        match agreement {
            Some(Agreement::Types) => return true,
            Some(Agreement::None) => return false,
            _ if !self.is_edited(reference) => return false,
            _ => {}
        }
        let keywords = keywords(self.world, reference);
        let is_removed = |name: &str| match &change.what {
            DefinitionChangeKind::ParametersRenamed { gone } => {
                gone.iter().any(|parameter| **parameter == *name)
            }
            _ => effect.is_some_and(|effect| effect.misses(name)),
        };
        let takes = reference.arguments.zip(arity).is_none_or(|(arguments, arity)| arity.takes(arguments));
        takes && !keywords.iter().any(|name| is_removed(name))
    }

    /// Compares the definition at a place with the present state of the changed one, or of another one of its name that agrees.
    /// `None` if one of them is unknown.
    fn agreement(
        &self,
        change: &SymbolChange,
        after: Option<&Facts>,
        reference: &Reference,
    ) -> Option<Agreement> {
        let (after, was) = (after?, &change.was);
        let facts = self.world.facts(reference.file)?;
        let here = |definition: &&Definition| {
            definition.line == reference.line && definition.name == reference.pattern
        };
        let here = facts.definitions.iter().find(here)?;
        let same = |definition: &&Definition| {
            definition.name == was.name
                && definition.kind == was.kind
                && definition.container == was.container
        };
        let mut found = after
            .definitions
            .iter()
            .filter(same)
            .map(|now| signature::agreement(after.language, now, here))
            .peekable();
        let first = *found.peek()?;
        if found.any(|agreement| agreement == Some(Agreement::Types)) {
            Some(Agreement::Types)
        } else {
            first
        }
    }

    /// Returns true if a reference is on a changed line.
    pub(super) fn is_edited(&self, reference: &Reference) -> bool {
        let Some(edit) = self.edits.get(&reference.file) else { return false };
        let (Before::Text(before), After::Present | After::Text(_)) = (&edit.before, &edit.after) else {
            return matches!(edit.before, Before::Absent);
        };
        let Some(text) = self.world.text(reference.file) else { return false };
        let mut hunks = self.hunks.borrow_mut();
        let hunks = hunks.entry(reference.file).or_insert_with(|| Hunks::between(before, &text));
        let last = last_line(&text, reference.line, &reference.pattern);
        hunks.touches_new(reference.line, last)
    }
}

/// The names by which a call passes arguments.
pub(super) fn keywords(world: &dyn World, reference: &Reference) -> Vec<Box<str>> {
    if !matches!(reference.role, Role::Call | Role::Covered) {
        return Vec::new();
    }
    let here = |usage: &&Use| usage.line == reference.line && usage.name == reference.pattern;
    let facts = world.facts(reference.file);
    let named =
        facts.iter().flat_map(|candidate| &candidate.uses).filter(here).flat_map(|usage| &usage.keywords);
    named.cloned().collect()
}

/// Returns the last line of the parentheses after a name on `line`; that line if there are none.
fn last_line(text: &str, line: u32, name: &str) -> u32 {
    const MAX_LINES: usize = 60;
    let mut depth = 0_i32;
    let mut begun = false;
    let first = usize::try_from(line).unwrap_or(usize::MAX).saturating_sub(1);
    for (at, (content, number)) in text.lines().zip(1_u32..).skip(first).take(MAX_LINES).enumerate() {
        let from = if at == 0 { content.find(name).map_or(0, |at| at + name.len()) } else { 0 };
        for c in content[from..].chars() {
            match c {
                '(' => {
                    depth += 1;
                    begun = true;
                }
                ')' => depth -= 1,
                _ => {}
            }
            if begun && depth <= 0 {
                return number;
            }
        }
        if !begun {
            return line;
        }
    }
    line
}
