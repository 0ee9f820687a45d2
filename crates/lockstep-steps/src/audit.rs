//! The audit trail: lines of JSON, each with the hash of the previous one, across files.
//!
//! Defines the format of a line and the validity of a chain. Files, locks and the clock belong to the
//! callers.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The predecessor hash of the first line.
pub const GENESIS: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// The end of a chain: the number and hash of its last line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChainHead {
    /// The number of the last line, from 1.
    pub seq: u64,
    pub hash: String,
}

impl Default for ChainHead {
    fn default() -> Self {
        Self { seq: 0, hash: GENESIS.to_owned() }
    }
}

/// The recorded data of an event, besides its position in the chain.
#[derive(Debug, Clone, PartialEq)]
pub struct TrailRecord {
    pub timestamp: jiff::Timestamp,
    /// The kind of event, such as `TASK_INVOCATION_REJECTED`.
    pub event: String,
    pub step_file: Option<String>,
    /// Additional data.
    pub fields: Map<String, Value>,
}

impl TrailRecord {
    /// A record without further fields.
    pub fn new(timestamp: jiff::Timestamp, event: &str, step_file: Option<&str>) -> Self {
        Self {
            timestamp,
            event: event.to_owned(),
            step_file: step_file.map(str::to_owned),
            fields: Map::new(),
        }
    }

    /// The record with one more field. The names of the chain's own fields are not to be had.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        debug_assert!(!RESERVED.contains(&name), "{name} belongs to the chain");
        self.fields.insert(name.to_owned(), value.into());
        self
    }

    /// The line that follows `head`, with its newline, and the head after it.
    pub fn line(&self, head: &ChainHead) -> (String, ChainHead) {
        self.line_with(head, None)
    }

    /// The line that follows `head`, with a mark by `key`, the project's secret.
    pub fn keyed_line(&self, head: &ChainHead, key: &str) -> (String, ChainHead) {
        self.line_with(head, Some(key))
    }

    fn line_with(&self, head: &ChainHead, key: Option<&str>) -> (String, ChainHead) {
        let mut entry = Map::new();
        entry.insert("timestamp".to_owned(), format!("{:.3}", self.timestamp).into());
        entry.insert("event".to_owned(), self.event.as_str().into());
        entry.insert("step_file".to_owned(), self.step_file.clone().into());
        for (name, value) in self.fields.iter().filter(|(name, _)| !RESERVED.contains(&name.as_str())) {
            entry.insert(name.clone(), value.clone());
        }
        let seq = head.seq + 1;
        if let Some(key) = key {
            let mark = mark(&Value::Object(entry.clone()).to_string(), head, key);
            entry.insert("mac".to_owned(), mark.into());
        }
        entry.insert("seq".to_owned(), seq.into());
        entry.insert("prev".to_owned(), head.hash.as_str().into());
        let mut line = Value::Object(entry).to_string();
        line.pop();
        let hash = hash(&line);
        line.push_str(&format!(r#","hash":"{hash}"}}"#));
        line.push('\n');
        (line, ChainHead { seq, hash })
    }
}

const RESERVED: [&str; 7] = ["timestamp", "event", "step_file", "mac", "seq", "prev", "hash"];

/// The keyed hash of a line's content and of the line before it.
fn mark(content: &str, head: &ChainHead, key: &str) -> String {
    let key = blake3::derive_key("lockstep audit trail 1", key.as_bytes());
    let mut hasher = blake3::Hasher::new_keyed(&key);
    hasher.update(&head.seq.to_le_bytes()).update(head.hash.as_bytes()).update(content.as_bytes());
    hasher.finalize().to_hex()[..32].to_owned()
}

/// Returns the hash of an entry, from its text up to the end of its object.
fn hash(before_end: &str) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(before_end.as_bytes()).update(b"}");
    hasher.finalize().to_hex().to_string()
}

/// One line, read.
#[derive(Debug, Clone, PartialEq)]
pub struct TrailEntry {
    fields: Map<String, Value>,
}

