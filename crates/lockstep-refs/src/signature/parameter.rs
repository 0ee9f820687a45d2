//! The parameters of a header.

use super::header::{depth_zero, split, without_annotations};
use crate::language::Language;

#[derive(Debug, Default, Clone)]
pub(super) struct Parameter<'t> {
    /// Empty if it has none.
    pub(super) name: &'t str,
    /// The label by which a call in Swift must pass it; `_` if it has none.
    pub(super) label: &'t str,
    pub(super) type_: Vec<&'t str>,
    /// Words that belong to neither: `ref`, `inout`, `vararg`.
    pub(super) modifiers: Vec<&'t str>,
    pub(super) is_optional: bool,
    pub(super) takes: Takes,
}

/// The arguments that a parameter takes.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) enum Takes {
    /// One, by position or by name.
    #[default]
    One,
    Named,
    /// One, by its position only.
    Placed,
    /// All further ones.
    Rest,
    /// All further named ones.
    NamedRest,
    Block,
}

impl Parameter<'_> {
    pub(super) fn is_placed(&self) -> bool {
        matches!(self.takes, Takes::One | Takes::Placed)
    }
}

/// Reads the tokens between the parentheses.
pub(super) fn parameters<'t>(language: Language, tokens: &[&'t str]) -> Vec<Parameter<'t>> {
    use Language::{
        C, CSharp, Cpp, Go, Java, JavaScript, Kotlin, Php, Python, Ruby, Rust, Swift, Tsx, TypeScript,
    };
    let parts = split(tokens);
    let parts = parts.iter().map(|part| without_annotations(language, part).0);
    match language {
        Go => go(&parts.collect::<Vec<_>>()),
        Python => python(&parts.collect::<Vec<_>>()),
        Ruby => parts.map(|part| ruby(&part)).collect(),
        C | Cpp if tokens == ["void"] => Vec::new(),
        C | Cpp => parts.map(|part| c(&part)).collect(),
        Java | CSharp | Php => parts.map(|part| type_first(&part)).collect(),
        TypeScript | Tsx | JavaScript | Kotlin | Rust | Swift => {
            parts.map(|part| name_first(language, &part)).collect()
        }
        _ => Vec::new(),
    }
}

/// Splits off the default after `=`.
fn without_default<'a, 't>(part: &'a [&'t str]) -> (&'a [&'t str], bool) {
    match depth_zero(part, |token| token == "=") {
        Some(at) => (&part[..at], true),
        None => (part, false),
    }
}

/// `name: Type = default`, with modifiers before the name.
fn name_first<'t>(language: Language, part: &[&'t str]) -> Parameter<'t> {
    let (part, mut is_optional) = without_default(part);
    let colon = depth_zero(part, |token| token == ":");
    let (before, type_) = part.split_at(colon.unwrap_or(part.len()));
    let mut type_: Vec<&str> = type_.iter().skip(1).copied().collect();
    let mut found = Parameter::default();
    if language == Language::Rust && part.last() == Some(&"self") && colon.is_none() {
        return Parameter { name: "self", type_: part.to_vec(), ..found };
    }
    let mut names: Vec<&str> = before.to_vec();
    if names.last() == Some(&"?") {
        names.pop();
        is_optional = true;
    }
    if names.first() == Some(&"...") || names.first() == Some(&"vararg") || type_.last() == Some(&"...") {
        names.retain(|token| !matches!(*token, "..." | "vararg"));
        type_.retain(|token| *token != "...");
        found.takes = Takes::Rest;
    }
    if language == Language::Swift {
        found.label = names.first().copied().unwrap_or_default();
        found.modifiers = type_.iter().copied().filter(|name| *name == "inout").collect();
        type_.retain(|name| !matches!(*name, "inout" | "@escaping" | "@" | "escaping" | "autoclosure"));
    }
    found.name = names.last().copied().unwrap_or_default();
    Parameter { type_, is_optional, ..found }
}

/// `Type name = default`, of Java, C# and PHP.
fn type_first<'t>(part: &[&'t str]) -> Parameter<'t> {
    const HARMLESS: &[&str] =
        &["final", "public", "private", "protected", "readonly", "scoped", "var", "val"];
    const MODIFIERS: &[&str] = &["ref", "out", "in", "this", "&"];
    let (part, is_optional) = without_default(part);
    let mut found = Parameter { is_optional, ..Parameter::default() };
    let mut words: Vec<&str> = part.iter().copied().filter(|name| !HARMLESS.contains(name)).collect();
    if words.contains(&"...") || words.contains(&"params") {
        found.takes = Takes::Rest;
        // A call passes the elements of `params T[]`.
        let is_array = words.contains(&"params");
        words.retain(|token| !matches!(*token, "..." | "params"));
        if is_array && let Some(at) = words.iter().rposition(|token| *token == "[") {
            words.drain(at..(at + 2).min(words.len()));
        }
    }
    found.modifiers = words.iter().copied().filter(|word| MODIFIERS.contains(word)).collect();
    words.retain(|word| !MODIFIERS.contains(word));
    // `int a[]` is an `int[]`.
    let brackets = words.iter().rev().take_while(|word| matches!(**word, "[" | "]")).count();
    let tail = words.split_off(words.len() - brackets);
    found.name = words.pop().unwrap_or_default();
    if words.last() == Some(&"$") {
        words.pop();
    }
    words.extend(tail);
    Parameter { type_: words, ..found }
}

