//! What Lockstep itself has to say in the cache: the task, work that waits, and where a change reaches far.

use std::cell::OnceCell;

use lockstep_cache::{Given, Provider};
use lockstep_store::{Store, StoreError};

use crate::cascade::presence::{self, Presence};
use crate::clock;
use crate::map::hot::{hotspots, hotspots_stamp};
use crate::project::ActiveProject;
use crate::steps::Steps;
use crate::task;

/// How many waiting alerts are shown whole; the rest is counted.
const SHOWN_ALERTS: usize = 5;

/// Gives the texts of one project, each found out at most once. Whatever a text is made from must be in the stamp.
pub(crate) struct ProjectProvider<'p> {
    project: &'p ActiveProject,
    stamp: OnceCell<Option<Vec<u8>>>,
    store: OnceCell<Result<Option<Store>, String>>,
    task: OnceCell<Given>,
    work: OnceCell<Given>,
    hotspots: OnceCell<Given>,
}

impl<'p> ProjectProvider<'p> {
    pub(crate) fn new(project: &'p ActiveProject) -> Self {
        Self {
            project,
            stamp: OnceCell::new(),
            store: OnceCell::new(),
            task: OnceCell::new(),
            work: OnceCell::new(),
            hotspots: OnceCell::new(),
        }
    }

    /// The same with a store that is open already.
    pub(crate) fn with(project: &'p ActiveProject, store: Option<Store>) -> Self {
        let provider = Self::new(project);
        match store {
            Some(store) => Self { store: OnceCell::from(Ok(Some(store))), ..provider },
            None => provider,
        }
    }

    /// The store, if there is one.
    fn store(&self) -> Result<Option<&Store>, String> {
        self.stamp();
        let open = || Store::open_existing(&self.project.state).map_err(|error| error.to_string());
        self.store.get_or_init(open).as_ref().map(Option::as_ref).map_err(Clone::clone)
    }

    /// The present version, unless it is delivered and so no longer anybody's work.
    fn task(&self) -> Result<Option<String>, String> {
        let Some(store) = self.store()? else { return Ok(None) };
        let present = task::present(store).map_err(|error| error.to_string())?;
        let present = present.filter(|present| !present.record.delivered);
        Ok(present.map(|present| format!("# {}\n{}", present.record.subject, present.document.to_yaml())))
    }

    /// A cascade that is under way, steps that were begun, and alerts that have reached nobody.
    fn work(&self) -> Result<Option<String>, String> {
        let text = |error: StoreError| error.to_string();
        let store = self.store()?;
        let mut texts = Vec::new();
        if let Some(store) = store {
            texts.extend(presence::active(store).map_err(text)?.iter().map(Presence::mention));
        }
        texts.extend(Steps::new(self.project, clock::now()).begun());
        if let Some(store) = store {
            texts.extend(alerts(store).map_err(text)?);
        }
        Ok((!texts.is_empty()).then(|| texts.join("\n\n")))
    }

    fn hotspots(&self) -> Result<Option<String>, String> {
        self.stamp();
        hotspots(self.project)
    }

    /// Before anything is read: what is written later changes it.
    fn stamped(&self) -> Option<Vec<u8>> {
        let mut bytes = Store::stamp(&self.project.state)?.to_vec();
        bytes.extend(hotspots_stamp(self.project)?);
        bytes.extend(Steps::new(self.project, clock::now()).begun_stamp()?);
        Some(bytes)
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
            "HOTSPOTS" => self.hotspots.get_or_init(|| given(self.hotspots())).clone(),
            _ => Given::Nothing,
        }
    }

    fn stamp(&self) -> Option<Vec<u8>> {
        self.stamp.get_or_init(|| self.stamped()).clone()
    }
}

fn given(found: Result<Option<String>, String>) -> Given {
    match found {
        Ok(Some(text)) => Given::Text(text),
        Ok(None) => Given::Nothing,
        Err(why) => Given::Unknown(why),
    }
}
