//! What Lockstep itself has to say in the cache: the task, and work that waits.

use std::cell::OnceCell;

use lockstep_cache::{Given, Provider};
use lockstep_store::{Store, StoreError};

use crate::cascade::presence::{self, Presence};
use crate::clock;
use crate::project::ActiveProject;
use crate::task::{TaskError, Tasks};

/// How many waiting alerts are shown whole; the rest is counted.
const SHOWN_ALERTS: usize = 5;

/// Gives the texts of one project, each found out at most once.
pub(crate) struct ProjectProvider<'p> {
    project: &'p ActiveProject,
    task: OnceCell<Given>,
    work: OnceCell<Given>,
}

impl<'p> ProjectProvider<'p> {
    pub(crate) fn new(project: &'p ActiveProject) -> Self {
        Self { project, task: OnceCell::new(), work: OnceCell::new() }
    }

    /// The present version, unless it is delivered and so no longer anybody's work.
    fn task(&self) -> Result<Option<String>, TaskError> {
        let Some(tasks) = Tasks::existing(self.project, clock::now().timestamp())? else { return Ok(None) };
        let present = tasks.present()?.filter(|present| !present.record.delivered);
        Ok(present.map(|present| format!("# {}\n{}", present.record.subject, present.document.to_yaml())))
    }

    /// A cascade that is under way, and alerts that have reached nobody.
    fn work(&self) -> Result<Option<String>, StoreError> {
        let Some(store) = Store::open_existing(&self.project.state)? else { return Ok(None) };
        let cascades = presence::active(&store)?.iter().map(Presence::mention).collect::<Vec<_>>();
        let texts: Vec<String> = cascades.into_iter().chain(alerts(&store)?).collect();
        Ok((!texts.is_empty()).then(|| texts.join("\n\n")))
    }
}

/// Alerts that have reached nobody.
fn alerts(store: &Store) -> Result<Option<String>, StoreError> {
    let waiting = store.waiting_alerts()?;
    if waiting.is_empty() {
        return Ok(None);
    }
    let mut text = format!("Alerts that have not reached a Lead: {}, the newest first.", waiting.len());
    for (_, alert) in waiting.iter().take(SHOWN_ALERTS) {
        text.push_str("\n\n");
        text.push_str(&alert.render(0));
    }
    if waiting.len() > SHOWN_ALERTS {
        text.push_str(&format!(
            "\n\nAnd {} more; `lockstep changes` lists every change.",
            waiting.len() - SHOWN_ALERTS
        ));
    }
    Ok(Some(text))
}

impl Provider for ProjectProvider<'_> {
    fn given(&self, section: &str) -> Given {
        match section {
            "TASK" => self.task.get_or_init(|| given(self.task())).clone(),
            "ACTIVE_WORK" => self.work.get_or_init(|| given(self.work())).clone(),
            _ => Given::Nothing,
        }
    }
}

fn given(found: Result<Option<String>, impl ToString>) -> Given {
    match found {
        Ok(Some(text)) => Given::Text(text),
        Ok(None) => Given::Nothing,
        Err(error) => Given::Unknown(error.to_string()),
    }
}
