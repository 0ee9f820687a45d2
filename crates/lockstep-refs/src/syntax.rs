//! Trees of tree-sitter, as every language needs them: parsing, text, lines, digests.

use std::borrow::Cow;
use std::cell::RefCell;
use std::hash::Hasher;
use std::ops::{ControlFlow, Range};

use tree_sitter::{Language, Node, ParseOptions, ParseState, Parser, Tree};

use crate::budget::{Budget, Spender, is_too_deep};
use crate::work::Work;

/// The maximum nesting, which hand-written code does not reach; deeper nodes are counted as a problem. It
/// protects the stack: the deepest walk takes about two thirds of a thread's 2 MiB, unoptimised.
pub(crate) const MAX_DEPTH: usize = 240;

/// Texts up to this length are parsed on the caller's stack.
const MAX_SHORT_TEXT: usize = 8 << 10;

/// An upper bound of the parser's stack use per byte of text.
const STACK_PER_BYTE: usize = 256;

/// The maximum stack that is reserved; memory is used only as far as the recursion goes.
const MAX_STACK: usize = 96 << 20;

/// The number of bytes passed to the lexer at a time, so that the bytes it reads can be counted.
const CHUNK: usize = 128;

/// Operations of the parser between two calls of the progress callback.
const OPERATIONS_PER_CALL: usize = 100;

/// Returns the tree of a text; `None` if the text nests too deep or its parse exceeds the budget.
pub(crate) fn parse(language: &Language, text: &str) -> Option<Tree> {
    parse_until(language, text, Until::End)
}

/// Returns the tree of a text without errors. At the first error the parse ends, before the parser tries to recover from it.
pub(crate) fn parse_without_error(language: &Language, text: &str) -> Option<Tree> {
    parse_until(language, text, Until::Error).filter(|tree| !tree.root_node().has_error())
}

/// The point up to which a text is parsed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Until {
    End,
    Error,
}

fn parse_until(language: &Language, text: &str, until: Until) -> Option<Tree> {
    thread_local! {
        // A parser keeps its buffers: making one for every file costs more than many a file.
        static PARSER: RefCell<Parser> = RefCell::new(Parser::new());
    }
    if is_too_deep(text) {
        return None;
    }
    Work::count_parse();
    let budget = Budget::current(text);
    let (tree, rest) = if text.len() <= MAX_SHORT_TEXT {
        PARSER.with_borrow_mut(|parser| parse_within(parser, language, text, budget, until))
    } else {
        // The parser merges its stacks by recursion, which may go as deep as the text nests.
        let stack = (MAX_STACK).min((2 << 20) + text.len() * STACK_PER_BYTE);
        std::thread::scope(|scope| {
            let work = || parse_within(&mut Parser::new(), language, text, budget, until);
            let thread = std::thread::Builder::new().stack_size(stack).spawn_scoped(scope, work).ok()?;
            thread.join().ok()
        })?
    };
    rest.keep();
    tree
}

fn parse_within(
    parser: &mut Parser,
    language: &Language,
    text: &str,
    budget: Budget,
    until: Until,
) -> (Option<Tree>, Budget) {
    let spender = RefCell::new(Spender::new(budget));
    let is_set = parser.set_language(language).is_ok();
    let mut progress = |state: &ParseState| {
        let goes_on = until == Until::End || !state.has_error();
        match goes_on && spender.borrow_mut().spend(OPERATIONS_PER_CALL, 0) {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(()),
        }
    };
    let options = ParseOptions::new().progress_callback(&mut progress);
    let mut read = |at: usize, _| {
        let end = text.len().min(at.saturating_add(CHUNK));
        let chunk = text.as_bytes().get(at..end).unwrap_or_default();
        // Over budget the text ends here, so that a lexer that searches for an end finds it.
        if spender.borrow_mut().spend(0, chunk.len()) { chunk } else { &[] }
    };
    let tree = if is_set { parser.parse_with_options(&mut read, None, Some(options)) } else { None };
    if tree.is_none() {
        // Otherwise the next text would be treated as a continuation of this one.
        parser.reset();
    }
    let spender = spender.into_inner();
    (tree.filter(|_| !spender.is_over()), spender.rest())
}

pub(crate) fn text_of<'a>(node: Node<'_>, text: &'a str) -> &'a str {
    text.get(node.byte_range()).unwrap_or_default()
}

