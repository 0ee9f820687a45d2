//! Settings that keep every hook from running, although the hooks are registered. The client does not report them.

use std::path::{Path, PathBuf};

use lockstep_setup::claude::{self, HookSwitches, Severity};

use super::{LOCAL_SETTINGS, SHARED_SETTINGS, SetupPlan};
use crate::env_vars::client_directory;

/// The settings that an administrator writes, which no other settings can override.
pub(crate) const MANAGED_SETTINGS: [&str; 2] = [
    "/etc/claude-code/managed-settings.json",
    "/Library/Application Support/ClaudeCode/managed-settings.json",
];

/// The texts of the settings files that the client reads for one project, as they will be when a plan is carried out.
struct SettingsTexts {
    managed: Vec<(PathBuf, String)>,
    /// The others, in the order in which they override each other: local, shared, the user's.
    others: Vec<(PathBuf, String)>,
}

impl SettingsTexts {
    fn read(root: &Path, plan: &SetupPlan) -> Self {
        let others =
            [root.join(LOCAL_SETTINGS), root.join(SHARED_SETTINGS)].into_iter().chain(user_settings());
        let read = |path: PathBuf| {
            let planned = plan.edits.iter().find(|edit| edit.path == path).map(|edit| edit.after.clone());
            let text = planned.unwrap_or_else(|| lockstep_fs::read_to_string(&path).ok());
            text.map(|text| (path, text))
        };
        Self {
            managed: MANAGED_SETTINGS.iter().map(PathBuf::from).filter_map(read).collect(),
            others: others.filter_map(read).collect(),
        }
    }
}

/// The settings of the user, which hold for all projects.
fn user_settings() -> Option<PathBuf> {
    client_directory().map(|dir| dir.join("settings.json"))
}

/// Returns the reasons why no hook will run in the project at `root` after `plan` was carried out, each with its fix. `registered`
/// is the settings file with the hooks; `None` if the plugin has them.
pub(crate) fn hook_blockers(root: &Path, registered: Option<&str>, plan: &SetupPlan) -> Vec<String> {
    let texts = SettingsTexts::read(root, plan);
    let mut blockers: Vec<String> = managed_blocker(&texts, registered.is_some()).into_iter().collect();
    blockers.extend(disabled(&texts));
    blockers.extend(registered.into_iter().flat_map(|settings| unusable(&root.join(settings), &texts)));
    blockers
}

fn managed_blocker(texts: &SettingsTexts, in_settings: bool) -> Option<String> {
    texts.managed.iter().find_map(|(path, text)| {
        let switches = HookSwitches::read(text);
        let set = |switch: Option<(bool, _)>| switch.is_some_and(|(value, _)| value);
        let key = match () {
            () if set(switches.disable_all) => "disableAllHooks",
            () if set(switches.managed_only) => "allowManagedHooksOnly",
            () if in_settings && set(switches.plugins_only) => {
                return Some(format!(
                    "{}: `strictPluginOnlyCustomization` lets the client run hooks of plugins only; \
                     run `lockstep init --plugin` instead",
                    path.display()
                ));
            }
            () => return None,
        };
        Some(format!(
            "{}: `{key}` is true, so the client runs no hook of a project; ask the administrator who manages this \
             file to allow hooks",
            path.display()
        ))
    })
}

/// The first file that sets `disableAllHooks` decides.
fn disabled(texts: &SettingsTexts) -> Option<String> {
    let switch =
        |(path, text): &(PathBuf, String)| Some((path.clone(), HookSwitches::read(text).disable_all?));
    let (path, (value, at)) = texts.others.iter().find_map(switch)?;
    value.then(|| format!("{}:{at}: `disableAllHooks` is true, so no hook runs; remove it", path.display()))
}

/// The faults of the file that the hooks are registered in, because of which the client ignores it.
fn unusable(path: &Path, texts: &SettingsTexts) -> Vec<String> {
    let Some((path, text)) = texts.others.iter().find(|(known, _)| known == path) else { return Vec::new() };
    claude::inspect(text)
        .into_iter()
        .filter(|finding| {
            let by_switch = matches!(finding.kind, claude::SettingsFindingKind::HooksDisabled);
            finding.kind.weight() == Severity::Error && !by_switch
        })
        .map(|finding| format!("{}:{finding}", path.display()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(managed: &str, others: &[&str]) -> SettingsTexts {
        let file = |(at, text): (usize, &&str)| (PathBuf::from(format!("/{at}.json")), (*text).to_owned());
        SettingsTexts {
            managed: vec![(PathBuf::from("/managed.json"), managed.to_owned())],
            others: others.iter().enumerate().map(file).collect(),
        }
    }

    #[test]
    fn managed_settings_block_hooks_by_three_keys() {
        for (text, in_settings, plugin) in [
            ("{\"disableAllHooks\": true}", true, true),
            ("{\"allowManagedHooksOnly\": true}", true, true),
            ("{\"strictPluginOnlyCustomization\": [\"hooks\"]}", true, false),
            ("{\"strictPluginOnlyCustomization\": [\"skills\"]}", false, false),
            ("{\"allowManagedHooksOnly\": false}", false, false),
        ] {
            assert_eq!(managed_blocker(&texts(text, &[]), true).is_some(), in_settings, "{text}");
            assert_eq!(managed_blocker(&texts(text, &[]), false).is_some(), plugin, "{text}");
        }
    }

    #[test]
    fn the_first_file_that_sets_the_switch_decides() {
        let (on, off) = ("{\"disableAllHooks\": true}", "{\"disableAllHooks\": false}");
        assert!(disabled(&texts("", &["{}", on])).is_some_and(|why| why.starts_with("/1.json:1:")));
        assert_eq!(disabled(&texts("", &[off, on])), None);
        assert!(disabled(&texts("", &[on, off])).is_some());
    }

    #[test]
    fn only_managed_settings_can_restrict_hooks_to_managed_ones() {
        assert_eq!(disabled(&texts("", &["{\"allowManagedHooksOnly\": true}"])), None);
    }
}
