//! Edits of a source text at a definition. By its text, because the walk is the same for every language.

use std::ops::Range;

use lockstep_refs::facts::Definition;
use lockstep_refs::language::Language;

/// Returns the positions of a complete word.
pub(super) fn find_words(text: &str, word: &str) -> Vec<usize> {
    let is_part = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    let bytes = text.as_bytes();
    let at = text.match_indices(word).map(|(at, _)| at);
    at.filter(|at| {
        let before = at.checked_sub(1).and_then(|at| bytes.get(at));
        !is_part(before) && !is_part(bytes.get(at + word.len()))
    })
    .collect()
}

pub(super) fn replace_words(text: &str, old: &str, new: &str) -> String {
    replace_at(text, &find_words(text, old), old.len(), new)
}

fn replace_at(text: &str, places: &[usize], length: usize, new: &str) -> String {
    let mut result = String::with_capacity(text.len() + 64);
    let mut end = 0;
    for at in places {
        result.push_str(&text[end..*at]);
        result.push_str(new);
        end = at + length;
    }
    result.push_str(&text[end..]);
    result
}

/// The bytes of the lines of a definition.
pub(super) fn lines_of(text: &str, definition: &Definition) -> Range<usize> {
    let start = |line: u32| {
        let starts = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1));
        starts.take(line as usize).last().unwrap_or(0)
    };
    let end = text[start(definition.end_line)..].find('\n');
    start(definition.line)..end.map_or(text.len(), |at| start(definition.end_line) + at + 1)
}

fn place_of_name(text: &str, definition: &Definition) -> Option<usize> {
    let lines = lines_of(text, definition);
    let inside = find_words(text.get(lines.clone())?, &definition.name);
    let places = inside.into_iter().map(|at| at + lines.start);
    // Attributes and comments before the definition may have the word too.
    places.into_iter().find(|at| {
        let line = text[..*at].rsplit('\n').next().unwrap_or_default().trim_start();
        !["//", "#", "@", "*", "/*", "[", "\"\"\""].iter().any(|mark| line.starts_with(mark))
            || line.starts_with("#define")
    })
}

/// The text with another name at the definition alone.
pub(super) fn rename_definition(text: &str, definition: &Definition, new: &str) -> Option<String> {
    let at = place_of_name(text, definition)?;
    Some(replace_at(text, &[at], definition.name.len(), new))
}

/// A function's list of parameters.
#[derive(Debug)]
pub(super) struct Parameters {
    /// Between the parentheses.
    range: Range<usize>,
    /// The texts between the commas, without the receiver.
    pub(super) own: Vec<String>,
    receiver: Option<String>,
}

impl Parameters {
    pub(super) fn find(text: &str, definition: &Definition, language: Language) -> Option<Self> {
        let name = place_of_name(text, definition)?;
        let mut open = name + definition.name.len();
        let rest = &text[open..];
        if let Some(close) = ['<', '[']
            .iter()
            .zip(['>', ']'])
            .find_map(|(start, end)| rest.starts_with(*start).then(|| rest.find(end)).flatten())
        {
            open += close + 1;
        }
        (text.as_bytes().get(open) == Some(&b'(')).then_some(())?;
        let (close, parts) = split_list(text, open + 1)?;
        let range = open + 1..close;
        let mut own: Vec<String> = parts.into_iter().filter(|part| !part.trim().is_empty()).collect();
        let is_receiver = |part: &String| {
            let part = part.trim();
            match language {
                Language::Rust => part.ends_with("self") || part.starts_with("self:"),
                Language::Python => matches!(part, "self" | "cls" | "mcs"),
                _ => false,
            }
        };
        let receiver = own.first().is_some_and(is_receiver).then(|| own.remove(0));
        if own.len() == 1 && own[0].trim() == "void" {
            own.clear();
        }
        Some(Self { range, own, receiver })
    }

    /// Returns true if all of them are ordinary parameters: no rest, no default, no pattern.
    pub(super) fn are_plain(&self) -> bool {
        let marks = [
            "...",
            "*",
            "**",
            "/",
            "&block",
            "..",
            "=",
            "vararg",
            "{",
            "?",
            "this:",
            "params ",
            "inout",
            "@escaping",
        ];
        self.own.iter().all(|part| {
            let part = part.trim();
            !marks.iter().any(|mark| match *mark {
                "*" | "**" | "/" => part.starts_with(mark),
                mark => part.contains(mark),
            })
        })
    }

