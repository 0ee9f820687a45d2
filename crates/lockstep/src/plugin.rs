//! The Claude Code plugin in the program: its files, and its hooks, which are derived from the routing table.
//!
//! The files are in `plugin/` at the root of the repository and are part of the binary, so that `lockstep
//! init --plugin` installs exactly the matching plugin. `cargo xtask docs` generates `hooks/hooks.json` from
//! [`REGISTRATIONS`].

use serde_json::{Map, Value, json};

use crate::hook::part::hook_arguments;
use crate::hook::routing::REGISTRATIONS;

/// The plugin's name: the client calls its skills and agents `lockstep:NAME`.
pub const NAME: &str = "lockstep";

/// The path of the hooks in the plugin.
pub const HOOKS_FILE: &str = "hooks/hooks.json";

/// Every file of the plugin: its path relative to the plugin, and its text.
pub const FILES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/plugin_files.rs"));

/// Returns the command for an event. Without the program on PATH, it prints a message once and does nothing
/// else.
fn command(event: &str, arguments: &str) -> String {
    format!(
        "command -v lockstep >/dev/null 2>&1 && exec lockstep hook claude --plugin{arguments}; \
         exec sh \"${{CLAUDE_PLUGIN_ROOT}}/hooks/missing.sh\" {event}"
    )
}

/// `hooks/hooks.json` as it ships.
pub fn hooks_json() -> String {
    hooks_json_of(1)
}

/// Returns the hooks with this many entries for the start of a session, for a project that delivers a
/// complete session cache.
pub(crate) fn hooks_json_of(session_starts: usize) -> String {
    let mut hooks = Map::new();
    for registration in REGISTRATIONS {
        let mut group = Map::new();
        if let Some(matcher) = registration.matcher {
            group.insert("matcher".to_owned(), matcher.into());
        }
        let entries = if registration.event == "SessionStart" { session_starts } else { 1 };
        let timeout = registration.timeout_seconds;
        let entry = |arguments: String| json!({ "type": "command", "command": command(registration.event, &arguments), "timeout": timeout });
        group.insert("hooks".to_owned(), hook_arguments(entries).into_iter().map(entry).collect());
        hooks.insert(registration.event.to_owned(), Value::Array(vec![Value::Object(group)]));
    }
    let text = serde_json::to_string_pretty(&json!({
        "description": "Made by `cargo xtask docs` from the events that lead somewhere: change it there.",
        "hooks": hooks,
    }));
    text.expect("maps with text keys are JSON") + "\n"
}

#[cfg(test)]
mod tests {
    /// Builds in two directories give the same bytes.
    #[test]
    fn list_of_plugin_files_does_not_name_the_directory_of_the_build() {
        let list = include_str!(concat!(env!("OUT_DIR"), "/plugin_files.rs"));
        assert!(list.contains("hooks/hooks.json"));
        assert!(!list.contains(env!("CARGO_MANIFEST_DIR")), "{list}");
    }
}
