//! Size limits of a task. A task holds pointers; bulk belongs in the files they name.

use super::TaskDocument;
use crate::problem::DocumentProblem;
use crate::value::{Map, MapExt, Value};
use crate::yaml;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DocumentLimits {
    /// The most bytes a version may have.
    pub max_bytes: usize,
}

impl Default for DocumentLimits {
    fn default() -> Self {
        Self { max_bytes: 16 * 1024 }
    }
}

impl DocumentLimits {
    /// Returns how many bytes are parsed to report other problems along with the size. Beyond that only the
    /// size is reported.
    pub fn max_parse_bytes(self) -> usize {
        self.max_bytes.saturating_mul(4)
    }
}

/// The size of a document against its limit.
pub(super) fn check(document: &TaskDocument, limits: DocumentLimits) -> Option<DocumentProblem> {
    let bytes = document.to_yaml().len();
    if bytes <= limits.max_bytes {
        return None;
    }
    let largest =
        document.root().iter().map(|(key, value)| (section_bytes(key, value), key.to_owned())).max();
    Some(problem(bytes, largest, limits))
}

fn section_bytes(key: &str, value: &Value) -> usize {
    let mut alone = Map::new();
    alone.set(key, value.clone());
    yaml::write(&Value::Object(alone)).len()
}

/// The size of a text too large to be parsed. Sections are found by the lines that begin with a key.
pub(super) fn oversize_problem(text: &[u8], limits: DocumentLimits) -> DocumentProblem {
    let mut largest: Option<(usize, &[u8])> = None;
    let mut current: Option<(usize, &[u8])> = None;
    for line in text.split_inclusive(|b| *b == b'\n') {
        if let Some(key) = top_level_key(line) {
            largest = largest.max(current);
            current = Some((0, key));
        }
        if let Some((bytes, _)) = &mut current {
            *bytes += line.len();
        }
    }
    let largest = largest.max(current).map(|(bytes, key)| (bytes, String::from_utf8_lossy(key).into_owned()));
    problem(text.len(), largest, limits)
}

fn top_level_key(line: &[u8]) -> Option<&[u8]> {
    const LONGEST: usize = 64;
    let end = line.iter().take(LONGEST).position(|b| *b == b':')?;
    let key = &line[..end];
    let is_key = !key.is_empty() && key.iter().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'));
    (is_key && line.get(end + 1).is_none_or(u8::is_ascii_whitespace)).then_some(key)
}

fn problem(bytes: usize, largest: Option<(usize, String)>, limits: DocumentLimits) -> DocumentProblem {
    let limit = limits.max_bytes;
    let Some((section_bytes, section)) = largest else {
        return DocumentProblem::of(
            "document",
            format!("it has {bytes} bytes, over the limit of {limit}"),
            "move bulk to a file and point to it",
        );
    };
    DocumentProblem::of(
        &section,
        format!(
            "the document has {bytes} bytes, over the limit of {limit}, and {section_bytes} of them are in this section"
        ),
        "move the detail to a file (an L2 or L3 file) and keep a pointer or one sentence here",
    )
}
