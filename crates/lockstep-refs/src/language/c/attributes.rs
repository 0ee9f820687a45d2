//! Macros that stand where the language has types and attributes: `API(int) f(void);`, `class API Widget {`,
//! `API int f(void);`, `int CALL f(void);`, `void f() NOTHROW;`.
//!
//! The grammars do not expand macros, and lose the declaration or read the macro as its type. The macro is
//! blanked before the parse, byte for byte, so that all positions stay the same.

use std::ops::Range;

use tree_sitter::Tree;

use crate::language::{Language, grammar};
use crate::syntax::{parse, parse_without_error, unread};

/// Parses a text of C or C++ without its attribute macros.
pub(crate) fn parsed(language: Language, text: &str) -> Option<Tree> {
    let grammar = grammar(language)?;
    let macros = attribute_macros(text);
    if macros.is_empty() {
        return parse(&grammar, text);
    }
    let mut bytes = text.as_bytes().to_vec();
    for range in macros {
        bytes.get_mut(range)?.fill(b' ');
    }
    let blanked = String::from_utf8(bytes).ok()?;
    if let Some(tree) = parse_without_error(&grammar, &blanked) {
        return Some(tree);
    }
    let (blanked, plain) = (parse(&grammar, &blanked), parse(&grammar, text));
    match (blanked, plain) {
        (Some(blanked), Some(plain)) if unread_bytes(&blanked) > unread_bytes(&plain) => Some(plain),
        (Some(blanked), _) => Some(blanked),
        (None, plain) => plain,
    }
}

fn unread_bytes(tree: &Tree) -> usize {
    unread(tree).iter().map(ExactSizeIterator::len).sum()
}

/// Returns the text of the macros that [`parsed`] blanks.
pub(crate) fn attribute_words(text: &str) -> Vec<&str> {
    attribute_macros(text).into_iter().filter_map(|range| text.get(range)).collect()
}

/// A word or a sign. `fresh` is set for the first one after a directive of the preprocessor.
struct Token<'t> {
    text: &'t str,
    at: usize,
    fresh: bool,
}

impl Token<'_> {
    fn is_word(&self) -> bool {
        self.text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
    }

    /// Returns true if the word is written as macros are.
    fn is_macro(&self) -> bool {
        let upper = self.text.bytes().filter(u8::is_ascii_uppercase).count();
        upper >= 2 && self.is_word() && !self.text.bytes().any(|byte| byte.is_ascii_lowercase())
    }

    fn range(&self) -> Range<usize> {
        self.at..self.at + self.text.len()
    }
}

/// Words with parentheses of their own.
const OPERATORS: [&str; 14] = [
    "__attribute__",
    "__declspec",
    "alignas",
    "decltype",
    "defined",
    "explicit",
    "if",
    "noexcept",
    "operator",
    "requires",
    "static_assert",
    "throw",
    "typeof",
    "while",
];

fn attribute_macros(text: &str) -> Vec<Range<usize>> {
    let tokens = Tokens(tokens(text));
    let mut found = Vec::new();
    // For every open brace, whether it is the body of a function or a value.
    let mut open: Vec<bool> = Vec::new();
    for at in 0..tokens.0.len() {
        match tokens.text(at) {
            "{" => {
                let before = at.checked_sub(1).map_or("", |before| tokens.text(before));
                let is_body =
                    matches!(before, ")" | "=" | "," | "(" | ";" | "const" | "override" | "noexcept");
                open.push(is_body || open.last() == Some(&true));
            }
            "}" => drop(open.pop()),
            "class" | "struct" | "union" => found.extend(tokens.macro_of_type(at)),
            _ if open.last() != Some(&true) => found.extend(tokens.macros_of_declaration(at)),
            _ => {}
        }
    }
    found
}

struct Tokens<'t>(Vec<Token<'t>>);

