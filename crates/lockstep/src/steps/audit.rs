//! Reads steps from the audit trail, and writes to it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use lockstep_index::reported_writes;
use lockstep_steps::audit::{ACCEPTED, TrailEntry, TrailRecord};
use lockstep_steps::gate::{AuditMatch, GateResult};
use lockstep_steps::step::Step;
use lockstep_store::audit::{Append, AuditTrail};
use lockstep_store::project_memory::Identity;
use lockstep_store::{StoreError, confine};
use serde_json::{Value, json};

use super::StepContext;
use super::files::StepFile;
use crate::terminal::print_error;

pub(crate) mod event {
    pub(crate) const STOP: &str = "SUBAGENT_STOP_VALIDATION";
    pub(crate) const VALIDATED: &str = "TASK_INVOCATION_VALIDATED";
    pub(crate) const REJECTED: &str = "TASK_INVOCATION_REJECTED";
    pub(crate) const UNREADABLE: &str = "TASK_INVOCATION_UNREADABLE";
    pub(crate) const COMMIT_VALIDATED: &str = "COMMIT_VALIDATED";
    pub(crate) const COMMIT_REJECTED: &str = "COMMIT_REJECTED";
    pub(crate) const COMMIT_UNSEEN: &str = "COMMIT_NOT_VALIDATED";
    /// The commits that were there before the first step.
    pub(crate) const BASELINE: &str = "COMMIT_BASELINE";
    pub(crate) const FAILED_BY_GATE: &str = "STEP_FAILED_BY_GATE";
    pub(crate) const ABANDONED: &str = "STEP_ABANDONED";
    pub(crate) const ADOPTED: &str = "STEP_ADOPTED";
    pub(crate) const RULES_ACCEPTED: &str = "STEP_RULES_ACCEPTED";
    pub(crate) const BOUNDARY: &str = "BOUNDARY_REFUSED";
}

/// The records of a valid trail about one step.
#[derive(Debug, Clone, Default)]
pub(crate) struct StepAuditState {
    /// The state that was recorded last.
    state: Option<RecordedState>,
    /// The seal of the last stop that was judged, and whether it passed.
    stop: Option<(String, bool)>,
    /// Set if the step was abandoned last.
    pub(crate) abandoned: bool,
    /// The tree of the files when it began.
    pub(crate) start: Option<String>,
}

impl StepAuditState {
    fn take(&mut self, entry: &TrailEntry) {
        match entry.event() {
            event::STOP => {
                self.stop = Some((entry.text("commit_seal").to_owned(), entry.text("result") != "FAIL"))
            }
            event::ABANDONED => self.abandoned = true,
            _ => {}
        }
        let start = entry.text("start_tree");
        if self.start.is_none() && !start.is_empty() {
            self.start = Some(start.to_owned());
        }
        if let Some(state) = state_of(entry) {
            self.state = Some(state);
            self.abandoned = false;
        }
    }

    /// Returns true if the last recorded state is one that was started and not finished.
    pub(crate) fn is_open(&self) -> bool {
        let status = self.state.as_ref().map(|state| state.status.as_str());
        !self.abandoned && status.is_some_and(|status| !matches!(status, "TODO" | "DONE"))
    }

    pub(crate) fn recorded(&self, step: &Step, rules: &str) -> AuditMatch {
        recorded(self.state.as_ref(), step, || rules.to_owned())
    }

    pub(crate) fn stop_passed(&self, step: &Step) -> bool {
        self.stop.as_ref().is_some_and(|(seal, passed)| *passed && *seal == step.commit_seal())
    }
}

/// A state of a step, as an entry records it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RecordedState {
    seal: String,
    pub(crate) status: String,
    /// The digest of the rules that the step began under; empty in entries of earlier versions.
    pub(crate) rules: String,
}

fn state_of(entry: &TrailEntry) -> Option<RecordedState> {
    let seal = entry.fields().get("seal")?.as_str()?.to_owned();
    Some(RecordedState {
        seal,
        status: entry.text("status").to_owned(),
        rules: entry.text("rules").to_owned(),
    })
}

/// Only the newest recorded state is valid.
fn recorded(state: Option<&RecordedState>, step: &Step, rules: impl FnOnce() -> String) -> AuditMatch {
    let Some(state) = state else { return AuditMatch::Missing };
    if state.seal != step.seal() {
        return AuditMatch::Differs { status: state.status.clone() };
    }
    let is_open = !step.is_pristine() && step.status() != "DONE";
    if is_open && !state.rules.is_empty() && state.rules != rules() {
        return AuditMatch::OtherRules;
    }
    AuditMatch::Matches
}