/// The line a node starts on, counted from 1.
pub(crate) fn line_of(node: Node<'_>) -> u32 {
    u32::try_from(node.start_position().row).unwrap_or(u32::MAX - 1) + 1
}

/// The line a node ends on, counted from 1.
pub(crate) fn end_line_of(node: Node<'_>) -> u32 {
    u32::try_from(node.end_position().row).unwrap_or(u32::MAX - 1) + 1
}

pub(crate) fn children(node: Node<'_>) -> Vec<Node<'_>> {
    node.named_children(&mut node.walk()).collect()
}

/// Returns a digest of the tokens below `nodes`, without spaces and comments. Nodes for which `skip` returns
/// true are left out. The kind of quotes and commas at the end of a list, which formatters change, do not count.
///
/// Its upper half depends on the order of the tokens. Its lower half is their sum, so that the effect of a
/// rename can be computed: see [`equal_after_rename`].
pub(crate) fn digest<'t>(
    nodes: impl IntoIterator<Item = Node<'t>>,
    text: &str,
    skip: impl Fn(Node<'t>) -> bool,
) -> u64 {
    let mut hasher = Fnv::default();
    let mut sum: u32 = 0;
    let mut stack: Vec<(Node<'t>, bool)> = nodes.into_iter().map(|node| (node, false)).collect();
    stack.reverse();
    while let Some((node, in_string)) = stack.pop() {
        if skip(node) || node.kind().contains("comment") {
            continue;
        }
        if node.child_count() == 0 {
            let is_quote = in_string && matches!(node.kind(), "'" | "string_start" | "string_end");
            let token = text_of(node, text);
            let token = if is_quote { Cow::Owned(token.replace('\'', "\"")) } else { Cow::Borrowed(token) };
            hasher.write(token.as_bytes());
            hasher.write(&[0]);
            sum = sum.wrapping_add(token_digest(&token));
        } else {
            let is_string = node.kind() == "string";
            let mut children: Vec<_> = node.children(&mut node.walk()).collect();
            remove_last_comma(node, &mut children);
            stack.extend(children.into_iter().rev().map(|child| (child, is_string)));
        }
    }
    (u64::from(fold(hasher.finish())) << 32) | u64::from(sum)
}

/// Removes the comma before the closing bracket of a list. A tuple of one element needs it, and two commas are an
/// element that is left out.
fn remove_last_comma<'t>(list: Node<'t>, children: &mut Vec<Node<'t>>) {
    if let [.., before, comma, close] = &children[..]
        && comma.kind() == ","
        && matches!(close.kind(), ")" | "]" | "}")
        && !matches!(before.kind(), "," | "[" | "(" | "{")
        && !list.kind().contains("tuple")
    {
        children.remove(children.len() - 2);
    }
}

/// Separates the tokens of a [`header`].
pub(crate) const TOKEN_END: char = '\u{1f}';
/// Stands for the definition's own name in a [`header`].
pub(crate) const OWN_NAME: &str = "\u{b6}";
/// Longer headers are not stored: their changes are compared by digest alone.
const MAX_HEADER_BYTES: usize = 2000;

/// Returns the tokens below `node` without comments and without `left_out`, for a comparison by their parts.
///
/// The definition's own `name` is replaced by [`OWN_NAME`]. Empty if the text is longer than [`MAX_HEADER_BYTES`].
pub(crate) fn header<'t>(
    node: Node<'t>,
    name: Option<Node<'t>>,
    left_out: &[Node<'t>],
    text: &str,
) -> Box<str> {
    let mut out = String::new();
    let mut stack = vec![node];
    while let Some(node) = stack.pop() {
        if left_out.contains(&node) || node.kind().contains("comment") {
            continue;
        }
        let is_name = Some(node) == name;
        if is_name || node.child_count() == 0 {
            let token = if is_name { OWN_NAME } else { text_of(node, text).trim() };
            if out.len() + token.len() > MAX_HEADER_BYTES {
                return "".into();
            }
            if !token.is_empty() {
                out.push_str(token);
                out.push(TOKEN_END);
            }
        } else {
            let children: Vec<_> = node.children(&mut node.walk()).collect();
            stack.extend(children.into_iter().rev());
        }
    }
    out.into()
}

/// Returns true if two trees have the same nodes and tokens, ignoring comments.
pub(crate) fn is_same_tree((one, text): (&Tree, &str), (other, other_text): (&Tree, &str)) -> bool {
    let mut stack = vec![(one.root_node(), other.root_node())];
    while let Some((a, b)) = stack.pop() {
        let (inside, others) = (code_children(a), code_children(b));
        let is_other_token = a.child_count() == 0 && text_of(a, text) != text_of(b, other_text);
        if a.kind_id() != b.kind_id() || inside.len() != others.len() || is_other_token {
            return false;
        }
        stack.extend(inside.into_iter().zip(others));
    }
    true
}

/// The children of a node that are no comments.
fn code_children(node: Node<'_>) -> Vec<Node<'_>> {
    node.children(&mut node.walk()).filter(|child| !child.kind().contains("comment")).collect()
}

/// Returns true for the digest of no tokens: the body of something that is only declared.
pub(crate) fn is_empty_digest(known: u64) -> bool {
    known == digest([], "", |_| false)
}

/// Returns a digest of the words of a text, ignoring spaces.
pub(crate) fn digest_words<'a>(words: impl IntoIterator<Item = &'a str>) -> u64 {
    let mut hasher = Fnv::default();
    for word in words {
        hasher.write(word.as_bytes());
        hasher.write(&[0]);
    }
    hasher.finish()
}

/// Returns true if the digests differ only by renaming `from` to `to`.
pub(crate) fn equal_after_rename(old: u64, new: u64, from: &str, to: &str) -> bool {
    /// In one signature nothing is named more often.
    const MOST: u32 = 64;
    let sum = |digest: u64| (digest & u64::from(u32::MAX)) as u32;
    let step = token_digest(to).wrapping_sub(token_digest(from));
    let difference = sum(new).wrapping_sub(sum(old));
    (1..=MOST).any(|times| step.wrapping_mul(times) == difference)
}

fn token_digest(token: &str) -> u32 {
    let mut hasher = Fnv::default();
    hasher.write(token.as_bytes());
    fold(hasher.finish())
}

fn fold(digest: u64) -> u32 {
    ((digest >> 32) ^ (digest & u64::from(u32::MAX))) as u32
}

/// Returns the number of places that could not be parsed.
pub(crate) fn problems(tree: &Tree) -> u32 {
    u32::try_from(unread(tree).len()).unwrap_or(u32::MAX)
}

/// Returns the ranges that could not be parsed. A missing token is an empty range.
pub(crate) fn unread(tree: &Tree) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut stack = vec![tree.root_node()];
    while let Some(node) = stack.pop() {
        if !node.has_error() {
            continue;
        }
        if node.is_error() || node.is_missing() {
            found.push(node.byte_range());
        } else {
            stack.extend(node.children(&mut node.walk()));
        }
    }
    found
}

