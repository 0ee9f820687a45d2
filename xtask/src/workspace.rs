//! The files of the repository on disk.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::XtaskResult;

pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the root of the workspace")
}

/// A command that works in the root and waits for no input.
pub(crate) fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    command.current_dir(root()).stdin(Stdio::null());
    command
}

/// The cargo that started this program, or the one on the path.
pub(crate) fn cargo() -> Command {
    command(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// Returns the standard output of a command, if it succeeds.
pub(crate) fn output(mut command: Command) -> XtaskResult<Vec<u8>> {
    let line = format!("{command:?}");
    let output = command.stderr(Stdio::inherit()).output().map_err(|error| format!("{line}: {error}"))?;
    if output.status.success() { Ok(output.stdout) } else { Err(format!("{line}: {}", output.status).into()) }
}

/// A file of the repository: tracked, or new and not ignored.
#[derive(Debug)]
pub(crate) struct SourceFile {
    /// Relative to the root, with `/`.
    pub(crate) path: String,
    /// Bytes that are no UTF-8 are replaced: rules look for words.
    pub(crate) text: String,
}

/// Returns every file of the repository, including new ones, so that a rule applies before the commit.
pub(crate) fn files() -> XtaskResult<Vec<SourceFile>> {
    let mut git = command("git");
    git.args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]);
    let listed = output(git)?;
    let mut paths: Vec<String> = listed
        .split(|b| *b == 0)
        .filter(|path| !path.is_empty())
        .map(|path| String::from_utf8_lossy(path).into_owned())
        .collect();
    paths.sort();
    paths.dedup();
    // A tracked file may be deleted in the working tree.
    let present = paths.into_iter().filter(|path| root().join(path).is_file());
    present.map(|path| Ok(SourceFile { text: read(&root().join(&path))?, path })).collect()
}

fn read(path: &PathBuf) -> XtaskResult<String> {
    let bytes = fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
