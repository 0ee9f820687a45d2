//! A build of the index that outlives the process that started it.

use std::io;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::project::ActiveProject;

/// How often it is checked whether the build has ended.
const POLL: Duration = Duration::from_millis(5);

impl ActiveProject {
    /// Starts a build of the index in a process of its own and does not wait for it. If one is running already, it continues,
    /// and the new process ends at once.
    pub(crate) fn build_index_in_background(&self) -> io::Result<()> {
        // Not waited for: when this process has ended, the system's first process does.
        self.start_index_build().map(drop)
    }

    /// Starts a build of the index as [`Self::build_index_in_background`] does, and returns its process.
    pub(crate) fn start_index_build(&self) -> io::Result<Child> {
        let mut command = Command::new(std::env::current_exe()?);
        command.arg("-C").arg(&self.root).args(["index", "--quiet", "--detached"]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).current_dir("/");
        command.spawn()
    }

    /// The same, and waits up to `wait` for it: the index of a small project is there at once.
    pub(crate) fn build_index_and_wait(&self, wait: Duration) -> io::Result<()> {
        let mut build = self.start_index_build()?;
        let started = Instant::now();
        while build.try_wait()?.is_none() && started.elapsed() < wait {
            std::thread::sleep(POLL);
        }
        Ok(())
    }
}