impl<'t> Tokens<'t> {
    fn text(&self, at: usize) -> &'t str {
        self.0.get(at).map_or("", |token| token.text)
    }

    fn is_word(&self, at: usize) -> bool {
        self.0.get(at).is_some_and(Token::is_word)
    }

    fn is_macro(&self, at: usize) -> bool {
        self.0.get(at).is_some_and(Token::is_macro)
    }

    fn range(&self, first: usize, last: usize) -> Option<Range<usize>> {
        Some(self.0.get(first)?.at..self.0.get(last)?.range().end)
    }

    /// Returns the position behind the parentheses that open at a position.
    fn behind_parentheses(&self, at: usize) -> Option<usize> {
        let mut depth = 0_u32;
        for (position, token) in self.0.iter().enumerate().skip(at) {
            match token.text {
                "(" => depth += 1,
                ")" if depth == 1 => return Some(position + 1),
                ")" => depth -= 1,
                "{" | "}" | ";" => return None,
                _ => {}
            }
            if depth == 0 {
                return None;
            }
        }
        None
    }

    /// `class API Widget`, with the position of `class`.
    fn macro_of_type(&self, at: usize) -> Option<Range<usize>> {
        let (first, mut name) = (at + 1, at + 2);
        if self.text(name) == "(" {
            name = self.behind_parentheses(name)?;
        }
        let is_type = self.is_macro(first) && self.is_word(name);
        let behind = self.behind_path(name);
        (is_type && matches!(self.text(behind), "{" | ":" | "final")).then(|| self.range(first, name - 1))?
    }

    /// Returns the position behind a path such as `a::b`.
    fn behind_path(&self, at: usize) -> usize {
        let mut behind = at + 1;
        while self.text(behind) == "::" && self.is_word(behind + 1) {
            behind += 2;
        }
        behind
    }

    fn macros_of_declaration(&self, at: usize) -> Vec<Range<usize>> {
        let before = at.checked_sub(1).map_or("", |before| self.text(before));
        let starts = self.0.get(at).is_some_and(|token| token.fresh)
            || matches!(
                before,
                "" | ";" | "{" | "}" | ":" | ">" | "extern" | "static" | "inline" | "virtual" | "friend"
            );
        if starts && self.text(at + 1) == "(" {
            return self.macro_around_type(at);
        }
        let is_attribute = self.is_macro(at)
            && (starts && self.declares_more(at + 1)
                || before == ")" && self.ends_declaration(at)
                || is_type_end(before) && self.is_word(at + 1) && self.text(self.behind_path(at + 1)) == "(");
        is_attribute.then(|| self.range(at, at)).flatten().into_iter().collect()
    }

    /// `API(int) f(void);`: the macro with its parentheses, but not the type in them.
    fn macro_around_type(&self, at: usize) -> Vec<Range<usize>> {
        let is_callee = self.is_word(at) && !OPERATORS.contains(&self.text(at));
        let Some(name) = self.behind_parentheses(at + 1).filter(|name| is_callee && self.is_word(*name))
        else {
            return Vec::new();
        };
        let mut inside = self.0.get(at + 2..name - 1).unwrap_or_default().iter();
        let is_type = name > at + 3
            && inside.all(|token| token.is_word() || matches!(token.text, "*" | "&" | "::" | "<" | ">"));
        let behind = Some(self.behind_path(name)).filter(|number| self.text(*number) == "(");
        let behind = behind.and_then(|behind| self.behind_parentheses(behind));
        if !is_type || !behind.is_some_and(|behind| matches!(self.text(behind), ";" | "{")) {
            return Vec::new();
        }
        [self.range(at, at + 1), self.range(name - 1, name - 1)].into_iter().flatten().collect()
    }

    /// Returns true if a type and a name follow, or the visibility of members.
    fn declares_more(&self, at: usize) -> bool {
        let (mut words, mut next) = (0, at);
        if !self.is_word(next) || matches!(self.text(next), "public" | "private" | "protected") {
            return self.is_word(next) && self.text(next + 1) == ":";
        }
        while words < 2 {
            if self.is_word(next) {
                words += usize::from(!matches!(self.text(next), "const" | "volatile"));
                next = self.behind_path(next);
            } else if words > 0 && matches!(self.text(next), "*" | "&") {
                next += 1;
            } else if words > 0 && self.text(next) == "<" {
                let Some(close) = (next..next + 40).find(|number| self.text(*number) == ">") else {
                    return false;
                };
                next = close + 1;
            } else {
                // `int (name) (…)`
                return words == 1
                    && self.text(next) == "("
                    && self.is_word(next + 1)
                    && self.text(next + 2) == ")"
                    && self.text(next + 3) == "(";
            }
        }
        true
    }

    fn ends_declaration(&self, at: usize) -> bool {
        matches!(self.text(at + 1), ";" | "{" | "=" | "override" | "final" | "const" | "noexcept")
    }
}

