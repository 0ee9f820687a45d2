//! The tokens of JavaScript, as far as texts are concerned.

use std::iter::Peekable;
use std::str::Chars;

/// A token. Comments and regular expressions are left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    /// A string, or a template without expressions; decoded.
    Text(String),
    /// The fixed parts of a template with expressions. The expressions follow as tokens of their own.
    Template(String),
    /// An identifier, a keyword or a number.
    Word(String),
    /// Any other character.
    Mark(char),
}

impl Token {
    pub(super) fn is_word(&self, word: &str) -> bool {
        matches!(self, Self::Word(own) if own == word)
    }
}

/// More templates inside of templates than this are no script of a person or a generator.
const MAX_TEMPLATES: usize = 100;

/// Splits a script into tokens. `None` if it ends inside a text or a comment, or its templates are nested too
/// deeply.
pub(super) fn tokenize(script: &str) -> Option<Vec<Token>> {
    let mut lexer = Lexer { chars: script.chars().peekable(), tokens: Vec::new(), templates: 0 };
    lexer.read_until(None)?;
    Some(lexer.tokens)
}

struct Lexer<'a> {
    chars: Peekable<Chars<'a>>,
    tokens: Vec<Token>,
    /// The number of open templates.
    templates: usize,
}

impl Lexer<'_> {
    /// Reads tokens up to the end of the script, or up to the brace that closes an expression.
    fn read_until(&mut self, closing: Option<char>) -> Option<()> {
        let mut depth = 0_usize;
        while let Some(c) = self.chars.next() {
            match c {
                '\'' | '"' => {
                    let text = self.string(c)?;
                    self.tokens.push(Token::Text(text));
                }
                '`' => self.template()?,
                '/' => self.slash()?,
                c if is_word(c) => self.word(c),
                c if c.is_whitespace() => {}
                c if Some(c) == closing && depth == 0 => return Some(()),
                c => {
                    match c {
                        '{' => depth += 1,
                        '}' => depth = depth.saturating_sub(1),
                        _ => {}
                    }
                    self.tokens.push(Token::Mark(c));
                }
            }
        }
        closing.is_none().then_some(())
    }

    fn word(&mut self, first: char) {
        let mut word = String::from(first);
        while let Some(c) = self.chars.next_if(|c| is_word(*c)) {
            word.push(c);
        }
        self.tokens.push(Token::Word(word));
    }

    fn string(&mut self, quote: char) -> Option<String> {
        let mut text = String::new();
        loop {
            match self.chars.next()? {
                '\\' => self.escape(&mut text)?,
                '\n' => return None,
                c if c == quote => return Some(text),
                c => text.push(c),
            }
        }
    }

    fn template(&mut self) -> Option<()> {
        self.templates += 1;
        if self.templates > MAX_TEMPLATES {
            return None;
        }
        let at = self.tokens.len();
        self.tokens.push(Token::Mark('`'));
        let (mut text, mut is_fixed) = (String::new(), true);
        loop {
            match self.chars.next()? {
                '\\' => self.escape(&mut text)?,
                '`' => break,
                '$' if self.chars.next_if_eq(&'{').is_some() => {
                    is_fixed = false;
                    self.read_until(Some('}'))?;
                }
                c => text.push(c),
            }
        }
        self.templates -= 1;
        self.tokens[at] = if is_fixed { Token::Text(text) } else { Token::Template(text) };
        Some(())
    }

    /// A comment, a regular expression or a division.
    fn slash(&mut self) -> Option<()> {
        if self.chars.next_if_eq(&'/').is_some() {
            while self.chars.next_if(|c| *c != '\n').is_some() {}
        } else if self.chars.next_if_eq(&'*').is_some() {
            let mut last = ' ';
            loop {
                match self.chars.next()? {
                    '/' if last == '*' => break,
                    c => last = c,
                }
            }
        } else if self.is_before_expression() {
            self.regular_expression()?;
        } else {
            self.tokens.push(Token::Mark('/'));
        }
        Some(())
    }

    /// Returns true if an expression begins here, so that a slash begins a regular expression.
    fn is_before_expression(&self) -> bool {
        const KEYWORDS: [&str; 8] = ["return", "typeof", "case", "in", "of", "await", "void", "yield"];
        match self.tokens.last() {
            None => true,
            Some(Token::Mark(mark)) => !matches!(mark, ')' | ']' | '}'),
            Some(Token::Word(word)) => KEYWORDS.contains(&word.as_str()),
            Some(Token::Text(_) | Token::Template(_)) => false,
        }
    }

    fn regular_expression(&mut self) -> Option<()> {
        let mut is_in_class = false;
        loop {
            match self.chars.next()? {
                '\\' => drop(self.chars.next()?),
                '\n' => return None,
                '[' => is_in_class = true,
                ']' => is_in_class = false,
                '/' if !is_in_class => break,
                _ => {}
            }
        }
        // An operand has been read: a slash that follows divides.
        self.tokens.push(Token::Word("/".to_owned()));
        Some(())
    }

    fn escape(&mut self, text: &mut String) -> Option<()> {
        match self.chars.next()? {
            '\n' => {}
            '\r' => drop(self.chars.next_if_eq(&'\n')),
            'n' => text.push('\n'),
            't' => text.push('\t'),
            'r' => text.push('\r'),
            'x' => text.push(self.code(2)?),
            'u' if self.chars.next_if_eq(&'{').is_some() => {
                let mut digits = String::new();
                while let Some(c) = self.chars.next_if(|c| *c != '}') {
                    digits.push(c);
                }
                self.chars.next()?;
                text.push(character(&digits)?);
            }
            'u' => text.push(self.code(4)?),
            c => text.push(c),
        }
        Some(())
    }

    fn code(&mut self, digits: usize) -> Option<char> {
        let digits: String = self.chars.by_ref().take(digits).collect();
        character(&digits)
    }
}

/// Returns the character of a code. Half of a surrogate pair becomes a replacement character, which no marker
/// has.
fn character(digits: &str) -> Option<char> {
    let code = u32::from_str_radix(digits, 16).ok()?;
    Some(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER))
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '$'
}
