//! The report of a stop while there is no index yet: the changed files, and that nothing more is known.
//!
//! L1 is YAML for programs, with the keys and their order of boundary B4; values that were not analysed are
//! `null`, never zero.

use std::fmt::Write as _;
use std::path::Path;

use lockstep_text::{single_line, yaml_quoted};

/// The first line of every report for people and models.
pub const TITLE: &str = "# Execution Impact Analysis Report";

/// The reason why the dependents are not in the report.
const RATIONALE: &str = "Dependents not analysed: the index is still being built.";

/// L1: the report for programs.
pub fn l1(changed: &[&Path]) -> String {
    let mut out = format!(
        "domain: execution\nskill: impact\nstatus: skipped\nconfidence: low\nfiles_changed: {}\n\
         impact_candidates: null\ndegradation_level: degraded\nimpacts:\n",
        changed.len()
    );
    for path in changed {
        let _ = writeln!(out, "  - changed_file: {}", yaml_quoted(&path.to_string_lossy()));
        out.push_str("    dependents: null\n    dependent_count: null\n");
    }
    let _ = writeln!(out, "cascade_recommended: false\ncascade_rationale: {}", yaml_quoted(RATIONALE));
    out
}

/// L2: the report for people and models.
pub fn l2(changed: &[&Path]) -> String {
    let mut out = format!(
        "{TITLE}\n\n## Summary\n\n- Files changed: {}\n\
         - Impact candidates: not analysed\n- Confidence: low\n- Degradation level: degraded\n\
         - Cascade recommended: false\n\n## Per-File Analysis\n",
        changed.len()
    );
    for path in changed {
        let _ = writeln!(out, "\n### {}\n\nDependents not analysed.", single_line(&path.to_string_lossy()));
    }
    let _ = writeln!(out, "\n## Cascade Recommendation\n\n{RATIONALE}\n\n## Notes\n\nNone.");
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_is_null_and_never_none() {
        assert_eq!(
            l1(&[Path::new("/r/a.py"), Path::new("/r/\"b\"\n\\.py")]),
            "domain: execution\nskill: impact\nstatus: skipped\nconfidence: low\nfiles_changed: 2\n\
             impact_candidates: null\ndegradation_level: degraded\nimpacts:\n\
             \x20 - changed_file: \"/r/a.py\"\n    dependents: null\n    dependent_count: null\n\
             \x20 - changed_file: \"/r/\\\"b\\\"\\u000a\\\\.py\"\n    dependents: null\n    dependent_count: null\n\
             cascade_recommended: false\n\
             cascade_rationale: \"Dependents not analysed: the index is still being built.\"\n"
        );
    }

    #[test]
    fn a_name_cannot_forge_a_heading() {
        let text = l2(&[Path::new("/r/a\n## Forged")]);
        assert!(!text.lines().any(|line| line == "## Forged"));
        assert!(text.contains("Impact candidates: not analysed"));
    }
}
