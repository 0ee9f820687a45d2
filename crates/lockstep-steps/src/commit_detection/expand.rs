//! Expands words: quotes, parameters, substitutions, braces. A value that the command's text does not show is
//! replaced by a mark.

use super::invoke::PROCESS_FD;
use super::run::Shell;
use super::syntax::{self, Part, Word};

/// The mark for an unknown value.
pub(super) const UNKNOWN: char = '\0';

/// The mark for an unknown value whose source mentions git, or that the command itself computes.
pub(super) const SUSPECT: char = '\u{1}';

/// One word after its expansion.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Field {
    pub(super) text: String,
    /// True if the text is a pattern of file names.
    pub(super) glob: bool,
}

impl Field {
    pub(super) fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), glob: false }
    }

    /// Returns true if the complete word is known.
    pub(super) fn is_known(&self) -> bool {
        !self.glob && !self.text.contains([UNKNOWN, SUSPECT])
    }
}

/// The maximum number of words that the braces of one word produce.
const MAX_BRACES: usize = 64;

/// The longest word whose braces are expanded.
const MAX_BRACE_WORD: usize = 2000;

/// The nesting up to which braces are expanded.
const BRACE_DEPTH: usize = 8;

impl Shell {
    pub(super) fn expand(&mut self, word: &Word) -> Vec<Field> {
        let mut fields = Vec::new();
        for parts in braces(&word.parts, BRACE_DEPTH) {
            self.expand_parts(&parts, &mut fields);
        }
        fields
    }

    /// Returns the value of a word that is not split, as in an assignment.
    pub(super) fn value(&mut self, word: &Word) -> String {
        let mut text = String::new();
        for part in &word.parts {
            match part {
                Part::Text { text: literal, .. } => text.push_str(literal),
                Part::Parameter { expression, .. } => text.push_str(&self.parameter(expression).join(" ")),
                Part::Command { script, .. } => text.push_str(self.run_script(script).trim_end_matches('\n')),
                Part::Process { script } => text.push_str(&self.process(script)),
                Part::Array { words } => text.push_str(&self.array(words).join(" ")),
            }
        }
        text
    }

    pub(super) fn array(&mut self, words: &str) -> Vec<String> {
        if !self.spend(words.len()) {
            return vec![SUSPECT.to_string()];
        }
        let words: Vec<Word> =
            syntax::parse(words).commands.into_iter().flat_map(|command| command.words).collect();
        let fields = words.iter().flat_map(|word| self.expand(word)).map(|field| field.text);
        // `[index]=value`
        let value = |text: String| match text.strip_prefix('[').and_then(|rest| rest.split_once("]=")) {
            Some((_, value)) => value.to_owned(),
            None => text,
        };
        fields.map(value).collect()
    }

    fn expand_parts(&mut self, parts: &[Part], fields: &mut Vec<Field>) {
        let mut current: Option<Field> = None;
        for part in parts {
            match part {
                // An empty quote next to an expansion is not a separate field.
                Part::Text { text, .. } if text.is_empty() && parts.len() > 1 => {}
                Part::Text { text, quoted } => {
                    let field = current.get_or_insert_default();
                    field.text.push_str(text);
                    field.glob |= !quoted && text.contains(['*', '?', '[']);
                }
                Part::Parameter { expression, quoted } => {
                    let values = self.parameter(expression);
                    let separate = !quoted || expression == "@" || expression.ends_with("[@]");
                    self.add(&values, *quoted, separate, &mut current, fields);
                }
                Part::Command { script, quoted } => {
                    let output = self.run_script(script).trim_end_matches('\n').to_owned();
                    self.add(&[output], *quoted, !quoted, &mut current, fields);
                }
                Part::Process { script } => {
                    let path = self.process(script);
                    current.get_or_insert_default().text.push_str(&path);
                }
                Part::Array { words } => {
                    let joined = self.array(words).join(" ");
                    current.get_or_insert_default().text.push_str(&joined);
                }
            }
        }
        fields.extend(current);
    }

