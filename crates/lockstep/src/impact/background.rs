//! Building an index beside the session: a process of its own, that nobody waits for.

use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};

use lockstep_index::IndexError;

use crate::project::ActiveProject;

/// Starts a build of the project's index. A second one ends at once: the first holds the lock.
pub(crate) fn start(project: &ActiveProject) -> Result<(), IndexError> {
    let failed =
        |source| IndexError::Io { what: "start a build of the index of", path: project.root.clone(), source };
    let program = std::env::current_exe().map_err(failed)?;
    Command::new(program)
        .arg("-C")
        .arg(&project.root)
        .args(["index", "--background"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        // Not in the client's group: a session that is interrupted does not take the build with it.
        .process_group(0)
        .spawn()
        .map_err(failed)?;
    Ok(())
}
