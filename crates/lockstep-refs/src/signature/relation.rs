//! Relations between two written types, as far as their texts show.

mod c;
mod containers;
mod go;
mod rust;
mod typescript;

use std::borrow::Cow;

use super::header::{closing, depth_zero, split};
use crate::language::Language;

use Language::{
    C, CSharp, Cpp, Go, Java, JavaScript, Kotlin, Php, Python, Ruby, Rust, Swift, Tsx, TypeScript,
};

/// A new type beside the old one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Relation {
    Same,
    /// Every value of the old type is one of the new type.
    Wider,
    /// Every value of the new type is one of the old type.
    Narrower,
    /// A value of the old type is converted where the new one is expected; a function type is another one.
    Converts,
    /// Only the definitions of the types would decide.
    Unknown,
    /// No value of one is a value of the other.
    Unrelated,
}

/// The type parameters of a changed function.
#[derive(Debug, Default)]
pub(super) struct TypeParameters<'t> {
    /// The type parameters of the new signature, with their bounds.
    bounds: Vec<(&'t str, Vec<&'t str>)>,
    /// The type parameters that were only renamed: the new name, then the old one.
    renamed: Vec<(&'t str, &'t str)>,
    /// Set if both signatures have the same ones, but for their names.
    pub(super) is_same: bool,
    /// True if only the new signature has any.
    pub(super) is_new: bool,
    /// True if every type argument of before meets the bounds.
    pub(super) is_wider: bool,
}

impl<'t> TypeParameters<'t> {
    pub(super) fn new(language: Language, old: &[Vec<&'t str>], new: &[Vec<&'t str>]) -> Self {
        let read = |list: &[Vec<&'t str>]| -> Vec<(&'t str, Vec<&'t str>)> {
            let one = |part: &Vec<&'t str>| {
                let part = without_lifetimes(language, part);
                let words = ["out", "in", "const", "reified", "typename", "class"];
                let at = part.iter().position(|word| !words.contains(word))?;
                let marks = |token: &&str| !matches!(*token, ":" | "extends");
                Some((part[at], part[at + 1..].iter().copied().filter(marks).collect()))
            };
            list.iter().filter_map(one).collect()
        };
        let (before, now) = (read(old), read(new));
        let renamed: Vec<_> = match before.len() == now.len() {
            true => now.iter().zip(&before).map(|(now, before)| (now.0, before.0)).collect(),
            false => Vec::new(),
        };
        let is_new = before.is_empty() && !now.is_empty();
        let mut found = Self { bounds: now, renamed, is_same: false, is_new, is_wider: false };
        let bounds: Vec<Vec<&str>> =
            found.bounds.iter().map(|(_, bound)| found.in_old_names(bound)).collect();
        let are_wider = bounds.iter().zip(&before).all(|(now, (_, was))| accepts_all(language, was, now));
        found.is_same = bounds.iter().eq(before.iter().map(|(_, bound)| bound));
        found.is_wider = bounds.len() == before.len() && are_wider;
        found
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &'t str> {
        self.bounds.iter().map(|(name, _)| *name)
    }

    fn in_old_names(&self, tokens: &[&'t str]) -> Vec<&'t str> {
        let old =
            |name: &&'t str| self.renamed.iter().find(|(new, _)| new == name).map_or(*name, |(_, old)| *old);
        tokens.iter().map(old).collect()
    }

    /// Returns the part of a former type in the place of a type parameter of the new one, and the bound of that.
    fn inferred<'o>(&self, old: &'o [&'o str], new: &[&str]) -> Option<(&'o [&'o str], &[&'t str])> {
        let (name, bound) = self.bounds.iter().find(|(name, _)| new.contains(name))?;
        Some((part_at(old, new, name)?, bound.as_slice()))
    }
}

/// Returns the part of a type that stands where another one has a name, if they are the same otherwise.
pub(super) fn part_at<'p, 't>(was: &'p [&'t str], now: &[&str], name: &str) -> Option<&'p [&'t str]> {
    let at = now.iter().position(|text| *text == name)?;
    let behind = now.len() - at - 1;
    let end = was.len().checked_sub(behind).filter(|end| *end > at)?;
    (was[..at] == now[..at] && was[end..] == now[at + 1..]).then(|| &was[at..end])
}

