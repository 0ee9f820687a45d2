//! The transitions of a cascade and the effects that are due after them.

mod agent_finished;
mod convergence;
mod start;

pub use start::StartOptions;

use crate::event::{CascadeEffect, CascadeEvent, CheckResult};
use crate::state::{
    Assignment, Cascade, CascadeEnd, CascadeStatus, FileOutcome, Group, GroupStage, Iteration,
};

/// The reason why an event does not fit the state. The state is unchanged then.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TransitionError {
    #[error("the cascade has ended ({status}): {why}")]
    Ended { status: &'static str, why: String },
    /// The present iteration has no such group.
    #[error("there is no group {group:?} in this iteration; the groups are {}", known.join(", "))]
    NoGroup { group: String, known: Vec<String> },
    /// The group is not in the stage that the event requires.
    #[error("group {group} {why}")]
    Stage {
        group: String,
        /// The actual stage of the group.
        why: &'static str,
    },
    /// The file is not an open dependent.
    #[error("{file:?} is not an open dependent of this cascade; those are {}", list(open))]
    NoDependent { file: String, open: Vec<String> },
    /// The event needs a reason, and it is empty.
    #[error("a reason is needed for the report")]
    NoReason,
    #[error("no convergence check is due: groups are still at work")]
    NoCheck,
}

fn list(names: &[String]) -> String {
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

impl Cascade {
    /// Applies an event. Returns the new state and the effects that are due.
    pub fn apply(mut self, event: CascadeEvent) -> Result<(Self, Vec<CascadeEffect>), TransitionError> {
        if let Some(end) = &self.end {
            return Err(TransitionError::Ended { status: end.status.as_str(), why: end.why.clone() });
        }
        match event {
            CascadeEvent::Dispatched { group, before } => self.on_dispatched(&group, before)?,
            CascadeEvent::Interrupted { seen } => self.on_interrupted(&seen),
            CascadeEvent::AgentFinished { group, claim, seen } => {
                self.on_agent_finished(&group, &claim, &seen)?
            }
            CascadeEvent::Dismissed { file, why } => self.on_dismissed(&file, &why)?,
            CascadeEvent::CheckCompleted(verdict) => self.on_check_completed(verdict)?,
            CascadeEvent::Aborted { why } => {
                if why.trim().is_empty() {
                    return Err(TransitionError::NoReason);
                }
                self.finish(CascadeStatus::Partial, format!("aborted: {}", why.trim()));
            }
        }
        self.settle();
        let effects = self.pending_effects();
        Ok((self, effects))
    }

    /// Returns the effects that are due in the present state. The result depends on the state only.
    pub fn pending_effects(&self) -> Vec<CascadeEffect> {
        if !self.is_active() {
            return vec![CascadeEffect::Report];
        }
        if self.checking.is_some() {
            return vec![CascadeEffect::Check];
        }
        self.waiting().map(|group| CascadeEffect::Dispatch { group: group.id.clone() }).collect()
    }

    /// Requests the check when the last group of an iteration is settled. If all groups failed, the cascade
    /// ends.
    fn settle(&mut self) {
        if !self.is_active() || self.checking.is_some() {
            return;
        }
        let Some(iteration) = self.iterations.last() else { return };
        if iteration.groups.iter().any(|group| group.stage != GroupStage::Settled) {
            return;
        }
        if iteration.groups.iter().all(Group::has_failed) {
            let number = iteration.number;
            let errors: Vec<String> =
                iteration.groups.iter().flat_map(|group| group.errors.clone()).collect();
            self.warnings.extend(errors);
            self.finish(CascadeStatus::Partial, format!("all implementers of iteration {number} failed"));
            return;
        }
        self.checking = Some(0);
    }

    fn finish(&mut self, status: CascadeStatus, why: impl Into<String>) {
        self.checking = None;
        self.end = Some(CascadeEnd { status, why: why.into() });
    }

    fn warn(&mut self, warning: String) {
        if !self.warnings.contains(&warning) {
            self.warnings.push(warning);
        }
    }

    fn current(&mut self) -> &mut Iteration {
        self.iterations.last_mut().expect("an active cascade has an iteration")
    }

    fn group_at(&self, id: &str, stage: GroupStage) -> Result<usize, TransitionError> {
        let groups = &self.iteration().expect("an active cascade has an iteration").groups;
        let Some(at) = groups.iter().position(|group| group.id == id) else {
            let known = groups.iter().map(|group| group.id.clone()).collect();
            return Err(TransitionError::NoGroup { group: id.to_owned(), known });
        };
        let why = match groups[at].stage {
            found if found == stage => return Ok(at),
            GroupStage::Waiting => "was not handed out yet: `lockstep cascade next` does that",
            GroupStage::Dispatched => "is in an agent's hands already",
            GroupStage::Settled => "is settled",
        };
        Err(TransitionError::Stage { group: id.to_owned(), why })
    }

    fn on_dismissed(&mut self, file: &str, why: &str) -> Result<(), TransitionError> {
        if why.trim().is_empty() {
            return Err(TransitionError::NoReason);
        }
        let open = |file: &Assignment| matches!(file.outcome, None | Some(FileOutcome::Skipped { .. }));
        let known: Vec<String> =
            self.assignments().filter(|(_, _, a)| open(a)).map(|(_, _, a)| a.path.clone()).collect();
        if !known.iter().any(|path| path == file) {
            return Err(TransitionError::NoDependent { file: file.to_owned(), open: known });
        }
        for group in self.iterations.iter_mut().flat_map(|iteration| &mut iteration.groups) {
            for assignment in group.files.iter_mut().filter(|a| a.path == file && open(a)) {
                assignment.outcome = Some(FileOutcome::Dismissed);
            }
            if group.files.iter().all(|file| file.outcome.is_some()) {
                group.stage = GroupStage::Settled;
            }
        }
        self.dismissed.insert(file.to_owned(), why.trim().to_owned());
        Ok(())
    }

    fn on_check_completed(&mut self, verdict: CheckResult) -> Result<(), TransitionError> {
        let failures = self.checking.ok_or(TransitionError::NoCheck)?;
        match verdict {
            CheckResult::Found(findings) => self.apply_findings(findings),
            CheckResult::Failed(why) if failures == 0 => {
                self.warn(format!("The convergence check failed and is repeated: {why}"));
                self.checking = Some(1);
            }
            CheckResult::Failed(why) => {
                self.warn(format!("The convergence check failed a second time: {why}"));
                self.finish(CascadeStatus::Partial, "the convergence check could not be made");
            }
        }
        Ok(())
    }
}

impl Group {
    /// Returns true if no file of the group could be updated.
    fn has_failed(&self) -> bool {
        self.files.iter().all(|file| matches!(file.outcome, Some(FileOutcome::Skipped { .. })))
    }
}
