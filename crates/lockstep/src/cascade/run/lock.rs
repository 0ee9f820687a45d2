//! Allows one run at a time, and none before the agents of the previous one have ended.

use std::fs::File;
use std::io::ErrorKind;
use std::thread;
use std::time::{Duration, Instant};

use lockstep_store::StateDir;
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use super::agent::{AGENTS_LOCK, PAUSE};
use crate::error::{CommandError, Kind};

/// Held by a run.
const RUN_LOCK: &str = "cascade-run.lock";

/// The maximum time for the agents of an ended run to end too.
const PATIENCE: Duration = Duration::from_secs(20);

/// Held as long as a run lasts; the system lets go of it when the process ends, however it ends.
pub(crate) struct RunLock {
    _file: File,
}

impl RunLock {
    pub(crate) fn take(state: &StateDir) -> Result<Self, CommandError> {
        state.ensure("")?;
        let file = open(state, RUN_LOCK)?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {}
            Err(Errno::WOULDBLOCK) => {
                return Err(CommandError::new(
                    Kind::Usage,
                    "another `lockstep cascade run` is at work in this project",
                )
                .hint("wait for it, or stop it; `lockstep cascade status` shows where it is"));
            }
            Err(error) => return Err(failed(&error.into())),
        }
        wait_for_agents(state)?;
        Ok(Self { _file: file })
    }
}

fn wait_for_agents(state: &StateDir) -> Result<(), CommandError> {
    let file = open(state, AGENTS_LOCK)?;
    let start = Instant::now();
    loop {
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(()),
            Err(Errno::WOULDBLOCK) if start.elapsed() < PATIENCE => thread::sleep(PAUSE),
            Err(Errno::WOULDBLOCK) => {
                return Err(CommandError::new(Kind::Store, "agents of an earlier run are still at work")
                    .hint("they are being ended: try again in a moment, or look for `lockstep cascade supervise` processes"));
            }
            Err(error) => return Err(failed(&error.into())),
        }
    }
}

fn open(state: &StateDir, name: &str) -> Result<File, CommandError> {
    use std::os::unix::fs::OpenOptionsExt as _;
    let path = state.path().join(name);
    let refused = || std::io::Error::from(ErrorKind::PermissionDenied);
    if path.is_symlink() {
        return Err(failed(&refused()));
    }
    File::options().append(true).create(true).mode(0o600).open(&path).map_err(|error| failed(&error))
}

fn failed(error: &std::io::Error) -> CommandError {
    CommandError::new(Kind::Store, format!("cannot lock the cascade: {error}"))
}
