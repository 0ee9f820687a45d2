//! Items in the brackets of a macro with its own grammar: rewritten into Rust if possible, otherwise read by
//! their heads.

use super::extractor::{Reader, Source};
use super::macros::{untouched, word};
use super::tokens::{Token, lex};
use crate::facts::{Condition, Definition, DefinitionKind, Reach};
use crate::syntax::{LineStarts, digest_words};

impl Reader {
    /// Reads items that only this macro can read. Returns true if nothing is left to be read by its words.
    pub(super) fn reread_grammar(&mut self, name: &str, inner: Source<'_>) -> bool {
        if name == "cfg_if" {
            return self.alternatives(inner);
        }
        let plain = plain_rust(inner.text);
        if plain != inner.text && self.reread(Source { text: &plain, line: inner.line }, "", "", true) {
            return true;
        }
        self.heads(inner);
        false
    }

    /// `if #[cfg(a)] { items } else { items }`: items of the module, whichever there are.
    fn alternatives(&mut self, inner: Source<'_>) -> bool {
        let mut done = true;
        let lines = LineStarts::of(inner.text);
        let (mut depth, mut start, mut at) = (0_u32, 0, 0);
        while let Some(c) = inner.text[at..].chars().next() {
            let length = untouched(&inner.text[at..]).max(c.len_utf8());
            match c {
                '{' if depth == 0 => {
                    self.alternative(inner, &lines, &inner.text[start..at], at + 1);
                    (depth, start) = (1, at + 1);
                }
                '{' => depth += 1,
                '}' if depth == 1 => {
                    let block = Source { text: &inner.text[start..at], line: line_at(inner, &lines, start) };
                    done &= block.text.trim().is_empty() || self.reread(block, "", "", true);
                    (depth, start) = (0, at + 1);
                }
                '}' => depth = depth.saturating_sub(1),
                _ => {}
            }
            at += length;
        }
        done
    }

    /// Records the condition before a block that starts at a position.
    fn alternative(&mut self, inner: Source<'_>, lines: &LineStarts, head: &str, start: usize) {
        let Some((_, condition)) = head.split_once("cfg(") else { return };
        let Some((text, _)) = condition.rsplit_once(')') else { return };
        let end = inner.text[start..].find('}').map_or(inner.text.len(), |end| start + end);
        self.facts.conditions.push(Condition {
            text: text.split_whitespace().collect::<String>().into(),
            line: line_at(inner, lines, start) + 1,
            end_line: line_at(inner, lines, end) + 1,
        });
    }

    /// Records the definitions that the words show, at the outermost level of the brackets: `pub struct
    /// Name`.
    fn heads(&mut self, inner: Source<'_>) {
        let tokens = lex(inner);
        let mut depth = 0_u32;
        for at in 0..tokens.len() {
            match tokens[at] {
                Token::Mark('(' | '[' | '{') => depth += 1,
                Token::Mark(')' | ']' | '}') => depth = depth.saturating_sub(1),
                Token::Word(keyword, _) if depth == 0 => self.head(&tokens, at, keyword),
                _ => {}
            }
        }
    }

    fn head(&mut self, tokens: &[Token<'_>], at: usize, keyword: &str) {
        let kind = match keyword {
            "struct" | "enum" | "union" | "type" => DefinitionKind::Type,
            "trait" => DefinitionKind::Interface,
            "fn" => DefinitionKind::Function,
            "const" | "static" => DefinitionKind::Value,
            _ => return,
        };
        let Some(Token::Word(name, line)) = tokens.get(at + 1) else { return };
        if *name == "fn" || *name == "_" {
            return;
        }
        let words = || words_to_end(&tokens[at + 1..]);
        let end_line = words().last().map_or(*line, |(_, line)| line);
        let signature = digest_words(words().map(|(word, _)| word));
        self.define(Definition {
            container: self.container(),
            reach: reach_before(&tokens[..at]),
            signature,
            ..Definition::new(name, kind, *line, end_line)
        });
    }
}

/// Returns the number of lines of the file before a position of a text.
fn line_at(source: Source<'_>, lines: &LineStarts, at: usize) -> u32 {
    source.line + lines.line_at(at) - 1
}

/// Returns the words of the item that some tokens begin with: to its semicolon, or the end of its braces.
fn words_to_end<'t, 's>(tokens: &'s [Token<'t>]) -> impl Iterator<Item = (&'t str, u32)> + use<'t, 's> {
    let mut depth = 0_u32;
    let mut over = false;
    let inside = move |token: &&'s Token<'t>| {
        let was = over;
        match token {
            Token::Mark('{' | '(' | '[') => depth += 1,
            Token::Mark('}') if depth <= 1 => over = true,
            Token::Mark(')' | ']' | '}') => depth = depth.saturating_sub(1),
            Token::Mark(';') if depth == 0 => over = true,
            _ => {}
        }
        !was
    };
    tokens.iter().take_while(inside).filter_map(|token| match token {
        Token::Word(word, line) => Some((*word, *line)),
        _ => None,
    })
}