/// Relates two types, each as its tokens; an empty one is not written down.
pub(super) fn relation(
    language: Language,
    old: &[&str],
    new: &[&str],
    free: &TypeParameters<'_>,
) -> Relation {
    let old = normalised(language, old);
    let new = normalised(language, new);
    let renamed: Vec<&str> = new
        .iter()
        .map(|name| free.renamed.iter().find(|(new, _)| new == name).map_or(&**name, |(_, old)| *old))
        .collect();
    let old: Vec<&str> = old.iter().map(|name| &**name).collect();
    if old == renamed {
        return Relation::Same;
    }
    // A new type hint is assumed to describe the values that are already passed.
    if matches!(language, Ruby | JavaScript) || language == Python && old.is_empty() {
        return Relation::Same;
    }
    let new: Vec<&str> = new.iter().map(|name| &**name).collect();
    if let Some((part, bound)) = free.inferred(&old, &new).filter(|_| free.is_new) {
        return bounded(language, part, bound);
    }
    if old.is_empty() || new.is_empty() {
        return if new.is_empty() { Relation::Wider } else { Relation::Unknown };
    }
    relate_types(language, &old, &new)
}

/// Returns true if every type that meets one bound meets another.
fn accepts_all(language: Language, was: &[&str], now: &[&str]) -> bool {
    let parts = |bound: &[&str], separator: &str| -> Vec<String> {
        bound.split(|name| *name == separator).map(|part| part.concat()).collect()
    };
    match language {
        Go => {
            let (was, now) = (parts(was, "|"), parts(now, "|"));
            let takes = |name: &String| now.contains(name) || now.contains(&format!("~{name}"));
            now == ["any"] || was.iter().all(takes)
        }
        Rust => now.is_empty() || parts(now, "+").iter().all(|part| parts(was, "+").contains(part)),
        _ => was == now,
    }
}

/// Relates a type to the bound of a type parameter, which accepts everything that its bound accepts.
fn bounded(language: Language, old: &[&str], bound: &[&str]) -> Relation {
    if bound.is_empty() || bound == ["any"] && language == Go {
        return Relation::Wider;
    }
    let is_listed =
        || bound.split(|token| *token == "|").any(|one| one.strip_prefix(&["~"]).unwrap_or(one) == old);
    if language == Go && is_listed() {
        return Relation::Wider;
    }
    let bound = match language {
        Rust => [&["impl"], bound].concat(),
        _ => bound.to_vec(),
    };
    match relation(language, old, &bound, &TypeParameters::default()) {
        Relation::Same | Relation::Wider => Relation::Wider,
        Relation::Converts => Relation::Converts,
        // A function that became generic is assumed to accept the values that it was given.
        _ if language == Rust || language == Go && !bound.contains(&"|") => Relation::Converts,
        _ => Relation::Unknown,
    }
}

fn relate_types(language: Language, old: &[&str], new: &[&str]) -> Relation {
    if is_top(language, new) {
        return Relation::Wider;
    }
    if is_top(language, old) {
        return Relation::Narrower;
    }
    let (before, now) = (union(language, old), union(language, new));
    if before.len() > 1 || now.len() > 1 {
        let covers = |by: &[Vec<&str>], all: &[Vec<&str>]| {
            all.iter().all(|one| by.iter().any(|slice| is_within(language, one, slice)))
        };
        return match (covers(&now, &before), covers(&before, &now)) {
            (true, true) => Relation::Same,
            (true, false) => Relation::Wider,
            (false, true) => Relation::Narrower,
            (false, false) => Relation::Unknown,
        };
    }
    match one(language, old, new) {
        Relation::Unknown if one(language, new, old) == Relation::Wider => Relation::Narrower,
        relation => relation,
    }
}

fn is_within(language: Language, old: &[&str], new: &[&str]) -> bool {
    old == new || matches!(one(language, old, new), Relation::Same | Relation::Wider)
}

/// Relates two types that are no unions.
fn one(language: Language, old: &[&str], new: &[&str]) -> Relation {
    let special = match language {
        Rust => rust::rust(old, new),
        C | Cpp => c::c(language, old, new),
        TypeScript | Tsx => typescript::typescript(old, new),
        Go => go::relate(old, new),
        _ => None,
    };
    if let Some(relation) = special {
        return relation;
    }
    if let ([from], [to]) = (old, new)
        && let Some(relation) = simple(language, from, to)
    {
        return relation;
    }
    if let Some(relation) = containers::containers(language, old, new) {
        return relation;
    }
    // A literal number fits several types.
    let numbers = is_number(old) && is_number(new) && matches!(language, Rust | Go | Swift | Kotlin);
    match is_built_in(language, old) && is_built_in(language, new) && !numbers {
        true => Relation::Unrelated,
        false => Relation::Unknown,
    }
}

