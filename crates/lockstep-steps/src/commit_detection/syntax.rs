//! Parses a shell script into simple commands: words with their quotes and expansions, redirections and
//! here-documents.
//!
//! The parser is one loop with an explicit stack: it needs linear time and no recursion. Compound commands
//! are flattened to the simple commands inside them; [`Simple::depth`] is the nesting in parentheses and
//! braces.

use super::skip;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Part {
    /// Literal text. Unquoted text may have file name patterns.
    Text { text: String, quoted: bool },
    /// A parameter: the text behind `$` or between `${` and `}`.
    Parameter { expression: String, quoted: bool },
    /// The commands inside `$(…)` or backticks.
    Command { script: String, quoted: bool },
    /// The commands inside `<(…)` or `>(…)`.
    Process { script: String },
    /// The elements of an array, `(…)` behind `name=`.
    Array { words: String },
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Word {
    pub(super) parts: Vec<Part>,
}

impl Word {
    /// Returns the text of a word without quotes and expansions.
    pub(super) fn bare(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [Part::Text { text, quoted: false }] => Some(text),
            _ => None,
        }
    }

    /// Returns the text of a word without expansions, its quotes removed.
    pub(super) fn literal(&self) -> Option<String> {
        let text = |part: &Part| match part {
            Part::Text { text, .. } => Some(text.clone()),
            _ => None,
        };
        self.parts.iter().map(text).collect()
    }

    fn push(&mut self, c: char, quoted: bool) {
        match self.parts.last_mut() {
            Some(Part::Text { text, quoted: same }) if *same == quoted => text.push(c),
            _ => self.parts.push(Part::Text { text: c.to_string(), quoted }),
        }
    }
}

/// Words up to the next operator.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Simple {
    pub(super) words: Vec<Word>,
    /// Here-documents and here-strings.
    pub(super) documents: Vec<Word>,
    /// The targets of `>` and `>>`.
    pub(super) writes: Vec<Word>,
    /// The sources of `<`.
    pub(super) reads: Vec<Word>,
    /// The function that begins here; its body are the following commands of greater depth.
    pub(super) defines: Option<String>,
    /// The nesting in parentheses and braces.
    pub(super) depth: usize,
    /// Set if the output is piped into the next command.
    pub(super) pipes: bool,
}

/// Words of the grammar that a command follows.
pub(super) const RESERVED: &[&str] =
    &["if", "then", "elif", "else", "while", "until", "do", "!", "{", "}", "time", "coproc"];

/// The simple commands of a script.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Script {
    pub(super) commands: Vec<Simple>,
    /// True if a quote or a parenthesis is not closed.
    pub(super) malformed: bool,
}

pub(super) fn parse(text: &str) -> Script {
    let mut reader = Reader { chars: text.chars().collect(), ..Reader::default() };
    reader.run();
    Script { commands: reader.commands, malformed: reader.malformed }
}

