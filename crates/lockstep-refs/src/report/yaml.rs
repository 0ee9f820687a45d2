//! L1: YAML for programs, with the keys of boundary B4 in their order.

use std::fmt::Write as _;

use lockstep_text::yaml_quoted;

use super::{CoChangedFile, Report, absolute, evidence_line};
use crate::impact::{BrokenReference, Dependent};

impl Report<'_> {
    /// The report for programs.
    pub fn l1(&self) -> String {
        let mut out = format!(
            "domain: execution\nskill: impact\nstatus: {}\nconfidence: {}\nfiles_changed: {}\n\
             impact_candidates: {}\ndegradation_level: {}\n",
            self.status_word(),
            self.confidence(),
            self.impact.files.len(),
            self.impact.candidates().len(),
            self.degradation(),
        );
        out.push_str(if self.impact.files.is_empty() { "impacts: []\n" } else { "impacts:\n" });
        for file in &self.impact.files {
            let _ = writeln!(out, "  - changed_file: {}", scalar(&absolute(self.root, &file.path)));
            out.push_str(if file.dependents.is_empty() {
                "    dependents: []\n"
            } else {
                "    dependents:\n"
            });
            for dependent in &file.dependents {
                self.dependent(&mut out, dependent);
            }
            let _ = writeln!(out, "    dependent_count: {}", file.dependents.len());
            if !file.broken_in_file.is_empty() {
                out.push_str("    broken_in_file:\n");
            }
            for broken in &file.broken_in_file {
                broken_reference(&mut out, &file.path, broken);
            }
        }
        let _ = write!(
            out,
            "cascade_recommended: {}\ncascade_rationale: {}\nunresolved_references: {}\n\
             index: {{fresh: {}, revision: {}, unseen_files: {}}}\n",
            self.cascade_recommended(),
            yaml_quoted(&self.rationale()),
            self.impact.unresolved,
            self.basis.fresh,
            yaml_quoted(&self.basis.revision),
            self.basis.unseen,
        );
        if !self.history.is_empty() {
            out.push_str("history:\n");
            self.history.iter().for_each(|together| self.together(&mut out, together));
        }
        out
    }

    /// Writes a file that changed together with another. It is not a dependent: no text references it.
    fn together(&self, out: &mut String, together: &CoChangedFile) {
        let _ = write!(
            out,
            "  - file: {}\n    changed_file: {}\n    kind: history\n    commits: {}\n    confidence: {:.2}\n",
            scalar(&absolute(self.root, &together.file)),
            scalar(&absolute(self.root, &together.changed_file)),
            together.commits,
            together.confidence,
        );
    }

    fn dependent(&self, out: &mut String, dependent: &Dependent) {
        let evidence = dependent.evidence.first().map(|line| evidence_line(&dependent.path, line));
        let _ = write!(
            out,
            "      - file: {}\n        type: {}\n        hop_count: {}\n        reference_pattern: {}\n        \
             evidence: {}\n        kind: {}\n        breaks: {}\n",
            scalar(&absolute(self.root, &dependent.path)),
            dependent.hop.word(),
            dependent.hop.count(),
            scalar(&dependent.pattern),
            yaml_quoted(&evidence.unwrap_or_default()),
            dependent.kind.word(),
            dependent.breaks,
        );
    }
}

fn broken_reference(out: &mut String, path: &str, broken: &BrokenReference) {
    let _ = write!(
        out,
        "      - line: {}\n        reference_pattern: {}\n        evidence: {}\n        kind: {}\n        \
         reason: {}\n",
        broken.evidence.line,
        scalar(&broken.evidence.pattern),
        yaml_quoted(&evidence_line(path, &broken.evidence)),
        broken.evidence.kind.word(),
        yaml_quoted(&broken.reason),
    );
}

/// Formats a YAML scalar: plain if it is unambiguous, otherwise in double quotes.
fn scalar(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '.' | '_' | '-');
    let word = text.contains(['/', '_']) || !is_yaml_keyword(text);
    let start = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '/' || c == '_');
    if start && word && text.chars().all(plain) { text.to_owned() } else { yaml_quoted(text) }
}

/// Returns true for words that YAML parsers do not read as text.
fn is_yaml_keyword(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    matches!(&*lower, "true" | "false" | "null" | "yes" | "no" | "on" | "off" | "y" | "n" | "nan" | "inf")
}
