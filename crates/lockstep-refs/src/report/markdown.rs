//! L2: Markdown for people and models.

use std::fmt::Write as _;

use lockstep_text::single_line;

use super::{Report, absolute, evidence_line};
use crate::impact::{Dependent, FileImpact, Hop};

impl Report<'_> {
    /// The report for people and models.
    pub fn l2(&self) -> String {
        let mut out = format!(
            "# Execution Impact Analysis Report\n\n## Summary\n- Files changed: {}\n- Impact candidates: {}\n\
             - Confidence: {}\n- Degradation level: {}\n- Cascade recommended: {}\n\n## Per-File Analysis\n",
            self.impact.files.len(),
            self.impact.candidates().len(),
            self.confidence(),
            self.degradation(),
            if self.cascade_recommended() { "yes" } else { "no" },
        );
        for file in &self.impact.files {
            let _ = write!(
                out,
                "\n### {}\n**Dependents ({}):**\n\n",
                single_line(&absolute(self.root, &file.path)),
                file.dependents.len()
            );
            dependents(&mut out, file);
            broken_in_file(&mut out, file);
        }
        let _ = write!(out, "\n## Cascade Recommendation\n{}\n\n## Notes\n", self.rationale());
        let notes = self.all_notes();
        if notes.is_empty() {
            out.push_str("- None.\n");
        }
        for note in notes {
            let _ = writeln!(out, "- {}", single_line(&note));
        }
        out
    }
}

fn dependents(out: &mut String, file: &FileImpact) {
    if file.dependents.is_empty() {
        let is_unknown = file.unanalysed || file.content_not_analysed;
        out.push_str(if is_unknown { "Not analysed.\n" } else { "None.\n" });
        return;
    }
    out.push_str("| Dependent | Type | Hop | Reference Pattern | Evidence |\n");
    out.push_str("|-----------|------|-----|-------------------|----------|\n");
    for dependent in &file.dependents {
        row(out, dependent);
    }
}

fn broken_in_file(out: &mut String, file: &FileImpact) {
    if file.broken_in_file.is_empty() {
        return;
    }
    let _ = write!(out, "\n**Broken in the same file ({}):**\n\n", file.broken_in_file.len());
    for broken in &file.broken_in_file {
        let line = evidence_line(&file.path, &broken.evidence);
        let _ =
            writeln!(out, "- `{}` ({})", single_line(&line).replace('`', "'"), single_line(&broken.reason));
    }
}

fn row(out: &mut String, dependent: &Dependent) {
    let pattern = match &dependent.hop {
        Hop::Direct => dependent.pattern.clone(),
        Hop::Transitive { via } => format!("{} via {via}", dependent.pattern),
    };
    let evidence =
        dependent.evidence.first().map(|line| evidence_line(&dependent.path, line)).unwrap_or_default();
    let _ = writeln!(
        out,
        "| {} | {} | {} | {} | {} |",
        cell(&dependent.path),
        dependent.hop.word(),
        dependent.hop.count(),
        cell(&pattern),
        cell(&evidence)
    );
}

/// Escapes text for a table cell.
fn cell(text: &str) -> String {
    single_line(&text.replace('\\', "\\\\").replace('|', "\\|"))
}