    /// Adds the values of an expansion. Unquoted values are split; separate values are fields of their own.
    fn add(
        &mut self,
        values: &[String],
        quoted: bool,
        separate: bool,
        current: &mut Option<Field>,
        fields: &mut Vec<Field>,
    ) {
        if !separate {
            current.get_or_insert_default().text.push_str(&values.join(" "));
            return;
        }
        let blanks = self.separators();
        let mut first = true;
        for value in values {
            let pieces: Vec<&str> =
                if quoted { vec![value] } else { value.split(|c| blanks.contains(&c)).collect() };
            for piece in pieces {
                if !first {
                    fields.extend(current.take());
                }
                first = false;
                if quoted || !piece.is_empty() {
                    let field = current.get_or_insert_default();
                    field.text.push_str(piece);
                    field.glob |= !quoted && piece.contains(['*', '?', '[']);
                }
            }
        }
    }

    /// Returns the path of a process substitution, and saves its output as the content of that file.
    fn process(&mut self, script: &str) -> String {
        let output = self.run_script(script);
        let path = format!("/dev/fd/{}", PROCESS_FD + self.files.len());
        self.files.insert(path.clone(), output);
        self.processes.insert(path.clone(), script.to_owned());
        path
    }

    /// The values of a parameter. An array has several.
    fn parameter(&mut self, expression: &str) -> Vec<String> {
        let values = self.deeper(|shell| shell.resolve(expression), || vec![SUSPECT.to_string()]);
        if self.spend(values.iter().map(String::len).sum()) { values } else { vec![SUSPECT.to_string()] }
    }

    fn resolve(&mut self, expression: &str) -> Vec<String> {
        if let Some(indirect) = expression.strip_prefix('!') {
            let name = self.lookup(indirect.trim_end_matches(['@', '*'])).join(" ");
            return if name.contains([UNKNOWN, SUSPECT]) { vec![name] } else { self.lookup(&name) };
        }
        if expression.len() > 1 && expression.starts_with('#') {
            return vec![UNKNOWN.to_string()];
        }
        if let Some((_, rest)) = expression.strip_prefix('(').and_then(|flags| flags.split_once(')')) {
            // Flags of zsh, which are not followed.
            let word = syntax::parse_quoted(rest);
            let value = self.value(&word);
            let named = if rest.starts_with('$') { value } else { self.lookup(rest).join(" ") };
            return vec![unknown_of(&named)];
        }
        let expression = expression.trim_start_matches(['=', '~', '^']);
        let end = name_length(expression);
        let (name, operator) = expression.split_at(end);
        let (index, operator) = match operator.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            Some((index, operator)) => (Some(index), operator),
            None => (None, operator),
        };
        let values = match index {
            Some("@" | "*") => self.lookup(name),
            index => {
                if let Some(script) = index.filter(|index| index.contains(['$', '`'])) {
                    let word = syntax::parse_quoted(script);
                    self.value(&word);
                }
                let at = index.map_or(Some(0), |index| index.parse().ok());
                match (name, at) {
                    ("@" | "*", _) => self.lookup(name),
                    // zsh expands the name of an array to all its elements.
                    _ if self.is_zsh && index.is_none() => self.lookup(name),
                    (_, Some(at)) => {
                        let elements = self.lookup(name);
                        // An array may have gaps.
                        let other = if at == 0 { String::new() } else { unknown_of(&elements.join(" ")) };
                        vec![elements.get(at).cloned().unwrap_or(other)]
                    }
                    (_, None) => vec![unknown_of(&self.lookup(name).join(" "))],
                }
            }
        };
        self.apply(values, operator)
    }

    /// Applies the operator behind the name of a parameter.
    fn apply(&mut self, values: Vec<String>, operator: &str) -> Vec<String> {
        let is_unset = values.iter().all(|value| value.is_empty() || value.as_str() == UNKNOWN.to_string());
        let mut operand = |text: &str| {
            let word = syntax::parse_quoted(text);
            let value = self.value(&word);
            value.trim_matches(['"', '\'']).to_owned()
        };
        let mut chars = operator.chars();
        let rest = operator.strip_prefix(':').unwrap_or(operator);
        match (chars.next(), rest.chars().next()) {
            (None, _) => values,
            (_, Some('-' | '=')) => {
                let default = operand(&rest[1..]);
                if is_unset { vec![default] } else { values }
            }
            (_, Some('+')) => vec![operand(&rest[1..])],
            (_, Some('?')) => {
                operand(&rest[1..]);
                values
            }
            (Some(':'), Some(c)) if c.is_ascii_digit() || c == ' ' => {
                values.iter().map(|value| substring(value, rest)).collect()
            }
            (Some('^'), _) => values.iter().map(|value| value.to_uppercase()).collect(),
            (Some(','), _) => values.iter().map(|value| value.to_lowercase()).collect(),
            (Some('/'), _) => {
                let pattern = operand(&operator[1..]);
                values.iter().map(|value| replaced(value, &pattern)).collect()
            }
            (Some('#' | '%'), _) => {
                let pattern = operand(operator.trim_start_matches(['#', '%']));
                values.iter().map(|value| trimmed(value, operator, &pattern)).collect()
            }
            _ => values.iter().map(|value| unknown_of(value)).collect(),
        }
    }
}

