//! Whether an event that the plugin's entry got is answered by an entry in the client's settings as well: what is registered
//! twice must not be done twice. The settings' entry has precedence, since only `init` can register as many as a project needs.

use std::fs;
use std::path::{Path, PathBuf};

use lockstep_model::event::{Event, EventKind};
use lockstep_setup::claude::{FindingKind, Weight, inspect};

use crate::env_vars::{CLAUDE_CONFIG_DIR, CLAUDE_PROJECT_DIR, HOME};
use crate::setup::{LOCAL_SETTINGS, SHARED_SETTINGS};

/// Whether the client runs an entry of ours from its settings for this event.
pub(super) fn settings_answer(event: &Event) -> bool {
    settings_files().iter().filter_map(|path| fs::read_to_string(path).ok()).any(|text| answers(&text, event))
}

/// The settings that the client reads for the project it is in.
fn settings_files() -> Vec<PathBuf> {
    let project = CLAUDE_PROJECT_DIR.get().map(PathBuf::from).or_else(|| std::env::current_dir().ok());
    let of_project =
        project.into_iter().flat_map(|dir| [SHARED_SETTINGS, LOCAL_SETTINGS].map(|file| dir.join(file)));
    let of_user = CLAUDE_CONFIG_DIR.get().map(|dir| PathBuf::from(dir).join("settings.json"));
    let of_user = of_user.or_else(|| HOME.get().map(|home| Path::new(&home).join(SHARED_SETTINGS)));
    of_project.chain(of_user).collect()
}

fn answers(settings: &str, event: &Event) -> bool {
    if !settings.contains("lockstep") {
        return false;
    }
    let findings = inspect(settings);
    // The client may ignore a file with a fault: rather twice than never.
    if findings.iter().any(|finding| finding.kind.weight() == Weight::Fault) {
        return false;
    }
    findings.iter().any(|finding| match &finding.kind {
        FindingKind::Ours { event: name, matcher, .. } => {
            name == event.kind.name() && lets_through(matcher.as_deref(), event)
        }
        _ => false,
    })
}

/// Whether a matcher of ours lets the event through. One that somebody wrote otherwise is not trusted to.
fn lets_through(matcher: Option<&str>, event: &Event) -> bool {
    match (matcher, &event.kind) {
        (None | Some("" | "*"), _) => true,
        (Some(matcher), EventKind::PreToolUse(call) | EventKind::PostToolUse { call, .. }) => {
            matcher.split('|').any(|tool| tool == call.tool.name())
        }
        (Some(_), _) => false,
    }
}

#[cfg(test)]
mod tests {
    use lockstep_wire::claude::{parse, samples};

    use super::*;

    fn settings(event: &str, matcher: &str) -> String {
        format!(
            r#"{{"hooks":{{"{event}":[{{"matcher":"{matcher}","hooks":[{{"type":"command","command":"lockstep hook claude"}}]}}]}}}}"#
        )
    }

    #[test]
    fn only_an_entry_that_the_client_runs_for_this_event_counts() {
        let edit = parse(samples::POST_TOOL_USE_EDIT_IN_SUBAGENT.as_bytes()).unwrap();
        for matcher in ["", "*", "Edit|Write", "Edit"] {
            assert!(answers(&settings("PostToolUse", matcher), &edit), "{matcher}");
        }
        for (name, text) in [
            ("another event", settings("PreToolUse", "")),
            ("another tool", settings("PostToolUse", "Write|MultiEdit")),
            ("another program", settings("PostToolUse", "").replace("lockstep hook", "lockstep changes")),
            ("a file that the client ignores", settings("PostToolUse", "").replace("\"\"", "{}")),
            ("no hooks at all", settings("PostToolUse", "").replacen('{', "{\"disableAllHooks\": true,", 1)),
            ("no JSON", "{ lockstep".to_owned()),
        ] {
            assert!(!answers(&text, &edit), "{name}: {text}");
        }
    }
}
