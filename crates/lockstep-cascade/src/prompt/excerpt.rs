//! The lines of a file that an agent is shown.

use std::collections::BTreeSet;

/// Files up to this size are small.
const SMALL_BYTES: usize = 16 * 1024;

/// The number of lines shown before and after a relevant line of a large file.
const CONTEXT_LINES: usize = 20;

/// The extent to which a file is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ExcerptStyle {
    /// Completely if the file is small, else in sections.
    Whole,
    /// This many lines before and after each relevant line.
    Around(usize),
}

/// The part of a file that is shown.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Excerpt {
    pub(super) text: String,
    pub(super) whole: bool,
}

/// Returns the excerpt of a file around the lines that the evidence names.
pub(super) fn of(text: &str, path: &str, evidence: &[&String], form: ExcerptStyle) -> Excerpt {
    let around = match form {
        ExcerptStyle::Whole if text.len() <= SMALL_BYTES => {
            let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
            return Excerpt { text: format!("{text}{end}"), whole: true };
        }
        ExcerptStyle::Whole => CONTEXT_LINES,
        ExcerptStyle::Around(around) => around,
    };
    let lines: Vec<&str> = text.lines().collect();
    let mut shown_lines: BTreeSet<usize> = BTreeSet::new();
    for at in evidence.iter().filter_map(|line| line_number(line, path)) {
        let first = at.saturating_sub(around).max(1);
        shown_lines.extend(first..=(at + around).min(lines.len()));
    }
    let mut out = String::new();
    let mut last = 0;
    for at in shown_lines {
        if last != 0 && at != last + 1 {
            out.push_str("...\n");
        }
        out.push_str(&format!("{at}: {}\n", lines[at - 1]));
        last = at;
    }
    Excerpt { text: out, whole: false }
}

/// The number in `file:line:text`.
fn line_number(evidence: &str, path: &str) -> Option<usize> {
    evidence.strip_prefix(path)?.strip_prefix(':')?.split(':').next()?.parse().ok().filter(|line| *line > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_around_the_evidence_are_shown_once_with_their_numbers() {
        let text: String = (1..=12).map(|n| format!("line {n}\n")).collect();
        let evidence = ["a.rs:2:line 2".to_owned(), "a.rs:4:line 4".to_owned(), "a.rs:12:line 12".to_owned()];
        let evidence: Vec<&String> = evidence.iter().collect();
        let excerpt = of(&text, "a.rs", &evidence, ExcerptStyle::Around(1)).text;
        assert_eq!(
            excerpt,
            "1: line 1\n2: line 2\n3: line 3\n4: line 4\n5: line 5\n...\n11: line 11\n12: line 12\n"
        );
        let outdated = "a.rs:99:gone".to_owned();
        assert_eq!(of(&text, "a.rs", &[&outdated], ExcerptStyle::Around(1)).text, "");
    }

    #[test]
    fn small_files_are_shown_whole() {
        assert_eq!(of("x", "a", &[], ExcerptStyle::Whole), Excerpt { text: "x\n".to_owned(), whole: true });
        let large = "x\n".repeat(SMALL_BYTES);
        assert!(!of(&large, "a", &[], ExcerptStyle::Whole).whole);
    }
}
