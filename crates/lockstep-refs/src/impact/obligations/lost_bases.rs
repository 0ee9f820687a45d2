//! Members that values of a type had only because the type extended or embedded another one.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::super::edit::Edit;
use super::{Search, Unmet};
use crate::facts::{Definition, DefinitionKind, Facts, Role};
use crate::language::{self, Language};
use crate::limits::Limit;
use crate::overlay::Overlay;
use crate::package::is_type;
use crate::reference::{Certainty, Reference, Target};
use crate::resolve::path_of;
use crate::world::{FileId, World};

/// More members of a base are not searched.
const MAX_MEMBERS: usize = 80;

/// Adds the uses of members that resolved through a base before the edit and do not now.
pub(super) fn find(
    search: &Search<'_>,
    edit: &Edit,
    (old, former): (&Facts, &str),
    new: &Facts,
    found: &mut Vec<Unmet>,
) {
    use Language::{C, CSharp, Cpp, Go, Java, Kotlin, Php, Python, Ruby, Swift, Tsx, TypeScript};
    let is_typed = matches!(new.language, C | CSharp | Cpp | Go | Java | Kotlin | Swift | Tsx | TypeScript);
    if !is_typed && !matches!(new.language, Php | Python | Ruby) {
        return;
    }
    let same = |a: &Definition, b: &Definition| a.name == b.name && a.container == b.container;
    for owner in new.definitions.iter().filter(|definition| is_type(definition)) {
        let Some(was) =
            old.definitions.iter().find(|definition| is_type(definition) && same(definition, owner))
        else {
            continue;
        };
        for base in was.extends.iter().filter(|base| !owner.extends.contains(base)) {
            let (facts, text) = (Arc::new(old.clone()), Some(Arc::from(former)));
            let before = Overlay::new(search.world, edit.former_path(), facts, text);
            let name = base.rsplit(['.', ':', '*']).next().unwrap_or(base).trim();
            for reference in lost_uses(&before, search.world, new.language, name) {
                found.push(Unmet {
                    file: reference.file,
                    line: reference.line,
                    pattern: reference.pattern.clone(),
                    reason: format!("{} has no {} without {name}", owner.name, reference.pattern),
                    owner: path_of(owner),
                });
            }
        }
    }
}

/// The uses of a type's members that only the former files resolve.
fn lost_uses(before: &dyn World, after: &dyn World, language: Language, base: &str) -> Vec<Reference> {
    let now: BTreeSet<(FileId, u32, Box<str>)> = uses(after, language, base)
        .into_iter()
        .map(|reference| (reference.file, reference.line, reference.pattern))
        .collect();
    let mut then = uses(before, language, base);
    // A member may stay without the base, unless it must say that it overrides one.
    let is_own = |role: Role| matches!(role, Role::Override | Role::Redefine | Role::Implement);
    then.retain(|reference| {
        reference.certainty == Certainty::Resolved
            && !(is_own(reference.role) && language != Language::Kotlin)
            && !now.contains(&(reference.file, reference.line, reference.pattern.clone()))
    });
    then
}

fn uses(world: &dyn World, language: Language, base: &str) -> Vec<Reference> {
    let mut found = Vec::new();
    let is_same = |candidate: Language| language::family(candidate) == language::family(language);
    for file in world.defining(base) {
        let Some(facts) = world.facts(file).filter(|facts| is_same(facts.language)) else { continue };
        let types =
            facts.definitions.iter().filter(|definition| is_type(definition) && *definition.name == *base);
        let paths: BTreeSet<String> = types.map(path_of).collect();
        let is_member = |definition: &&Definition| {
            matches!(definition.kind, DefinitionKind::Method | DefinitionKind::Field)
                && definition.container.as_ref().is_some_and(|path| paths.contains(&**path))
        };
        let symbols: Vec<Definition> =
            Limit::Names.take(facts.definitions.iter().filter(is_member), MAX_MEMBERS).cloned().collect();
        if symbols.is_empty() {
            continue;
        }
        for own_file in [false, true] {
            let target = Target { file, symbols: &symbols, module: false, now: None, own_file };
            let references = language::rules(language).referrers(world, &target);
            found.extend(references.into_iter().filter(|reference| !own_file || reference.file == file));
        }
    }
    found
}