/// Returns the mark for a value that is computed from `text` in an unknown way.
fn unknown_of(text: &str) -> String {
    if text.is_empty() || text.chars().all(|c| c == UNKNOWN) { UNKNOWN } else { SUSPECT }.to_string()
}

fn name_length(expression: &str) -> usize {
    let named = expression.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
    if named == 0 { expression.chars().next().map_or(0, char::len_utf8) } else { named }
}

/// `${name:offset:length}`.
fn substring(value: &str, range: &str) -> String {
    if value.contains([UNKNOWN, SUSPECT]) {
        return unknown_of(value);
    }
    let mut numbers = range.split(':').map(|number| number.trim().parse::<usize>());
    match (numbers.next(), numbers.next()) {
        (Some(Ok(offset)), None) => value.chars().skip(offset).collect(),
        (Some(Ok(offset)), Some(Ok(length))) => value.chars().skip(offset).take(length).collect(),
        _ => unknown_of(value),
    }
}

/// `${name/pattern/text}`, for patterns without wildcards.
fn replaced(value: &str, operand: &str) -> String {
    let (all, operand) = operand.strip_prefix('/').map_or((false, operand), |rest| (true, rest));
    let (pattern, text) = operand.split_once('/').unwrap_or((operand, ""));
    if value.contains([UNKNOWN, SUSPECT]) || pattern.contains(['*', '?', '[', '\\', '#', '%']) {
        return unknown_of(value);
    }
    if all { value.replace(pattern, text) } else { value.replacen(pattern, text, 1) }
}

/// Evaluates `${name#pattern}` and `${name%pattern}`, for patterns whose only wildcard is a `*` at one end.
fn trimmed(value: &str, operator: &str, pattern: &str) -> String {
    if value.contains([UNKNOWN, SUSPECT]) {
        return unknown_of(value);
    }
    let (front, longest) =
        (operator.starts_with('#'), operator.starts_with("##") || operator.starts_with("%%"));
    let plain = |text: &str| !text.contains(['*', '?', '[', '\\']);
    let result = match (front, pattern.strip_prefix('*'), pattern.strip_suffix('*')) {
        (true, None, None) if plain(pattern) => Some(value.strip_prefix(pattern).unwrap_or(value)),
        (false, None, None) if plain(pattern) => Some(value.strip_suffix(pattern).unwrap_or(value)),
        (true, Some(end), _) if plain(end) => {
            let at = if longest { value.rfind(end) } else { value.find(end) };
            Some(at.map_or(value, |at| &value[at + end.len()..]))
        }
        (false, _, Some(start)) if plain(start) => {
            let at = if longest { value.find(start) } else { value.rfind(start) };
            Some(at.map_or(value, |at| &value[..at]))
        }
        _ => None,
    };
    result.map_or_else(|| unknown_of(value), str::to_owned)
}

