//! Hooks of the frameworks that Lockstep comes from: those that do the same work are reported, so that it is
//! not done twice.

use std::fs;
use std::path::{Path, PathBuf};

use lockstep_config::gates::GateMode;
use serde_json::Value;

use super::DoctorCheck;
use super::registration::settings_files;
use crate::project::ActiveProject;

/// A hook of another framework: its command pattern, its purpose, and the guide with its replacement.
struct OldHook {
    mark: &'static str,
    work: &'static str,
    guide: &'static str,
}

const IMPACT: &str = "docs/guide/migrate-change-hooks.md";
const CACHE: &str = "docs/guide/migrate-isdlc.md";

const OLD_HOOKS: [OldHook; 5] = [
    OldHook { mark: "on-file-change.sh", work: "journals changed files", guide: IMPACT },
    OldHook { mark: "on-file-change-fail.sh", work: "journals changed files", guide: IMPACT },
    OldHook { mark: "on-implementer-done.sh", work: "reports dependents when an agent ends", guide: IMPACT },
    OldHook {
        mark: "on-subagent-stop.sh",
        work: "reports what an agent changed when it ends",
        guide: IMPACT,
    },
    OldHook { mark: "inject-session-cache.cjs", work: "gives sessions their cache", guide: CACHE },
];

/// nWave's hooks, by how they are started.
const NWAVE: [&str; 2] = ["des.adapters.drivers.hooks", "des-hook"];

const CHECK: &str = "other hooks";

/// Returns one check per registered old hook.
pub(super) fn check(project: &ActiveProject) -> Vec<DoctorCheck> {
    let commands = registered(&project.root);
    let mut checks: Vec<DoctorCheck> = OLD_HOOKS
        .iter()
        .filter_map(|old| {
            let (file, command) = commands.iter().find(|(_, command)| command.contains(old.mark))?;
            Some(same_work(file, command, old))
        })
        .collect();
    let nwave = commands.iter().find(|(_, command)| NWAVE.iter().any(|mark| command.contains(mark)));
    checks.extend(nwave.map(|(file, _)| beside_nwave(file, project)));
    checks
}

fn same_work(file: &Path, command: &str, old: &OldHook) -> DoctorCheck {
    // An agent's file is text; of it only the script is named.
    let excerpt = if command.len() > 120 || command.contains('\n') { old.mark } else { command };
    let message =
        format!("{} runs `{excerpt}`, which does what Lockstep does: it {}", file.display(), old.work);
    DoctorCheck::warning(CHECK, message, format!("remove that entry; {} says what replaces it", old.guide))
}

fn beside_nwave(file: &Path, project: &ActiveProject) -> DoctorCheck {
    let path = file.display();
    match project.config().gates.nwave {
        GateMode::Off => DoctorCheck::ok(
            CHECK,
            format!(
                "{path} runs nWave's hooks; Lockstep leaves its prompts to them ([gates] nwave = \"off\")"
            ),
        ),
        _ => DoctorCheck::warning(
            CHECK,
            format!("{path} runs nWave's hooks, and Lockstep checks the same prompts ([gates] nwave)"),
            "set nwave = \"off\", or remove nWave's entries; docs/guide/migrate-nwave.md says what replaces them",
        ),
    }
}

/// Returns every hook command in the settings, and the texts of agents, whose frontmatter may register hooks.
fn registered(root: &Path) -> Vec<(PathBuf, String)> {
    let mut commands = Vec::new();
    for path in settings_files(root) {
        let Ok(text) = lockstep_fs::read_to_string(&path) else { continue };
        let Ok(settings) = serde_json::from_str::<Value>(&text) else { continue };
        let mut found = Vec::new();
        collect(&settings["hooks"], &mut found);
        commands.extend(found.into_iter().map(|command| (path.clone(), command)));
    }
    let agents = fs::read_dir(root.join(".claude/agents")).into_iter().flatten().flatten();
    for path in agents.map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|e| e == "md")) {
        let Ok(text) = lockstep_fs::read_to_string(&path) else { continue };
        let front = text.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---"));
        commands.extend(front.map(|(front, _)| (path.clone(), front.to_owned())));
    }
    commands
}

/// Adds every value of a key `command`, however deep.
fn collect(value: &Value, commands: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            commands.extend(fields.get("command").and_then(Value::as_str).map(str::to_owned));
            fields.values().for_each(|value| collect(value, commands));
        }
        Value::Array(items) => items.iter().for_each(|value| collect(value, commands)),
        _ => {}
    }
}