impl TrailEntry {
    /// Reads a line, whole as it was written: anything else in it would have escaped the hash.
    pub fn parse(line: &str) -> Result<Self, String> {
        let fields: Map<String, Value> =
            serde_json::from_str(line).map_err(|error| format!("it is not an entry: {error}"))?;
        for name in ["timestamp", "event", "prev", "hash"] {
            if !fields.get(name).is_some_and(Value::is_string) {
                return Err(format!("it has no {name}"));
            }
        }
        if !fields.get("seq").is_some_and(Value::is_u64) {
            return Err("it has no seq".to_owned());
        }
        let entry = Self { fields };
        let written = serde_json::to_string(&entry.fields).expect("an entry has only text keys");
        // The hash is the last field and covers everything before it.
        let end = format!(r#","hash":"{}"}}"#, entry.text("hash"));
        let whole = line.strip_suffix(&end).is_some_and(|before| hash(before) == entry.text("hash"));
        if !whole || written != line {
            return Err("it was edited: its hash is not that of its content".to_owned());
        }
        Ok(entry)
    }

    /// Returns true if a line has the form of an entry, whether or not its hash is right.
    pub fn has_form(line: &str) -> bool {
        let fields = serde_json::from_str::<Map<String, Value>>(line);
        fields.is_ok_and(|fields| {
            ["timestamp", "event", "seq", "prev", "hash"].iter().all(|name| fields.contains_key(*name))
        })
    }

    /// Returns true if the entry was marked with this project's secret.
    pub fn has_mark(&self, key: &str) -> bool {
        let is_content = |name: &str| !matches!(name, "mac" | "seq" | "prev" | "hash");
        let content: Map<String, Value> = self
            .fields
            .iter()
            .filter(|(name, _)| is_content(name))
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        let before = ChainHead { seq: self.head().seq.wrapping_sub(1), hash: self.text("prev").to_owned() };
        mark(&Value::Object(content).to_string(), &before, key) == self.text("mac")
    }

    pub fn fields(&self) -> &Map<String, Value> {
        &self.fields
    }

    /// Returns a field as text; empty if it is missing or not a text.
    pub fn text(&self, name: &str) -> &str {
        self.fields.get(name).and_then(Value::as_str).unwrap_or_default()
    }

    pub fn event(&self) -> &str {
        self.text("event")
    }

    pub fn step_file(&self) -> Option<&str> {
        self.fields.get("step_file").and_then(Value::as_str)
    }

    pub fn head(&self) -> ChainHead {
        let seq = self.fields.get("seq").and_then(Value::as_u64).unwrap_or_default();
        ChainHead { seq, hash: self.text("hash").to_owned() }
    }
}

/// A file of a trail: its name and its content.
#[derive(Debug, Clone, Copy)]
pub struct TrailFileText<'a> {
    pub name: &'a str,
    pub text: &'a str,
}

/// The first place at which a trail is not whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, thiserror::Error)]
#[error("{file}, line {line}: {why}")]
pub struct ChainError {
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    pub why: String,
}

/// The end of a trail as it is remembered outside of the project.
#[derive(Debug, Clone, Copy)]
pub struct KnownEnd<'a> {
    /// The last entry that was recorded.
    pub head: &'a ChainHead,
    /// The line, if a process that was killed may not have appended it; otherwise empty.
    pub line: &'a str,
    /// The hash of the entry by which a person accepted all lines before it.
    pub accepted: Option<&'a str>,
    /// True if every line is remembered before it is appended, so that no line can be behind the end.
    pub is_exact: bool,
    /// The project's secret, and the number of entries from the first that were not marked with it.
    pub key: Option<(&'a str, u64)>,
}

const FOREIGN: &str = "it is foreign: Lockstep did not record it for this project on this machine";

/// The event by which a person accepts a trail as it is.
pub const ACCEPTED: &str = "TRAIL_ACCEPTED";