impl StepContext<'_> {
    pub(crate) fn trail_of(&self, file: &StepFile) -> AuditTrail {
        // A step that never existed has no directory: its name may come from a prompt.
        let existed = file.path.exists() || self.known_steps().contains(&file.name);
        let beside = || match file.path.parent() {
            Some(parent) if existed => parent.to_owned(),
            _ => self.dir(),
        };
        let dir = self.project.config().audit.dir.resolve(&self.project.root).unwrap_or_else(beside);
        AuditTrail::new(dir, &self.project.memory())
    }

    /// Returns the trail of events that concern no step.
    pub(crate) fn trail(&self) -> AuditTrail {
        let dir = self.project.config().audit.dir.resolve(&self.project.root).unwrap_or_else(|| self.dir());
        AuditTrail::new(dir, &self.project.memory())
    }

    /// Every trail of the project, those among them to which the configuration no longer leads.
    pub(crate) fn trails(&self) -> Vec<AuditTrail> {
        let mut dirs: Vec<PathBuf> = vec![self.trail().dir().to_owned()];
        let removed = self
            .known_steps()
            .into_iter()
            .filter_map(|name| self.confine_path(&self.project.root.join(&name), &name).ok());
        dirs.extend(
            self.list_step_files()
                .iter()
                .chain(&removed.collect::<Vec<_>>())
                .map(|file| self.trail_of(file).dir().to_owned()),
        );
        let memory = self.project.memory();
        if let Ok(Identity::Known(known)) = memory.identity() {
            dirs.extend(known.trails.keys().map(|dir| self.project.root.join(dir)));
        }
        dirs.sort();
        dirs.dedup();
        dirs.into_iter().map(|dir| AuditTrail::new(dir, &memory)).collect()
    }

    pub(crate) fn record(&self, event: &str, file: Option<&StepFile>) -> TrailRecord {
        TrailRecord::new(self.now.timestamp(), event, file.map(|file| file.name.as_str()))
    }

    /// Creates the record of a gate's decision.
    pub(crate) fn gate_record(
        &self,
        event: &str,
        file: Option<&StepFile>,
        judged: &GateResult,
    ) -> TrailRecord {
        let validation = &judged.validation;
        self.record(event, file)
            .with("gate_id", validation.gate_id)
            .with("result", validation.result.as_str())
            .with("errors", json!(validation.errors))
            .with("warnings", json!(validation.warnings))
    }

    /// Appends to the trail of a step, or of none. A directory behind a link is refused, unless the
    /// configuration names it: then it was already checked.
    pub(crate) fn append<'a>(
        &self,
        file: Option<&StepFile>,
        append: impl Into<Append<'a>>,
    ) -> Result<(), StoreError> {
        let trail = file.map_or_else(|| self.trail(), |file| self.trail_of(file));
        let is_default = self.project.config().audit.dir.0.is_none();
        if is_default && let Err(refusal) = confine(&self.project.root, trail.dir()) {
            return Err(StoreError::Path { path: trail.dir().to_owned(), refusal });
        }
        trail.append(append, || self.trails()).map(|path| self.mark_own_write(&path))
    }

    /// Writes to the trail of a step, or of none. A failure is reported and logged, and does not stop
    /// anything: the trail records, it does not judge.
    pub(crate) fn append_audit(&self, file: Option<&StepFile>, record: &TrailRecord) {
        let existing = file.filter(|file| file.path.exists());
        let noted = existing.map_or(Ok(()), |file| self.note_known(&file.name));
        if let Err(error) = self.append(file, record).and(noted) {
            let message = format!("the audit entry {} was not written: {error}", record.event);
            print_error(&format!("lockstep: {message}\n"));
            let _ = lockstep_store::log::write(&self.project.state, &self.now, "audit", &message);
        }
    }

    /// Records Lockstep's own write, so that a sweep does not report it. If it cannot be recorded, the sweep
    /// finds it.
    pub(crate) fn mark_own_write(&self, path: &Path) {
        let _ = reported_writes::record(&self.project.root, &self.project.state, path);
    }

    /// Returns the trail's record of a step's present state.
    pub(crate) fn recorded(&self, file: &StepFile, step: &Step) -> Result<AuditMatch, StoreError> {
        match self.recorded_state(file) {
            Ok(state) => Ok(recorded(state.as_ref(), step, || self.rules_digest())),
            Err(RecordedError::Broken(why)) => Ok(AuditMatch::Unknown { why }),
            Err(RecordedError::Store(error)) => Err(error),
        }
    }

    /// The state of a step that was recorded last.
    pub(crate) fn recorded_state(&self, file: &StepFile) -> Result<Option<RecordedState>, RecordedError> {
        let of_step =
            |entry: &TrailEntry| (entry.step_file() == Some(&file.name)).then(|| state_of(entry)).flatten();
        // Encoded as in a line; most lines about a step record no state.
        let name = serde_json::to_string(&file.name).expect("a text is JSON");
        match self.trail_of(file).find_newest(&[&name, r#""seal":"#], of_step) {
            Ok(state) => Ok(state),
            Err(StoreError::Trail { why }) => Err(RecordedError::Broken(why)),
            Err(error) => Err(RecordedError::Store(error)),
        }
    }

    /// Returns the records of every trail about every step, and the problems of the trails.
    pub(crate) fn audit_states(&self) -> Result<(BTreeMap<String, StepAuditState>, Vec<String>), StoreError> {
        self.words_and_trails().map(|(words, read)| (words, read.broken))
    }

    /// Returns the records of every trail about every step, with the trails themselves.
    pub(crate) fn words_and_trails(
        &self,
    ) -> Result<(BTreeMap<String, StepAuditState>, TrailsRead), StoreError> {
        let mut read = self.read_trails()?;
        // A step may have entries in two trails, if `[audit] dir` was changed.
        read.entries.sort_by(|one, other| one.text("timestamp").cmp(other.text("timestamp")));
        let mut words: BTreeMap<String, StepAuditState> = BTreeMap::new();
        for entry in &read.entries {
            if let Some(name) = entry.step_file() {
                words.entry(name.to_owned()).or_default().take(entry);
            }
        }
        Ok((words, read))
    }

    /// Returns the entries of every trail, the problems of the trails, and those that have entries of another
    /// machine.
    pub(crate) fn read_trails(&self) -> Result<TrailsRead, StoreError> {
        let mut read = TrailsRead::default();
        for trail in self.trails() {
            match trail.check()? {
                Ok(checked) => {
                    if checked.unverified > 0 {
                        let dir =
                            self.relative(trail.dir()).unwrap_or_else(|| trail.dir().display().to_string());
                        read.unverified.push(unverified(&dir, checked.unverified));
                    }
                    read.entries.extend(checked.entries);
                }
                Err(place) => read.broken.push(self.shown(&trail, &place.to_string())),
            }
        }
        Ok(read)
    }

    /// Accepts every trail that is not valid or was not recorded on this machine. Returns descriptions of
    /// them.
    pub(crate) fn accept_trails(&self, why: &str) -> Result<Vec<String>, StoreError> {
        let mut accepted = Vec::new();
        for trail in self.trails() {
            let dir = self.relative(trail.dir()).unwrap_or_else(|| trail.dir().display().to_string());
            let problem = match trail.check()? {
                Ok(checked) if checked.unverified == 0 => continue,
                Ok(checked) => unverified(&dir, checked.unverified),
                Err(broken) => self.shown(&trail, &broken.to_string()),
            };
            let record = self.record(ACCEPTED, None).with("why", why).with("accepted", problem.as_str());
            let path = trail.accept(&record, || self.trails())?;
            self.mark_own_write(&path);
            accepted.push(problem);
        }
        Ok(accepted)
    }

    /// A place in a trail, by its path from the root.
    pub(crate) fn shown(&self, trail: &AuditTrail, place: &str) -> String {
        match self.relative(trail.dir()) {
            Some(dir) => format!("{dir}/{place}"),
            None => format!("{}/{place}", trail.dir().display()),
        }
    }
}

