//! Unions of literals in TypeScript that got one more: `"low" | "high"` is now `"low" | "mid" | "high"`.

use super::{Action, Obligation};
use crate::facts::{Definition, DefinitionKind, Facts};
use crate::language::Language;
use crate::package::is_type;

/// The obligations of literals that unions have now and did not have before.
pub(super) fn grown((old, former): (&Facts, &str), (new, now): (&Facts, &str)) -> Vec<Obligation> {
    if !matches!(new.language, Language::TypeScript | Language::Tsx) {
        return Vec::new();
    }
    let mut found = Vec::new();
    for owner in new.definitions.iter().filter(|it| is_type(it)) {
        let same = |it: &&Definition| {
            it.kind == owner.kind && it.name == owner.name && it.container == owner.container
        };
        let Some(was) = old.definitions.iter().find(same) else { continue };
        let (before, after) = (literals(former, was), literals(now, owner));
        for added in after.iter().filter(|it| before.len() > 1 && !before.contains(it)) {
            let sibling =
                |name: &&str| Definition::new(name, DefinitionKind::Variant, owner.line, owner.line);
            found.push(Obligation {
                owner: owner.clone(),
                member: (*added).into(),
                action: Action::Handle,
                siblings: before.iter().filter(|it| after.contains(it)).map(sibling).collect(),
                is_met: false,
            });
        }
    }
    found
}

/// The string literals of a union: of an alias or a field in TypeScript, of `Literal` in Python.
pub(super) fn literals<'t>(text: &'t str, alias: &Definition) -> Vec<&'t str> {
    let lines = text.lines().skip(alias.line.saturating_sub(1) as usize);
    let lines: Vec<&str> = lines.take((alias.end_line - alias.line + 1) as usize).collect();
    let Some(first) = lines.first() else { return Vec::new() };
    let is_union = match alias.kind {
        DefinitionKind::Field => first.contains(':') && !first.contains('{'),
        _ => is_type(alias) && crate::world::words(first).any(|word| word == "type"),
    };
    let is_union = is_union && lines.iter().any(|it| it.contains('|'));
    if !is_union && !first.contains("Literal[") {
        return Vec::new();
    }
    lines.iter().flat_map(|line| line.split(['"', '\'']).skip(1).step_by(2)).collect()
}
