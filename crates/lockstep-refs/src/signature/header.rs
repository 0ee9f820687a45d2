//! The parts of a function's header, read from its tokens.

use super::modifiers::is_modifier;
use super::parameter::{Parameter, parameters};
use crate::language::Language;
use crate::syntax::{OWN_NAME, TOKEN_END};

/// A function's header.
#[derive(Debug, Default)]
pub(super) struct Header<'t> {
    /// Names of annotations, attributes and decorators, without arguments.
    pub(super) annotations: Vec<&'t str>,
    /// Words before the name that are no part of the result type.
    pub(super) modifiers: Vec<&'t str>,
    /// The type parameters, each with its bound.
    pub(super) generics: Vec<Vec<&'t str>>,
    pub(super) parameters: Vec<Parameter<'t>>,
    /// The receiver of a method, if the header contains it: `&mut self`, `(r *T)`.
    pub(super) receiver: Vec<&'t str>,
    pub(super) result: Vec<&'t str>,
    /// The rest: `throws`, `const`, `where`.
    pub(super) suffix: Vec<&'t str>,
}

/// Splits a stored header.
pub(super) fn tokens(header: &str) -> Vec<&str> {
    header.split(TOKEN_END).filter(|token| !token.is_empty()).collect()
}

impl<'t> Header<'t> {
    /// `None` if no list of parameters is found. `is_bound` if the first parameter may be the receiver.
    pub(super) fn parse(language: Language, tokens: &[&'t str], is_bound: bool) -> Option<Self> {
        let (tokens, annotations) = without_annotations(language, tokens);
        let name = tokens.iter().position(|token| *token == OWN_NAME);
        let from = name.map_or(0, |at| at + 1);
        let open = open_list(&tokens, from)?;
        let close = closing(&tokens, open)?;
        let mut header = Self { annotations, ..Self::default() };
        header.read_prefix(language, &tokens[..name.unwrap_or(0)]);
        header.read_between(&tokens[from..open]);
        header.parameters = parameters(language, &tokens[open + 1..close]);
        header.read_suffix(language, without_delegation(language, &tokens[close + 1..], name.is_none()));
        let is_static = header.annotations.iter().any(|annotation| annotation.ends_with("staticmethod"));
        let takes_itself = match language {
            Language::Rust => header.parameters.first().is_some_and(|parameter| parameter.name == "self"),
            _ => is_bound && !is_static,
        };
        if takes_itself && !header.parameters.is_empty() {
            let receiver = header.parameters.remove(0);
            header.receiver = if language == Language::Rust { receiver.type_ } else { Vec::new() };
        }
        if matches!(language, Language::TypeScript | Language::Tsx | Language::JavaScript) {
            // `const f = () => …` is called like `function f() …`.
            header.modifiers.retain(|token| !matches!(*token, "=" | "const" | "function"));
        }
        if !header.receiver.contains(&"&") && language == Language::Rust {
            // `mut self` is `self` to a caller.
            header.receiver.retain(|text| *text != "mut");
        }
        Some(header)
    }

    fn read_prefix(&mut self, language: Language, tokens: &[&'t str]) {
        let mut rest = Vec::new();
        let mut at = 0;
        while let Some(token) = tokens.get(at) {
            if language == Language::Go && *token == "(" {
                let end = closing(tokens, at).unwrap_or(tokens.len() - 1);
                // The receiver's name is its own affair.
                let inside = &tokens[at + 1..end];
                self.receiver = inside.iter().skip(usize::from(inside.len() > 1)).copied().collect();
                at = end + 1;
                continue;
            }
            if matches!(language, Language::Rust | Language::Swift) && *token == "(" {
                // `pub(crate)`, `private(set)`: more about visibility.
                at = closing(tokens, at).unwrap_or(tokens.len() - 1) + 1;
                continue;
            }
            if *token == "<" && rest.is_empty() && self.generics.is_empty() {
                let end = closing(tokens, at).unwrap_or(tokens.len() - 1);
                self.generics = split(&tokens[at + 1..end]);
                at = end + 1;
                continue;
            }
            match is_modifier(language, token) && (rest.is_empty() || !is_type_first(language)) {
                true => self.modifiers.push(token),
                false => rest.push(*token),
            }
            at += 1;
        }
        if is_type_first(language) { self.result = rest } else { self.modifiers.extend(rest) }
    }

    /// Reads the type parameters between the name and the parameters; for a variable that holds a function,
    /// the words before it.
    fn read_between(&mut self, tokens: &[&'t str]) {
        let open = tokens.iter().position(|token| matches!(*token, "<" | "["));
        let Some((open, end)) = open.and_then(|open| Some((open, closing(tokens, open)?))) else {
            self.modifiers.extend(tokens);
            return;
        };
        self.generics = split(&tokens[open + 1..end]);
        self.modifiers.extend(tokens[..open].iter().chain(&tokens[end + 1..]));
    }

    fn read_suffix(&mut self, language: Language, tokens: &[&'t str]) {
        let ends = ["=>", ";", "where", "{", "="];
        let tokens: Vec<&str> = tokens.iter().copied().filter(|token| *token != ";").collect();
        let marker = match language {
            Language::Go => {
                self.result = go_result(&tokens);
                return;
            }
            Language::Python | Language::Rust | Language::Swift | Language::Cpp => "->",
            _ => ":",
        };
        let mut rest = tokens.as_slice();
        if let Some(at) =
            depth_zero(rest, |name| name == marker).filter(|_| !is_type_first(language) || marker == "->")
        {
            self.suffix.extend(&rest[..at]);
            rest = &rest[at + 1..];
            let end = depth_zero(rest, |name| ends.contains(&name)).unwrap_or(rest.len());
            let end = if language == Language::Python { rest.len().saturating_sub(1) } else { end };
            self.result = rest[..end].to_vec();
            rest = &rest[end..];
        }
        self.suffix.extend(rest.iter().filter(|name| !matches!(**name, "=>" | ":")));
    }
}

/// The tokens behind the parameters without the calls that a constructor begins with: `: base(x)`, `: a_(a)`.
fn without_delegation<'a, 't>(language: Language, tokens: &'a [&'t str], is_unnamed: bool) -> &'a [&'t str] {
    let delegates = match language {
        Language::Cpp | Language::CSharp => true,
        Language::Kotlin => is_unnamed,
        _ => false,
    };
    match depth_zero(tokens, |token| matches!(token, ":" | "where"))
        .filter(|at| delegates && tokens[*at] == ":")
    {
        Some(at) => &tokens[..at],
        None => tokens,
    }
}

/// The types of Go's results, without their names.
fn go_result<'t>(tokens: &[&'t str]) -> Vec<&'t str> {
    let ["(", inside @ .., ")"] = tokens else { return tokens.to_vec() };
    let types = parameters(Language::Go, inside).into_iter().map(|parameter| parameter.type_);
    types.flat_map(|slice| slice.into_iter().chain([","])).collect()
}