#[derive(Debug, Default)]
pub(crate) struct TrailsRead {
    pub(crate) entries: Vec<TrailEntry>,
    pub(crate) broken: Vec<String>,
    /// Notes about entries that were not recorded on this machine.
    pub(crate) unverified: Vec<String>,
}

pub(crate) fn unverified(dir: &str, entries: usize) -> String {
    let entries = if entries == 1 { "1 entry".to_owned() } else { format!("{entries} entries") };
    format!(
        "{dir}: {entries} made elsewhere, not verified on this machine (`lockstep audit accept --why …` accepts them)"
    )
}

/// The reason why the recorded state of a step is unknown.
#[derive(Debug)]
pub(crate) enum RecordedError {
    /// The trail is not valid.
    Broken(String),
    Store(StoreError),
}

/// A step's state as an entry records it, with the digest of the rules that the step began under.
pub(crate) fn with_state(
    record: TrailRecord,
    before: Option<&Step>,
    step: &Step,
    rules: &str,
) -> TrailRecord {
    let before = before.map_or(Value::Null, |before| before.seal().into());
    record
        .with("task_id", step.task_id())
        .with("project_id", step.project_id())
        .with("status", step.status())
        .with("rules", rules)
        .with("before", before)
        .with("seal", step.seal())
}
