//! The Claude Code plugin as the program carries it: its files, and its hooks, which follow from the routing table.
//!
//! The files lie in `plugin/` at the root of the repository and are part of the binary, so that `lockstep init --plugin` installs
//! exactly the plugin that belongs to it. `hooks/hooks.json` is made from [`REGISTRATIONS`] by `cargo xtask docs`.

use serde_json::{Map, Value, json};

use crate::hook::route::REGISTRATIONS;

/// The plugin's name: the client calls its skills and agents `lockstep:NAME`.
pub const NAME: &str = "lockstep";

/// Where a file of the hooks lies in the plugin.
pub const HOOKS_FILE: &str = "hooks/hooks.json";

/// Every file of the plugin: its path relative to the plugin, and its text.
pub const FILES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/plugin_files.rs"));

/// The command for an event. Without the program on PATH it says so once, and gets in nobody's way.
fn command(event: &str) -> String {
    format!(
        "command -v lockstep >/dev/null 2>&1 && exec lockstep hook claude --plugin; \
         exec sh \"${{CLAUDE_PLUGIN_ROOT}}/hooks/missing.sh\" {event}"
    )
}

/// `hooks/hooks.json`.
pub fn hooks_json() -> String {
    let mut hooks = Map::new();
    for registration in REGISTRATIONS {
        let mut group = Map::new();
        if let Some(matcher) = registration.matcher {
            group.insert("matcher".to_owned(), matcher.into());
        }
        let (command, timeout) = (command(registration.event), registration.timeout_seconds);
        group.insert(
            "hooks".to_owned(),
            json!([{ "type": "command", "command": command, "timeout": timeout }]),
        );
        hooks.insert(registration.event.to_owned(), Value::Array(vec![Value::Object(group)]));
    }
    let text = serde_json::to_string_pretty(&json!({
        "description": "Made by `cargo xtask docs` from the events that lead somewhere: change it there.",
        "hooks": hooks,
    }));
    text.expect("maps with text keys are JSON") + "\n"
}
