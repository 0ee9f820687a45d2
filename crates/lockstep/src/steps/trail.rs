//! What the audit trail says about steps, and writing to it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use lockstep_index::accounts;
use lockstep_steps::audit::{Entry, Record};
use lockstep_steps::gate::{Judged, Recorded};
use lockstep_steps::step::Step;
use lockstep_store::StoreError;
use lockstep_store::audit::Trail;
use serde_json::{Value, json};

use super::Steps;
use super::files::StepFile;
use crate::terminal::complain;

/// The events of the trail.
pub(crate) mod event {
    pub(crate) const STOP: &str = "SUBAGENT_STOP_VALIDATION";
    pub(crate) const VALIDATED: &str = "TASK_INVOCATION_VALIDATED";
    pub(crate) const REJECTED: &str = "TASK_INVOCATION_REJECTED";
    pub(crate) const COMMIT_VALIDATED: &str = "COMMIT_VALIDATED";
    pub(crate) const COMMIT_REJECTED: &str = "COMMIT_REJECTED";
    pub(crate) const COMMIT_UNSEEN: &str = "COMMIT_NOT_VALIDATED";
    pub(crate) const FAILED_BY_GATE: &str = "STEP_FAILED_BY_GATE";
    pub(crate) const ABANDONED: &str = "STEP_ABANDONED";
    pub(crate) const ADOPTED: &str = "STEP_ADOPTED";
    pub(crate) const BOUNDARY: &str = "BOUNDARY_REFUSED";
}

/// What a whole trail says about one step.
#[derive(Debug, Clone, Default)]
pub(crate) struct Words {
    /// The state that was recorded last: its seal, that before it, its status.
    state: Option<(String, String, String)>,
    /// The seal of the last stop that was judged, and whether it passed.
    stop: Option<(String, bool)>,
    /// Whether it was given up after all else.
    pub(crate) abandoned: bool,
}

impl Words {
    fn take(&mut self, entry: &Entry) {
        match entry.event() {
            event::STOP => {
                self.stop = Some((entry.text("commit_seal").to_owned(), entry.text("result") != "FAIL"))
            }
            event::ABANDONED => self.abandoned = true,
            _ => {}
        }
        if let Some(state) = state_of(entry) {
            self.state = Some(state);
            self.abandoned = false;
        }
    }

    /// Whether the state that was recorded last is one that began and did not end.
    pub(crate) fn is_open(&self) -> bool {
        let status = self.state.as_ref().map(|(_, _, status)| status.as_str());
        !self.abandoned && status.is_some_and(|status| !matches!(status, "TODO" | "DONE"))
    }

    pub(crate) fn recorded(&self, step: &Step) -> Recorded {
        recorded(self.state.as_ref(), step)
    }

    pub(crate) fn stop_passed(&self, step: &Step) -> bool {
        self.stop.as_ref().is_some_and(|(seal, passed)| *passed && *seal == step.commit_seal())
    }
}

/// The state an entry records, where it records one.
fn state_of(entry: &Entry) -> Option<(String, String, String)> {
    let seal = entry.fields().get("seal")?.as_str()?.to_owned();
    Some((seal, entry.text("before").to_owned(), entry.text("status").to_owned()))
}

fn recorded(state: Option<&(String, String, String)>, step: &Step) -> Recorded {
    let seal = step.seal();
    match state {
        None => Recorded::Nothing,
        // A process that died between the record and the file has left the state before.
        Some((known, before, _)) if *known == seal || *before == seal => Recorded::Same,
        Some((_, _, status)) => Recorded::Other { status: status.clone() },
    }
}