/// Parses a parameter of C and C++, where the name may be missing and is inside its type.
fn c<'t>(part: &[&'t str]) -> Parameter<'t> {
    const NAMELESS: &[&str] = &[
        "const", "volatile", "restrict", "struct", "enum", "union", "unsigned", "signed", "int", "char",
        "long", "short", "float", "double", "void", "bool", "_Bool", "auto", "size_t", "register",
    ];
    let (part, is_optional) = without_default(part);
    if part.first() == Some(&"...") {
        return Parameter { takes: Takes::Rest, ..Parameter::default() };
    }
    let is_word =
        |name: &str| name.starts_with(|c: char| c.is_alphabetic() || c == '_') && !NAMELESS.contains(&name);
    let inner = part
        .windows(4)
        .position(|window| window[0] == "(" && window[1] == "*" && is_word(window[2]) && window[3] == ")");
    let at = match inner {
        Some(at) => Some(at + 2),
        None => {
            let end = depth_zero(part, |token| token == "[").unwrap_or(part.len());
            let last = end.checked_sub(1).filter(|at| is_word(part[*at]));
            last.filter(|at| *at > 0 && !matches!(part[at - 1], "::" | "struct" | "enum" | "union" | "const"))
        }
    };
    let mut type_: Vec<&str> =
        part.iter().copied().filter(|name| !matches!(*name, "register" | "restrict")).collect();
    let mut name = "";
    if let Some(found) = at.and_then(|at| type_.iter().rposition(|text| *text == part[at])) {
        name = type_.remove(found);
    }
    Parameter { name, type_, is_optional, ..Parameter::default() }
}

/// Parses the parameters of Go, where several names share a type.
fn go<'t>(parts: &[Vec<&'t str>]) -> Vec<Parameter<'t>> {
    let is_named = |part: &Vec<&str>| {
        let keyword = matches!(part[0], "chan" | "func" | "map" | "interface" | "struct" | "*" | "[" | "...");
        let generic = part.get(1) == Some(&"[") && part.last() == Some(&"]");
        part.len() > 1 && !keyword && part[1] != "." && !generic
    };
    let named = parts.iter().any(is_named);
    let mut found: Vec<Parameter<'t>> = Vec::new();
    for part in parts.iter().rev() {
        let (name, type_) = match named {
            true if part.len() == 1 => {
                (part[0], found.last().map(|parameter| parameter.type_.clone()).unwrap_or_default())
            }
            true => (part[0], part[1..].to_vec()),
            false => ("", part.clone()),
        };
        let rest = type_.first() == Some(&"...");
        let type_ = if rest { type_[1..].to_vec() } else { type_ };
        let takes = if rest { Takes::Rest } else { Takes::Placed };
        found.push(Parameter { name, type_, takes, ..Parameter::default() });
    }
    found.reverse();
    found
}

fn python<'t>(parts: &[Vec<&'t str>]) -> Vec<Parameter<'t>> {
    let mut found: Vec<Parameter<'t>> = Vec::new();
    let mut named_only = false;
    for part in parts {
        let (written, is_optional) = without_default(part);
        match written {
            ["/"] => found.iter_mut().for_each(|parameter| parameter.takes = Takes::Placed),
            ["*"] => named_only = true,
            _ => {
                let stars = written.iter().take_while(|name| matches!(**name, "*" | "**")).count();
                let takes = match (stars > 0, named_only) {
                    (true, _) if written[0] == "**" => Takes::NamedRest,
                    (true, _) => Takes::Rest,
                    (false, true) => Takes::Named,
                    (false, false) => Takes::One,
                };
                named_only |= takes == Takes::Rest;
                let name = written.get(stars).copied().unwrap_or_default();
                let colon = depth_zero(written, |token| token == ":");
                let type_ = colon.map(|at| written[at + 1..].to_vec()).unwrap_or_default();
                found.push(Parameter { name, type_, is_optional, takes, ..Parameter::default() });
            }
        }
    }
    found
}

fn ruby<'t>(part: &[&'t str]) -> Parameter<'t> {
    let (written, is_default) = without_default(part);
    let word = |at: usize| written.get(at).copied().unwrap_or_default();
    let (name, takes, is_optional) = match word(0) {
        "*" => (word(1), Takes::Rest, false),
        "**" => (word(1), Takes::NamedRest, false),
        "&" => (word(1), Takes::Block, true),
        name if word(1) == ":" => (name, Takes::Named, written.len() > 2),
        name if name.ends_with(':') => (name.trim_end_matches(':'), Takes::Named, written.len() > 1),
        name => (name, Takes::Placed, is_default),
    };
    Parameter { name, is_optional, takes, ..Parameter::default() }
}
