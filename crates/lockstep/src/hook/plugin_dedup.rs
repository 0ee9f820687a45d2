//! Checks whether an entry in the client's settings handles the same event as the plugin's entry, so that
//! nothing is done twice. The entry in the settings has precedence, since only `init` can register as many
//! entries as a project needs.

use std::path::PathBuf;

use lockstep_model::event::{Event, EventKind};
use lockstep_setup::claude::{PlainEntry, Severity, inspect, plain_entries};

use super::routing::{REGISTRATIONS, accepts};
use crate::env_vars::{CLAUDE_PROJECT_DIR, client_directory};
use crate::executable;
use crate::hook::part::HookPart;
use crate::setup::{LOCAL_SETTINGS, SHARED_SETTINGS};

/// Returns true if the client runs an entry of ours from its settings for this event.
pub(super) fn is_handled_by_settings(event: &Event) -> bool {
    settings_files()
        .iter()
        .filter_map(|path| lockstep_fs::read_to_string(path).ok())
        .any(|text| has_matching_entry(&text, event, &is_this_program))
}

/// The settings that the client reads for the project it is in.
fn settings_files() -> Vec<PathBuf> {
    let project = CLAUDE_PROJECT_DIR.get().map(PathBuf::from).or_else(|| std::env::current_dir().ok());
    let of_project =
        project.into_iter().flat_map(|dir| [SHARED_SETTINGS, LOCAL_SETTINGS].map(|file| dir.join(file)));
    let of_user = client_directory().map(|dir| dir.join("settings.json"));
    of_project.chain(of_user).collect()
}

fn has_matching_entry(settings: &str, event: &Event, is_this_program: &dyn Fn(&str) -> bool) -> bool {
    if !settings.contains("lockstep") {
        return false;
    }
    // The client may ignore a file with a fault: rather twice than never.
    if inspect(settings).iter().any(|finding| finding.kind.weight() == Severity::Error) {
        return false;
    }
    let is_run = |entry: &PlainEntry| {
        entry.event == event.kind.name()
            && matcher_accepts(entry.matcher.as_deref(), event)
            && entry.timeout.is_none_or(|seconds| seconds >= least_timeout(&entry.event))
            && runs_hook(&entry.words, is_this_program)
    };
    plain_entries(settings).is_some_and(|entries| entries.iter().any(is_run))
}

/// Returns true if a command does the work of an event: `lockstep hook [claude]`, for the first of several parts.
fn runs_hook(words: &[String], is_this_program: &dyn Fn(&str) -> bool) -> bool {
    let [program, verb, arguments @ ..] = words else { return false };
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let is_complete = match arguments[..] {
        [] | ["claude"] => true,
        ["claude", "--part", part] => part.parse::<HookPart>().is_ok_and(HookPart::is_first),
        _ => false,
    };
    verb == "hook" && is_complete && is_this_program(program)
}

/// Returns true if a shell would start this very program for `name`. A relative path depends on where the client is.
fn is_this_program(name: &str) -> bool {
    let is_certain = name == "lockstep" || name.starts_with('/');
    let own = std::env::current_exe().and_then(|path| path.canonicalize()).ok();
    is_certain && own.is_some() && executable::find(name).and_then(|path| path.canonicalize().ok()) == own
}

/// The seconds that the entries of `init` have for an event.
fn least_timeout(event: &str) -> f64 {
    let registered = REGISTRATIONS.iter().find(|registration| registration.event == event);
    registered.map_or(0.0, |registration| f64::from(registration.timeout_seconds))
}

/// Returns true if a matcher of ours accepts the event. A matcher that the user changed is not trusted.
fn matcher_accepts(matcher: Option<&str>, event: &Event) -> bool {
    match (matcher, &event.kind) {
        (None | Some("" | "*"), _) => true,
        (Some(matcher), EventKind::PreToolUse(call) | EventKind::PostToolUse { call, .. }) => {
            accepts(matcher, call.tool.name())
        }
        (Some(_), _) => false,
    }
}

#[cfg(test)]
mod tests {
    use lockstep_testkit::attacks::{Numbers, idle_commands, idle_settings};
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
            assert!(has_matching_entry(&settings("PostToolUse", matcher), &edit, &|_| true), "{matcher}");
        }
        for (name, text) in [
            ("another event", settings("PreToolUse", "")),
            ("another tool", settings("PostToolUse", "Write|MultiEdit")),
            ("another program", settings("PostToolUse", "").replace("lockstep hook", "lockstep changes")),
            ("a file that the client ignores", settings("PostToolUse", "").replace("\"\"", "{}")),
            ("no hooks at all", settings("PostToolUse", "").replacen('{', "{\"disableAllHooks\": true,", 1)),
            ("no JSON", "{ lockstep".to_owned()),
        ] {
            assert!(!has_matching_entry(&text, &edit, &|_| true), "{name}: {text}");
        }
    }

    #[test]
    fn an_entry_that_does_nothing_does_not_silence_the_plugin() {
        let edit = parse(samples::POST_TOOL_USE_EDIT_IN_SUBAGENT.as_bytes()).unwrap();
        let whole = settings("PostToolUse", "Edit");
        let this = |name: &str| name == "lockstep";
        assert!(has_matching_entry(&whole, &edit, &this));
        for command in idle_commands(&mut Numbers::new(1)) {
            let text = whole.replace("lockstep hook claude", &command);
            assert!(!has_matching_entry(&text, &edit, &this), "{command}");
        }
        for (name, from, to) in idle_settings() {
            let text = whole.replacen(from, to, 1);
            assert_ne!(text, whole, "{name}");
            assert!(!has_matching_entry(&text, &edit, &this), "{name}: {text}");
        }
    }
}
