//! Why a command did not do what was asked: one type, printed and turned into an exit code in one place.

use std::error::Error;
use std::fmt::Write as _;

use lockstep_cache::CacheError;
use lockstep_config::{Fault, Problem};
use lockstep_index::IndexError;
use lockstep_store::StoreError;

use crate::cache::CacheFault;
use crate::exit_code;
use crate::steps::StepsError;
use crate::task::TaskError;

/// Whose turn it is to do something about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The arguments.
    Usage,
    /// `lockstep.toml`, or a client's settings.
    Configuration,
    /// A file or the store.
    Store,
}

/// What went wrong, why, and how to mend it.
#[derive(Debug)]
pub(crate) struct CommandError {
    kind: Kind,
    message: String,
    source: Option<Box<dyn Error + Send + Sync>>,
    hints: Vec<String>,
}

impl CommandError {
    pub(crate) fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), source: None, hints: Vec::new() }
    }

    /// Adds a way out.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// All problems of a configuration file at once.
    pub(crate) fn configuration(path: &std::path::Path, problems: &[Problem]) -> Self {
        let count = match problems.len() {
            1 => "1 problem".to_owned(),
            n => format!("{n} problems"),
        };
        let details = lockstep_config::problem::render(path, problems);
        let message = format!("{} has {count}\n{}", path.display(), details.trim_end());
        Self::new(Kind::Configuration, message)
    }

    /// What went wrong, without why and what to do.
    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    pub(crate) fn exit_code(&self) -> u8 {
        match self.kind {
            Kind::Usage => exit_code::USAGE,
            Kind::Configuration => exit_code::CONFIGURATION,
            Kind::Store => exit_code::STORE,
        }
    }

    /// `error: what`, the causes, the hints.
    pub(crate) fn render(&self) -> String {
        let mut out = format!("error: {}\n", self.message);
        let mut cause: Option<&dyn Error> = self.source.as_deref().map(|source| source as &dyn Error);
        while let Some(error) = cause {
            let _ = writeln!(out, "  because: {error}");
            cause = error.source();
        }
        for hint in &self.hints {
            let _ = writeln!(out, "hint: {hint}");
        }
        out
    }

    /// An error of a library: its message is ours, its cause stays the cause.
    pub(crate) fn from_error(kind: Kind, error: impl Error + Send + Sync + 'static) -> Self {
        let message = error.to_string();
        let source = error.source().map(|cause| Box::from(chain(cause)));
        Self { kind, message, source, hints: Vec::new() }
    }
}

/// A cause and its causes as one text, since a borrowed cause cannot be kept.
fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let _ = write!(text, ": {error}");
        cause = error.source();
    }
    text
}

impl From<StoreError> for CommandError {
    fn from(error: StoreError) -> Self {
        let damage = error.is_damage();
        let error = Self::from_error(Kind::Store, error);
        if damage {
            error.hint("delete the file and those beside it; the history is lost, nothing else")
        } else {
            error
        }
    }
}

impl From<TaskError> for CommandError {
    fn from(error: TaskError) -> Self {
        match error {
            TaskError::Store(error) => error.into(),
            stored @ (TaskError::Stored { .. } | TaskError::Scratch(_)) => {
                Self::from_error(Kind::Store, stored)
                    .hint("a version is checked before, so the store was changed by something else")
            }
        }
    }
}

impl From<StepsError> for CommandError {
    fn from(error: StepsError) -> Self {
        match error {
            StepsError::Store(error) => error.into(),
            table @ StepsError::Table { .. } => Self::from_error(Kind::Configuration, table)
                .hint("mend the file, or remove it to have the built-in one"),
            other => Self::from_error(Kind::Store, other),
        }
    }
}

impl From<IndexError> for CommandError {
    fn from(error: IndexError) -> Self {
        Self::from_error(Kind::Store, error)
    }
}

impl From<CacheError> for CommandError {
    fn from(error: CacheError) -> Self {
        Self::from_error(Kind::Store, error)
    }
}

impl From<CacheFault> for CommandError {
    fn from(fault: CacheFault) -> Self {
        match fault {
            CacheFault::Cache(error) => error.into(),
            CacheFault::Settings(_) => Self::from_error(Kind::Configuration, fault),
            other => Self::from_error(Kind::Store, other),
        }
    }
}

impl From<Fault> for CommandError {
    fn from(error: Fault) -> Self {
        Self::from_error(Kind::Configuration, error)
    }
}
