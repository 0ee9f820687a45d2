//! Conditions: `#[cfg(…)]`, and whether any ordinary build meets them.
//!
//! An ordinary build has a package's default features, or all of them. Code that neither enables is not
//! compiled: a variant for `no_std`, or code for a model checker. The target system and test builds are left
//! open.

use tree_sitter::Node;

use super::cargo::Package;
use super::extractor::{Reader, Source};
use super::modules::Project;
use crate::facts::Condition;
use crate::world::FileId;

impl Reader {
    /// Records the condition that an attribute sets for the item after it, or around it.
    pub(super) fn conditional(&mut self, source: Source<'_>, attribute: Node<'_>) {
        let text = source.of(attribute);
        let Some((_, inner)) = text.split_once("cfg(") else { return };
        let Some((predicate, _)) = inner.rsplit_once(')') else { return };
        let meant = if text.starts_with("#!") { attribute.parent() } else { following(attribute) };
        let Some(meant) = meant else { return };
        let text = predicate.split_whitespace().collect::<String>().into();
        let (line, end_line) = (source.line(attribute), source.end_line(meant));
        self.facts.conditions.push(Condition { text, line, end_line });
    }
}

/// Returns the item after an attribute.
fn following(attribute: Node<'_>) -> Option<Node<'_>> {
    let mut next = attribute.next_named_sibling();
    while let Some(node) = next.filter(|node| node.kind() == "attribute_item" || node.is_extra()) {
        next = node.next_named_sibling();
    }
    next
}

impl Project<'_> {
    /// Returns true if no ordinary build compiles a line.
    pub(super) fn is_left_out(&self, file: FileId, line: u32) -> bool {
        let Some(package) = self.package(file) else { return false };
        let mut at = Some((file, line));
        for _ in 0..64 {
            let Some((file, line)) = at else { break };
            let Some(sheet) = self.sheet(file) else { break };
            let around = |condition: &&Condition| (condition.line..=condition.end_line).contains(&line);
            if sheet
                .facts
                .conditions
                .iter()
                .filter(around)
                .any(|condition| is_unmet(&condition.text, &package))
            {
                return true;
            }
            at = self.declared_at(file);
        }
        false
    }
}

/// Returns true if neither of the ordinary builds meets a condition.
fn is_unmet(text: &str, package: &Package) -> bool {
    [false, true].iter().all(|all| holds(text, package, *all, 0) == Some(false))
}

/// Returns true if a condition holds with the default features or with all. `None` if it depends on more.
fn holds(text: &str, package: &Package, all: bool, depth: usize) -> Option<bool> {
    if depth > 16 {
        return None;
    }
    if let Some((head, inner)) = text.strip_suffix(')').and_then(|text| text.split_once('(')) {
        let mut parts = parts(inner).into_iter().map(|part| holds(part, package, all, depth + 1));
        return match head {
            "not" => parts.next().flatten().map(|part| !part),
            "all" => decided(parts, false),
            "any" => decided(parts, true),
            _ => None,
        };
    }
    match text.split_once('=') {
        Some(("feature", name)) => Some(all || package.has_by_default(name.trim_matches('"'))),
        Some(_) => None,
        None => match text {
            "test" | "unix" | "windows" | "debug_assertions" | "proc_macro" | "overflow_checks" => None,
            "true" => Some(true),
            _ if !text.chars().all(|c| c.is_alphanumeric() || c == '_') || text.is_empty() => None,
            // Only a build script sets its own names, or the user who builds, with flags.
            _ if package.has_build_script => None,
            _ => Some(false),
        },
    }
}

/// Combines conditions: `any` is decided by one that holds, `all` by one that does not.
fn decided(parts: impl Iterator<Item = Option<bool>>, by: bool) -> Option<bool> {
    let mut open = false;
    for part in parts {
        match part {
            Some(part) if part == by => return Some(by),
            Some(_) => {}
            None => open = true,
        }
    }
    (!open).then_some(!by)
}

/// Returns the texts between the commas outside brackets.
fn parts(text: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut start) = (Vec::new(), 0_u32, 0);
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts.retain(|part| !part.is_empty());
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::MemoryWorld;

    #[test]
    fn condition_outside_ordinary_builds_is_unmet() {
        let manifest = "[package]\nname = \"a\"\n[features]\ndefault = [\"more\"]\nmore = [\"std\"]\nstd = []\nextra = []\n";
        let world = MemoryWorld::new([("Cargo.toml", manifest), ("src/lib.rs", "")]);
        let package = Package::of(&world, "").unwrap();
        for unmet in [
            "not(feature=\"std\")",
            "all(unix,not(feature=\"std\"))",
            "loom",
            "any(loom,not(feature=\"more\"))",
            "not(any(feature=\"std\",windows))",
        ] {
            assert!(is_unmet(unmet, &package), "{unmet}");
        }
        for met in [
            "feature=\"std\"",
            "feature=\"extra\"",
            "not(feature=\"extra\")",
            "test",
            "not(test)",
            "windows",
            "target_os=\"macos\"",
            "not(loom)",
            "all(",
            "",
        ] {
            assert!(!is_unmet(met, &package), "{met}");
        }
    }
}
