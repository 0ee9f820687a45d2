//! Lockstep's own content of the cache: the task, pending work and hotspots.

use std::cell::OnceCell;

use lockstep_cache::{ContentProvider, ProvidedText};
use lockstep_store::{Store, StoreError};

use crate::cascade::active::{self, ActiveCascade};
use crate::clock;
use crate::map::hotspots::{hotspots, hotspots_stamp};
use crate::project::ActiveProject;
use crate::steps::StepContext;
use crate::task;

/// The number of waiting alerts shown in full; the rest is counted.
const SHOWN_ALERTS: usize = 5;

/// Provides the texts of one project, each computed at most once. Every input of a text must be part of the
/// stamp.
pub(crate) struct ProjectProvider<'p> {
    project: &'p ActiveProject,
    stamp: OnceCell<Option<Vec<u8>>>,
    store: OnceCell<Result<Option<Store>, String>>,
    task: OnceCell<ProvidedText>,
    work: OnceCell<ProvidedText>,
    hotspots: OnceCell<ProvidedText>,
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
    pub(crate) fn with_store(project: &'p ActiveProject, store: Option<Store>) -> Self {
        let provider = Self::new(project);
        match store {
            Some(store) => Self { store: OnceCell::from(Ok(Some(store))), ..provider },
            None => provider,
        }
    }

    fn store(&self) -> Result<Option<&Store>, String> {
        self.stamp();
        let open = || Store::open_existing(&self.project.state).map_err(|error| error.to_string());
        self.store.get_or_init(open).as_ref().map(Option::as_ref).map_err(Clone::clone)
    }

    /// Returns the current version, unless it is delivered.
    fn task(&self) -> Result<Option<String>, String> {
        let Some(store) = self.store()? else { return Ok(None) };
        let present = task::present(store).map_err(|error| error.to_string())?;
        let present = present.filter(|present| !present.record.delivered);
        Ok(present.map(|present| format!("# {}\n{}", present.record.subject, present.document.to_yaml())))
    }

    /// Returns the active cascade, open steps and undelivered alerts.
    fn work(&self) -> Result<Option<String>, String> {
        let text = |error: StoreError| error.to_string();
        let store = self.store()?;
        let mut texts = Vec::new();
        if let Some(store) = store {
            texts.extend(active::load(store).map_err(text)?.iter().map(ActiveCascade::session_notice));
        }
        texts.extend(StepContext::new(self.project, clock::now()).describe_open_steps());
        if let Some(store) = store {
            texts.extend(alerts(store).map_err(text)?);
        }
        Ok((!texts.is_empty()).then(|| texts.join("\n\n")))
    }

    fn hotspots(&self) -> Result<Option<String>, String> {
        self.stamp();
        hotspots(self.project)
    }

    /// Returns the stamp, taken before anything is read, so that later writes change it.
    fn compute_stamp(&self) -> Option<Vec<u8>> {
        let mut bytes = Store::change_stamp(&self.project.state)?.to_vec();
        bytes.extend(hotspots_stamp(self.project)?);
        bytes.extend(StepContext::new(self.project, clock::now()).open_steps_stamp()?);
        Some(bytes)
    }
}

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

impl ContentProvider for ProjectProvider<'_> {
    fn given(&self, section: &str) -> ProvidedText {
        match section {
            "TASK" => self.task.get_or_init(|| given(self.task())).clone(),
            "ACTIVE_WORK" => self.work.get_or_init(|| given(self.work())).clone(),
            "HOTSPOTS" => self.hotspots.get_or_init(|| given(self.hotspots())).clone(),
            _ => ProvidedText::Nothing,
        }
    }

    fn stamp(&self) -> Option<Vec<u8>> {
        self.stamp.get_or_init(|| self.compute_stamp()).clone()
    }
}

fn given(found: Result<Option<String>, String>) -> ProvidedText {
    match found {
        Ok(Some(text)) => ProvidedText::Text(text),
        Ok(None) => ProvidedText::Nothing,
        Err(why) => ProvidedText::Unknown(why),
    }
}
