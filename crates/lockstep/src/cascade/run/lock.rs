//! Allows one run at a time, and none before the agents of the previous one have ended.

use std::time::Duration;

use lockstep_fs::FileLock;
use lockstep_store::StateDir;

use super::agent::AGENTS_LOCK;
use crate::error::{CommandError, CommandResult};

/// Held by a run.
const RUN_LOCK: &str = "cascade-run.lock";

/// The maximum time for the agents of an ended run to end too.
const AGENTS_TIMEOUT: Duration = Duration::from_secs(20);

/// The lock of a run. The system releases it when the process ends, for any reason.
pub(crate) struct RunLock {
    _lock: FileLock,
}

impl RunLock {
    pub(crate) fn acquire(state: &StateDir) -> CommandResult<Self> {
        state.ensure_dir("")?;
        let Some(lock) = acquire(state, RUN_LOCK, Duration::ZERO)? else {
            return Err(CommandError::usage("another `lockstep cascade run` is at work in this project")
                .hint("wait for it, or stop it; `lockstep cascade status` shows where it is"));
        };
        if acquire(state, AGENTS_LOCK, AGENTS_TIMEOUT)?.is_none() {
            return Err(CommandError::store("agents of an earlier run are still at work")
                .hint("they are being ended: try again in a moment, or look for `lockstep cascade supervise` processes"));
        }
        Ok(Self { _lock: lock })
    }
}

fn acquire(state: &StateDir, name: &str, patience: Duration) -> CommandResult<Option<FileLock>> {
    FileLock::acquire(&state.path().join(name), patience)
        .map_err(|error| CommandError::store(format!("cannot lock the cascade: {error}")))
}
