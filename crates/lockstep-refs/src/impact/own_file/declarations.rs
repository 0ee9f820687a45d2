//! Functions of C that no longer match the declaration in a header that their file includes: the compiler rejects the definition.

use crate::definition_diff::{DefinitionChangeKind, SymbolChange};
use crate::facts::{Definition, DefinitionKind, Facts};
use crate::language::Language;
use crate::signature::{self, Agreement};
use crate::syntax::{TOKEN_END, is_empty_digest};
use crate::world::{World, base};

/// A changed definition beside its declaration.
pub(super) struct ConflictingDefinition {
    pub(super) line: u32,
    pub(super) name: Box<str>,
    pub(super) reason: String,
}

/// Returns the definitions whose signature differs from the declaration that the file includes. `world` has
/// the file after the edit, whose content is `facts`.
pub(super) fn conflicting_definitions(
    world: &dyn World,
    facts: &Facts,
    changes: &[SymbolChange],
) -> Vec<ConflictingDefinition> {
    if !matches!(facts.language, Language::C | Language::Cpp) {
        return Vec::new();
    }
    let is_function = |definition: &Definition| {
        matches!(definition.kind, DefinitionKind::Function | DefinitionKind::Method)
    };
    let is_changed = |change: &SymbolChange| {
        matches!(
            change.what,
            DefinitionChangeKind::SignatureChanged { .. }
                | DefinitionChangeKind::VisibilityReduced
                | DefinitionChangeKind::Compatible
        )
    };
    let resigned = changes.iter().filter(|change| is_function(&change.was) && is_changed(change));
    let now = |was: &Definition| {
        facts
            .definitions
            .iter()
            .find(|definition| is_same(definition, was) && !is_empty_digest(definition.body))
    };
    let conflicts = resigned.filter_map(|change| now(&change.was)).filter_map(|definition| {
        let header = conflicting_prototype(facts, definition)
            .or_else(|| conflicting_header(world, facts, definition))?;
        Some(ConflictingDefinition {
            line: definition.line,
            name: definition.name.clone(),
            reason: format!("{} has another signature than its declaration in {header}", definition.name),
        })
    });
    conflicts.collect()
}

/// The file itself, if it declares a function of C in another way than it defines it.
fn conflicting_prototype(facts: &Facts, definition: &Definition) -> Option<String> {
    let conflicts = |candidate: &&Definition| {
        let agreement = signature::agreement(facts.language, definition, candidate);
        is_same(candidate, definition)
            && is_empty_digest(candidate.body)
            && agreement.is_some_and(|agreement| agreement != Agreement::Types)
    };
    let is_c = facts.language == Language::C && definition.kind == DefinitionKind::Function;
    facts.definitions.iter().filter(|_| is_c).find(conflicts).map(|_| "the same file".to_owned())
}

fn is_same(definition: &Definition, other: &Definition) -> bool {
    definition.kind == other.kind && definition.name == other.name && definition.container == other.container
}

/// The included header with a declaration that does not agree; `None` if one agrees.
fn conflicting_header(world: &dyn World, facts: &Facts, definition: &Definition) -> Option<String> {
    let is_included = |path: &str| facts.imports.iter().any(|import| base(&import.module) == base(path));
    let mut conflict = None;
    for file in world.defining(&definition.name) {
        let path = world.path(file);
        let Some(header) = world.facts(file).filter(|_| is_included(path)) else { continue };
        for declared in header
            .definitions
            .iter()
            .filter(|candidate| is_same(candidate, definition) && is_empty_digest(candidate.body))
        {
            // The header of a method outside its class contains the class.
            if definition.kind == DefinitionKind::Method && definition.arity == declared.arity {
                return None;
            }
            if is_static(definition) && !is_static(declared) && definition.kind == DefinitionKind::Function {
                conflict = Some(path.to_owned());
                continue;
            }
            match signature::agreement(facts.language, definition, declared) {
                Some(Agreement::Types) | None => return None,
                Some(_) => conflict = Some(path.to_owned()),
            }
        }
    }
    conflict
}

fn is_static(function: &Definition) -> bool {
    function.header.split(TOKEN_END).any(|token| token == "static")
}
