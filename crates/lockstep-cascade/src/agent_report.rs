//! Finds an agent's own report in its output.

use serde::Deserialize;

use crate::cascade_input::relative;
use crate::event::AgentClaim;
use crate::yaml;

/// The number of bytes that are searched, counted from the end of the output.
const MAX_BYTES: usize = 1 << 20;

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AgentReport {
    pub claim: AgentClaim,
    /// Files that need no change according to the agent, each with its reason.
    pub not_needed: Vec<(String, String)>,
}

#[derive(Deserialize)]
struct RawAgentReport {
    files_changed: Option<Vec<String>>,
    status: Option<String>,
    verification: Option<String>,
    not_needed: Option<Vec<RawNotNeeded>>,
}

#[derive(Deserialize)]
struct RawNotNeeded {
    file: String,
    why: String,
}

/// Returns the report in an agent's output: the last fenced block that parses as one, or the complete output.
/// `None` if there is no report.
pub fn parse_agent_report(output: &[u8], root: &str) -> Option<AgentReport> {
    let end = &output[output.len().saturating_sub(MAX_BYTES)..];
    let text = String::from_utf8_lossy(end);
    let fenced = fenced_blocks(&text);
    let raw = fenced.iter().rev().copied().chain([&*text]).find_map(parsed)?;
    let inside = |path: String| relative(&path, root).unwrap_or(path);
    let failed = raw.status.as_deref() == Some("failed");
    Some(AgentReport {
        claim: AgentClaim {
            complete: !failed,
            files: raw.files_changed.map(|files| files.into_iter().map(inside).collect()),
            error: raw.verification.filter(|text| failed && !text.trim().is_empty()),
            unassigned_files: Vec::new(),
        },
        not_needed: raw
            .not_needed
            .unwrap_or_default()
            .into_iter()
            .map(|entry| (inside(entry.file), entry.why))
            .collect(),
    })
}

fn parsed(text: &str) -> Option<RawAgentReport> {
    let raw: RawAgentReport = yaml::read::<Option<RawAgentReport>>(text.as_bytes(), MAX_BYTES).ok()??;
    (raw.files_changed.is_some() || raw.status.is_some() || raw.not_needed.is_some()).then_some(raw)
}

fn fenced_blocks(text: &str) -> Vec<&str> {
    let mut blocks = Vec::new();
    let mut rest = text;
    while let Some(open) = rest.find("```") {
        let Some(line_end) = rest[open..].find('\n') else { break };
        let body = &rest[open + line_end + 1..];
        let Some(close) = body.find("```") else { break };
        blocks.push(&body[..close]);
        rest = &body[close + 3..];
    }
    blocks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_found_in_what_an_agent_prints() {
        let output = "I did it.\n\n```yaml\nfiles_changed: [/p/a.rs, b.rs]\nstatus: complete\nverification: grep\n```\n\
                      Before: `x`.\n```rust\nfn f() {}\n```\n";
        let report = parse_agent_report(output.as_bytes(), "/p").unwrap();
        assert_eq!(report.claim.files, Some(vec!["a.rs".to_owned(), "b.rs".to_owned()]));
        assert!(report.claim.complete && report.not_needed.is_empty());
    }

    #[test]
    fn failure_and_what_needs_no_change_are_read() {
        let output =
            "status: failed\nverification: b is locked\nnot_needed:\n  - {file: c, why: only prose}\n";
        let report = parse_agent_report(output.as_bytes(), "/p").unwrap();
        assert_eq!((report.claim.complete, report.claim.error.as_deref()), (false, Some("b is locked")));
        assert_eq!(report.not_needed, [("c".to_owned(), "only prose".to_owned())]);
    }

    #[test]
    fn no_report_is_no_report() {
        for text in ["", "done", "```yaml\n: [\n```", "```yaml\na: 1\n```", "\u{0}\u{1}", "``````"] {
            assert_eq!(parse_agent_report(text.as_bytes(), "/p"), None, "{text:?}");
        }
    }
}
