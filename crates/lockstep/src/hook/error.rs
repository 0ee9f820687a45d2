//! The failures of hooks, and their lines in the log.

use std::io;

use jiff::Zoned;
use lockstep_config::FILE_NAME;
use lockstep_index::IndexError;
use lockstep_model::ids::SessionIdError;
use lockstep_store::{StateDir, StoreError};
use lockstep_text::error_chain;
use lockstep_wire::ParseEventError;

use super::unread::Waits;
use crate::cache::SessionCacheError;
use crate::clock;
use crate::project::ActiveProject;
use crate::steps::StepsError;
use crate::task::TaskError;

/// The result of a part of a hook.
pub(crate) type HookResult<T = ()> = Result<T, HookError>;

#[derive(Debug, thiserror::Error)]
pub(crate) enum HookError {
    #[error("standard input could not be read")]
    Stdin(#[source] io::Error),
    #[error("the event has {bytes} bytes, more than are parsed; the next sweep finds what it changed")]
    TooLarge {
        bytes: u64,
        /// The decision that the client waits for.
        decides: Waits,
    },
    #[error("{source}")]
    Unread {
        source: ParseEventError,
        /// The decision that the client waits for.
        decides: Waits,
    },
    #[error(transparent)]
    Session(#[from] SessionIdError),
    #[error(transparent)]
    Configuration(#[from] lockstep_config::DiscoverError),
    #[error("lockstep.toml has problems, its valid keys are in effect: {0}")]
    Problems(String),
    #[error("{0}")]
    IgnoredKey(String),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Task(#[from] TaskError),
    #[error(transparent)]
    Steps(#[from] StepsError),
    #[error(transparent)]
    Index(#[from] IndexError),
    #[error(transparent)]
    Cache(#[from] SessionCacheError),
    #[error("the build of the index could not be started")]
    Background(#[source] io::Error),
    #[error("there was no catalogue of the files to compare with; one was made, earlier changes are unknown")]
    NoBaseline,
    #[error("the client did not take the reply, the alerts wait for the next event: {0}")]
    Undelivered(String),
    #[error("a bug in lockstep: {0}")]
    Bug(String),
}

impl HookError {
    /// Returns the problems of the configuration, if there are any. Observers continue with its valid keys.
    pub(crate) fn from_config_problems(project: &ActiveProject) -> Option<Self> {
        let problems = &project.loaded.problems;
        let texts: Vec<String> = problems.iter().map(ToString::to_string).collect();
        (!texts.is_empty()).then(|| Self::Problems(texts.join("; ")))
    }

    /// Which decision of this event the fault prevented.
    pub(crate) fn waits(&self) -> Waits {
        match self {
            Self::TooLarge { decides, .. } | Self::Unread { decides, .. } => *decides,
            _ => Waits::Nothing,
        }
    }

    pub(crate) fn with_causes(&self) -> String {
        error_chain(self)
    }

    pub(crate) fn log(&self, state: &StateDir, event: &str) {
        log(state, &clock::now(), event, &self.with_causes());
    }

    /// Logs beside a `lockstep.toml` that cannot be used, if the project was active before: then there is a place for it.
    pub(crate) fn log_beside_configuration(&self, event: &str) {
        if let Some(state) = self.state_beside_configuration() {
            self.log(&state, event);
        }
    }

    /// The state directory beside a `lockstep.toml` that cannot be used, if the project was active before.
    pub(crate) fn state_beside_configuration(&self) -> Option<StateDir> {
        use lockstep_config::DiscoverError as F;
        let Self::Configuration(
            F::NotAFile { path, .. } | F::BrokenLink { path, .. } | F::Unreadable { path, .. },
        ) = self
        else {
            return None;
        };
        let named = path.file_name() == Some(FILE_NAME.as_ref());
        path.parent().filter(|_| named).map(StateDir::for_project).filter(StateDir::exists)
    }
}

/// Writes one line to the log. A log that cannot be written is ignored, because the hook is an observer.
pub(crate) fn log(state: &StateDir, now: &Zoned, event: &str, message: &str) {
    let _ = lockstep_store::log::write(state, now, event, message);
}