/// Returns the words that the braces of a word produce.
fn braces(parts: &[Part], depth: usize) -> Vec<Vec<Part>> {
    let plain = vec![parts.to_vec()];
    if depth == 0 {
        return plain;
    }
    let opens = |part: &Part| matches!(part, Part::Text { text, quoted: false } if text.contains('{'));
    if !parts.iter().any(opens) {
        return plain;
    }
    if parts.iter().map(unquoted_length).sum::<usize>() > MAX_BRACE_WORD {
        return vec![vec![Part::Text { text: SUSPECT.to_string(), quoted: true }]];
    }
    let pieces = pieces(parts);
    let Some((start, end, alternatives)) = brace_group(&pieces) else { return plain };
    let mut words = Vec::new();
    for alternative in alternatives {
        let whole: Vec<Part> =
            pieces[..start].iter().chain(&alternative).chain(&pieces[end + 1..]).cloned().collect();
        words.extend(braces(&whole, depth - 1));
        if words.len() >= MAX_BRACES {
            break;
        }
    }
    words
}

fn unquoted_length(part: &Part) -> usize {
    if let Part::Text { text, quoted: false } = part { text.len() } else { 1 }
}

/// Parts in which every unquoted character is a part of its own.
fn pieces(parts: &[Part]) -> Vec<Part> {
    let split = |part: &Part| match part {
        Part::Text { text, quoted: false } => {
            text.chars().map(|c| Part::Text { text: c.to_string(), quoted: false }).collect()
        }
        other => vec![other.clone()],
    };
    parts.iter().flat_map(split).collect()
}

type Group = (usize, usize, Vec<Vec<Part>>);

/// The first group of braces with a comma or a range, and its alternatives.
fn brace_group(pieces: &[Part]) -> Option<Group> {
    let is = |at: usize, c: &str| matches!(&pieces[at], Part::Text { text, quoted: false } if text == c);
    let (mut open, mut commas): (Vec<usize>, Vec<Vec<usize>>) = (Vec::new(), Vec::new());
    for at in 0..pieces.len() {
        if is(at, "{") {
            open.push(at);
            commas.push(Vec::new());
        } else if is(at, ",") {
            if let Some(commas) = commas.last_mut() {
                commas.push(at);
            }
        } else if is(at, "}")
            && let (Some(start), Some(commas)) = (open.pop(), commas.pop())
        {
            let inner = &pieces[start + 1..at];
            if !commas.is_empty() {
                let mut bounds = vec![start];
                bounds.extend(commas);
                bounds.push(at);
                let alternatives = bounds.windows(2).map(|pair| pieces[pair[0] + 1..pair[1]].to_vec());
                return Some((start, at, alternatives.collect()));
            }
            if let Some(range) = range(inner) {
                return Some((start, at, range));
            }
        }
    }
    None
}

/// `{a..e}` and `{1..3}`.
fn range(inner: &[Part]) -> Option<Vec<Vec<Part>>> {
    let text = Word { parts: inner.to_vec() }.literal()?;
    let (from, to) = text.split_once("..")?;
    let single = |text: &str| text.chars().next().filter(|c| c.is_ascii_alphanumeric() && text.len() == 1);
    let (from, to) = (single(from)?, single(to)?);
    let letters = if from <= to { from..=to } else { to..=from };
    Some(letters.map(|c| vec![Part::Text { text: c.to_string(), quoted: false }]).collect())
}
