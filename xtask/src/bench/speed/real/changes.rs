//! Seeded changes of a repository: a definition is renamed, removed or takes another argument.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use lockstep_refs::facts::{Definition, DefinitionKind, Reach};
use lockstep_refs::language::{self, Language};

use super::super::super::ground_truth::SplitMix64;

pub(super) struct Change {
    pub(super) file: String,
    pub(super) name: String,
    pub(super) kind: ChangeKind,
    pub(super) old: String,
    pub(super) new: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ChangeKind {
    /// A definition gets another name in its whole file.
    Rename,
    /// A member of a type gets another name where it is defined.
    Member,
    Remove,
    /// A function takes another argument.
    Signature,
}

impl ChangeKind {
    const ALL: [Self; 4] = [Self::Rename, Self::Member, Self::Remove, Self::Signature];

    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Rename => "rename",
            Self::Member => "rename member",
            Self::Remove => "remove",
            Self::Signature => "add argument",
        }
    }
}

/// Chooses changes of the most frequent language. Their names occur in another file too, which `is_elsewhere` tells. The kinds take
/// turns.
pub(super) fn choose(
    root: &Path,
    listed: &str,
    (seed, count): (u64, usize),
    is_elsewhere: &dyn Fn(&str) -> bool,
) -> Vec<Change> {
    let mut by_language: BTreeMap<Language, Vec<&str>> = BTreeMap::new();
    for path in listed.lines().filter(|path| is_source(path)) {
        by_language.entry(Language::of(path)).or_default().push(path);
    }
    let files = by_language.into_values().max_by_key(Vec::len).unwrap_or_default();
    let mut random = SplitMix64(seed);
    let mut changes: Vec<Change> = Vec::new();
    for _ in 0..count * 40 {
        if changes.len() == count || files.is_empty() {
            break;
        }
        let file = files[at_most(random.next(), files.len())];
        let kind = ChangeKind::ALL[changes.len() % ChangeKind::ALL.len()];
        let Ok(old) = fs::read_to_string(root.join(file)) else { continue };
        let mut definitions = language::facts(file, &old).definitions;
        definitions.retain(|definition| definition.reach > Reach::File && is_of(kind, definition.kind));
        if definitions.is_empty() {
            continue;
        }
        let definition = &definitions[at_most(random.next(), definitions.len())];
        let changed = changed(kind, file, &old, definition).filter(|new| *new != old);
        if let Some(new) = changed.filter(|_| is_elsewhere(&definition.name)) {
            changes.push(Change { file: file.to_owned(), name: definition.name.to_string(), kind, old, new });
        }
    }
    changes
}

fn is_of(kind: ChangeKind, definition: DefinitionKind) -> bool {
    use DefinitionKind::{Field, Function, Method, Module, Variant};
    match kind {
        ChangeKind::Rename => definition != Module,
        ChangeKind::Member => matches!(definition, Field | Method | Variant),
        ChangeKind::Remove => !matches!(definition, Module | Variant),
        ChangeKind::Signature => matches!(definition, Function | Method),
    }
}

fn changed(kind: ChangeKind, file: &str, old: &str, definition: &Definition) -> Option<String> {
    let name = &*definition.name;
    let new_name = format!("{name}Renamed");
    let (first, last) = (definition.line as usize, definition.end_line as usize);
    let lines = (1..).zip(old.split_inclusive('\n'));
    match kind {
        ChangeKind::Rename => Some(replace_words(old, name, &new_name)),
        ChangeKind::Member => {
            let here = |(at, line): (usize, &str)| match at == first {
                true => replace_words(line, name, &new_name),
                false => line.to_owned(),
            };
            Some(lines.map(here).collect())
        }
        ChangeKind::Remove => {
            Some(lines.filter(|(at, _)| !(first..=last).contains(at)).map(|(_, line)| line).collect())
        }
        ChangeKind::Signature => {
            let mut found = None;
            let new = lines.map(|(at, line)| match (first..=last).contains(&at) && found.is_none() {
                true => {
                    found = with_argument(Language::of(file), line, name);
                    found.clone().unwrap_or_else(|| line.to_owned())
                }
                false => line.to_owned(),
            });
            let new: String = new.collect();
            found.map(|_| new)
        }
    }
}

/// Adds a parameter behind the name of a function, and behind its receiver.
fn with_argument(language: Language, line: &str, name: &str) -> Option<String> {
    const RECEIVERS: [&str; 5] = ["&mut self", "&self", "mut self", "self", "cls"];
    let parameter = match language {
        Language::Python => "added",
        Language::TypeScript | Language::Tsx => "added: number",
        Language::Rust => "added: u32",
        Language::Go => "added int",
        _ => return None,
    };
    let open = line.find(&format!("{name}("))? + name.len() + 1;
    let (before, after) = line.split_at(open);
    let receiver =
        RECEIVERS.iter().find(|candidate| after.starts_with(**candidate)).copied().unwrap_or_default();
    let rest = &after[receiver.len()..];
    Some(match (receiver, rest.starts_with(')')) {
        ("", true) => format!("{before}{parameter}{rest}"),
        ("", false) => format!("{before}{parameter}, {rest}"),
        (receiver, _) => format!("{before}{receiver}, {parameter}{rest}"),
    })
}

fn at_most(random: u64, len: usize) -> usize {
    usize::try_from(random % len.max(1) as u64).unwrap_or(0)
}

fn is_source(path: &str) -> bool {
    use Language::{Html, Json, Markdown, Text, Toml, Yaml};
    !matches!(Language::of(path), Html | Json | Markdown | Text | Toml | Yaml)
        && !path.ends_with(".d.ts")
        && !path.contains("vendor/")
        && !path.starts_with("dist/")
}

fn replace_words(text: &str, word: &str, new: &str) -> String {
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$');
    let mut result = String::with_capacity(text.len() + 64);
    let mut end = 0;
    for (at, _) in text.match_indices(word) {
        let before = text[..at].chars().next_back();
        let after = text[at + word.len()..].chars().next();
        if at >= end && !before.is_some_and(is_word) && !after.is_some_and(is_word) {
            result.push_str(&text[end..at]);
            result.push_str(new);
            end = at + word.len();
        }
    }
    result.push_str(&text[end..]);
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_words_are_renamed() {
        assert_eq!(replace_words("ab abc ab$ (ab) ab", "ab", "x"), "x abc ab$ (x) x");
        assert_eq!(replace_words("a.b", "c", "x"), "a.b");
    }

    #[test]
    fn definition_is_changed_by_its_kind() {
        let old = "def f(a):\n    return a\n\nclass C:\n    def m(self):\n        return f(1)\n";
        let definitions = language::facts("a.py", old).definitions;
        let of = |kind, name: &str| {
            let definition = definitions.iter().find(|definition| *definition.name == *name).unwrap();
            changed(kind, "a.py", old, definition).unwrap()
        };
        assert!(of(ChangeKind::Rename, "f").contains("return fRenamed(1)"));
        assert!(of(ChangeKind::Remove, "f").starts_with("\nclass C:"));
        assert!(of(ChangeKind::Signature, "f").starts_with("def f(added, a):"));
        assert!(of(ChangeKind::Signature, "m").contains("def m(self, added):"));
        assert!(of(ChangeKind::Member, "m").contains("def mRenamed(self)"));
    }
}