/// Returns true if types precede their names.
pub(super) fn is_type_first(language: Language) -> bool {
    matches!(language, Language::Java | Language::C | Language::Cpp | Language::CSharp)
}

/// The parenthesis that opens the parameters.
fn open_list(tokens: &[&str], from: usize) -> Option<usize> {
    depth_zero(&tokens[from..], |token| token == "(").map(|at| from + at)
}

/// Returns the first wanted token outside all brackets; an opening bracket itself counts as outside.
pub(super) fn depth_zero(tokens: &[&str], wanted: impl Fn(&str) -> bool) -> Option<usize> {
    let mut depth = 0_i32;
    for (at, token) in tokens.iter().enumerate() {
        if depth == 0 && wanted(token) {
            return Some(at);
        }
        depth = (depth + step(token)).max(0);
    }
    None
}

/// The change of the bracket depth by a token.
fn step(token: &str) -> i32 {
    match token {
        "(" | "[" | "{" | "<" | "#{" | "{|" => 1,
        ")" | "]" | "}" | ">" | "|}" => -1,
        ">>" => -2,
        _ => 0,
    }
}

/// The bracket that closes the one at `open`.
pub(super) fn closing(tokens: &[&str], open: usize) -> Option<usize> {
    // Angle brackets may be comparisons in a default: they count only if an angle bracket is being closed.
    let angles = tokens.get(open) == Some(&"<");
    let mut depth = 0_i32;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        if angles || !matches!(*token, "<" | ">" | ">>") {
            depth += step(token);
        }
        if depth <= 0 {
            return Some(at);
        }
    }
    None
}

