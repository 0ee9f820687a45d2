//! The task's document: one mapping whose top-level keys are its sections.
//!
//! Owns reading, writing, size and shape. Versions are in [`crate::version`], permissions in
//! [`crate::access`]. Comments and formatting are not preserved: only the content is written back, sections
//! in the order of [`SECTIONS`], then unknown keys in their original order.

mod limits;
mod sections;

pub use limits::DocumentLimits;
pub use sections::{METRICS, SECTIONS, SUBJECT, TASK, is_section};

use crate::key_path::KeyPath;
use crate::pointer::{POINTER_KEYS, PointerResolver};
use crate::problem::{Diagnostics, DocumentProblem};
use crate::value::{Map, MapExt, Value, ValueExt};
use crate::yaml;

/// The content of one version of the task.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TaskDocument {
    root: Map,
}

/// The result of reading a text: the document, if there is one, and all findings.
#[derive(Debug, Clone, PartialEq)]
pub struct ParsedDocument {
    /// The document, unless the text is not a mapping or too large to be read at all.
    pub document: Option<TaskDocument>,
    /// Problems and warnings, all at once.
    pub findings: Diagnostics,
}

impl TaskDocument {
    /// Reads a text and checks its size, its shape and its pointers.
    pub fn read(bytes: &[u8], limits: DocumentLimits, lookup: &PointerResolver<'_>) -> ParsedDocument {
        let mut findings = Diagnostics::default();
        if bytes.len() > limits.max_parse_bytes() {
            findings.problems.push(limits::oversize_problem(bytes, limits));
            return ParsedDocument { document: None, findings };
        }
        match Self::parse(bytes, limits) {
            Ok(document) => {
                findings.extend(document.check(limits, lookup));
                ParsedDocument { document: Some(document), findings }
            }
            Err(problem) => {
                if bytes.len() > limits.max_bytes {
                    findings.problems.push(limits::oversize_problem(bytes, limits));
                }
                findings.problems.push(problem);
                ParsedDocument { document: None, findings }
            }
        }
    }

    /// Reads a stored version without validating its content.
    pub fn parse(bytes: &[u8], limits: DocumentLimits) -> Result<Self, DocumentProblem> {
        let value = yaml::read(bytes, limits.max_parse_bytes())
            .map_err(|error| DocumentProblem::of("document", error.to_string(), "nothing was stored"))?;
        match value {
            Value::Object(root) => Ok(Self::from_root(root)),
            Value::Null => Err(DocumentProblem::of(
                "document",
                "it is empty",
                "begin with user_intent: what is wanted, in one to three sentences",
            )),
            other => Err(DocumentProblem::of(
                "document",
                format!("expected sections, found {}", other.kind()),
                "write the sections as top-level keys, beginning with user_intent",
            )),
        }
    }

    /// A document of these sections.
    pub fn from_root(mut root: Map) -> Self {
        root.sort_by_rank(sections::rank);
        Self { root }
    }

    pub fn to_yaml(&self) -> String {
        yaml::write(&Value::Object(self.root.clone()))
    }

    /// Everything about this document that is not as it should be: size, shape, pointers.
    pub fn check(&self, limits: DocumentLimits, lookup: &PointerResolver<'_>) -> Diagnostics {
        let mut findings = TASK.check(&Value::Object(self.root.clone()), &KeyPath::root(), lookup);
        if let Some(problem) = limits::check(self, limits) {
            findings.problems.insert(0, problem);
        }
        findings
    }

    /// The sections and unknown keys, in order.
    pub fn root(&self) -> &Map {
        &self.root
    }

    pub fn section(&self, name: &str) -> Option<&Value> {
        self.root.get(name)
    }

    /// Returns true if the section exists and has content. An empty list means "none"; an absent one means
    /// unknown.
    pub fn has_content(&self, name: &str) -> bool {
        match self.section(name) {
            None | Some(Value::Null) => false,
            Some(Value::Array(_)) => true,
            Some(other) => !other.is_blank(),
        }
    }

    pub fn get(&self, place: &KeyPath) -> Option<&Value> {
        let (first, rest) = place.keys().split_first()?;
        rest.iter().try_fold(self.root.get(first)?, |value, key| value.get(key))
    }

    pub fn text(&self, keys: &[&str]) -> Option<&str> {
        let (first, rest) = keys.split_first()?;
        rest.iter().try_fold(self.root.get(*first)?, |value, key| value.get(key))?.as_str()
    }

    pub fn set(&mut self, name: &str, value: impl Into<Value>) {
        self.root.set(name, value);
        self.root.sort_by_rank(sections::rank);
    }

    /// A section to be changed, `null` if it was not there.
    pub(crate) fn section_mut(&mut self, name: &str) -> &mut Value {
        if !self.root.contains_key(name) {
            self.set(name, Value::Null);
        }
        &mut self.root[name]
    }

    /// Every pointer of the document with its place, in order.
    pub fn pointers(&self) -> Vec<(KeyPath, String)> {
        let mut found = Vec::new();
        for (key, value) in self.root.iter() {
            collect_pointers(value, key, &KeyPath::section(key), &mut found);
        }
        found
    }
}

fn collect_pointers(value: &Value, key: &str, place: &KeyPath, found: &mut Vec<(KeyPath, String)>) {
    match value {
        Value::String(text) if POINTER_KEYS.contains(&key) && !text.trim().is_empty() => {
            found.push((place.clone(), text.clone()));
        }
        Value::Object(map) => {
            map.iter().for_each(|(key, inner)| collect_pointers(inner, key, &place.child(key), found));
        }
        Value::Array(items) => {
            let names = crate::version::keyed_list::item_keys(items);
            for (n, inner) in items.iter().enumerate() {
                let name = names.as_ref().map_or_else(|| n.to_string(), |names| names[n].clone());
                collect_pointers(inner, "", &place.child(&name), found);
            }
        }
        _ => {}
    }
}
