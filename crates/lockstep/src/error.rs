//! Errors of commands: one type, printed and converted to an exit code in one place.

use std::error::Error;
use std::fmt::Write as _;
use std::io;

use lockstep_cache::CacheError;
use lockstep_config::{ConfigProblem, DiscoverError};
use lockstep_fs::FsError;
use lockstep_index::IndexError;
use lockstep_store::StoreError;
use lockstep_text::{error_chain, single_line};
use serde::Serialize;

use crate::cache::SessionCacheError;
use crate::cli::CommandStatus;
use crate::exit_code;
use crate::steps::StepsError;
use crate::task::TaskError;

/// The party that can fix the error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CommandErrorKind {
    Usage,
    /// `lockstep.toml`, or a client's settings.
    Configuration,
    Store,
}

pub(crate) type CommandResult<T = CommandStatus> = Result<T, CommandError>;

/// An error: what failed, why, and the fix. Names from outside begin no line of their own in it.
#[derive(Debug)]
pub(crate) struct CommandError {
    kind: CommandErrorKind,
    message: String,
    /// More lines of the message.
    details: String,
    causes: Vec<String>,
    hints: Vec<String>,
}

impl CommandError {
    pub(crate) fn new(kind: CommandErrorKind, message: impl Into<String>) -> Self {
        let message = single_line(&message.into());
        Self { kind, message, details: String::new(), causes: Vec::new(), hints: Vec::new() }
    }

    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new(CommandErrorKind::Usage, message)
    }

    pub(crate) fn config(message: impl Into<String>) -> Self {
        Self::new(CommandErrorKind::Configuration, message)
    }

    pub(crate) fn store(message: impl Into<String>) -> Self {
        Self::new(CommandErrorKind::Store, message)
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(single_line(&hint.into()));
        self
    }

    /// Adds the causes, each on a line of its own.
    pub(crate) fn because(mut self, causes: &[String]) -> Self {
        self.causes.extend(causes.iter().map(|cause| single_line(cause)));
        self
    }

    /// All problems of a configuration file at once.
    pub(crate) fn configuration(path: &std::path::Path, problems: &[ConfigProblem]) -> Self {
        let count = match problems.len() {
            1 => "1 problem".to_owned(),
            n => format!("{n} problems"),
        };
        let details = lockstep_config::diagnostic::render(path, problems);
        let mut error = Self::config(format!("{} has {count}", path.display()));
        error.details = format!("{}\n", details.trim_end());
        error
    }

    /// The error of a command that needs files, in a repository without a working tree.
    pub(crate) fn bare_repository(root: &std::path::Path) -> Self {
        let message = format!("{} is a bare git repository: it has no files", root.display());
        Self::usage(message).hint("run the command in a clone, or in a worktree (`git worktree add DIR`)")
    }

    /// Returns the failure without its reason and fix.
    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    pub(crate) fn exit_code(&self) -> u8 {
        match self.kind {
            CommandErrorKind::Usage => exit_code::USAGE,
            CommandErrorKind::Configuration => exit_code::CONFIGURATION,
            CommandErrorKind::Store => exit_code::STORE,
        }
    }

    /// Renders `error: what`, the causes and the hints.
    pub(crate) fn render(&self) -> String {
        let mut out = format!("error: {}\n{}", self.message, self.details);
        for cause in &self.causes {
            let _ = writeln!(out, "  because: {cause}");
        }
        for hint in &self.hints {
            let _ = writeln!(out, "hint: {hint}");
        }
        out
    }

    /// Returns the error for programs: `{"error": {"message", "details", "because", "hints", "exit_code"}}`.
    pub(crate) fn data(&self) -> impl Serialize + use<> {
        serde_json::json!({"error": {
            "message": self.message,
            "details": self.details.lines().collect::<Vec<_>>(),
            "because": self.causes,
            "hints": self.hints,
            "exit_code": self.exit_code(),
        }})
    }

    /// An error of a library: its message is ours, its cause stays the cause.
    pub(crate) fn from_error(kind: CommandErrorKind, error: impl Error + Send + Sync + 'static) -> Self {
        let causes = error.source().map(|cause| single_line(&error_chain(cause))).into_iter().collect();
        let hints = hint_of_system(&error).map(str::to_owned).into_iter().collect();
        Self { causes, hints, ..Self::new(kind, error.to_string()) }
    }
}

/// Returns advice for answers of the system that users can change.
fn hint_of_system(error: &(dyn Error + 'static)) -> Option<&'static str> {
    let mut chain = std::iter::successors(Some(error), |error| Error::source(*error));
    match chain.find_map(|error| error.downcast_ref::<io::Error>())?.kind() {
        io::ErrorKind::PermissionDenied => {
            Some("give your user access to it, or run the command as its owner")
        }
        io::ErrorKind::ReadOnlyFilesystem => {
            Some("the file system is read-only; work in a copy that can be written")
        }
        io::ErrorKind::StorageFull => Some("free space on the disk and run the command again"),
        _ => None,
    }
}

impl From<FsError> for CommandError {
    fn from(error: FsError) -> Self {
        Self::from_error(CommandErrorKind::Store, error)
    }
}

impl From<StoreError> for CommandError {
    fn from(error: StoreError) -> Self {
        let damage = error.is_corruption();
        let error = Self::from_error(CommandErrorKind::Store, error);
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
                Self::from_error(CommandErrorKind::Store, stored)
                    .hint("a version is checked before, so the store was changed by something else")
            }
        }
    }
}

impl From<StepsError> for CommandError {
    fn from(error: StepsError) -> Self {
        match error {
            StepsError::Store(error) => error.into(),
            table @ StepsError::Table { .. } => Self::from_error(CommandErrorKind::Configuration, table)
                .hint("mend the file, or remove it to have the built-in one"),
            missing @ StepsError::NoFile(_) => Self::from_error(CommandErrorKind::Store, missing)
                .hint("`lockstep step list` shows the steps; `lockstep step new` makes one"),
            other => Self::from_error(CommandErrorKind::Store, other),
        }
    }
}

impl From<IndexError> for CommandError {
    fn from(error: IndexError) -> Self {
        Self::from_error(CommandErrorKind::Store, error)
    }
}

impl From<CacheError> for CommandError {
    fn from(error: CacheError) -> Self {
        Self::from_error(CommandErrorKind::Store, error)
    }
}

impl From<SessionCacheError> for CommandError {
    fn from(fault: SessionCacheError) -> Self {
        match fault {
            SessionCacheError::Cache(error) => error.into(),
            SessionCacheError::Settings(problems) => {
                let mut error = Self::config("[cache] in lockstep.toml is wrong:");
                error.details = problems
                    .iter()
                    .map(|problem| format!("  {}\n", single_line(&problem.to_string())))
                    .collect();
                error
            }
            other => Self::from_error(CommandErrorKind::Store, other),
        }
    }
}

impl From<DiscoverError> for CommandError {
    fn from(error: DiscoverError) -> Self {
        Self::from_error(CommandErrorKind::Configuration, error)
    }
}