fn is_number(tokens: &[&str]) -> bool {
    let [word] = tokens else { return false };
    let lower = word.to_lowercase();
    ["int", "uint", "float", "double", "long", "short", "byte", "i", "u", "f"]
        .iter()
        .any(|name| lower.strip_prefix(name).is_some_and(|rest| rest.chars().all(|c| c.is_ascii_digit())))
        || matches!(*word, "usize" | "isize")
}

/// Returns types without parts that do not affect callers.
fn normalised<'t>(language: Language, tokens: &[&'t str]) -> Vec<Cow<'t, str>> {
    let mut tokens = without_lifetimes(language, tokens);
    match language {
        C | Cpp => {
            tokens.retain(|token| {
                !matches!(*token, "struct" | "enum" | "union" | "volatile" | "typename" | "restrict")
            });
            if let Some(at) = tokens.iter().position(|token| *token == "[") {
                // An array is passed as a pointer.
                tokens.truncate(at);
                tokens.push("*");
            }
            let last = tokens.iter().rposition(|token| matches!(*token, "*" | "&" | "&&"));
            match last {
                // The constness of the pointer itself concerns only the function.
                Some(at) => {
                    tokens = tokens
                        .iter()
                        .enumerate()
                        .filter(|(i, token)| *i < at || **token != "const")
                        .map(|(_, token)| *token)
                        .collect()
                }
                None => tokens.retain(|token| *token != "const"),
            }
            if let Some(at) = tokens
                .iter()
                .position(|token| *token == "const")
                .filter(|at| *at > 0 && tokens.get(at + 1).is_some_and(|token| matches!(*token, "*" | "&")))
            {
                // `T const *` is `const T *`.
                tokens.remove(at);
                tokens.insert(0, "const");
            }
        }
        Python => {
            let module = |at: usize| {
                tokens.get(at + 1) == Some(&".")
                    && matches!(tokens[at], "typing" | "t" | "collections" | "abc")
            };
            let mut normalized = Vec::new();
            let mut at = 0;
            while at < tokens.len() {
                if module(at) {
                    at += 2;
                } else {
                    normalized.push(tokens[at]);
                    at += 1;
                }
            }
            return normalized
                .into_iter()
                .filter(|token| !matches!(*token, "\"" | "'"))
                .map(python_name)
                .collect();
        }
        Php => {
            return tokens
                .into_iter()
                .map(|token| Cow::Owned(token.trim_start_matches('\\').to_owned()))
                .collect();
        }
        Go if tokens == ["interface", "{", "}"] || tokens == ["interface", "{}"] => tokens = vec!["any"],
        _ => {}
    }
    tokens.into_iter().map(Cow::Borrowed).collect()
}

/// `List` of `typing` is `list`.
fn python_name(name: &str) -> Cow<'_, str> {
    match name {
        "List" | "Dict" | "Set" | "Tuple" | "FrozenSet" | "Type" => Cow::Owned(name.to_lowercase()),
        _ => Cow::Borrowed(name),
    }
}

fn without_lifetimes<'t>(language: Language, tokens: &[&'t str]) -> Vec<&'t str> {
    if language != Rust {
        return tokens.to_vec();
    }
    let mut normalized = Vec::new();
    let mut skip = false;
    for token in tokens {
        if skip {
            skip = false;
        } else if *token == "'" {
            skip = true;
        } else if !token.starts_with('\'') {
            normalized.push(*token);
        }
    }
    normalized
}

fn is_top(language: Language, tokens: &[&str]) -> bool {
    match language {
        Python => matches!(tokens, ["Any" | "object"]),
        TypeScript | Tsx => matches!(tokens, ["any" | "unknown"]),
        Java => matches!(tokens, ["Object"]),
        Kotlin => matches!(tokens, ["Any", "?"]),
        Swift => matches!(tokens, ["Any"] | ["Any", "?"]),
        CSharp => matches!(tokens, ["object" | "dynamic"] | ["object", "?"]),
        Go => matches!(tokens, ["any"]),
        Php => matches!(tokens, ["mixed"]),
        _ => false,
    }
}

