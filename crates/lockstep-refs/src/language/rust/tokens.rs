//! Macros: the content of their brackets is read as expressions or items if it parses as such, otherwise word
//! by word.

use tree_sitter::Node;

use super::extractor::{Binding, Reader, Source, member, parse, without_raw_prefix};
use crate::facts::{Role, Shape};
use crate::syntax::children;

/// The depth up to which nested brackets are parsed, since each level is parsed again; deeper ones are read
/// word by word.
const MOST_BRACKETS: usize = 6;

impl Reader {
    /// Reads a macro in the position of an expression, a type or a pattern.
    pub(super) fn macro_invocation(&mut self, source: Source<'_>, node: Node<'_>) -> Shape {
        let Some(name) = self.macro_name(source, node) else { return Shape::Unknown };
        let Some(tree) = brackets(node) else { return Shape::Unknown };
        self.argument = Shape::Unknown;
        self.in_brackets(source, tree, |reader, inner, open| {
            let (head, tail) = match open {
                '[' => ("fn f(){[", "];}"),
                '{' => ("fn f(){", "}"),
                _ => ("fn f(){g(", ");}"),
            };
            reader.formatted(&name, inner);
            reader.reread(inner, head, tail, false)
                || (open != '{' && reader.reread(inner, "fn f(){", "}", false))
                || (name.ends_with("matches") && reader.reread_matches(inner))
        });
        match name.as_str() {
            "format" => Shape::Of("String".into()),
            "vec" => Shape::Of("Vec<_>".into()),
            "concat" | "stringify" | "env" | "include_str" | "file" => Shape::Of("str".into()),
            "matches" | "cfg" => Shape::Of("bool".into()),
            // Their names show their effect, regardless of their definition.
            "ready" | "try" | "ok" | "try_ready" | "some" => {
                member(std::mem::replace(&mut self.argument, Shape::Unknown), "?")
            }
            "pin" | "dbg" => std::mem::replace(&mut self.argument, Shape::Unknown),
            _ => Shape::Unknown,
        }
    }

    /// Reads a macro in the position of an item: its content is read as items of this module, if it parses as
    /// such.
    pub(super) fn macro_item(&mut self, source: Source<'_>, node: Node<'_>) {
        let Some(name) = self.macro_name(source, node) else { return };
        let Some(tree) = brackets(node) else { return };
        let first = self.facts.definitions.len();
        self.in_brackets(source, tree, |reader, inner, open| {
            reader.reread(inner, "", "", true)
                || (open == '(' && reader.reread(inner, "fn f(){g(", ");}", false))
                || reader.reread_grammar(&name, inner)
        });
        self.made_by(&name, first);
    }

    /// Records the macro that generates the items of this module since `first`.
    fn made_by(&mut self, name: &str, first: usize) {
        let container = self.module();
        let definitions =
            self.facts.definitions[first..].iter_mut().filter(|definition| definition.container == container);
        for definition in definitions {
            definition.extends.push(format!("{name}!").into());
        }
    }

    /// Records the use of the macro. Returns its last name.
    fn macro_name(&mut self, source: Source<'_>, node: Node<'_>) -> Option<String> {
        let name = node.child_by_field_name("macro")?;
        self.path(source, name, Role::Call, None);
        let text = source.of(name);
        Some(without_raw_prefix(text.rsplit("::").next().unwrap_or(text)).to_owned())
    }