/// The places at which the lines of a text begin.
#[derive(Debug)]
pub(crate) struct LineStarts(Vec<usize>);

impl LineStarts {
    pub(crate) fn of(text: &str) -> Self {
        Self(std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect())
    }

    /// Returns the line of a byte, counted from 1.
    pub(crate) fn line_at(&self, at: usize) -> u32 {
        u32::try_from(self.0.partition_point(|start| *start <= at)).unwrap_or(u32::MAX)
    }
}

/// Returns the first and last line of each place that the parser could not read, at most `MOST` of them, in order.
pub(crate) fn unread_lines(tree: &Tree, text: &str) -> Vec<(u32, u32)> {
    const MOST: usize = 64;
    let starts = LineStarts::of(text);
    let line = |at: usize| starts.line_at(at);
    let range = |range: Range<usize>| {
        let part = text.get(range.clone()).unwrap_or_default();
        let blank = part.len() - part.trim_start().len();
        let start = range.start + if blank == part.len() { 0 } else { blank };
        (line(start), line(range.start + part.trim_end().len().saturating_sub(1).max(start - range.start)))
    };
    let mut lines: Vec<(u32, u32)> = unread(tree).into_iter().map(range).collect();
    lines.sort_unstable();
    lines.truncate(MOST);
    lines
}

/// FNV-1a, which is the same on every machine and in every version, as stored digests require.
struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Hasher for Fnv {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