/// Returns the visibility of the item after these tokens.
fn reach_before(tokens: &[Token<'_>]) -> Reach {
    let is_mark =
        |token: &Token<'_>| matches!(token, Token::Word("unsafe" | "async" | "const" | "extern", _));
    let end = tokens.iter().rposition(|token| !is_mark(token)).map_or(0, |last| last + 1);
    match &tokens[..end] {
        [.., Token::Word("pub", _)] => Reach::Everyone,
        [.., Token::Word("pub", _), Token::Mark('('), Token::Word(..), Token::Mark(')')] => Reach::Package,
        _ => Reach::File,
    }
}

/// Rewrites the items of a macro as Rust, keeping their lines: flags (`struct A: u8 { const B = 1; }`) become
/// a type with constants; a type after the name of an enum and marks for the macro itself (`@part`) are
/// removed.
fn plain_rust(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let (mut rest, mut before, mut flags) = (text, "", false);
    while let Some(c) = rest.chars().next() {
        if c == '@' {
            rest = after_mark(&rest[1..]);
            continue;
        }
        if !(c.is_alphabetic() || c == '_') {
            let length = untouched(rest).max(c.len_utf8());
            plain.push_str(&rest[..length]);
            rest = &rest[length..];
            if !c.is_whitespace() {
                before = "";
            }
            continue;
        }
        let (name, after) = word(rest);
        rest = after;
        let is_flag = flags && name == "const" && word(after.trim_start()).1.trim_start().starts_with('=');
        plain.push_str(if is_flag { "pub const" } else { name });
        match before {
            "struct" | "enum" => {
                if let Some(body) = behind_type(after) {
                    flags |= before == "struct";
                    if before == "struct" {
                        plain.push_str("; impl ");
                        plain.push_str(name);
                    }
                    plain.extend(after[..body].chars().filter(|c| *c == '\n'));
                    rest = &after[body..];
                }
            }
            "const" if flags && after.trim_start().starts_with('=') => plain.push_str(": Self "),
            _ => {}
        }
        before = name;
    }
    plain
}

/// Returns the text after a mark for the macro. The words next to it belong to it if its line has nothing
/// else.
fn after_mark(text: &str) -> &str {
    let (line, rest) = text.split_at(text.find('\n').unwrap_or(text.len()));
    let is_words = line.chars().all(|c| c.is_alphanumeric() || c == '_' || c.is_whitespace());
    if is_words { rest } else { word(text).1 }
}

/// Returns the start of the body of an item that has a type after its name.
fn behind_type(text: &str) -> Option<usize> {
    let after = text.trim_start().strip_prefix(':').filter(|after| !after.starts_with(':'))?;
    let body = text.find('{')?;
    let is_before = |mark: char| text.find(mark).is_none_or(|at| at > body);
    (is_before(';') && is_before('}') && !after.is_empty()).then_some(body)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_are_a_type_with_constants() {
        assert_eq!(
            plain_rust("pub struct A: u8 {\n const B = 1;\n const C = Self::B.bits();\n}\nenum D:\nu8 { E }"),
            "pub struct A; impl A{\n pub const B: Self  = 1;\n pub const C: Self  = Self::B.bits();\n}\nenum D\n{ E }"
        );
        assert_eq!(plain_rust("trait A: B { @part type C; }"), "trait A: B {  type C; }");
        assert_eq!(plain_rust("trait A {\n@part type\ntype C; }"), "trait A {\n\ntype C; }");
        assert_eq!(
            plain_rust("struct A { b: u8 } const C: u8 = '{';"),
            "struct A { b: u8 } const C: u8 = '{';"
        );
    }
}
