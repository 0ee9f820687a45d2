//! The effect of an edit by its construction, for languages without a checker.

use std::collections::BTreeMap;

use lockstep_refs::facts::DefinitionKind;
use lockstep_refs::language::Language;
use lockstep_refs::world::World;

use super::checkout::Checkout;
use super::edits::{Edit, Kind};
use super::source::find_words;

/// Returns true if a name has one definition in the repository, and is long enough not to be a word of the
/// language.
pub(super) fn is_unique(checkout: &Checkout, name: &str) -> bool {
    if name.len() < 6 {
        return false;
    }
    let facts = checkout.world.containing(name).into_iter().filter_map(|file| checkout.world.facts(file));
    let definitions: usize = facts
        .map(|facts| facts.definitions.iter().filter(|definition| &*definition.name == name).count())
        .sum();
    definitions == 1
}

/// The files that break, each with a reason.
pub(super) fn broken(checkout: &Checkout, edit: &Edit) -> BTreeMap<String, String> {
    let Some(definition) = &edit.definition else { return BTreeMap::new() };
    let is_call = matches!(edit.kind, Kind::AddParameter | Kind::RemoveParameter | Kind::ReorderParameters);
    if !edit.kind.is_rename() && edit.kind != Kind::DeleteFunction && !is_call {
        return BTreeMap::new();
    }
    let mut broken = BTreeMap::new();
    for (path, text) in checkout.texts.iter().filter(|(path, _)| checkout.is_source(path)) {
        let code = code_of(text, checkout.language);
        let mut places = find_words(&code, &definition.name);
        if checkout.language == Language::Php {
            places.retain(|at| !is_otherwise_named(&code[..*at], definition.kind));
        }
        if checkout.language == Language::Ruby {
            places.retain(|at| !is_key(&code[at + definition.name.len()..]));
        }
        // A call of Ruby needs no parentheses.
        let is_paren_call = is_call && checkout.language != Language::Ruby;
        places.retain(|at| !is_paren_call || code[at + definition.name.len()..].starts_with(['(', '<']));
        // A property of PHP is declared as a variable, which is left out above.
        let line = text.lines().nth(definition.line.saturating_sub(1) as usize).unwrap_or_default();
        let is_variable =
            checkout.language == Language::Php && line.contains(&format!("${}", definition.name));
        let own = usize::from(*path == edit.file && !is_variable);
        if places.len() > own {
            broken.insert(path.clone(), format!("uses {}", definition.name));
        }
    }
    broken
}

/// Returns true if a name of Ruby is a key or part of a text: `name: 1`, `name=value`.
fn is_key(after: &str) -> bool {
    after.starts_with(':') && !after.starts_with("::")
        || after.starts_with('=') && !after.starts_with("==") && !after.starts_with("=>")
}

/// Returns true if a name of PHP is that of a variable, or of a function outside all namespaces: `$name`, `\\name`.
fn is_otherwise_named(before: &str, kind: DefinitionKind) -> bool {
    let is_variable = before.ends_with('$') && !before.ends_with("::$");
    let is_global =
        before.strip_suffix('\\').is_some_and(|rest| !rest.ends_with(|c: char| c.is_alphanumeric()));
    is_variable || kind == DefinitionKind::Function && is_global
}

/// The text with spaces in place of comments and strings.
fn code_of(text: &str, language: Language) -> String {
    let has_hash = matches!(language, Language::Ruby | Language::Php | Language::Python);
    let mut code = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '"' | '\'' | '`' => string_length(rest, first),
            '#' if has_hash && !rest.starts_with("#[") => line_length(rest),
            '/' if rest.starts_with("//") => line_length(rest),
            '/' if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |at| at + 2),
            _ => {
                code.push(first);
                rest = &rest[first.len_utf8()..];
                continue;
            }
        };
        code.extend(std::iter::repeat_n(' ', length));
        rest = &rest[length..];
    }
    code
}

fn line_length(rest: &str) -> usize {
    rest.find('\n').unwrap_or(rest.len())
}

/// A string ends on its line; an apostrophe without a partner is none.
fn string_length(rest: &str, quote: char) -> usize {
    let line = &rest[..line_length(rest)];
    let mut escaped = false;
    for (at, char) in line.char_indices().skip(1) {
        match char {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            char if char == quote => return at + 1,
            _ => {}
        }
    }
    1
}
