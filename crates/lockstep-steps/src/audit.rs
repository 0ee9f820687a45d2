//! The audit trail: lines of JSON, each of which holds the hash of the one before it, across files.
//!
//! Owns a line's form and what makes a chain whole. Files, locks and the clock are elsewhere.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// What the first line follows.
pub const GENESIS: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// The end of a chain: the number and hash of its last line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    /// The number of the last line, from 1.
    pub seq: u64,
    /// Its hash.
    pub hash: String,
}

impl Default for Head {
    fn default() -> Self {
        Self { seq: 0, hash: GENESIS.to_owned() }
    }
}

/// What is recorded of an event, besides its place in the chain.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// When, in UTC.
    pub timestamp: jiff::Timestamp,
    /// What happened, such as `TASK_INVOCATION_REJECTED`.
    pub event: String,
    /// The step it is about.
    pub step_file: Option<String>,
    /// What else there is to say.
    pub fields: Map<String, Value>,
}

impl Record {
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
    pub fn line(&self, head: &Head) -> (String, Head) {
        let mut entry = Map::new();
        entry.insert("timestamp".to_owned(), format!("{:.3}", self.timestamp).into());
        entry.insert("event".to_owned(), self.event.as_str().into());
        entry.insert("step_file".to_owned(), self.step_file.clone().into());
        for (name, value) in self.fields.iter().filter(|(name, _)| !RESERVED.contains(&name.as_str())) {
            entry.insert(name.clone(), value.clone());
        }
        let seq = head.seq + 1;
        entry.insert("seq".to_owned(), seq.into());
        entry.insert("prev".to_owned(), head.hash.as_str().into());
        let mut line = Value::Object(entry).to_string();
        line.pop();
        let hash = hash(&line);
        line.push_str(&format!(r#","hash":"{hash}"}}"#));
        line.push('\n');
        (line, Head { seq, hash })
    }
}

const RESERVED: [&str; 6] = ["timestamp", "event", "step_file", "seq", "prev", "hash"];

/// The hash of an entry, from what stands before the end of its object.
fn hash(before_end: &str) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(before_end.as_bytes()).update(b"}");
    hasher.finalize().to_hex().to_string()
}

/// One line, read.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    fields: Map<String, Value>,
}

impl Entry {
    /// Reads a line, whole as it was written: anything else in it would have escaped the hash.
    pub fn parse(line: &str) -> Result<Self, String> {
        let fields: Map<String, Value> =
            serde_json::from_str(line).map_err(|error| format!("it is no entry: {error}"))?;
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
        // The hash comes last, so what it is of is all before it.
        let end = format!(r#","hash":"{}"}}"#, entry.text("hash"));
        let whole = line.strip_suffix(&end).is_some_and(|before| hash(before) == entry.text("hash"));
        if !whole || written != line {
            return Err("it was edited: its hash is not that of its content".to_owned());
        }
        Ok(entry)
    }

    /// Everything in it.
    pub fn fields(&self) -> &Map<String, Value> {
        &self.fields
    }

    /// A field as text; empty where it is none.
    pub fn text(&self, name: &str) -> &str {
        self.fields.get(name).and_then(Value::as_str).unwrap_or_default()
    }

    /// What happened.
    pub fn event(&self) -> &str {
        self.text("event")
    }

    /// The step it is about.
    pub fn step_file(&self) -> Option<&str> {
        self.fields.get("step_file").and_then(Value::as_str)
    }

    /// Where it stands in the chain.
    pub fn head(&self) -> Head {
        let seq = self.fields.get("seq").and_then(Value::as_u64).unwrap_or_default();
        Head { seq, hash: self.text("hash").to_owned() }
    }
}

/// A file of a trail: its name and its content.
#[derive(Debug, Clone, Copy)]
pub struct TrailFile<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its content.
    pub text: &'a str,
}

/// The first place at which a trail is not whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, thiserror::Error)]
#[error("{file}, line {line}: {why}")]
pub struct Broken {
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// What is wrong.
    pub why: String,
}

/// Reads a trail, its files in the order of their days, and checks that it is whole. `known` is the end that was remembered: a trail
/// that ends before it has lost its last lines.
pub fn verify(files: &[TrailFile<'_>], known: Option<&Head>) -> Result<Vec<Entry>, Broken> {
    let mut entries: Vec<Entry> = Vec::new();
    let mut head = Head::default();
    let mut known_seen = known.is_none_or(|known| known.seq == 0);
    let mut last_place = (String::new(), 0);
    for (position, file) in files.iter().enumerate() {
        let lines: Vec<&str> = file.text.split_inclusive('\n').collect();
        for (at, line) in lines.iter().enumerate() {
            let broken = |why: String| Broken { file: file.name.to_owned(), line: at + 1, why };
            let Some(line) = line.strip_suffix('\n') else {
                // A writer that was killed inside its write leaves part of a line at the very end. It recorded nothing, and nothing
                // that was recorded is missing.
                if known.is_some() && known_seen && position + 1 == files.len() {
                    break;
                }
                return Err(broken("it is cut off: the file was truncated".to_owned()));
            };
            // What a full disk left of a line is blanked; nothing is said in it.
            if line.is_empty() {
                continue;
            }
            let entry = Entry::parse(line).map_err(broken)?;
            follows(&entry, &head, at == 0, last_place.0.is_empty()).map_err(broken)?;
            head = entry.head();
            if let Some(known) = known.filter(|known| known.seq == head.seq) {
                if known.hash != head.hash {
                    return Err(broken(
                        "it is not the entry that was written: the trail was written anew".to_owned(),
                    ));
                }
                known_seen = true;
            }
            last_place = (file.name.to_owned(), at + 1);
            entries.push(entry);
        }
    }
    match known {
        Some(known) if !known_seen => {
            let (file, line) = last_place;
            let missing = known.seq - head.seq.min(known.seq);
            let missing = match missing {
                1 => "the last entry behind it is missing".to_owned(),
                missing => format!("the last {missing} entries behind it are missing"),
            };
            let why = format!("{missing}: {} was written, {} is the last", known.seq, head.seq);
            let file = if file.is_empty() { "the trail".to_owned() } else { file };
            Err(Broken { file, line, why })
        }
        _ => Ok(entries),
    }
}

fn follows(entry: &Entry, head: &Head, first_of_file: bool, first_of_all: bool) -> Result<(), String> {
    let seq = entry.head().seq;
    let expected = head.seq + 1;
    if seq > expected {
        let missing = seq - expected;
        let gone = if missing == 1 {
            "entry is missing".to_owned()
        } else {
            format!("{missing} entries are missing")
        };
        let gone = if missing == 1 { format!("1 {gone}") } else { gone };
        return Err(match (first_of_file, first_of_all) {
            (true, true) => format!(
                "it is entry {seq}, and nothing before it is there: {gone}, the file of a day or more was removed"
            ),
            (true, false) => format!(
                "it is entry {seq} where {expected} should follow: {gone}, perhaps the file of a day between"
            ),
            (false, _) => format!("it is entry {seq} where {expected} should follow: {gone} before it"),
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