/// The members of a union; a type that may be absent has `null` among them.
fn union<'t>(language: Language, tokens: &[&'t str]) -> Vec<Vec<&'t str>> {
    let mut members: Vec<Vec<&str>> = Vec::new();
    let inside = |head: &str| {
        let is =
            tokens.first() == Some(&head) && tokens.get(1).is_some_and(|token| matches!(*token, "[" | "<"));
        (is && closing(tokens, 1) == Some(tokens.len() - 1)).then(|| &tokens[2..tokens.len() - 1])
    };
    match language {
        Python => {
            if let Some(inner) = inside("Optional") {
                members = union(language, inner);
                members.push(vec!["None"]);
            } else if let Some(inner) = inside("Union") {
                members = split(inner).iter().flat_map(|slice| union(language, slice)).collect();
            } else {
                members = bars(tokens);
            }
        }
        TypeScript | Tsx => members = bars(tokens),
        Php => match tokens.split_first() {
            Some((&"?", rest)) => members.extend([rest.to_vec(), vec!["null"]]),
            _ => members = bars(tokens),
        },
        Kotlin | Swift | CSharp => match (tokens.split_last(), inside("Optional")) {
            (Some((&"?", rest)), _) => members.extend([rest.to_vec(), vec!["null"]]),
            (_, Some(inner)) if language == Swift => members.extend([inner.to_vec(), vec!["null"]]),
            _ => {}
        },
        _ => {}
    }
    if members.is_empty() { vec![tokens.to_vec()] } else { members }
}

fn bars<'t>(tokens: &[&'t str]) -> Vec<Vec<&'t str>> {
    let mut members = Vec::new();
    let mut rest = tokens;
    while let Some(at) = depth_zero(rest, |token| token == "|") {
        members.push(rest[..at].to_vec());
        rest = &rest[at + 1..];
    }
    members.push(rest.to_vec());
    members.retain(|member| !member.is_empty());
    members
}

/// Relates two types of one word.
fn simple(language: Language, from: &str, to: &str) -> Option<Relation> {
    let orders: &[&[&str]] = match language {
        Java => &[
            &["byte", "short", "int", "long", "float", "double"],
            &["char", "int", "long", "float", "double"],
            &["String", "CharSequence"],
            &["Integer", "Number"],
            &["Long", "Number"],
            &["Double", "Number"],
        ],
        CSharp => &[
            &["sbyte", "short", "int", "long", "float", "double"],
            &["byte", "ushort", "uint", "ulong"],
            &["int", "decimal"],
        ],
        Kotlin => &[
            &["Int", "Number", "Any"],
            &["Long", "Number", "Any"],
            &["Double", "Number", "Any"],
            &["String", "CharSequence", "Any"],
            &["Int", "Comparable"],
        ],
        Python => &[&["bool", "int", "float", "complex"], &["str", "Hashable"]],
        Php => &[&["int", "float"], &["array", "iterable"], &["string", "Stringable"]],
        Go => &[&["byte", "uint8"], &["rune", "int32"]],
        _ => &[],
    };
    let place = |order: &[&str], word: &str| order.iter().position(|text| *text == word);
    let wider = orders
        .iter()
        .any(|order| place(order, from).zip(place(order, to)).is_some_and(|(from, to)| from < to));
    let boxed: &[(&str, &str)] = &[
        ("int", "Integer"),
        ("long", "Long"),
        ("double", "Double"),
        ("float", "Float"),
        ("boolean", "Boolean"),
        ("char", "Character"),
        ("byte", "Byte"),
        ("short", "Short"),
    ];
    let boxes = |a: &str, b: &str| language == Java && boxed.contains(&(a, b));
    match () {
        () if wider && matches!(language, Java | CSharp | Go) && from != "String" && from != "Integer" => {
            Some(Relation::Converts)
        }
        () if wider => Some(Relation::Wider),
        () if boxes(from, to) || boxes(to, from) => Some(Relation::Converts),
        () => None,
    }
}

fn is_built_in(language: Language, tokens: &[&str]) -> bool {
    let words: &[&str] = match language {
        Java => &["byte", "short", "int", "long", "float", "double", "boolean", "char", "String", "void"],
        CSharp => {
            &["bool", "byte", "char", "decimal", "double", "float", "int", "long", "short", "string", "void"]
        }
        Go | Rust | Swift | Kotlin if is_number(tokens) => return true,
        Kotlin => &["Boolean", "Char", "String", "Unit"],
        Swift => &["Bool", "Character", "String", "Void"],
        Go => &["bool", "string", "error"],
        Rust => &["bool", "char", "String", "&", "str"],
        Python => &["bool", "bytes", "float", "int", "str", "None", "dict", "list", "tuple", "set"],
        TypeScript | Tsx => &["boolean", "number", "string", "null", "undefined", "void", "bigint", "symbol"],
        Php => &["bool", "float", "int", "string", "array", "void", "null"],
        C | Cpp => {
            let is_text = matches!(tokens, ["std", "::", "string"] | ["const", "std", "::", "string", "&"]);
            return c::is_arithmetic(tokens) || is_text || tokens == ["void"];
        }
        _ => return false,
    };
    !tokens.is_empty() && tokens.iter().all(|token| words.contains(token))
}
