//! The yardstick: a search through all files.

use std::path::PathBuf;

use crate::{XtaskResult, workspace};

/// The ripgrep on the path; else one that is installed into the user's cache, outside the repository.
pub(super) fn find() -> XtaskResult<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let on_path = std::env::split_paths(&path).map(|dir| dir.join("rg")).find(|path| path.is_file());
    if let Some(found) = on_path {
        return Ok(found);
    }
    let home = std::env::var_os("HOME").ok_or("without HOME there is no place for ripgrep")?;
    let tools = PathBuf::from(home).join(".cache/lockstep/tools");
    let installed = tools.join("bin/rg");
    if !installed.is_file() {
        let mut cargo = workspace::cargo();
        cargo.args(["install", "--quiet", "--locked", "ripgrep", "--root"]).arg(&tools);
        workspace::output(cargo)?;
    }
    Ok(installed)
}
