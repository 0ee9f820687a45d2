//! Tests of the registration in a client's settings: texts in, texts out.

#![allow(clippy::unwrap_used)] // A helper that panics fails its test, which is its purpose.

mod inspect;
mod install;
mod settings_texts;
mod uninstall;

use lockstep_setup::claude::{HookEntry, SettingsFindingKind, inspect};

fn entry(event: &str, matcher: Option<&str>, command: &str, timeout_seconds: u32) -> HookEntry {
    HookEntry {
        event: event.to_owned(),
        matcher: matcher.map(str::to_owned),
        command: command.to_owned(),
        timeout_seconds,
    }
}

/// Entries as `init` would register them: with and without a matcher, two for one event, two that differ in their
/// arguments only.
fn entries() -> Vec<HookEntry> {
    vec![
        entry("PostToolUse", Some("Edit|Write"), "lockstep hook claude", 5),
        entry("PostToolUse", Some("Bash"), "lockstep hook claude", 5),
        entry("Stop", None, "lockstep hook claude", 10),
        entry("SessionStart", None, "lockstep hook claude --part 1", 10),
        entry("SessionStart", None, "lockstep hook claude --part 2", 10),
    ]
}

/// Our entries in `text`, sorted.
fn registered(text: &str) -> Vec<HookEntry> {
    let mut found: Vec<_> = inspect(text)
        .into_iter()
        .filter_map(|finding| match finding.kind {
            SettingsFindingKind::LockstepEntry { event, matcher, command, timeout } => {
                let timeout_seconds = timeout.map_or(0, |seconds| seconds as u32);
                Some(HookEntry { event, matcher, command, timeout_seconds })
            }
            _ => None,
        })
        .collect();
    found.sort();
    found
}

fn sorted(mut entries: Vec<HookEntry>) -> Vec<HookEntry> {
    entries.sort();
    entries
}