/// Reads a text as one word in double quotes: the text of a here-document, or the operand of a parameter.
pub(super) fn parse_quoted(text: &str) -> Word {
    let mut reader = Reader { chars: text.chars().collect(), ..Reader::default() };
    while let Some(c) = reader.next() {
        reader.quoted_char(c, false);
    }
    reader.word.take().unwrap_or_default()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Redirect {
    Read,
    Write,
    Document { tabs: bool },
    Text,
}

#[derive(Default)]
struct Reader {
    chars: Vec<char>,
    at: usize,
    commands: Vec<Simple>,
    simple: Simple,
    word: Option<Word>,
    /// Here-documents whose texts begin at the next line: the command, the delimiter, whether tabs are
    /// removed, and whether it is literal.
    pending: Vec<(usize, String, bool, bool)>,
    redirect: Option<Redirect>,
    /// The parentheses and braces that are open.
    open: Vec<char>,
    malformed: bool,
}

impl Reader {
    fn run(&mut self) {
        while let Some(c) = self.next() {
            match c {
                '\\' => match self.next() {
                    Some('\n') | None => {}
                    Some(c) => self.push(c, true),
                },
                '\'' => {
                    let text = self.take(skip::until(&self.chars, self.at, '\''));
                    self.word().parts.push(Part::Text { text, quoted: true });
                }
                '"' => self.double_quoted(),
                '`' => self.backticks(false),
                '$' => self.dollar(false),
                '<' | '>' => self.redirection(c),
                '#' if self.word.is_none() => self.at = skip::until(&self.chars, self.at, '\n'),
                '\n' => {
                    self.end_command(false);
                    self.read_documents();
                }
                '&' if self.peek() == Some('>') => self.end_word(),
                '|' if self.peek() != Some('|') => {
                    self.end_command(true);
                    self.at += usize::from(self.peek() == Some('&'));
                }
                ';' | '&' | '|' => {
                    self.end_command(false);
                    self.at += usize::from(self.peek() == Some(c));
                }
                '(' => self.parenthesis(),
                ')' => {
                    self.end_command(false);
                    self.close('(');
                }
                c if c.is_whitespace() => self.end_word(),
                c => self.push(c, false),
            }
        }
        self.end_command(false);
        self.read_documents();
    }

    fn next(&mut self) -> Option<char> {
        let c = self.chars.get(self.at).copied();
        self.at += usize::from(c.is_some());
        c
    }

    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    fn word(&mut self) -> &mut Word {
        self.word.get_or_insert_default()
    }

    fn push(&mut self, c: char, quoted: bool) {
        self.word().push(c, quoted);
    }

    /// Takes the text up to `end`, and steps over the closing character there.
    fn take(&mut self, end: usize) -> String {
        let text = self.chars[self.at.min(end)..end].iter().collect();
        self.malformed |= end >= self.chars.len();
        self.at = end + 1;
        text
    }

    fn closing(&self, closer: char, in_quotes: bool) -> usize {
        skip::closing(&self.chars, self.at, closer, in_quotes)
    }

    fn double_quoted(&mut self) {
        // An empty text is a word too.
        self.word().parts.push(Part::Text { text: String::new(), quoted: true });
        while let Some(c) = self.next() {
            if c == '"' {
                return;
            }
            self.quoted_char(c, true);
        }
        self.malformed = true;
    }

    /// A character in double quotes, or in the text of a here-document.
    fn quoted_char(&mut self, c: char, in_quotes: bool) {
        match c {
            '\\' => match self.next() {
                Some('\n') | None => {}
                Some(c @ ('$' | '`' | '\\')) => self.push(c, true),
                Some('"') if in_quotes => self.push('"', true),
                Some(c) => {
                    self.push('\\', true);
                    self.push(c, true);
                }
            },
            '`' => self.backticks(true),
            '$' => self.dollar(true),
            c => self.push(c, true),
        }
    }

    fn backticks(&mut self, quoted: bool) {
        let end = skip::until_unescaped(&self.chars, self.at, '`');
        let script = self.take(end).replace("\\`", "`").replace("\\$", "$").replace("\\\\", "\\");
        self.word().parts.push(Part::Command { script, quoted });
    }

    fn dollar(&mut self, quoted: bool) {
        match self.peek() {
            Some('(') => {
                self.at += 1;
                let script = self.take(self.closing(')', false));
                self.word().parts.push(Part::Command { script, quoted });
            }
            Some('{') => {
                self.at += 1;
                let expression = self.take(self.closing('}', quoted));
                self.word().parts.push(Part::Parameter { expression, quoted });
            }
            Some('\'') if !quoted => {
                self.at += 1;
                let end = skip::until_unescaped(&self.chars, self.at, '\'');
                let text = super::decode::escapes(&self.take(end));
                self.word().parts.push(Part::Text { text, quoted: true });
            }
            Some('"') if !quoted => {}
            Some(c) if c.is_ascii_alphabetic() || c == '_' => {
                let len = self.chars[self.at..].iter().take_while(|c| is_name_char(**c)).count();
                let expression = self.chars[self.at..self.at + len].iter().collect();
                self.at += len;
                self.word().parts.push(Part::Parameter { expression, quoted });
            }
            // zsh splits the value.
            Some('=') if !quoted && self.chars.get(self.at + 1).is_some_and(|c| is_name_char(*c)) => {
                self.at += 1;
                self.dollar(quoted);
            }
            Some(c) if c.is_ascii_digit() || "@*#?$!-".contains(c) => {
                self.at += 1;
                self.word().parts.push(Part::Parameter { expression: c.to_string(), quoted });
            }
            _ => self.push('$', true),
        }
    }

    fn parenthesis(&mut self) {
        let word = self.word.as_ref().and_then(Word::literal).unwrap_or_default();
        let first = self.simple.words.is_empty();
        if self.word.is_none() && self.peek() == Some('(') {
            // Arithmetic, or a nested group. It is parsed separately, because `<<` in it starts no
            // here-document.
            let script = self.take(self.closing(')', false));
            self.end_command(false);
            self.word().parts.push(Part::Process { script });
        } else if is_assignment(&word) && word.ends_with('=') {
            let words = self.take(self.closing(')', false));
            self.word().parts.push(Part::Array { words });
        } else if word.ends_with(['@', '?', '*', '+']) && !first {
            // A pattern with alternatives.
            self.take(self.closing(')', false));
            self.push('*', false);
        } else if !word.is_empty() && first && self.skips_to_closing() {
            self.word = None;
            self.define(word);
        } else {
            let keyword = self.simple.words.first().and_then(Word::bare) == Some("function");
            if keyword && !word.is_empty() && self.skips_to_closing() {
                self.word = None;
                self.simple.words.clear();
                return self.define(word);
            }
            self.end_command(false);
            self.open.push('(');
        }
    }

    /// Steps over `)` if nothing but blanks is before it.
    fn skips_to_closing(&mut self) -> bool {
        let blanks = self.chars[self.at..].iter().take_while(|c| matches!(c, ' ' | '\t')).count();
        let closes = self.chars.get(self.at + blanks) == Some(&')');
        self.at += if closes { blanks + 1 } else { 0 };
        closes
    }

    fn define(&mut self, name: String) {
        let depth = self.open.len();
        self.commands.push(Simple { defines: Some(name), depth, ..Simple::default() });
    }

    fn close(&mut self, opener: char) {
        // The pattern of a `case` ends with a parenthesis that nothing opened.
        if self.open.last() == Some(&opener) {
            self.open.pop();
        }
    }

    fn redirection(&mut self, c: char) {
        // A number before it is a descriptor, not a word of the command.
        let is_number = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_digit());
        if self.word.as_ref().and_then(Word::bare).is_some_and(is_number) {
            self.word = None;
        }
        if self.peek() == Some('(') {
            self.at += 1;
            let script = self.take(self.closing(')', false));
            self.word().parts.push(Part::Process { script });
            return;
        }
        self.end_word();
        let mut kind = if c == '<' { Redirect::Read } else { Redirect::Write };
        if c == '<' && self.peek() == Some('<') {
            self.at += 1;
            kind = match self.peek() {
                Some('<') => Redirect::Text,
                Some('-') => Redirect::Document { tabs: true },
                _ => Redirect::Document { tabs: false },
            };
            self.at += usize::from(kind != Redirect::Document { tabs: false });
        } else {
            while let Some(next @ ('>' | '&' | '|')) = self.peek() {
                // `<>` opens a file for both.
                if next == '>' {
                    kind = Redirect::Write;
                }
                self.at += 1;
            }
        }
        self.redirect = Some(kind);
    }

    fn end_word(&mut self) {
        let Some(word) = self.word.take() else { return };
        match self.redirect.take() {
            None => self.simple.words.push(word),
            Some(Redirect::Read) => self.simple.reads.push(word),
            Some(Redirect::Write) => self.simple.writes.push(word),
            Some(Redirect::Text) => self.simple.documents.push(word),
            Some(Redirect::Document { tabs }) => {
                let quoted = word.parts.iter().any(|part| !matches!(part, Part::Text { quoted: false, .. }));
                let delimiter = word.literal().unwrap_or_default();
                self.pending.push((self.commands.len(), delimiter, tabs, quoted));
            }
        }
        self.take_brace();
    }

    /// Handles a brace at the beginning or end of a command, which opens or closes a group and is no word.
    fn take_brace(&mut self) {
        let Some((last, before)) = self.simple.words.split_last() else { return };
        let is_reserved = |word: &Word| word.bare().is_some_and(|text| RESERVED.contains(&text));
        let defined = match before {
            [keyword, name] if keyword.bare() == Some("function") => name.literal(),
            _ => None,
        };
        if !before.iter().all(is_reserved) && defined.is_none() {
            return;
        }
        match last.bare() {
            Some("{") => {
                self.simple.words.clear();
                if let Some(name) = defined {
                    self.define(name);
                }
                self.open.push('{');
            }
            Some("}") => {
                self.simple.words.pop();
                self.close('{');
            }
            _ => {}
        }
    }

    fn end_command(&mut self, pipes: bool) {
        self.end_word();
        self.redirect = None;
        let mut simple = std::mem::take(&mut self.simple);
        let here = self.commands.len();
        let waits = self.pending.iter().any(|(command, ..)| *command == here);
        let redirects = [&simple.documents, &simple.reads, &simple.writes];
        let empty = simple.words.is_empty() && redirects.iter().all(|words| words.is_empty());
        if !empty || waits || pipes {
            (simple.pipes, simple.depth) = (pipes, self.open.len());
            self.commands.push(simple);
        }
    }

    /// The texts of the here-documents that the line before named.
    fn read_documents(&mut self) {
        for (command, delimiter, tabs, literal) in std::mem::take(&mut self.pending) {
            let mut text = String::new();
            while self.at < self.chars.len() {
                let end = skip::until(&self.chars, self.at, '\n');
                let line: String = self.chars[self.at..end].iter().collect();
                self.at = end + 1;
                let bare = if tabs { line.trim_start_matches('\t') } else { &line };
                if bare == delimiter {
                    break;
                }
                text.push_str(bare);
                text.push('\n');
            }
            let document = match literal {
                true => Word { parts: vec![Part::Text { text, quoted: true }] },
                false => parse_quoted(&text),
            };
            if let Some(command) = self.commands.get_mut(command) {
                command.documents.push(document);
            }
        }
    }
}

fn is_name_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// Returns true if a word begins with `name=` or `name+=` or `name[…]=`.
pub(super) fn is_assignment(text: &str) -> bool {
    text.split_once('=').is_some_and(|(name, _)| {
        let name = name.strip_suffix('+').unwrap_or(name);
        let name = name.split_once('[').map_or(name, |(name, _)| name);
        !name.is_empty() && !name.starts_with(|c: char| c.is_ascii_digit()) && name.chars().all(is_name_char)
    })
}
