//! A settings text with its syntax tree and tokens, all with byte positions.
//!
//! Comments and trailing commas are accepted, because people write them. [`inspect`](crate::claude::inspect)
//! checks whether the client accepts them.

use std::ops::Range;

use jsonc_parser::ast::{Array, Object, ObjectProp, Value};
use jsonc_parser::common::Ranged;
use jsonc_parser::tokens::{Token, TokenAndRange};
use jsonc_parser::{CollectOptions, CommentCollectionStrategy, ParseOptions, parse_to_ast};

use crate::position::Position;

pub(crate) struct SettingsDocument<'a> {
    pub(crate) text: &'a str,
    tokens: Vec<TokenAndRange<'a>>,
    /// Nothing, if the text holds no value.
    pub(crate) value: Option<Value<'a>>,
}

/// The reason why a text cannot be parsed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SyntaxError {
    pub(crate) at: Position,
    pub(crate) message: String,
}

impl<'a> SettingsDocument<'a> {
    pub(crate) fn parse(text: &'a str) -> Result<Self, SyntaxError> {
        let collect = CollectOptions { comments: CommentCollectionStrategy::AsTokens, tokens: true };
        let result = parse_to_ast(text, &collect, &options()).map_err(|error| SyntaxError {
            at: Position::of(text, error.range().start),
            message: error.kind().to_string(),
        })?;
        let tokens = result.tokens.expect("tokens were asked for");
        Ok(Self { text, tokens, value: result.value })
    }

    /// The last token that ends at or before `offset`, comments included.
    pub(crate) fn token_before(&self, offset: usize) -> Option<&TokenAndRange<'a>> {
        let next = self.tokens.partition_point(|token| token.end() <= offset);
        next.checked_sub(1).and_then(|index| self.tokens.get(index))
    }

    /// The tokens inside `range`, comments included.
    pub(crate) fn tokens_in(&self, range: Range<usize>) -> &[TokenAndRange<'a>] {
        let first = self.tokens.partition_point(|token| token.start() < range.start);
        let last = self.tokens.partition_point(|token| token.end() <= range.end);
        self.tokens.get(first..last).unwrap_or_default()
    }

    pub(crate) fn comma_in(&self, range: Range<usize>) -> Option<Range<usize>> {
        self.tokens_in(range).iter().find(|token| token.token == Token::Comma).map(span)
    }

    pub(crate) fn has_comment_in(&self, range: Range<usize>) -> bool {
        self.tokens_in(range).iter().any(is_comment)
    }
}

fn options() -> ParseOptions {
    ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    }
}

fn is_comment(token: &TokenAndRange<'_>) -> bool {
    matches!(token.token, Token::CommentLine(_) | Token::CommentBlock(_))
}

pub(crate) fn span(node: &impl Ranged) -> Range<usize> {
    node.start()..node.end()
}

/// Returns the effective member of `object`: of several with one name, JSON readers use the last.
pub(crate) fn member<'o, 'a>(object: &'o Object<'a>, name: &str) -> Option<&'o ObjectProp<'a>> {
    object.properties.iter().rfind(|member| member.name.as_str() == name)
}

/// An object or array, by its bytes.
#[derive(Debug, Clone)]
pub(crate) struct JsonContainer {
    pub(crate) range: Range<usize>,
    /// The members or elements, in order.
    pub(crate) children: Vec<Range<usize>>,
}

impl JsonContainer {
    pub(crate) fn inner(&self) -> Range<usize> {
        self.range.start + 1..self.range.end - 1
    }
}

impl From<&Object<'_>> for JsonContainer {
    fn from(object: &Object<'_>) -> Self {
        Self { range: span(object), children: object.properties.iter().map(span).collect() }
    }
}

impl From<&Array<'_>> for JsonContainer {
    fn from(array: &Array<'_>) -> Self {
        Self { range: span(array), children: array.elements.iter().map(span).collect() }
    }
}
