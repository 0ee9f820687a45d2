//! Writing a step: under its lock, recorded first, then replaced in one step.

use lockstep_steps::audit::Record;
use lockstep_steps::gate::Recorded;
use lockstep_steps::problem::Problem;
use lockstep_steps::step::Step;
use lockstep_steps::step::change::fail_by_gate;
use lockstep_store::step_lock::StepLock;
use lockstep_store::write_atomically;
use serde_json::json;

use super::files::StepFile;
use super::trail::{event, with_state};
use super::{Steps, StepsError};

impl Steps<'_> {
    /// Makes a new step file.
    pub(crate) fn create(&self, file: &StepFile, step: &Step, who: &str) -> Result<(), StepsError> {
        let dir = file.path.parent().unwrap_or(&self.project.root);
        std::fs::create_dir_all(dir).map_err(|error| {
            StepsError::Store(lockstep_store::StoreError::Io {
                what: "create",
                path: dir.to_owned(),
                source: error,
            })
        })?;
        let _lock = StepLock::take(&self.project.state, &file.path, who, self.now.timestamp())?;
        if file.path.exists() {
            return Err(StepsError::Refused(vec![Problem::invalid(
                "step file",
                format!("{} is there already", file.name),
                "Choose another id, or go on with that step",
            )]));
        }
        let record = with_state(self.record("STEP_CREATED", Some(file)).with("by", who), None, step);
        self.put(file, step, &record)
    }

    /// Changes a step: what `change` makes of it, recorded with what `describe` adds. Gives the step after it.
    pub(crate) fn change(
        &self,
        file: &StepFile,
        who: &str,
        event: &str,
        change: impl FnOnce(&Step) -> Result<Step, Vec<Problem>>,
        describe: impl FnOnce(Record) -> Record,
    ) -> Result<Step, StepsError> {
        let _lock = StepLock::take(&self.project.state, &file.path, who, self.now.timestamp())?;
        let step = self.read(file).map_err(StepsError::Refused)?;
        self.check_vouched(file, &step)?;
        let next = change(&step).map_err(StepsError::Refused)?;
        let record = describe(self.record(event, Some(file)).with("by", who));
        self.put(file, &next, &with_state(record, Some(&step), &next))?;
        Ok(next)
    }

    /// Records the state of a step that was begun elsewhere. What this trail recorded and what was changed by hand since stay apart.
    pub(crate) fn adopt(&self, file: &StepFile, who: &str, why: &str) -> Result<Step, StepsError> {
        let _lock = StepLock::take(&self.project.state, &file.path, who, self.now.timestamp())?;
        let step = self.read(file).map_err(StepsError::Refused)?;
        let refused = |message: String, fix: &str| {
            Err(StepsError::Refused(vec![Problem::invalid("step file", message, fix)]))
        };
        match self.recorded(file, &step)? {
            Recorded::Nothing => {}
            Recorded::Same => {
                return refused(
                    format!("The state of {} is recorded here already", file.name),
                    "Go on with it",
                );
            }
            Recorded::Other { status } => {
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
        let record = self.record(event::ADOPTED, Some(file)).with("by", who).with("why", why);
        self.put(file, &step, &with_state(record, None, &step))?;
        Ok(step)
    }

    /// A change on top of a state that somebody else wrote would make that state look recorded.
    fn check_vouched(&self, file: &StepFile, step: &Step) -> Result<(), StepsError> {
        let problem = match self.recorded(file, step)? {
            Recorded::Same => return Ok(()),
            Recorded::Nothing if step.is_pristine() => return Ok(()),
            Recorded::Nothing => {
                format!("The state of {} ({}) is recorded nowhere", file.name, step.status())
            }
            Recorded::Other { status } => {
                format!("The state of {} was changed by hand after it was recorded as {status}", file.name)
            }
        };
        let fix = format!(
            "Restore the file as it was (from git, or by undoing the edit), give the step up (`lockstep step abandon {0} --why …`) or, \
             if it was begun elsewhere, take it over: `lockstep step adopt {0} --why …`",
            file.name
        );
        Err(StepsError::Refused(vec![Problem::invalid("step file", problem, fix)]))
    }

    /// Gate 2's own write: FAILED, from whatever state. What it finds written by hand stays unrecorded.
    pub(crate) fn fail(
        &self,
        file: &StepFile,
        reason: &str,
        suggestions: &[String],
    ) -> Result<(), StepsError> {
        let _lock = StepLock::take_over(&self.project.state, &file.path, "gate 2", self.now.timestamp())?;
        let step = self.read(file).map_err(StepsError::Refused)?;
        let vouched = self.check_vouched(file, &step).is_ok();
        let next = fail_by_gate(&step, reason, suggestions);
        let record = self
            .record(event::FAILED_BY_GATE, Some(file))
            .with("from", step.status())
            .with("reason", reason)
            .with("recovery_suggestions", json!(suggestions));
        let record =
            if vouched { with_state(record, Some(&step), &next) } else { record.with("unrecorded", true) };
        self.put(file, &next, &record)
    }

    fn put(&self, file: &StepFile, step: &Step, record: &Record) -> Result<(), StepsError> {
        self.note_known(&file.name)?;
        let trail = self.trail_of(file).append(record)?;
        self.account_for(&trail);
        write_atomically(&file.path, step.to_text().as_bytes(), 0o644)?;
        self.account_for(&file.path);
        Ok(())
    }
}