/// Returns true if a token can be the end of a result's type.
fn is_type_end(text: &str) -> bool {
    let is_name = text.starts_with(|c: char| c.is_ascii_lowercase());
    let is_keyword = matches!(
        text,
        "static"
            | "extern"
            | "inline"
            | "const"
            | "volatile"
            | "return"
            | "typedef"
            | "struct"
            | "class"
            | "union"
            | "enum"
            | "virtual"
            | "friend"
            | "constexpr"
            | "register"
            | "new"
            | "delete"
            | "else"
            | "using"
    );
    is_name && !is_keyword || matches!(text, "*" | "&")
}

/// Returns the tokens outside comments, texts and directives.
fn tokens(text: &str) -> Vec<Token<'_>> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let (mut at, mut fresh, mut line_starts) = (0, true, true);
    while let Some(&byte) = bytes.get(at) {
        let rest = &text[at..];
        let end = match byte {
            b'\n' => {
                line_starts = true;
                at += 1;
                continue;
            }
            b'#' if line_starts => {
                fresh = true;
                at += directive_length(rest);
                continue;
            }
            _ if byte.is_ascii_whitespace() => {
                at += 1;
                continue;
            }
            b'/' if rest.starts_with("//") => {
                at += rest.find('\n').unwrap_or(rest.len());
                continue;
            }
            b'/' if rest.starts_with("/*") => {
                at += rest.find("*/").map_or(rest.len(), |end| end + 2);
                continue;
            }
            b'"' | b'\'' => text_length(rest),
            _ if byte.is_ascii_alphanumeric() || byte == b'_' => {
                rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len())
            }
            _ if rest.starts_with("::") => 2,
            _ => rest.chars().next().map_or(1, char::len_utf8),
        };
        found.push(Token { text: &rest[..end], at, fresh });
        (fresh, line_starts) = (false, false);
        at += end;
    }
    found
}

fn directive_length(text: &str) -> usize {
    let mut length = 0;
    for line in text.split_inclusive('\n') {
        length += line.len();
        if !line.trim_end().ends_with('\\') {
            break;
        }
    }
    length
}

/// Returns the length of a text in quotes, which ends with its line.
fn text_length(text: &str) -> usize {
    let quote = text.as_bytes()[0];
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            b'\n' if !escaped => return at,
            _ if byte == quote && !escaped => return at + 1,
            _ => escaped = byte == b'\\' && !escaped,
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::attribute_words;

    #[test]
    fn macros_in_the_place_of_types_and_attributes_are_found() {
        let found = |text| attribute_words(text).join(" ");
        assert_eq!(found("API(int)\nf(void *p);\nAPI(char *) g(void) { return 0; }"), "API( ) API( )");
        assert_eq!(found("class API Widget : public Base { Q_OBJECT public: int x; };"), "API Q_OBJECT");
        assert_eq!(
            found("API int f(int x);\nstatic API std::string g();\nAPI Out& operator<<(Out& o);"),
            "API API API"
        );
        assert_eq!(found("extern int CALL f(int x);\nvoid g() NOTHROW override;"), "CALL NOTHROW");
        assert_eq!(
            found("namespace n {\nAPI const char *f();\nLUA_API int (top) (State *s);\n}"),
            "API LUA_API"
        );
    }

    #[test]
    fn types_and_calls_in_capitals_are_left_alone() {
        let found = |text| attribute_words(text).join(" ");
        assert_eq!(
            found("DWORD f(void);\nFILE *g;\nstatic UINT h(UINT x);\nDWORD const x = 1;\nstruct FOO bar;"),
            ""
        );
        assert_eq!(found("void f() { EACH(item) use(item);\n DWORD x; return MAX(a); }"), "");
        assert_eq!(
            found("TYPE Foo::bar() const { return 1; }\nenum { ONE, TWO };\nDWORD a[] = { ONE, TWO };"),
            ""
        );
        assert_eq!(
            found(
                "#define API(x) x\n#define F(a) \\\n  API int f(a)\n// API int f\nconst char *s = \"API int f\";"
            ),
            ""
        );
    }
}
