//! Plugins that are installed and enabled in Claude Code for a project. An unreadable plugin is ignored: the
//! client reports it.

use std::path::{Path, PathBuf};

use lockstep_cache::InstalledPlugin;
use serde_json::Value;

use crate::env_vars::client_directory;
use crate::setup::{LOCAL_SETTINGS, SHARED_SETTINGS};

/// The installed plugins that are enabled for the project at `root`, by name.
pub(crate) fn installed_plugins(root: &Path) -> Vec<InstalledPlugin> {
    let Some(client) = client_directory() else { return Vec::new() };
    let Some(list) = json(&client.join("plugins/installed_plugins.json")) else { return Vec::new() };
    let settings: Vec<Value> =
        [client.join("settings.json"), root.join(SHARED_SETTINGS), root.join(LOCAL_SETTINGS)]
            .iter()
            .filter_map(|path| json(path))
            .collect();
    let mut plugins = parse_installed(&list, root);
    plugins.retain(|(id, _)| is_enabled(&settings, id));
    plugins.into_iter().map(|(_, plugin)| plugin).collect()
}

fn json(path: &Path) -> Option<Value> {
    serde_json::from_str(&lockstep_fs::read_to_string(path).ok()?).ok()
}

/// Of version 1, an id has one installation; of version 2 a list of them, each for the user or for one project.
fn parse_installed(list: &Value, root: &Path) -> Vec<(String, InstalledPlugin)> {
    let Some(ids) = list.get("plugins").and_then(Value::as_object) else { return Vec::new() };
    let here = |installation: &&Value| {
        let project = installation.get("projectPath").and_then(Value::as_str);
        project.is_none_or(|project| Path::new(project) == root)
    };
    ids.iter()
        .filter_map(|(id, installations)| {
            let one = std::slice::from_ref(installations);
            let installation = installations.as_array().map_or(one, Vec::as_slice).iter().find(here)?;
            let dir = PathBuf::from(installation.get("installPath")?.as_str()?);
            let name = id.split('@').next().unwrap_or(id).to_owned();
            dir.is_absolute().then(|| (id.clone(), InstalledPlugin { name, dir }))
        })
        .collect()
}

/// Returns true if the last settings file that mentions a plugin enables it.
fn is_enabled(settings: &[Value], id: &str) -> bool {
    let setting = settings.iter().rev().find_map(|file| file.get("enabledPlugins")?.get(id));
    setting.is_some_and(|value| *value != Value::Bool(false))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn both_formats_are_read_and_other_projects_are_left_out() {
        let one = json!({"version": 1, "plugins": {"a@m": {"version": "1", "installPath": "/p/a"}}});
        let two = json!({"version": 2, "plugins": {
            "a@m": [{"scope": "project", "projectPath": "/other", "installPath": "/p/x"},
                    {"scope": "user", "installPath": "/p/a"}],
            "b@m": [{"scope": "local", "projectPath": "/other", "installPath": "/p/b"}],
            "c@m": [{"scope": "user", "installPath": "relative"}],
        }});
        let expected = [("a@m".to_owned(), InstalledPlugin { name: "a".into(), dir: "/p/a".into() })];
        for list in [one, two] {
            assert_eq!(parse_installed(&list, Path::new("/repo")), expected);
        }
    }

    #[test]
    fn the_nearest_settings_decide() {
        let user = json!({"enabledPlugins": {"a@m": true, "b@m": true}});
        let project = json!({"enabledPlugins": {"a@m": false}});
        assert!(is_enabled(std::slice::from_ref(&user), "a@m"));
        assert!(!is_enabled(&[user.clone(), project.clone()], "a@m"));
        assert!(is_enabled(&[user, project], "b@m"));
        assert!(!is_enabled(&[], "a@m"));
    }
}
