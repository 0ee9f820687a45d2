//! One file as it is and as it will be.

use std::fs;
use std::path::{Path, PathBuf};

use lockstep_fs::replace_if_unchanged;
use lockstep_setup::diff::diff;

use crate::error::{CommandError, CommandResult};

#[derive(Debug, Clone)]
pub(crate) struct PlannedFileEdit {
    pub(crate) path: PathBuf,
    /// `None`: there is no such file.
    pub(crate) before: Option<String>,
    /// `None`: the file is removed.
    pub(crate) after: Option<String>,
    /// The mode to set; `None` keeps the present one.
    pub(crate) mode: Option<u32>,
}

impl PlannedFileEdit {
    /// Returns the verb for the output.
    pub(crate) fn action_name(&self) -> &'static str {
        match (&self.before, &self.after) {
            (None, _) => "create",
            (_, None) => "remove",
            _ => "change",
        }
    }

    pub(crate) fn diff(&self, root: &Path) -> String {
        let path = self.path.strip_prefix(root).unwrap_or(&self.path);
        diff(path, self.before.as_deref().unwrap_or(""), self.after.as_deref().unwrap_or(""))
    }

    pub(crate) fn is_applied(&self) -> bool {
        lockstep_fs::read(&self.path).ok().as_deref() == self.after.as_deref().map(str::as_bytes)
    }

    /// Does it, if the file is still as it was when it was planned; returns false if another process has changed it.
    pub(crate) fn apply(&self) -> CommandResult<bool> {
        let failed = |error: std::io::Error| {
            CommandError::store(format!("cannot {} {}: {error}", self.action_name(), self.path.display()))
        };
        let dir = self.path.parent().unwrap_or(Path::new("."));
        match &self.after {
            Some(text) => {
                fs::create_dir_all(dir).map_err(failed)?;
                let before = self.before.as_deref().map(str::as_bytes);
                if !replace_if_unchanged(&self.path, before, text.as_bytes(), self.mode.unwrap_or(0o644))? {
                    return Ok(false);
                }
                if let Some(mode) = self.mode {
                    lockstep_fs::set_mode(&self.path, mode).map_err(failed)?;
                }
                Ok(true)
            }
            None => {
                if lockstep_fs::read(&self.path).ok().as_deref() != self.before.as_deref().map(str::as_bytes)
                {
                    return Ok(false);
                }
                fs::remove_file(&self.path).map_err(failed)?;
                remove_empty(dir);
                Ok(true)
            }
        }
    }
}

/// Directories that were made for a client's files go with them, `.claude` being the last; one that holds anything else stays.
fn remove_empty(dir: &Path) {
    let is_client = |dir: &Path| dir.file_name() == Some(".claude".as_ref());
    if !dir.ancestors().any(is_client) {
        return;
    }
    for dir in dir.ancestors() {
        if fs::remove_dir(dir).is_err() || is_client(dir) {
            return;
        }
    }
}
