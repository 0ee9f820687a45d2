//! A build of the index that outlives who started it.

use std::io;
use std::process::{Command, Stdio};

use crate::project::ActiveProject;

impl ActiveProject {
    /// Starts a build of the index in a process of its own and does not wait for it. Where one is running already, that one goes
    /// on and the new process ends at once.
    pub(crate) fn build_index_in_background(&self) -> io::Result<()> {
        let mut command = Command::new(std::env::current_exe()?);
        command.arg("-C").arg(&self.root).args(["index", "--quiet", "--detached"]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).current_dir("/");
        // Not waited for: when this process has ended, the system's first process does.
        command.spawn().map(drop)
    }
}
