//! Members that are marked as overrides or implementations, and no longer match any base member.

use crate::definition_diff::{DefinitionChangeKind, SymbolChange};
use crate::facts::{Arity, Definition, DefinitionKind, Facts, Role};
use crate::language::Language;
use crate::package::is_type;
use crate::resolve::path_of;
use crate::signature::{Agreement, agreement};
use crate::world::World;

/// A changed member that overrides nothing any more.
pub(super) struct UnmatchedOverride {
    pub(super) line: u32,
    pub(super) name: Box<str>,
    pub(super) reason: String,
}

/// Returns the changed members of the file that are marked as overrides, matched their base before the edit,
/// and do not now.
///
/// `world` has the file after the edit. A base outside the project did not change: a member with another name
/// or another number of parameters no longer matches it. If a base of its type has a matching member, or any
/// other type if no base with that member is known, the member is assumed to override that one.
pub(super) fn unmatched_overrides(
    world: &dyn World,
    (text, facts): (&str, &Facts),
    changes: &[SymbolChange],
) -> Vec<UnmatchedOverride> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    for change in changes.iter().filter(|change| change.was.kind == DefinitionKind::Method) {
        if let Some(is) = disagreeing(world, facts, change).filter(|is| is_override(facts, &lines, is)) {
            found.push(UnmatchedOverride {
                line: is.line,
                name: is.name.clone(),
                reason: format!("{} has other types than the trait asks for", is.name),
            });
            continue;
        }
        let Some(is) = successor(facts, change).filter(|is| is_override(facts, &lines, is)) else { continue };
        let is_matched = match &change.what {
            DefinitionChangeKind::Renamed(_) => has_member(world, facts, is, None),
            _ => has_member(world, facts, is, is.arity),
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
        DefinitionChangeKind::Renamed(to) => {
            format!("{to} overrides nothing; the overridden member is {}", change.was.name)
        }
        _ => format!("{} has other parameters than the member it overrides", is.name),
    }
}

/// The method of Rust that a changed one became, if it had the types that a trait of the project asks for and has others now.
fn disagreeing<'f>(world: &dyn World, facts: &'f Facts, change: &SymbolChange) -> Option<&'f Definition> {
    let DefinitionChangeKind::SignatureChanged { arity, .. } = &change.what else { return None };
    if facts.language != Language::Rust || *arity != change.was.arity {
        return None;
    }
    let was = &change.was;
    let same = |definition: &&Definition| {
        definition.kind == was.kind && definition.name == was.name && definition.container == was.container
    };
    let mut own = facts.definitions.iter().filter(same);
    let (Some(is), None) = (own.next(), own.next()) else { return None };
    let bases = bases(facts, is);
    let agrees = |base: &Definition, definition| {
        matches!(agreement(Language::Rust, base, definition), Some(Agreement::Types))
    };
    let defining = world.defining(&is.name).into_iter().filter_map(|file| world.facts(file));
    let is_lost = defining.into_iter().any(|other| {
        other.definitions.iter().any(|base| {
            let holder = base.container.as_deref().map(last_part);
            base.name == is.name
                && base.kind == is.kind
                && base.container != is.container
                && holder.is_some_and(|holder| bases.contains(&holder))
                && agrees(base, was)
                && !agrees(base, is)
        })
    });
    is_lost.then_some(is)
}

/// The definition that a changed one became, if its name or its number of parameters is another one.
fn successor<'f>(facts: &'f Facts, change: &SymbolChange) -> Option<&'f Definition> {
    let (name, arity) = match &change.what {
        DefinitionChangeKind::Renamed(to) => (&**to, None),
        DefinitionChangeKind::SignatureChanged { arity, .. } if *arity != change.was.arity => {
            (&*change.was.name, *arity)
        }
        _ => return None,
    };
    facts.definitions.iter().find(|definition| {
        definition.kind == change.was.kind
            && *definition.name == *name
            && definition.container == change.was.container
            && (arity.is_none() || definition.arity == arity)
    })
}

/// Returns true if the text marks a member as an override: an implementation of a Rust trait, `override`, `@Override`.
fn is_override(facts: &Facts, lines: &[&str], is: &Definition) -> bool {
    let implements = |at: u32, name: &str| {
        facts
            .uses
            .iter()
            .any(|usage| usage.role == Role::Override && usage.line == at && *usage.name == *name)
    };
    if implements(is.line, &is.name) {
        return true;
    }
    let Some(at) = (is.line as usize).checked_sub(1) else { return false };
    let has_word = |line: &str| {
        line.split(|c: char| !c.is_alphanumeric() && c != '_')
            .any(|word| word.eq_ignore_ascii_case("override"))
    };
    let before_name = lines.get(at).and_then(|line| line.split_once(&*is.name));
    let before_name = before_name.is_some_and(|(before, _)| has_word(before));
    let annotations =
        lines.iter().take(at).rev().take_while(|line| line.trim_start().starts_with(['@', '[']));
    before_name || annotations.into_iter().any(|line| has_word(line))
}

/// Returns true if a base of the member's type has a member of this name, with this number of parameters if
/// it is given. If no base of the project has one of this name, every other type is considered.
fn has_member(world: &dyn World, facts: &Facts, is: &Definition, arity: Option<Arity>) -> bool {
    let bases = bases(facts, is);
    let (mut in_bases, mut elsewhere) = (Vec::new(), Vec::new());
    for other in world.defining(&is.name).into_iter().filter_map(|file| world.facts(file)) {
        let named = other.definitions.iter().filter(|definition| {
            definition.kind == DefinitionKind::Method
                && definition.name == is.name
                && definition.container != is.container
        });
        for definition in named {
            let fits = arity.is_none() || definition.arity == arity;
            let is_base =
                definition.container.as_deref().is_some_and(|path| bases.contains(&last_part(path)));
            if is_base { &mut in_bases } else { &mut elsewhere }.push(fits);
        }
    }
    let is_open = || !are_known(world, &bases);
    let counted = if in_bases.is_empty() && is_open() { elsewhere } else { in_bases };
    counted.contains(&true)
}

/// Returns true if the project has the types of these names, and these extend no others.
fn are_known(world: &dyn World, names: &[&str]) -> bool {
    names.iter().all(|name| {
        let files = world.defining(name).into_iter().filter_map(|file| world.facts(file));
        let facts: Vec<_> = files.collect();
        let mut types = facts
            .iter()
            .flat_map(|candidate| &candidate.definitions)
            .filter(|definition| is_type(definition) && *definition.name == **name)
            .peekable();
        types.peek().is_some() && types.all(|definition| definition.extends.is_empty())
    })
}

/// The names of the types that the type of a member extends or implements, as the file writes them.
fn bases<'f>(facts: &'f Facts, is: &Definition) -> Vec<&'f str> {
    let Some(container) = is.container.as_deref() else { return Vec::new() };
    let extends = facts
        .definitions
        .iter()
        .filter(|definition| path_of(definition) == container)
        .flat_map(|definition| &definition.extends);
    let own = facts
        .implementations
        .iter()
        .filter(|implementation| last_part(&implementation.of) == last_part(container));
    let implemented = own.filter_map(|implementation| implementation.interface.as_ref());
    extends.chain(implemented).map(|path| last_part(path)).collect()
}

/// The last name of a path, without type arguments.
pub(super) fn last_part(path: &str) -> &str {
    let head = path.split(['<', '[', '(']).next().unwrap_or(path);
    head.rsplit(['.', ':', '\\']).next().unwrap_or(head).trim()
}