    pub(super) fn rewrite(&self, text: &str, own: &[String], language: Language) -> String {
        // An empty list of C takes anything.
        let none = if language == Language::C && own.is_empty() { "void" } else { "" };
        let parts: Vec<&str> = self.receiver.iter().chain(own).map(|part| part.trim()).collect();
        format!("{}{none}{}{}", &text[..self.range.start], parts.join(", "), &text[self.range.end..])
    }
}

/// The end of a list that starts behind its parenthesis, and its parts.
fn split_list(text: &str, start: usize) -> Option<(usize, Vec<String>)> {
    let (mut depth, mut begin, mut parts) = (0_i32, start, Vec::new());
    for (at, byte) in text.bytes().enumerate().skip(start) {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b'<' if text.as_bytes().get(at + 1) != Some(&b'-') => depth += 1,
            b'>' if !matches!(text.as_bytes()[at - 1], b'-' | b'=') => depth -= 1,
            b')' if depth == 0 => {
                parts.push(text.get(begin..at)?.to_owned());
                return Some((at, parts));
            }
            b')' | b']' | b'}' => depth -= 1,
            b',' if depth == 0 => {
                parts.push(text.get(begin..at)?.to_owned());
                begin = at + 1;
            }
            _ => {}
        }
    }
    None
}

pub(super) fn parameter_name(part: &str, language: Language) -> Option<String> {
    let part = part.trim();
    if matches!(language, Language::Java | Language::C | Language::CSharp) && !part.contains([' ', '*']) {
        return None;
    }
    let word = match language {
        Language::Java | Language::C | Language::CSharp => {
            part.trim_end_matches("[]").rsplit([' ', '*', '&']).next()?
        }
        Language::Go => part.split(' ').next()?,
        Language::Php => part.rsplit('$').next()?,
        // `label name: Type`
        Language::Swift => part.split(':').next()?.trim().rsplit(' ').next()?,
        _ => part.split(':').next()?.trim().trim_start_matches("mut ").split(' ').next_back()?,
    };
    let word = word.trim();
    let is_word = !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    (is_word && word != "_" && !word.as_bytes()[0].is_ascii_digit()).then(|| word.to_owned())
}

pub(super) fn required_parameter(language: Language) -> Option<&'static str> {
    Some(match language {
        Language::Rust => "_walk_extra: u32",
        Language::Go => "walkExtra int",
        Language::Java | Language::C | Language::CSharp => "int walkExtra",
        Language::TypeScript => "_walkExtra: number",
        Language::Python | Language::Ruby => "walk_extra",
        Language::Kotlin | Language::Swift => "walkExtra: Int",
        Language::Php => "$walkExtra",
        _ => return None,
    })
}

/// A parameter that a call may leave out.
pub(super) fn optional_parameter(language: Language) -> Option<&'static str> {
    Some(match language {
        Language::CSharp => "int walkExtra = 0",
        Language::TypeScript => "_walkExtra?: number",
        Language::Python => "walk_extra=None",
        Language::Ruby => "walk_extra = nil",
        Language::Kotlin | Language::Swift => "walkExtra: Int = 0",
        Language::Php => "$walkExtra = null",
        _ => return None,
    })
}

/// A parameter whose type accepts more.
pub(super) fn widen(part: &str, language: Language) -> Option<String> {
    let part = part.trim();
    let (_, kind) = part.split_once(": ")?;
    let is_simple =
        |kind: &str| kind.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.".contains(&byte));
    is_simple(kind).then_some(())?;
    match language {
        Language::TypeScript => Some(format!("{part} | undefined")),
        Language::Python => Some(format!("{part} | None")),
        Language::Kotlin | Language::Swift => Some(format!("{part}?")),
        _ => None,
    }
}

/// A statement without effect, for the start of a body; `None` if blocks have no braces.
pub(super) fn statement(language: Language) -> Option<&'static str> {
    Some(match language {
        Language::Rust => "let _walk = 1;",
        Language::Go => "_ = 1",
        Language::Java | Language::C | Language::CSharp => "int walkUnused = 1;",
        Language::TypeScript => "void 0;",
        Language::Kotlin => "val walkUnused = 1",
        Language::Swift => "_ = 1",
        Language::Php => "$walkUnused = 1;",
        _ => return None,
    })
}