/// The lines of a trail with the names of their files, in order.
struct Line<'a> {
    file: &'a str,
    number: usize,
    text: &'a str,
    is_complete: bool,
    is_last_of_all: bool,
}

impl Line<'_> {
    fn broken(&self, why: impl Into<String>) -> ChainError {
        ChainError { file: self.file.to_owned(), line: self.number, why: why.into() }
    }
}

fn lines<'a>(files: &[TrailFileText<'a>]) -> Vec<Line<'a>> {
    let mut lines = Vec::new();
    for file in files {
        for (at, text) in file.text.split_inclusive('\n').enumerate() {
            let complete = text.strip_suffix('\n');
            lines.push(Line {
                file: file.name,
                number: at + 1,
                text: complete.unwrap_or(text),
                is_complete: complete.is_some(),
                is_last_of_all: false,
            });
        }
    }
    if let Some(last) = lines.last_mut() {
        last.is_last_of_all = true;
    }
    // A line cut off by a full disk is blanked, and has no content.
    lines.retain(|line| !line.text.is_empty());
    lines
}

/// Reads a trail, with its files in the order of their days, and checks that it is valid. `known` is the
/// recorded end.
pub fn verify(files: &[TrailFileText<'_>], known: Option<&ChainHead>) -> Result<Vec<TrailEntry>, ChainError> {
    verify_to(
        files,
        known.map(|head| KnownEnd { head, line: "", accepted: None, is_exact: false, key: None }),
    )
}

/// Checks that a trail is valid and ends at its known end. A trail that ends before has lost lines, and lines
/// after it were not recorded.
pub fn verify_to(
    files: &[TrailFileText<'_>],
    known: Option<KnownEnd<'_>>,
) -> Result<Vec<TrailEntry>, ChainError> {
    let lines = lines(files);
    let start = accepted_at(&lines, known)?;
    let mut entries: Vec<TrailEntry> =
        lines[..start].iter().filter_map(|line| TrailEntry::parse(line.text).ok()).collect();
    let mut head = ChainHead::default();
    let mut is_at_end = known.is_some_and(|known| known.head.seq == 0);
    let mut last: Option<&Line<'_>> = None;
    for (at, line) in lines.iter().enumerate().skip(start) {
        if !line.is_complete && is_unfinished(line, known, is_at_end) {
            break;
        }
        if !line.is_complete {
            return Err(line.broken("it is cut off: the file was truncated"));
        }
        if is_at_end && known.is_some_and(|known| known.is_exact) {
            return Err(line.broken(FOREIGN));
        }
        let entry = TrailEntry::parse(line.text).map_err(|why| line.broken(why))?;
        let is_marked = known
            .and_then(|known| known.key)
            .is_none_or(|(key, unmarked)| entry.head().seq <= unmarked || entry.has_mark(key));
        if !is_marked {
            return Err(line.broken(FOREIGN));
        }
        if at > start || start == 0 {
            let is_first_of_file = last.is_none_or(|last| last.file != line.file);
            check_link(&entry, &head, is_first_of_file, last.is_none()).map_err(|why| line.broken(why))?;
        }
        head = entry.head();
        if let Some(known) = known.filter(|known| known.head.seq == head.seq) {
            if known.head.hash != head.hash {
                return Err(line.broken("it is not the entry that was recorded: the trail was written anew"));
            }
            is_at_end = true;
        }
        last = Some(line);
        entries.push(entry);
    }
    let Some(known) = known.filter(|_| !is_at_end) else { return Ok(entries) };
    match TrailEntry::parse(known.line.trim_end()) {
        // A process was killed before it could append the line.
        Ok(entry) if entry.head() == *known.head && entry.text("prev") == head.hash => {
            entries.push(entry);
            Ok(entries)
        }
        _ => Err(missing_end(last, &head, known.head)),
    }
}

/// Returns the index of the entry that accepts all lines before it; 0 if there is none. Without a record, the
/// newest such entry is used.
fn accepted_at(lines: &[Line<'_>], known: Option<KnownEnd<'_>>) -> Result<usize, ChainError> {
    let is_accepting = |line: &Line<'_>, hash: Option<&str>| {
        line.text.contains(ACCEPTED)
            && TrailEntry::parse(line.text).is_ok_and(|entry| {
                entry.event() == ACCEPTED && hash.is_none_or(|hash| entry.text("hash") == hash)
            })
    };
    let hash = match known {
        Some(KnownEnd { accepted: None, .. }) => return Ok(0),
        Some(KnownEnd { accepted, head, line, .. }) => {
            // It may be the line that was not appended.
            if !line.is_empty()
                && accepted == Some(&head.hash)
                && !lines.iter().any(|candidate| candidate.text == line.trim_end())
            {
                return Ok(lines.len());
            }
            accepted
        }
        None => None,
    };
    match (lines.iter().rposition(|line| is_accepting(line, hash)), hash) {
        (Some(at), _) => Ok(at),
        (None, None) => Ok(0),
        (None, Some(_)) => Err(ChainError {
            file: "the trail".to_owned(),
            line: 0,
            why: "the entry by which it was accepted is missing".to_owned(),
        }),
    }
}

/// Returns true if a killed writer left this part of a line at the very end. It recorded only the known line,
/// and no recorded line is missing.
fn is_unfinished(line: &Line<'_>, known: Option<KnownEnd<'_>>, is_at_end: bool) -> bool {
    line.is_last_of_all && known.is_some_and(|known| is_at_end || known.line.starts_with(line.text))
}

fn missing_end(last: Option<&Line<'_>>, head: &ChainHead, known: &ChainHead) -> ChainError {
    let missing = match known.seq - head.seq.min(known.seq) {
        1 => "the last entry behind it is missing".to_owned(),
        missing => format!("the last {missing} entries behind it are missing"),
    };
    let why = format!("{missing}: {} was written, {} is the last", known.seq, head.seq);
    last.map_or_else(
        || ChainError { file: "the trail".to_owned(), line: 0, why: why.clone() },
        |line| line.broken(why.clone()),
    )
}

/// The hash of a line and that of the line before it, from its end, if it has the form of an entry and its hash is right.
pub fn link_of(line: &str) -> Option<(&str, &str)> {
    const HASH: &str = r#","hash":""#;
    const PREV: &str = r#","prev":""#;
    let (before, hash) = line.strip_suffix("\"}")?.rsplit_once(HASH)?;
    if self::hash(before) != hash {
        return None;
    }
    let (_, prev) = before.strip_suffix('"')?.rsplit_once(PREV)?;
    Some((hash, prev))
}

fn check_link(
    entry: &TrailEntry,
    head: &ChainHead,
    first_of_file: bool,
    first_of_all: bool,
) -> Result<(), String> {
    let seq = entry.head().seq;
    let expected = head.seq + 1;
    if seq > expected {
        let missing = seq - expected;
        let missing_entries = if missing == 1 {
            "entry is missing".to_owned()
        } else {
            format!("{missing} entries are missing")
        };
        let missing_entries = if missing == 1 { format!("1 {missing_entries}") } else { missing_entries };
        return Err(match (first_of_file, first_of_all) {
            (true, true) => format!(
                "it is entry {seq}, and nothing before it is there: {missing_entries}, the file of a day or more was removed"
            ),
            (true, false) => format!(
                "it is entry {seq} where {expected} should follow: {missing_entries}, perhaps the file of a day between"
            ),
            (false, _) => {
                format!("it is entry {seq} where {expected} should follow: {missing_entries} before it")
            }
        });
    }
    if seq < expected {
        return Err(format!(
            "it is entry {seq} where {expected} should follow: lines were put in or reordered"
        ));
    }
    if entry.text("prev") != head.hash {
        return Err("it does not follow the line before it: a line was put in or replaced".to_owned());
    }
    Ok(())
}
