//! A build of the index that outlives the process that started it.

use std::io;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::project::ActiveProject;

/// The interval between checks for the end of the build.
const POLL: Duration = Duration::from_millis(5);

/// Starts a build of the index of the tree at `root` in a process of its own. If one is running already, it continues, and the new
/// process ends at once.
pub(crate) fn start_index_build(root: &Path) -> io::Result<Child> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("-C").arg(root).args(["index", "--quiet", "--detached"]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).current_dir("/");
    command.spawn()
}

impl ActiveProject {
    /// Starts a build of the index and does not wait for it.
    pub(crate) fn build_index_in_background(&self) -> io::Result<()> {
        // Not waited for: when this process has ended, the system's first process does.
        start_index_build(&self.root).map(drop)
    }

    /// The same, and waits up to `wait` for it: the index of a small project is there at once.
    pub(crate) fn build_index_and_wait(&self, wait: Duration) -> io::Result<()> {
        let mut build = start_index_build(&self.root)?;
        let started = Instant::now();
        while build.try_wait()?.is_none() && started.elapsed() < wait {
            std::thread::sleep(POLL);
        }
        Ok(())
    }
}