impl Steps<'_> {
    /// The trail of a step.
    pub(crate) fn trail_of(&self, file: &StepFile) -> Trail {
        let beside = || file.path.parent().map_or_else(|| self.dir(), Path::to_owned);
        let dir = self.project.config().audit.dir.resolve(&self.project.root).unwrap_or_else(beside);
        Trail::new(dir, &self.project.state)
    }

    /// The trail of what concerns no step.
    pub(crate) fn trail(&self) -> Trail {
        let dir = self.project.config().audit.dir.resolve(&self.project.root).unwrap_or_else(|| self.dir());
        Trail::new(dir, &self.project.state)
    }

    /// Every trail of the project.
    pub(crate) fn trails(&self) -> Vec<Trail> {
        let mut dirs: Vec<PathBuf> = vec![self.trail().dir().to_owned()];
        let gone = self
            .known()
            .into_iter()
            .filter_map(|name| self.located(&self.project.root.join(&name), &name).ok());
        dirs.extend(
            self.all()
                .iter()
                .chain(&gone.collect::<Vec<_>>())
                .map(|file| self.trail_of(file).dir().to_owned()),
        );
        dirs.sort();
        dirs.dedup();
        dirs.into_iter().map(|dir| Trail::new(dir, &self.project.state)).collect()
    }

    /// A record about a step.
    pub(crate) fn record(&self, event: &str, file: Option<&StepFile>) -> Record {
        Record::new(self.now.timestamp(), event, file.map(|file| file.name.as_str()))
    }

    /// The record of what a gate decided.
    pub(crate) fn gate_record(&self, event: &str, file: Option<&StepFile>, judged: &Judged) -> Record {
        let validation = &judged.validation;
        self.record(event, file)
            .with("gate_id", validation.gate_id)
            .with("result", validation.result.as_str())
            .with("errors", json!(validation.errors))
            .with("warnings", json!(validation.warnings))
    }

    /// Writes to the trail of a step, or of none. A failure is told and logged, and nothing stops because of it: the trail
    /// records, it does not judge.
    pub(crate) fn audit(&self, file: Option<&StepFile>, record: &Record) {
        let trail = file.map_or_else(|| self.trail(), |file| self.trail_of(file));
        let noted = file.map_or(Ok(()), |file| self.note_known(&file.name));
        let written = trail.append(record).inspect(|path| self.account_for(path));
        if let Err(error) = written.and(noted) {
            let message = format!("the audit entry {} was not written: {error}", record.event);
            complain(&format!("lockstep: {message}\n"));
            let _ = lockstep_store::log::write(&self.project.state, &self.now, "audit", &message);
        }
    }

    /// What Lockstep writes itself is no change that a sweep has to find and tell the Lead of. Where it cannot be noted, it is found.
    pub(crate) fn account_for(&self, path: &Path) {
        let _ = accounts::note(&self.project.root, &self.project.state, path);
    }

    /// What the trail says about a step's present state.
    pub(crate) fn recorded(&self, file: &StepFile, step: &Step) -> Result<Recorded, StoreError> {
        let of_step =
            |entry: &Entry| (entry.step_file() == Some(&file.name)).then(|| state_of(entry)).flatten();
        // As it stands in a line; most lines about a step record no state.
        let name = serde_json::to_string(&file.name).expect("a text is JSON");
        let state = self.trail_of(file).newest(&[&name, r#""seal":"#], of_step)?;
        Ok(recorded(state.as_ref(), step))
    }

    /// What every trail says about every step, and what keeps trails from being whole.
    pub(crate) fn words(&self) -> Result<(BTreeMap<String, Words>, Vec<String>), StoreError> {
        let mut words: BTreeMap<String, Words> = BTreeMap::new();
        let mut broken = Vec::new();
        for trail in self.trails() {
            match trail.verify()? {
                Ok(entries) => {
                    for entry in &entries {
                        if let Some(name) = entry.step_file() {
                            words.entry(name.to_owned()).or_default().take(entry);
                        }
                    }
                }
                Err(place) => broken.push(self.shown(&trail, &place.to_string())),
            }
        }
        Ok((words, broken))
    }

    /// A place in a trail, by its path from the root.
    pub(crate) fn shown(&self, trail: &Trail, place: &str) -> String {
        match self.relative(trail.dir()) {
            Some(dir) => format!("{dir}/{place}"),
            None => format!("{}/{place}", trail.dir().display()),
        }
    }
}

/// A step's state as an entry records it.
pub(crate) fn with_state(record: Record, before: Option<&Step>, step: &Step) -> Record {
    let before = before.map_or(Value::Null, |before| before.seal().into());
    record
        .with("task_id", step.task_id())
        .with("project_id", step.project_id())
        .with("status", step.status())
        .with("before", before)
        .with("seal", step.seal())
}
