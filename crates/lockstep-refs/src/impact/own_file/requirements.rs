//! Members that an interface or an abstract class of the project requires of a type, and that the edit removed from the type or gave
//! other parameters.

use super::overrides::{UnmatchedOverride, last_part};
use crate::definition_diff::{DefinitionChangeKind, SymbolChange};
use crate::facts::{ABSTRACT, Arity, Definition, DefinitionKind, Facts, OPTIONAL};
use crate::language::Language;
use crate::limits::Limit;
use crate::package::is_type;
use crate::resolve::path_of;
use crate::signature::{Agreement, agreement};
use crate::syntax::{TOKEN_END, is_empty_digest};
use crate::world::World;

/// Types that extend one another are followed so far.
const MAX_DEPTH: usize = 3;
/// A name that more files contain is looked up in the first ones only.
const MAX_FILES: usize = 60;

/// Returns the changed members that a base of their type requires as they were. `world` has the file after the edit.
pub(super) fn unmet_requirements(
    world: &dyn World,
    facts: &Facts,
    changes: &[SymbolChange],
) -> Vec<UnmatchedOverride> {
    use Language::{CSharp, Java, Kotlin, Php, Python, Swift, Tsx, TypeScript};
    let is_nominal =
        matches!(facts.language, CSharp | Java | Kotlin | Php | Python | Swift | Tsx | TypeScript);
    if !is_nominal {
        return Vec::new();
    }
    changes.iter().filter_map(|change| unmet(world, facts, change)).collect()
}

fn unmet(world: &dyn World, facts: &Facts, change: &SymbolChange) -> Option<UnmatchedOverride> {
    let was = &change.was;
    let is_concerned = matches!(
        change.what,
        DefinitionChangeKind::Removed
            | DefinitionChangeKind::Renamed(_)
            | DefinitionChangeKind::SignatureChanged { .. }
    );
    let is_script = matches!(facts.language, Language::TypeScript | Language::Tsx);
    let is_kind = was.kind == DefinitionKind::Method || is_script && was.kind == DefinitionKind::Field;
    let container = was.container.as_deref().filter(|_| is_concerned && is_kind)?;
    let owner = facts
        .definitions
        .iter()
        .find(|definition| is_type(definition) && path_of(definition) == container)?;
    if is_abstract(owner) || owner.extends.is_empty() {
        return None;
    }
    let bases = bases(world, owner);
    let files = Limit::Files.take(world.containing(&was.name), MAX_FILES);
    let others: Vec<_> = files.filter_map(|file| world.facts(file)).collect();
    let inherited = others.iter().flat_map(|other| &other.definitions).filter(|definition| {
        let holder = definition.container.as_deref().map(last_part);
        definition.name == was.name
            && definition.kind == was.kind
            && definition.container != was.container
            && holder.is_some_and(|holder| bases.iter().any(|base| **base == *holder))
    });
    let (required, provided): (Vec<&Definition>, Vec<&Definition>) =
        inherited.partition(|definition| is_empty_digest(definition.body) || is_marked(definition, ABSTRACT));
    // Every method of these languages must fit the one that it overrides, and says nothing about it.
    let is_override = (facts.language == Language::Php || is_script)
        && was.kind == DefinitionKind::Method
        && matches!(change.what, DefinitionChangeKind::SignatureChanged { .. })
        && !matches!(&*was.name, "__construct" | "constructor");
    let required = required.into_iter().find(|definition| !is_marked(definition, OPTIONAL));
    let required = required.or_else(|| provided.first().copied().filter(|_| is_override))?;
    let provided = if is_override { Vec::new() } else { provided };
    let own = facts.definitions.iter().filter(|definition| {
        definition.name == was.name
            && definition.kind == was.kind
            && definition.container.as_deref() == Some(container)
    });
    let mut left = own.chain(provided);
    let language = facts.language;
    let is_unmet =
        agrees(language, required, was) && !left.any(|definition| agrees(language, required, definition));
    // A class of Python without the member fails where an object of it is made.
    let is_reported =
        language != Language::Python || matches!(change.what, DefinitionChangeKind::SignatureChanged { .. });
    (is_unmet && is_reported).then(|| UnmatchedOverride {
        line: owner.line,
        name: owner.name.clone(),
        reason: format!(
            "{} is required by {}",
            was.name,
            last_part(required.container.as_deref().unwrap_or(""))
        ),
    })
}

/// The names of the types that a type extends, with those behind them.
pub(super) fn bases(world: &dyn World, owner: &Definition) -> Vec<Box<str>> {
    let mut found: Vec<Box<str>> = owner.extends.iter().map(|base| last_part(base).into()).collect();
    let mut at = 0;
    for _ in 0..MAX_DEPTH {
        let more: Vec<Box<str>> = found[at..].iter().flat_map(|name| extended_by(world, name)).collect();
        at = found.len();
        found.extend(more);
    }
    if found[at..].iter().any(|name| !found[..at].contains(name)) {
        Limit::Subtypes.reach();
    }
    found.sort();
    found.dedup();
    found
}

/// The names of the types that the types of a name extend.
fn extended_by(world: &dyn World, name: &str) -> Vec<Box<str>> {
    let files = Limit::Files.take(world.containing(name), MAX_FILES);
    let mut found = Vec::new();
    for facts in files.filter_map(|file| world.facts(file)) {
        let types =
            facts.definitions.iter().filter(|definition| is_type(definition) && *definition.name == *name);
        found.extend(types.flat_map(|definition| &definition.extends).map(|text| Box::from(last_part(text))));
    }
    found
}

fn is_abstract(owner: &Definition) -> bool {
    owner.kind == DefinitionKind::Interface
        || owner.header.split(TOKEN_END).any(|token| matches!(token, "abstract" | "sealed"))
        || owner.extends.iter().any(|base| matches!(last_part(base), "ABC" | "Protocol"))
}

fn is_marked(definition: &Definition, mark: &str) -> bool {
    definition.extends.iter().any(|base| &**base == mark)
        || mark == ABSTRACT && definition.header.split(TOKEN_END).any(|token| token == "abstractmethod")
}

/// Returns true if a member meets what a base requires.
fn agrees(language: Language, required: &Definition, member: &Definition) -> bool {
    use Language::{Php, Python, Tsx, TypeScript};
    let (Some(wanted), Some(given)) = (required.arity, member.arity) else { return true };
    let most = |arity: Arity| arity.most.unwrap_or(u16::MAX);
    match language {
        TypeScript | Tsx => given.least <= most(wanted),
        Php | Python => given.least <= wanted.least && most(given) >= most(wanted),
        _ => {
            wanted == given
                && !matches!(agreement(language, required, member), Some(Agreement::Number | Agreement::None))
        }
    }
}
