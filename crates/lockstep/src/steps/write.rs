//! Writing a step: under its lock, recorded first, then replaced in one step.

use lockstep_fs::{FsError, write_atomically};
use lockstep_steps::audit::TrailRecord;
use lockstep_steps::gate::AuditMatch;
use lockstep_steps::problem::StepProblem;
use lockstep_steps::step::Step;
use lockstep_steps::step::transition::fail_by_gate;
use lockstep_store::StoreError;
use lockstep_store::audit::Append;
use lockstep_store::project_memory::{Identity, Unwritten};
use lockstep_store::step_lock::StepLock;
use serde_json::json;

use super::audit::{event, with_state};
use super::files::StepFile;
use super::{StepContext, StepsError, StepsResult};

impl StepContext<'_> {
    pub(crate) fn create(&self, file: &StepFile, step: &Step, who: &str) -> StepsResult<()> {
        self.ensure_baseline();
        let dir = file.path.parent().unwrap_or(&self.project.root);
        std::fs::create_dir_all(dir).map_err(|error| StoreError::from(FsError::at("create", dir)(error)))?;
        let _lock = StepLock::take(&self.project.state, &file.path, who, self.now.timestamp())?;
        if file.path.exists() {
            return Err(StepsError::Refused(vec![StepProblem::invalid(
                "step file",
                format!("{} is there already", file.name),
                "Choose another id, or go on with that step",
            )]));
        }
        let record = self.record("STEP_CREATED", Some(file)).with("by", who);
        let record = with_state(record, None, step, &self.rules_digest());
        self.record_and_write(file, None, step, &record)
    }

    /// Changes a step by `change`, and records it with the data that `describe` adds. Returns the new step.
    pub(crate) fn change(
        &self,
        file: &StepFile,
        who: &str,
        event: &str,
        change: impl FnOnce(&Step) -> Result<Step, Vec<StepProblem>>,
        describe: impl FnOnce(TrailRecord) -> TrailRecord,
    ) -> StepsResult<Step> {
        self.ensure_baseline();
        let _lock = StepLock::take(&self.project.state, &file.path, who, self.now.timestamp())?;
        self.settle_locked(file)?;
        let step = self.read(file).map_err(StepsError::Refused)?;
        self.ensure_recorded(file, &step)?;
        let next = change(&step).map_err(StepsError::Refused)?;
        let mut record = describe(self.record(event, Some(file)).with("by", who));
        if step.is_pristine() && !next.is_pristine() {
            record = self.with_start(record, &next);
        }
        let record = with_state(record, Some(&step), &next, &self.rules_of(file, &step));
        self.record_and_write(file, Some(&step), &next, &record)?;
        Ok(next)
    }

    /// Records the state of a step that was started elsewhere. A state that this trail recorded and that was
    /// changed by hand since is refused.
    pub(crate) fn adopt(&self, file: &StepFile, who: &str, why: &str) -> StepsResult<Step> {
        let _lock = StepLock::take(&self.project.state, &file.path, who, self.now.timestamp())?;
        self.settle_locked(file)?;
        let step = self.read(file).map_err(StepsError::Refused)?;
        let refused = |message: String, fix: &str| {
            Err(StepsError::Refused(vec![StepProblem::invalid("step file", message, fix)]))
        };
        match self.recorded(file, &step)? {
            AuditMatch::Missing => {}
            AuditMatch::Unknown { why } => return refused(why, "`lockstep audit verify` names the place"),
            AuditMatch::Matches | AuditMatch::OtherRules => {
                return refused(
                    format!("The state of {} is recorded here already", file.name),
                    "Go on with it",
                );
            }
            AuditMatch::Differs { status } => {
                let message = format!(
                    "The state of {} was changed by hand after it was recorded as {status}",
                    file.name
                );
                return refused(
                    message,
                    "Restore the file as it was, or give the step up with `lockstep step abandon`",
                );
            }
        }
        let problems = step.problems(&self.machine()?);
        if !problems.is_empty() {
            return Err(StepsError::Refused(problems));
        }
        self.ensure_baseline();
        let record = self.record(event::ADOPTED, Some(file)).with("by", who).with("why", why);
        let record = self.with_start(record, &step);
        let record = with_state(record, None, &step, &self.rules_digest());
        self.record_and_write(file, Some(&step), &step, &record)?;
        Ok(step)
    }

    /// The record of a step that begins, with the content of the files it begins with. Only a boundary needs all of it.
    fn with_start(&self, record: TrailRecord, step: &Step) -> TrailRecord {
        if !self.has_repository() {
            return record;
        }
        let tree = if step.boundary().is_unrestricted() { self.head_tree() } else { self.snapshot() };
        match tree {
            Ok(tree) => record.with("start_tree", tree),
            Err(error) => record.with("start_unknown", error.to_string()),
        }
    }

    /// Refuses a change on top of an unrecorded state, because it would make that state look recorded.
    fn ensure_recorded(&self, file: &StepFile, step: &Step) -> StepsResult<()> {
        let problem = match self.recorded(file, step)? {
            AuditMatch::Matches => return Ok(()),
            AuditMatch::Missing if step.is_pristine() => return Ok(()),
            AuditMatch::Missing => {
                format!("The state of {} ({}) is recorded nowhere", file.name, step.status())
            }
            AuditMatch::Differs { status } => {
                format!("The state of {} was changed by hand after it was recorded as {status}", file.name)
            }
            AuditMatch::OtherRules => {
                let message = format!("The rules of {} changed after it began", file.name);
                let fix = format!(
                    "Restore them, or let a person accept them: `lockstep step accept {} --why …`",
                    file.name
                );
                return Err(StepsError::Refused(vec![StepProblem::invalid("step file", message, fix)]));
            }
            AuditMatch::Unknown { why } => {
                let fix = "`lockstep audit verify` names the place; `lockstep audit accept --why …` accepts the trail as it is";
                return Err(StepsError::Refused(vec![StepProblem::invalid("audit trail", why, fix)]));
            }
        };
        let fix = format!(
            "Restore the file as it was (from git, or by undoing the edit), give the step up (`lockstep step abandon {0} --why …`) or, \
             if it was begun elsewhere, take it over: `lockstep step adopt {0} --why …`",
            file.name
        );
        Err(StepsError::Refused(vec![StepProblem::invalid("step file", problem, fix)]))
    }

    /// Gate 2's own write: FAILED, from any state. A state written by hand stays unrecorded.
    pub(crate) fn fail(&self, file: &StepFile, reason: &str, suggestions: &[String]) -> StepsResult<()> {
        let _lock = StepLock::take_over(&self.project.state, &file.path, "gate 2", self.now.timestamp())?;
        self.settle_locked(file)?;
        let step = self.read(file).map_err(StepsError::Refused)?;
        let vouched = self.ensure_recorded(file, &step).is_ok();
        let next = fail_by_gate(&step, reason, suggestions);
        let record = self
            .record(event::FAILED_BY_GATE, Some(file))
            .with("from", step.status())
            .with("reason", reason)
            .with("recovery_suggestions", json!(suggestions));
        let record = if vouched {
            with_state(record, Some(&step), &next, &self.rules_of(file, &step))
        } else {
            record.with("unrecorded", true)
        };
        self.record_and_write(file, Some(&step), &next, &record)
    }

    /// Accepts the present rules for a step that began under others.
    pub(crate) fn accept_rules(&self, file: &StepFile, who: &str, why: &str) -> StepsResult<()> {
        let _lock = StepLock::take(&self.project.state, &file.path, who, self.now.timestamp())?;
        self.settle_locked(file)?;
        let step = self.read(file).map_err(StepsError::Refused)?;
        match self.recorded(file, &step)? {
            AuditMatch::OtherRules => {}
            AuditMatch::Matches => {
                let message = format!("The rules of {} are those it began under", file.name);
                return Err(StepsError::Refused(vec![StepProblem::invalid(
                    "step file",
                    message,
                    "Go on with it",
                )]));
            }
            _ => self.ensure_recorded(file, &step)?,
        }
        let former = self.recorded_state(file).ok().flatten().map(|state| state.rules);
        let record = self
            .record(event::RULES_ACCEPTED, Some(file))
            .with("by", who)
            .with("why", why)
            .with("former_rules", former);
        let record = with_state(record, Some(&step), &step, &self.rules_digest());
        self.record_and_write(file, Some(&step), &step, &record)
    }

    /// Writes a step file whose change was recorded, if the recording process was killed before it could.
    pub(crate) fn settle(&self, file: &StepFile) -> StepsResult<()> {
        if self.unwritten(file)?.is_none() {
            return Ok(());
        }
        // A process that is still at work has the lock.
        let _lock = StepLock::take_over(&self.project.state, &file.path, "recovery", self.now.timestamp())?;
        self.settle_locked(file)
    }

    fn settle_locked(&self, file: &StepFile) -> StepsResult<()> {
        let Some(Unwritten { before, text }) = self.unwritten(file)? else { return Ok(()) };
        let is_missing = !file.path.exists();
        let is_before = self.read(file).map_or(is_missing && before.is_empty(), |step| step.seal() == before);
        if is_before {
            write_atomically(&file.path, text.as_bytes(), 0o644).map_err(StoreError::from)?;
            self.mark_own_write(&file.path);
        }
        self.forget_unwritten(file)
    }

    fn unwritten(&self, file: &StepFile) -> StepsResult<Option<Unwritten>> {
        Ok(match self.project.memory().identity()? {
            Identity::Known(known) => known.unwritten.get(&file.name).cloned(),
            Identity::Fresh | Identity::Lost(_) => None,
        })
    }

    fn forget_unwritten(&self, file: &StepFile) -> StepsResult<()> {
        Ok(self.project.memory().change(|known| drop(known.unwritten.remove(&file.name)))?)
    }

    /// Records a change of a step and then writes its file.
    fn record_and_write(
        &self,
        file: &StepFile,
        before: Option<&Step>,
        step: &Step,
        record: &TrailRecord,
    ) -> StepsResult<()> {
        self.note_known(&file.name)?;
        let unwritten =
            Unwritten { before: before.map(Step::seal).unwrap_or_default(), text: step.to_text() };
        let is_open = !step.is_pristine() && step.status() != "DONE";
        let rules = record.fields.get("rules").and_then(|rules| rules.as_str()).filter(|_| is_open);
        let append =
            Append { record, unwritten: Some((&file.name, unwritten)), rules: Some((&file.name, rules)) };
        self.append(Some(file), append)?;
        write_atomically(&file.path, step.to_text().as_bytes(), 0o644).map_err(StoreError::from)?;
        self.forget_unwritten(file)?;
        self.mark_own_write(&file.path);
        Ok(())
    }
}
