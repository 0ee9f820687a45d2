//! L2: Markdown for people and models, with the updates as diffs.

use std::fmt::Write as _;

use lockstep_text::{fence, push_line, single_line};
use similar::TextDiff;

use super::json::log;
use crate::state::{Cascade, Iteration, OriginalDigest};

/// Longer diffs are truncated.
const MAX_DIFF_LINES: usize = 200;

/// A report about changes of the cascade's own files that was not delivered while it was active.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeldAlert {
    pub session: String,
    pub report: u32,
}

impl Cascade {
    /// Renders the report for people and models. `text` returns the content of a digest, if available.
    pub fn l2(&self, text: &dyn Fn(&str) -> Option<String>, held_alerts: &[HeldAlert]) -> String {
        let mut out = String::from("# Execution Cascade Report\n\n## Summary\n");
        let convergence = match self.convergence() {
            Some(true) => "yes",
            Some(false) => "no",
            None => "not applicable",
        };
        let _ = write!(
            out,
            "- Status: {}\n- Iterations: {} of at most {}\n- Files updated: {}\n- Files skipped: {}\n- Convergence: {convergence}\n",
            self.status().as_str(),
            self.iterations.len(),
            crate::MAX_ITERATIONS,
            self.updated().len(),
            self.skipped().len(),
        );
        if let Some(end) = &self.end {
            push_line(&mut out, format_args!("- Why: {}", end.why));
        }
        let causes: Vec<String> = self.causes.iter().map(|cause| format!("`{}`", cause.path)).collect();
        if !causes.is_empty() {
            push_line(&mut out, format_args!("- Root cause: {}", causes.join(", ")));
        }
        for iteration in &self.iterations {
            write_iteration(&mut out, iteration, text);
        }
        self.write_lists(&mut out, held_alerts);
        out
    }

    fn write_lists(&self, out: &mut String, held_alerts: &[HeldAlert]) {
        let skipped = self.skipped().into_iter().map(|(path, error)| format!("`{path}`: {error}"));
        section(out, "Skipped Files", skipped);
        section(out, "Unresolved Files", self.unresolved().into_iter().map(|path| format!("`{path}`")));
        let violations = self.iterations.iter().flat_map(|iteration| {
            let by = |groups: &[String]| groups.join(" and ");
            iteration.violations.iter().map(move |(path, groups)| {
                format!("`{path}` (iteration {}, group {} at work)", iteration.number, by(groups))
            })
        });
        section(out, "Scope Violations", violations);
        section(
            out,
            "Dismissed Dependents",
            self.dismissed.iter().map(|(path, why)| format!("`{path}`: {why}")),
        );
        let alerts = held_alerts
            .iter()
            .map(|alert| format!("`.lockstep/reports/{}/{}.md`", alert.session, alert.report));
        section(out, "Alerts Held Back", alerts);
        section(out, "Warnings", self.all_warnings().into_iter());
    }
}

fn section(out: &mut String, title: &str, lines: impl Iterator<Item = String>) {
    let _ = writeln!(out, "\n## {title}");
    let mut none = true;
    for line in lines {
        none = false;
        push_line(out, format_args!("- {}", line.replace('\n', " ")));
    }
    if none {
        out.push_str("None.\n");
    }
}

fn write_iteration(out: &mut String, iteration: &Iteration, text: &dyn Fn(&str) -> Option<String>) {
    let log = log(iteration);
    let _ = write!(out, "\n## Iteration {}\n\n```yaml\niteration: {}\n", log.iteration, log.iteration);
    out.push_str(if log.changed_files.is_empty() { "changed_files: []\n" } else { "changed_files:\n" });
    for file in &log.changed_files {
        let _ = write!(
            out,
            "  - path: {}\n    implementer: {}\n    status: {}\n",
            scalar(&file.path),
            file.implementer,
            file.status
        );
    }
    let _ = writeln!(out, "new_impacts_detected: {}", log.new_impacts_detected);
    let none = log.new_impact_files.is_empty();
    out.push_str(if none { "new_impact_files: []\n" } else { "new_impact_files:\n" });
    for path in &log.new_impact_files {
        let _ = writeln!(out, "  - {}", scalar(path));
    }
    out.push_str("```\n");
    for file in &log.changed_files {
        let note = match (file.status, file.changed) {
            ("complete", false) => Some("looked at; nothing stale is in it, and it did not change"),
            ("failed", false) => Some("not changed"),
            ("failed", true) => Some("changed, but still stale"),
            _ => None,
        };
        if let Some(note) = note {
            out.push('\n');
            push_line(out, format_args!("`{}`: {note}.", file.path));
        }
    }
    for cause in iteration.changed() {
        let before = match &cause.before {
            OriginalDigest::Content(digest) => text(digest),
            _ => Some(String::new()),
        };
        let after = match iteration.after.get(&cause.path) {
            Some(Some(digest)) => text(digest),
            _ => Some(String::new()),
        };
        write_diff(out, &cause.path, before.as_deref(), after.as_deref());
    }
}

fn write_diff(out: &mut String, path: &str, before: Option<&str>, after: Option<&str>) {
    match (before, after) {
        (Some(before), Some(after)) => {
            let diff = diff(&single_line(path), before, after);
            let fence = fence(&diff);
            let _ = write!(out, "\n{fence}diff\n{diff}{fence}\n");
        }
        _ => {
            out.push('\n');
            push_line(out, format_args!("`{path}` changed; its contents were not kept."));
        }
    }
}

/// Returns a unified diff, truncated if it is long.
pub(crate) fn diff(path: &str, before: &str, after: &str) -> String {
    let text =
        TextDiff::from_lines(before, after).unified_diff().context_radius(2).header(path, path).to_string();
    let lines: Vec<&str> = text.lines().collect();
    if lines.len() <= MAX_DIFF_LINES {
        return if text.ends_with('\n') || text.is_empty() { text } else { text + "\n" };
    }
    format!("{}\n... and {} more lines\n", lines[..MAX_DIFF_LINES].join("\n"), lines.len() - MAX_DIFF_LINES)
}

fn scalar(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '.' | '_' | '-');
    let word = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_' || c == '.')
        && text.contains(['/', '.']);
    if word && text.chars().all(plain) { text.to_owned() } else { format!("{text:?}") }
}
