//! `.lockstep/installation.json`: the changes of `init`, so that `uninstall` restores the files exactly.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use lockstep_fs::write_atomically;
use lockstep_setup::install_record::InstallRecord;
use lockstep_store::StateDir;
use serde::{Deserialize, Serialize};

use super::git_hook::InstalledGitHook;
use super::read;
use crate::error::{CommandError, CommandResult};

/// The record of `init` in a project.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Installation {
    /// `lockstep.toml`, if `init` wrote it.
    pub(crate) configuration: Option<InstallRecord>,
    /// Settings files by path relative to the root.
    pub(crate) settings: BTreeMap<String, InstallRecord>,
    /// Files of the project's copy of the plugin, by path relative to the root.
    pub(crate) plugin: BTreeMap<String, InstallRecord>,
    /// The session cache, relative to the root, if `init` created it outside the state directory.
    pub(crate) cache: Option<String>,
    /// git's pre-commit hook, if `init` wrote it.
    pub(crate) git_hook: Option<InstalledGitHook>,
    /// git's reference-transaction hook, if `init` wrote it.
    pub(crate) ref_hook: Option<InstalledGitHook>,
}

impl Installation {
    fn file(state: &StateDir) -> PathBuf {
        state.path().join("installation.json")
    }

    /// Returns the record, or an empty one if nothing was installed.
    pub(crate) fn load(state: &StateDir) -> CommandResult<Self> {
        let path = Self::file(state);
        let Some(text) = read(&path)? else { return Ok(Self::default()) };
        serde_json::from_str(&text).map_err(|error| {
            CommandError::store(format!("{} is damaged: {error}", path.display()))
                .hint("delete it; `lockstep uninstall` then takes out Lockstep's own entries by their text")
        })
    }

    /// Remembers it, privately: settings may hold secrets.
    pub(crate) fn save(&self, state: &StateDir) -> CommandResult<()> {
        state.ensure_dir("")?;
        let text = serde_json::to_string_pretty(self).expect("records are text and maps with text keys");
        Ok(write_atomically(&Self::file(state), text.as_bytes(), 0o600)?)
    }

    /// Removes the record.
    pub(crate) fn forget(state: &StateDir) {
        // Nothing to forget is fine; a file that cannot be removed restores nothing once the settings are restored.
        let _ = fs::remove_file(Self::file(state));
    }
}
