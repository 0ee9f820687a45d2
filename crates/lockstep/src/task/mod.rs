//! The project's task: its versions in the store, read and written by the rules of `lockstep-task`.
//!
//! [`TaskContext`] is the open store with the rules in effect; [`write`] executes a judged write, [`writer`]
//! identifies the author. The command line, the hooks and the MCP server use this module.

pub(crate) mod callers;
pub(crate) mod files;
pub(crate) mod list_comparison;
pub(crate) mod operations;
pub(crate) mod output;
pub(crate) mod phases;
pub(crate) mod readers;
mod scratch;
pub(crate) mod update_request;
pub(crate) mod view;
pub(crate) mod write;
pub(crate) mod writer;

use std::path::Path;

use jiff::Timestamp;
use lockstep_store::task_versions::TaskVersion;
use lockstep_store::{Store, StoreError};
use lockstep_task::access::AccessTable;
use lockstep_task::client_list::KnownTask;
use lockstep_task::document::{DocumentLimits, TaskDocument};
use lockstep_task::pointer::PointerResolver;
use lockstep_task::problem::DocumentProblem;
use lockstep_task::version::compare_and_swap::CurrentVersion;
use lockstep_task::version::subject::TaskSubject;
use lockstep_task::write_check::WriteRules;

use self::files::ProjectFiles;
use crate::project::ActiveProject;

pub(crate) struct TaskContext<'p> {
    pub(crate) project: &'p ActiveProject,
    pub(crate) store: Store,
    pub(crate) access: AccessTable,
    pub(crate) files: ProjectFiles,
    pub(crate) now: Timestamp,
}

/// The present version.
#[derive(Debug, Clone)]
pub(crate) struct CurrentTask {
    pub(crate) record: TaskVersion,
    pub(crate) document: TaskDocument,
}

/// The reason why the task could not be read or written.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TaskError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("PT-v{version} in the store cannot be read: {problem}")]
    Stored { version: u64, problem: DocumentProblem },
    #[error("the scratch in the store cannot be read: {0}")]
    Scratch(DocumentProblem),
}

impl<'p> TaskContext<'p> {
    /// Opens the store, made when needed.
    pub(crate) fn open(project: &'p ActiveProject, now: Timestamp) -> Result<Self, StoreError> {
        Ok(Self::with_store(project, Store::open(&project.state)?, now))
    }

    /// Opens the store if there is one.
    pub(crate) fn open_existing(
        project: &'p ActiveProject,
        now: Timestamp,
    ) -> Result<Option<Self>, StoreError> {
        Ok(Store::open_existing(&project.state)?.map(|store| Self::with_store(project, store, now)))
    }

    fn with_store(project: &'p ActiveProject, store: Store, now: Timestamp) -> Self {
        Self { access: access(project), files: ProjectFiles::of(&project.root), project, store, now }
    }

    /// The size limits of a version.
    pub(crate) fn limits(&self) -> DocumentLimits {
        limits(self.project)
    }

    /// The present version, delivered or not.
    pub(crate) fn present(&self) -> Result<Option<CurrentTask>, TaskError> {
        present(&self.store)
    }

    pub(crate) fn version(&self, task: u64, number: u64) -> Result<Option<CurrentTask>, TaskError> {
        self.store.task_version(task, number)?.map(read).transpose()
    }

    /// Runs `judge` with the rules in effect.
    pub(crate) fn with_rules<T>(&self, judge: impl FnOnce(WriteRules<'_>) -> T) -> T {
        with_rules(&self.files, &self.access, self.limits(), judge)
    }
}

/// The present version in a store, delivered or not.
pub(crate) fn present(store: &Store) -> Result<Option<CurrentTask>, TaskError> {
    store.current_task()?.map(read).transpose()
}

/// Runs `judge` with these rules, and pointers looked up in `files`.
pub(crate) fn with_rules<T>(
    files: &ProjectFiles,
    access: &AccessTable,
    limits: DocumentLimits,
    judge: impl FnOnce(WriteRules<'_>) -> T,
) -> T {
    let exists = |path: &Path| files.exists(path);
    judge(WriteRules { access, limits, lookup: &PointerResolver::new(&exists) })
}

/// The rules of the project: the defaults, and its own in place of them.
pub(crate) fn access(project: &ActiveProject) -> AccessTable {
    let task = &project.config().task;
    let own = AccessTable { agents: task.agents.0.clone(), skills: task.skills.0.clone() };
    AccessTable::default().with_overrides(own)
}

/// The size limits of a version.
pub(crate) fn limits(project: &ActiveProject) -> DocumentLimits {
    DocumentLimits { max_bytes: project.config().task.max_bytes.0 }
}

/// A stored version is read whatever the limit is today.
fn read(record: TaskVersion) -> Result<CurrentTask, TaskError> {
    let limits = DocumentLimits { max_bytes: record.document.len().max(1) };
    match TaskDocument::parse(record.document.as_bytes(), limits) {
        Ok(document) => Ok(CurrentTask { record, document }),
        Err(problem) => Err(TaskError::Stored { version: record.version, problem }),
    }
}

impl CurrentTask {
    pub(crate) fn as_current_version(&self) -> CurrentVersion<'_> {
        let TaskVersion { version, delivered, .. } = self.record;
        CurrentVersion { version, delivered, document: &self.document }
    }

    /// The version, as a client's call is judged.
    pub(crate) fn known<'a>(&'a self, task_id: Option<&'a str>) -> KnownTask<'a> {
        KnownTask { task_id, subject: &self.record.subject, held: self.as_current_version() }
    }

    pub(crate) fn title(&self) -> String {
        TaskSubject::parse(&self.record.subject).map(|subject| subject.title).unwrap_or_default()
    }
}

pub(crate) fn subject(version: u64, title: &str, delivered: bool) -> String {
    TaskSubject { version: Some(version), delivered, title: title.to_owned() }.to_string()
}
