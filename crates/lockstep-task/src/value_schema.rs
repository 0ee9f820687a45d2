//! Shapes: the schema of a document, as data.
//!
//! One table per document is both the check ([`ValueSchema::check`], all problems at once) and the published JSON
//! Schema ([`ValueSchema::json_schema`]), so the two cannot diverge.

mod json_schema;
mod validate;

#[derive(Debug, Clone, Copy)]
pub enum ValueSchema {
    Any,
    /// Text that is not blank.
    Text,
    /// An integer, zero or more.
    Count,
    /// A share, as in `"98.5%"`.
    Percent,
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// `PREFIX-1`, `PREFIX-2`, ….
    Id(&'static str),
    /// A gate, `G0` … `G9`, with a letter for a gate between two phases (`G2b`).
    Gate,
    /// A phase as records name it, `P0` … `P9`, with a letter between two phases (`P2b`).
    PhaseName,
    /// The phase a gate opens: a phase, or `DELIVERED` after the last.
    NextPhase,
    /// A date, or a date with a time, in ISO 8601.
    Timestamp,
    /// A path to a file of the project.
    Pointer,
    /// A list. `unique` is a field no two items may share.
    List {
        item: &'static ValueSchema,
        /// A field no two items may share.
        unique: Option<&'static str>,
    },
    /// A mapping with known fields. Unknown fields are kept with a warning, unless the record is open.
    Record(&'static [FieldSchema]),
    /// A mapping with known fields that may have others too.
    OpenRecord(&'static [FieldSchema]),
    /// A mapping from phases, `P1` … `P9`.
    PhaseMap(&'static ValueSchema),
    /// A mapping from names to one shape.
    MapOf(&'static ValueSchema),
}

#[derive(Debug, Clone, Copy)]
pub struct FieldSchema {
    pub name: &'static str,
    pub required: bool,
    pub shape: ValueSchema,
    /// A description in one line.
    pub doc: &'static str,
}

/// A field that must be there.
pub(crate) const fn required(name: &'static str, shape: ValueSchema, doc: &'static str) -> FieldSchema {
    FieldSchema { name, required: true, shape, doc }
}

/// A field that may be left out.
pub(crate) const fn optional(name: &'static str, shape: ValueSchema, doc: &'static str) -> FieldSchema {
    FieldSchema { name, required: false, shape, doc }
}

pub(crate) const fn list(item: &'static ValueSchema) -> ValueSchema {
    ValueSchema::List { item, unique: None }
}

/// Returns true if `text` is `prefix` and a digit, optionally with a letter between two phases: `P2b`.
fn is_numbered(prefix: char, text: &str) -> bool {
    let Some(rest) = text.strip_prefix(prefix) else { return false };
    let mut chars = rest.chars();
    chars.next().is_some_and(|c| c.is_ascii_digit())
        && chars.next().is_none_or(|c| c.is_ascii_lowercase())
        && chars.next().is_none()
}

/// Returns true if `text` is `prefix-N` with N from one on.
fn is_id(prefix: &str, text: &str) -> bool {
    text.strip_prefix(prefix).and_then(|rest| rest.strip_prefix('-')).is_some_and(|n| {
        (1..=9).contains(&n.len()) && !n.starts_with('0') && n.bytes().all(|b| b.is_ascii_digit())
    })
}

/// Returns true if `text` is a share from 0 % to 100 %.
fn is_percent(text: &str) -> bool {
    let Some(number) = text.strip_suffix('%') else { return false };
    let plain = !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    plain && number.parse::<f64>().is_ok_and(|n| (0.0..=100.0).contains(&n))
}

/// Returns true if `text` is a date or a date with a time, in ISO 8601.
pub(crate) fn is_timestamp(text: &str) -> bool {
    text.parse::<jiff::Timestamp>().is_ok()
        || text.parse::<jiff::civil::DateTime>().is_ok()
        || text.parse::<jiff::civil::Date>().is_ok()
}
