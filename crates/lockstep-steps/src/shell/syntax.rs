//! A shell command as simple commands: words without their quotes, the commands inside substitutions, and here-documents.
//!
//! It is no shell. Expansions are not made: a word that has one is marked, because what it becomes is not known.

/// One word of a command.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Word {
    /// Its text without quotes.
    pub(super) text: String,
    /// Whether the shell puts something else in its place: a variable, a substitution.
    pub(super) expands: bool,
}

/// Words up to the next separator.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Simple {
    pub(super) words: Vec<Word>,
}

/// A whole command line.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Script {
    /// Its simple commands, in order.
    pub(super) commands: Vec<Simple>,
    /// The commands inside `$(…)`, backticks and `<(…)`.
    pub(super) substitutions: Vec<String>,
    /// The texts of here-documents and here-strings.
    pub(super) documents: Vec<String>,
}

/// Reads a command line.
pub(super) fn parse(text: &str) -> Script {
    let mut reader =
        Reader { chars: text.chars().collect(), at: 0, script: Script::default(), ..Reader::default() };
    reader.run();
    reader.script
}

#[derive(Default)]
struct Reader {
    chars: Vec<char>,
    at: usize,
    script: Script,
    simple: Simple,
    word: Option<Word>,
    /// Delimiters of here-documents whose texts begin at the next line, and whether tabs are removed from them.
    pending: Vec<(String, bool)>,
    /// Whether the next word is the target of `<`, `>` or `<<<`.
    redirect: Option<Redirect>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Redirect {
    File,
    Document { tabs: bool },
    String,
}

impl Reader {
    fn run(&mut self) {
        while let Some(c) = self.next() {
            match c {
                '\\' => match self.next() {
                    Some('\n') | None => {}
                    Some(c) => self.push(c),
                },
                '\'' => {
                    let quoted = self.until('\'');
                    self.word().text.push_str(&quoted);
                }
                '"' => self.double_quoted(),
                '`' => self.backticks(),
                '$' => self.dollar(),
                '<' | '>' => self.redirection(c),
                '#' if self.word.is_none() => {
                    while self.peek().is_some_and(|c| c != '\n') {
                        self.at += 1;
                    }
                }
                '\n' => {
                    self.end_command();
                    self.read_documents();
                }
                ';' | '&' | '|' | '(' | ')' => self.end_command(),
                c if c.is_whitespace() => self.end_word(),
                c => self.push(c),
            }
        }
        self.end_command();
    }

    fn next(&mut self) -> Option<char> {
        let c = self.chars.get(self.at).copied();
        self.at += 1;
        c
    }

    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    fn word(&mut self) -> &mut Word {
        self.word.get_or_insert_default()
    }

    fn push(&mut self, c: char) {
        self.word().text.push(c);
    }

    fn until(&mut self, end: char) -> String {
        let mut text = String::new();
        while let Some(c) = self.next().filter(|c| *c != end) {
            text.push(c);
        }
        text
    }

    fn double_quoted(&mut self) {
        self.word();
        while let Some(c) = self.next() {
            match c {
                '"' => return,
                '\\' => match self.next() {
                    Some('\n') | None => {}
                    Some(c) => self.push(c),
                },
                '`' => self.backticks(),
                '$' => self.dollar(),
                c => self.push(c),
            }
        }
    }

    fn backticks(&mut self) {
        let inner = self.until('`');
        self.script.substitutions.push(inner);
        self.word().expands = true;
    }

    fn dollar(&mut self) {
        self.word().expands = true;
        match self.peek() {
            Some('(') => {
                self.at += 1;
                let inner = self.parenthesised();
                self.script.substitutions.push(inner);
            }
            // `$'…'` is a quote; what its escapes become is not looked at.
            Some('\'') => {
                self.at += 1;
                let quoted = self.until('\'');
                self.word().text.push_str(&quoted);
            }
            _ => self.push('$'),
        }
    }

    /// The text up to the parenthesis that closes, which is read too.
    fn parenthesised(&mut self) -> String {
        let (mut depth, mut quote, mut text) = (1, None, String::new());
        while let Some(c) = self.next() {
            match (quote, c) {
                (Some(open), c) if c == open => quote = None,
                (Some('\''), _) => {}
                (_, '\\') => {
                    text.push(c);
                    text.extend(self.next());
                    continue;
                }
                (None, '\'' | '"') => quote = Some(c),
                (None, '(') => depth += 1,
                (None, ')') => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                break;
            }
            text.push(c);
        }
        text
    }

    fn redirection(&mut self, c: char) {
        // A number before it is a descriptor, and no word of the command.
        if self.word.as_ref().is_some_and(|word| word.text.chars().all(|c| c.is_ascii_digit())) {
            self.word = None;
        }
        self.end_word();
        if self.peek() == Some('(') {
            self.at += 1;
            let inner = self.parenthesised();
            self.script.substitutions.push(inner);
            self.word().expands = true;
            return;
        }
        let mut kind = Redirect::File;
        if c == '<' && self.peek() == Some('<') {
            self.at += 1;
            kind = match self.peek() {
                Some('<') => Redirect::String,
                Some('-') => Redirect::Document { tabs: true },
                _ => Redirect::Document { tabs: false },
            };
            self.at += usize::from(kind != Redirect::Document { tabs: false });
        } else {
            while self.peek().is_some_and(|c| matches!(c, '>' | '&' | '|')) {
                self.at += 1;
            }
        }
        self.redirect = Some(kind);
    }

    fn end_word(&mut self) {
        let Some(word) = self.word.take() else { return };
        match self.redirect.take() {
            None => self.simple.words.push(word),
            Some(Redirect::File) => {}
            Some(Redirect::String) => self.script.documents.push(word.text),
            Some(Redirect::Document { tabs }) => self.pending.push((word.text, tabs)),
        }
    }

    fn end_command(&mut self) {
        self.end_word();
        self.redirect = None;
        let simple = std::mem::take(&mut self.simple);
        if !simple.words.is_empty() {
            self.script.commands.push(simple);
        }
    }

    /// The texts of the here-documents that the line before named.
    fn read_documents(&mut self) {
        for (delimiter, tabs) in std::mem::take(&mut self.pending) {
            let mut text = String::new();
            while self.at < self.chars.len() {
                let line = self.until('\n');
                let bare = if tabs { line.trim_start_matches('\t') } else { &line };
                if bare == delimiter {
                    break;
                }
                text.push_str(bare);
                text.push('\n');
            }
            self.script.documents.push(text);
        }
    }
}