/// The text with that statement in a function's body.
pub(super) fn change_body(text: &str, definition: &Definition, language: Language) -> Option<String> {
    let lines = lines_of(text, definition);
    if let Some(statement) = statement(language) {
        let name = place_of_name(text, definition)?;
        let (close, _) = split_list(text, name + text[name..].find('(')? + 1)?;
        let open = close + text.get(close..lines.end)?.find("{\n")?;
        return Some(format!("{} {statement}{}", &text[..=open], &text[open + 1..]));
    }
    let body = text.get(lines.clone())?;
    let at = body.rfind("\n").and_then(|end| body[..end].rfind('\n').map(|start| start + 1))?;
    let (indent, rest) = body[at..].split_at(body[at..].len() - body[at..].trim_start().len());
    (language == Language::Python && rest.starts_with("return ")).then_some(())?;
    let at = lines.start + at;
    Some(format!("{}{indent}pass\n{}", &text[..at], &text[at..]))
}

pub(super) fn comment(language: Language) -> &'static str {
    match language {
        Language::Python | Language::Ruby => "# A remark of the walk.",
        Language::Markdown => "<!-- A remark of the walk. -->",
        _ => "// A remark of the walk.",
    }
}

/// The beginning of a function that is not written to its end.
pub(super) fn unfinished(language: Language) -> Option<&'static str> {
    Some(match language {
        Language::Rust => "fn half_written(value: &",
        Language::Go => "func halfWritten(value ",
        Language::Java | Language::CSharp => "public class HalfWritten { void half(int ",
        Language::C => "static int half_written(int",
        Language::TypeScript => "export function halfWritten(value: {",
        Language::Python | Language::Ruby => "def half_written(value, ",
        Language::Kotlin => "fun halfWritten(value: ",
        Language::Swift => "func halfWritten(value: ",
        Language::Php => "function halfWritten($value, ",
        _ => return None,
    })
}

/// The text with a line before the first line of a definition.
pub(super) fn insert_before(text: &str, definition: &Definition, line: &str) -> String {
    let at = lines_of(text, definition).start;
    format!("{}{line}\n{}", &text[..at], &text[at..])
}

/// A method of an interface that every implementer must have.
pub(super) fn required_method(language: Language) -> Option<&'static str> {
    Some(match language {
        Language::Rust => "fn walked(&self) -> u32;",
        Language::Go => "Walked() int",
        Language::Java => "int walked();",
        Language::TypeScript => "walked(): number;",
        _ => return None,
    })
}

/// One more variant of an enum.
pub(super) fn variant(language: Language) -> Option<&'static str> {
    Some(match language {
        Language::Rust | Language::TypeScript => "Walked,",
        Language::Java => "WALKED,",
        _ => return None,
    })
}

/// Returns true if a type is an enum, by the word before its name.
pub(super) fn is_enum(text: &str, definition: &Definition) -> bool {
    let before = place_of_name(text, definition).and_then(|at| text[..at].split_whitespace().next_back());
    before == Some("enum")
}

/// The text with one more line behind the opening brace of a type.
pub(super) fn add_member(text: &str, definition: &Definition, line: &str) -> Option<String> {
    let name = place_of_name(text, definition)?;
    let lines = lines_of(text, definition);
    let open = name + text.get(name..lines.end)?.find("{\n")?;
    Some(format!("{}\n{line}{}", &text[..=open], &text[open + 1..]))
}

/// The text without the lines of a definition. `None` if it calls itself, and where an attribute in the line before would be
/// left for the next one.
pub(super) fn delete(text: &str, definition: &Definition) -> Option<String> {
    let lines = lines_of(text, definition);
    (find_words(text.get(lines.clone())?, &definition.name).len() == 1).then_some(())?;
    let before = text[..lines.start].trim_end().rsplit('\n').next().unwrap_or_default().trim_start();
    let is_marked = before.starts_with("#[") || before.starts_with('@') || before.starts_with('[');
    (!is_marked).then(|| format!("{}{}", &text[..lines.start], &text[lines.end..]))
}