/// The parts between commas that are inside no brackets.
pub(super) fn split<'t>(tokens: &[&'t str]) -> Vec<Vec<&'t str>> {
    let angles = tokens
        .iter()
        .map(|token| if matches!(*token, "<" | ">" | ">>") { step(token) } else { 0 })
        .sum::<i32>()
        == 0;
    let mut parts = vec![Vec::new()];
    let mut depth = 0_i32;
    for token in tokens {
        if *token == "," && depth == 0 {
            parts.push(Vec::new());
            continue;
        }
        if angles || !matches!(*token, "<" | ">" | ">>") {
            depth += step(token);
        }
        parts.last_mut().expect("there is always one").push(*token);
    }
    parts.retain(|part| !part.is_empty());
    parts
}

/// The tokens without annotations, attributes and decorators; and the names of those.
pub(super) fn without_annotations<'t>(
    language: Language,
    tokens: &[&'t str],
) -> (Vec<&'t str>, Vec<&'t str>) {
    let (mut normalized, mut names) = (Vec::new(), Vec::new());
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        match annotation_end(
            language,
            tokens,
            at,
            normalized.is_empty() || normalized.last() == Some(&"(") || normalized.last() == Some(&","),
        ) {
            Some(end) => {
                let name = tokens[at..end]
                    .iter()
                    .filter(|name| name.starts_with(|c: char| c.is_alphabetic() || c == '_'));
                names.extend(name.take_while(|text| !text.starts_with('"')).next().copied().or(Some(*token)));
                at = end;
            }
            None => {
                normalized.push(*token);
                at += 1;
            }
        }
    }
    (normalized, names)
}

/// The position behind an annotation that begins at `at`. `is_start` if a definition or a parameter begins there.
fn annotation_end(language: Language, tokens: &[&str], at: usize, is_start: bool) -> Option<usize> {
    let behind = |open: usize| closing(tokens, open).map(|end| end + 1);
    match (language, tokens[at]) {
        (Language::CSharp, "[") if is_start => behind(at),
        (Language::Cpp | Language::C, "[[") => {
            tokens.iter().skip(at).position(|token| *token == "]]").map(|length| at + length + 1)
        }
        (Language::Cpp | Language::C, "__attribute__" | "__declspec" | "alignas") => behind(at + 1),
        (Language::Rust, "#") => behind(at + 1),
        (Language::Php, "#[") => {
            let end = tokens.iter().skip(at).position(|token| *token == "]")?;
            Some(at + end + 1)
        }
        (
            Language::Java
            | Language::Kotlin
            | Language::Swift
            | Language::Python
            | Language::TypeScript
            | Language::Tsx
            | Language::JavaScript,
            mark,
        ) if mark.starts_with('@') && mark != "@interface" => {
            let mut end = at + 1 + usize::from(mark == "@");
            while tokens.get(end) == Some(&".")
                || tokens.get(end) == Some(&":") && language == Language::Kotlin
            {
                end += 2;
            }
            let name = tokens.get(end.saturating_sub(1)).copied().unwrap_or_default();
            let takes = language != Language::Swift || matches!(name, "available" | "objc" | "backDeployed");
            match tokens.get(end) {
                Some(&"(") if takes => behind(end),
                _ => Some(end),
            }
        }
        _ => None,
    }
}