    fn in_brackets(
        &mut self,
        source: Source<'_>,
        tree: Node<'_>,
        read: impl FnOnce(&mut Self, Source<'_>, char) -> bool,
    ) {
        let text = source.of(tree);
        let Some(open) = text.chars().next() else { return };
        let Some(inside) = text.get(1..text.len().saturating_sub(1)) else { return };
        if inside.trim().is_empty() {
            return;
        }
        let inner = Source { text: inside, line: source.line(tree).saturating_sub(1) };
        let done = self.within_brackets(|reader| read(reader, inner, open));
        if !done {
            self.words(inner, true);
        }
        self.format_arguments(inner);
    }

    /// Reads the content of brackets, unless they are nested too deeply.
    pub(super) fn within_brackets(&mut self, read: impl FnOnce(&mut Self) -> bool) -> bool {
        self.brackets += 1;
        let done = self.brackets <= MOST_BRACKETS && read(self);
        self.brackets -= 1;
        done
    }

    /// Parses the text between `head` and `tail` like a file. Returns true if it succeeded.
    pub(super) fn reread(&mut self, inner: Source<'_>, head: &str, tail: &str, items: bool) -> bool {
        let text = format!("{head}{}\n{tail}", inner.text);
        let Some(tree) = parse(&text) else { return false };
        let root = tree.root_node();
        if root.has_error() {
            return false;
        }
        let source = Source { text: &text, line: inner.line };
        if items {
            let looks_like =
                |node: &Node<'_>| node.kind().ends_with("_item") || node.kind().ends_with("_declaration");
            if !children(root).iter().any(looks_like) {
                return false;
            }
            self.items(source, root);
            return true;
        }
        let body = children(root).first().and_then(|function| function.child_by_field_name("body"));
        let Some(body) = body else { return false };
        self.inside_wrapper(source, body);
        true
    }

    /// Reads the content of the wrapper; its own call is no use.
    fn inside_wrapper(&mut self, source: Source<'_>, body: Node<'_>) {
        let mut only = children(body).into_iter().filter(|node| !node.is_extra());
        let (first, second) = (only.next(), only.next());
        let call = first
            .filter(|_| second.is_none())
            .and_then(|statement| children(statement).first().copied())
            .filter(|call| call.kind() == "call_expression" && call.start_byte() == "fn f(){".len())
            .filter(|call| call.child_by_field_name("function").is_some_and(|f| source.of(f) == "g"));
        let Some(call) = call else {
            self.block(source, body);
            return;
        };
        let mut first = None;
        for argument in call.child_by_field_name("arguments").map(children).unwrap_or_default() {
            let shape = self.expression(source, argument);
            first.get_or_insert(shape);
        }
        self.argument = first.unwrap_or(Shape::Unknown);
    }

    /// `matches!(value, pattern if guard)`.
    fn reread_matches(&mut self, inner: Source<'_>) -> bool {
        let Some(comma) = first_comma(inner.text) else { return false };
        let (value, pattern) = inner.text.split_at(comma);
        let pattern = pattern[1..].trim_end().trim_end_matches(',');
        let text = format!("match ({value}) {{{pattern}=>()}}");
        self.reread(Source { text: &text, line: inner.line }, "fn f(){", "}", false)
    }

    /// Names inside the braces of format strings.
    fn format_arguments(&mut self, inner: Source<'_>) {
        if !inner.text.contains('"') {
            return;
        }
        let mut line = inner.line + 1;
        let mut quoted = false;
        let mut rest = inner.text;
        while let Some(at) = rest.find(['"', '{', '\n', '\\']) {
            let (found, after) = (rest.as_bytes()[at], &rest[at + 1..]);
            rest = after;
            match found {
                b'"' => quoted = !quoted,
                b'\n' => line += 1,
                b'\\' => rest = after.get(1..).unwrap_or(after),
                _ if quoted => {
                    let end = after.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(after.len());
                    let name = &after[..end];
                    let closed = after[end..].starts_with([':', '}']);
                    if closed
                        && name.starts_with(|c: char| c.is_alphabetic() || c == '_')
                        && self.bound(name).is_none()
                    {
                        self.put(name, line, Role::Value, None, None);
                    }
                }
                _ => {}
            }
        }
    }

    /// Reads words that cannot be parsed, each by its form. `given` is set for arguments of a macro, which
    /// may generate members of them.
    pub(super) fn words(&mut self, inner: Source<'_>, given: bool) {
        let tokens = lex(inner);
        let mut at = 0;
        while at < tokens.len() {
            at = self.word(&tokens, at, given);
        }
    }

    /// Reads the path that starts at a token. Returns the start of the next one.
    fn word(&mut self, tokens: &[Token<'_>], at: usize, given: bool) -> usize {
        let Token::Word(first, line) = tokens[at] else { return at + 1 };
        let before = at.checked_sub(1).map(|before| &tokens[before]);
        if let Some(Token::Word(before, _)) = before
            && matches!(
                *before,
                "fn" | "struct" | "enum" | "mod" | "trait" | "type" | "let" | "union" | "macro_rules"
            )
        {
            return at + 1;
        }
        if keyword(first)
            && first != "$crate"
            && first != "crate"
            && first != "Self"
            && first != "self"
            && first != "super"
        {
            return at + 1;
        }
        let receiver =
            matches!(before, Some(Token::Mark('.'))).then(|| self.receiver(tokens, at.saturating_sub(2)));
        let mut segments = vec![(first, line)];
        let mut next = at + 1;
        while let (Some(Token::Path), Some(Token::Word(name, line))) =
            (tokens.get(next), tokens.get(next + 1))
        {
            segments.push((*name, *line));
            next += 2;
        }
        if let Some(of) = receiver {
            let arguments = arguments(tokens, next);
            let role = if arguments.is_some() { Role::Call } else { Role::Value };
            self.put(first, line, role, Some(of), arguments);
            return next;
        }
        if segments.len() == 1 && matches!(first, "self" | "Self" | "crate" | "super" | "$crate") {
            return next;
        }
        let capital = segments.last().is_some_and(|(name, _)| name.starts_with(|c: char| c.is_uppercase()));
        let (role, arguments) = match tokens.get(next) {
            Some(Token::Mark('!')) if !matches!(tokens.get(next + 1), Some(Token::Mark('='))) => {
                (Role::Call, None)
            }
            Some(Token::Mark('(' | '{')) if capital && is_open(tokens, next) => (Role::Partial, None),
            Some(Token::Mark('(')) => (Role::Call, arguments(tokens, next)),
            Some(Token::Mark('{')) if capital => (Role::Construct, None),
            _ if capital && !is_constant(segments.last().map_or(first, |(name, _)| name)) => {
                (Role::Type, None)
            }
            _ => (Role::Value, None),
        };
        self.segments_used(None, &segments, role, arguments);
        if given && role == Role::Value && segments.len() == 1 && self.bound(first).is_none() {
            self.put(first, line, Role::Value, Some(Shape::Unknown), None);
        }
        next
    }

    /// Returns the shape before a dot, if it is a variable.
    fn receiver(&self, tokens: &[Token<'_>], at: usize) -> Shape {
        let dotted = at > 0 && matches!(tokens[at - 1], Token::Mark('.'));
        match tokens[at] {
            Token::Word("self", _) if !dotted => self.itself_shape(),
            Token::Word(name, _) if dotted => member(self.receiver(tokens, at.saturating_sub(2)), name),
            Token::Word(name, _) => match self.bound(name) {
                Some(Binding::Value(shape)) => shape.clone(),
                _ => Shape::Unknown,
            },
            _ => Shape::Unknown,
        }
    }
}

/// Returns true if a name is written like a constant.
fn is_constant(name: &str) -> bool {
    name.len() > 1 && !name.contains(char::is_lowercase)
}

/// The brackets of a macro invocation.
fn brackets(node: Node<'_>) -> Option<Node<'_>> {
    children(node).into_iter().find(|child| child.kind() == "token_tree")
}

/// Returns the first comma outside brackets.
fn first_comma(text: &str) -> Option<usize> {
    let mut depth = 0_u32;
    for (at, c) in text.char_indices() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => return Some(at),
            _ => {}
        }
    }
    None
}

pub(super) enum Token<'t> {
    Word(&'t str, u32),
    /// `::`
    Path,
    Mark(char),
}

/// Returns true if the brackets that open at a token leave a rest open: `V { a, .. }`, `V(..)`, `S { a,
/// ..base }`.
fn is_open(tokens: &[Token<'_>], open: usize) -> bool {
    let mut depth = 0_u32;
    for at in open..tokens.len().min(open + 2_000) {
        match tokens[at] {
            Token::Mark('(' | '[' | '{') => depth += 1,
            Token::Mark(')' | ']' | '}') => depth = depth.saturating_sub(1),
            // Between two commas: a range has something before it.
            Token::Mark('.') if depth == 1 => {
                let starts = matches!(tokens[at - 1], Token::Mark('(' | '{' | ','));
                if starts && matches!(tokens.get(at + 1), Some(Token::Mark('.'))) {
                    return true;
                }
            }
            _ => {}
        }
        if depth == 0 {
            break;
        }
    }
    false
}

/// Returns the number of arguments in the brackets that open at a token.
fn arguments(tokens: &[Token<'_>], open: usize) -> Option<u16> {
    if !matches!(tokens.get(open), Some(Token::Mark('('))) {
        return None;
    }
    let (mut depth, mut count, mut any) = (0_u32, 0_u16, false);
    for token in tokens.get(open..)?.iter().take(2_000) {
        match token {
            Token::Mark('(' | '[' | '{') => {
                any |= depth > 0;
                depth += 1;
            }
            Token::Mark(')' | ']' | '}') => {
                depth -= 1;
                if depth == 0 {
                    return Some(count + u16::from(any));
                }
            }
            Token::Mark(',') if depth == 1 => {
                count = count.saturating_add(u16::from(any));
                any = false;
            }
            _ => any = true,
        }
    }
    None
}

/// Returns the words and marks of a text, without comments, strings and numbers (which count as marks).
pub(super) fn lex(source: Source<'_>) -> Vec<Token<'_>> {
    let text = source.text;
    let mut tokens = Vec::new();
    let mut line = source.line + 1;
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let length = match c {
            '"' => string(rest),
            '\'' => quote(rest),
            '/' if rest.starts_with("//") || rest.starts_with("/*") => comment(rest),
            'r' if rest.starts_with("r\"") || rest.starts_with("r#\"") => raw(rest),
            c if c.is_alphabetic() || c == '_' || c == '$' => {
                let rest = if c == '$' { &rest[1..] } else { rest };
                let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
                end + usize::from(c == '$')
            }
            c if c.is_ascii_digit() => {
                rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len())
            }
            ':' if rest.starts_with("::") => 2,
            c => c.len_utf8(),
        }
        .max(1);
        let (token, after) = rest.split_at_checked(length).unwrap_or((rest, ""));
        if token == "::" {
            tokens.push(Token::Path);
        } else if c.is_alphabetic() && !token.contains('"') || c == '_' || token == "$crate" {
            tokens.push(Token::Word(token, line));
        } else if !c.is_whitespace() && !token.starts_with("//") && !token.starts_with("/*") {
            tokens.push(Token::Mark(if token.len() == 1 { c } else { '"' }));
        }
        line += u32::try_from(token.matches('\n').count()).unwrap_or(0);
        rest = after;
    }
    tokens
}

/// The length of the string that a text starts with.
pub(super) fn string(text: &str) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// The length of the comment that a text starts with.
pub(super) fn comment(text: &str) -> usize {
    if text.starts_with("//") {
        text.find('\n').unwrap_or(text.len())
    } else {
        text.find("*/").map_or(text.len(), |end| end + 2)
    }
}

/// The length of the raw string that a text starts with.
pub(super) fn raw(text: &str) -> usize {
    let (open, end) = if text.starts_with("r#") { (3, "\"#") } else { (2, "\"") };
    text[open..].find(end).map_or(text.len(), |at| open + at + end.len())
}

/// The length of the character or lifetime that a text starts with.
pub(super) fn quote(text: &str) -> usize {
    let mut chars = text.char_indices().skip(1);
    match (chars.next(), chars.next()) {
        (Some((_, '\\')), _) => {
            text.get(3..).and_then(|rest| rest.find('\'')).map_or(text.len(), |at| at + 4)
        }
        (Some(_), Some((at, '\''))) => at + 1,
        _ => 1 + text[1..].find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len() - 1),
    }
}

fn keyword(word: &str) -> bool {
    matches!(
        word,
        "as" | "async"
            | "await"
            | "break"
            | "const"
            | "continue"
            | "crate"
            | "dyn"
            | "else"
            | "enum"
            | "extern"
            | "false"
            | "fn"
            | "for"
            | "if"
            | "impl"
            | "in"
            | "let"
            | "loop"
            | "match"
            | "mod"
            | "move"
            | "mut"
            | "pub"
            | "ref"
            | "return"
            | "self"
            | "Self"
            | "static"
            | "struct"
            | "super"
            | "trait"
            | "true"
            | "type"
            | "unsafe"
            | "use"
            | "where"
            | "while"
    )
}
