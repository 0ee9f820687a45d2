//! The subject of the task in a client's list: `[PERMANENT] PT-v3 auth`, and `— DELIVERED` at its end.

use std::fmt;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskSubject {
    pub version: Option<u64>,
    pub delivered: bool,
    pub title: String,
}

impl TaskSubject {
    /// Parses a subject. `None` is the subject of an ordinary task.
    ///
    /// It is the task's if it contains `[PERMANENT]`, the word `PERMANENT` in capitals, or `PT-v`, in any
    /// case: a reworded mark must not bypass the rules.
    pub fn parse(text: &str) -> Option<Self> {
        let mut subject = Self { version: None, delivered: false, title: String::new() };
        let mut is_task = false;
        let mut title = Vec::new();
        for word in text.split_whitespace() {
            let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
            if is_permanent_mark(word, bare) {
                is_task = true;
            } else if let Some(version) = version_mark(bare) {
                is_task = true;
                subject.version = subject.version.or(version);
            } else if bare == "DELIVERED" {
                subject.delivered = true;
            } else {
                title.push(word);
            }
        }
        let is_dash = |word: &&str| word.chars().all(|c| matches!(c, '—' | '–' | '-' | ':' | '|'));
        while title.last().is_some_and(is_dash) {
            title.pop();
        }
        let start = title.iter().take_while(|word| is_dash(word)).count();
        subject.title = title[start..].join(" ");
        is_task.then_some(subject)
    }
}

fn is_permanent_mark(word: &str, bare: &str) -> bool {
    bare == "PERMANENT" || (word.starts_with('[') && bare.eq_ignore_ascii_case("PERMANENT"))
}

/// The version of `PT-v3`; `Some(None)` for a mark without a number, as in `PT-vFinal`.
fn version_mark(bare: &str) -> Option<Option<u64>> {
    let head = bare.get(..4)?;
    head.eq_ignore_ascii_case("PT-v").then(|| bare[4..].parse().ok())
}

impl fmt::Display for TaskSubject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[PERMANENT]")?;
        if let Some(version) = self.version {
            write!(f, " PT-v{version}")?;
        }
        if !self.title.is_empty() {
            write!(f, " {}", self.title)?;
        }
        if self.delivered { f.write_str(" — DELIVERED") } else { Ok(()) }
    }
}
