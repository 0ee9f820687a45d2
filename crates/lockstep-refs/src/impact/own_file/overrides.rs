//! Members that say they override or implement another one, and no longer match any.

use crate::change::{SymbolChange, What};
use crate::facts::{Arity, Definition, DefinitionKind, Facts, Role};
use crate::world::World;

/// A changed member that overrides nothing any more.
pub(super) struct UnmatchedOverride {
    pub(super) line: u32,
    pub(super) name: Box<str>,
    pub(super) reason: String,
}

/// Returns the changed members of the file that are marked as overrides, matched their base before the edit, and do not now.
///
/// `world` has the file as it is after the edit. A base outside the project did not change: a member with another name or another
/// number of parameters no longer matches it. If any other type of the project has a member that would match, the member is assumed
/// to override that one.
pub(super) fn unmatched_overrides(
    world: &dyn World,
    (text, facts): (&str, &Facts),
    changes: &[SymbolChange],
) -> Vec<UnmatchedOverride> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    for change in changes.iter().filter(|change| change.was.kind == DefinitionKind::Method) {
        let Some(is) = successor(facts, change).filter(|is| is_override(facts, &lines, is)) else { continue };
        let is_matched = match &change.what {
            What::Renamed(_) => has_member(world, is, None),
            _ => has_member(world, is, is.arity),
        };
        if !is_matched {
            found.push(UnmatchedOverride {
                line: is.line,
                name: is.name.clone(),
                reason: reason(change, is),
            });
        }
    }
    found
}

fn reason(change: &SymbolChange, is: &Definition) -> String {
    match &change.what {
        What::Renamed(to) => format!("{to} overrides nothing; the overridden member is {}", change.was.name),
        _ => format!("{} has other parameters than the member it overrides", is.name),
    }
}

/// The definition that a changed one became, if its name or its number of parameters is another one.
fn successor<'f>(facts: &'f Facts, change: &SymbolChange) -> Option<&'f Definition> {
    let (name, arity) = match &change.what {
        What::Renamed(to) => (&**to, None),
        What::Resigned { arity, .. } if *arity != change.was.arity => (&*change.was.name, *arity),
        _ => return None,
    };
    facts.definitions.iter().find(|it| {
        it.kind == change.was.kind
            && *it.name == *name
            && it.container == change.was.container
            && (arity.is_none() || it.arity == arity)
    })
}

/// Returns true if the text marks a member as an override: an implementation of a Rust trait, `override`, `@Override`.
fn is_override(facts: &Facts, lines: &[&str], is: &Definition) -> bool {
    let implements = |at: u32, name: &str| {
        facts.uses.iter().any(|it| it.role == Role::Override && it.line == at && *it.name == *name)
    };
    if implements(is.line, &is.name) {
        return true;
    }
    let Some(at) = (is.line as usize).checked_sub(1) else { return false };
    let has_word = |line: &str| {
        line.split(|c: char| !c.is_alphanumeric() && c != '_')
            .any(|word| word.eq_ignore_ascii_case("override"))
    };
    let before_name = lines.get(at).and_then(|line| line.split(&*is.name).next()).is_some_and(has_word);
    let annotations =
        lines.iter().take(at).rev().take_while(|line| line.trim_start().starts_with(['@', '[']));
    before_name || annotations.into_iter().any(|line| has_word(line))
}

/// Returns true if another type of the project has a member of this name, with this number of parameters if it is given.
fn has_member(world: &dyn World, is: &Definition, arity: Option<Arity>) -> bool {
    let fits = |it: &Definition| {
        it.kind == DefinitionKind::Method
            && it.name == is.name
            && it.container != is.container
            && (arity.is_none() || it.arity == arity)
    };
    let holds = |file| world.facts(file).is_some_and(|facts| facts.definitions.iter().any(fits));
    world.containing(&is.name).into_iter().any(holds)
}
