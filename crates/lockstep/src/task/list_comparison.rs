//! Compares clients' lists with the store.
//!
//! A list is read from the client's file. If that is missing, the last seen state is compared, and the result
//! says so.

use std::path::PathBuf;

use jiff::Timestamp;
use lockstep_store::task_versions::TaskMirror;
use lockstep_task::client_list::{ListComparison, compare};
use serde::{Deserialize, Serialize};

use super::{CurrentTask, TaskContext, TaskError, files};
use crate::env_vars::client_directory;

/// One list, compared with the store.
#[derive(Debug, Serialize)]
pub(crate) struct ListCheck {
    pub(crate) session: String,
    /// The task's id in that list.
    pub(crate) task_id: String,
    pub(crate) source: ListSource,
    #[serde(flatten)]
    pub(crate) outcome: ListCheckOutcome,
}

/// The source of a list's content.
#[derive(Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ListSource {
    /// The client's own file, now.
    List,
    /// The content that the client's tools returned at this time: the file is missing.
    LastSeen(Timestamp),
}

/// The result of the comparison.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum ListCheckOutcome {
    /// Both could be compared.
    Compared(ListComparison),
    /// Only the subject was ever seen, or the client's file cannot be read.
    Unknown { unknown: String },
}

impl ListCheck {
    /// Returns true if list and store agree. An unknown list does not agree.
    pub(crate) fn agrees(&self) -> bool {
        matches!(&self.outcome, ListCheckOutcome::Compared(ListComparison::Match))
    }
}

#[derive(Deserialize)]
struct ClientListFile {
    #[serde(default)]
    subject: String,
    #[serde(default)]
    description: String,
}

impl TaskContext<'_> {
    /// Compares every list that has the task with the present version.
    pub(crate) fn compare_lists(&self, present: &CurrentTask) -> Result<Vec<ListCheck>, TaskError> {
        let mirrors = self.store.mirrors(present.record.task)?;
        Ok(mirrors.into_iter().map(|mirror| self.compare_list(present, mirror)).collect())
    }

    fn compare_list(&self, present: &CurrentTask, mirror: TaskMirror) -> ListCheck {
        let judge = |subject: &str, description: &str| {
            let known = present.known(Some(&mirror.client_id));
            ListCheckOutcome::Compared(compare(known, subject, description, self.limits()))
        };
        let (source, outcome) = match read_list(&mirror) {
            Some(Ok(list)) => (ListSource::List, judge(&list.subject, &list.description)),
            Some(Err(why)) => (ListSource::List, ListCheckOutcome::Unknown { unknown: why }),
            None => {
                let outcome = match &mirror.description {
                    Some(description) => judge(&mirror.subject, description),
                    None => {
                        ListCheckOutcome::Unknown { unknown: "only its subject was ever seen".to_owned() }
                    }
                };
                (ListSource::LastSeen(mirror.at), outcome)
            }
        };
        ListCheck { session: mirror.session.to_string(), task_id: mirror.client_id, source, outcome }
    }
}

/// Returns the client's file of the task, if there is one.
fn read_list(mirror: &TaskMirror) -> Option<Result<ClientListFile, String>> {
    let path = list_file(mirror)?;
    path.exists().then(|| {
        let bytes = files::read(&path).map_err(|why| format!("{}: {why}", path.display()))?;
        serde_json::from_slice(&bytes).map_err(|error| format!("{}: {error}", path.display()))
    })
}

/// `~/.claude/tasks/SESSION/ID.json`. An id that could lead elsewhere names no file.
fn list_file(mirror: &TaskMirror) -> Option<PathBuf> {
    let base = client_directory()?;
    let plain = !mirror.client_id.is_empty()
        && mirror.client_id.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
    plain.then(|| base.join("tasks").join(mirror.session.as_str()).join(format!("{}.json", mirror.client_id)))
}
