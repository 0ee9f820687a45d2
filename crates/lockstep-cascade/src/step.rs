//! The transitions of a cascade and the effects that are due after them.

mod check;
mod done;
mod open;

pub use open::Start;

use crate::event::{Effect, Event, Verdict};
use crate::state::{Assignment, Cascade, End, Group, Iteration, Outcome, Stage, Status};

/// The reason why an event does not fit the state. The state is unchanged then.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// The cascade has ended.
    #[error("the cascade has ended ({status}): {why}")]
    Ended {
        /// The final status.
        status: &'static str,
        /// The reason for the end.
        why: String,
    },
    /// The present iteration has no such group.
    #[error("there is no group {group:?} in this iteration; the groups are {}", known.join(", "))]
    NoGroup {
        /// The name that was given.
        group: String,
        /// The existing groups.
        known: Vec<String>,
    },
    /// The group is not in the stage that the event requires.
    #[error("group {group} {why}")]
    Stage {
        group: String,
        /// The actual stage of the group.
        why: &'static str,
    },
    /// The file is not an open dependent.
    #[error("{file:?} is no open dependent of this cascade; those are {}", list(open))]
    NoDependent {
        /// The path that was given.
        file: String,
        /// The open dependents.
        open: Vec<String>,
    },
    /// The event needs a reason, and it is empty.
    #[error("a reason is needed: it stands in the report")]
    NoReason,
    /// No check is due.
    #[error("no convergence check is due: groups are still at work")]
    NoCheck,
}

fn list(names: &[String]) -> String {
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

impl Cascade {
    /// Applies an event. Returns the new state and the effects that are due.
    pub fn step(mut self, event: Event) -> Result<(Self, Vec<Effect>), Refused> {
        if let Some(end) = &self.end {
            return Err(Refused::Ended { status: end.status.word(), why: end.why.clone() });
        }
        match event {
            Event::Handed { group, before } => self.handed_out(&group, before)?,
            Event::Interrupted { seen } => self.interrupted(&seen),
            Event::Done { group, claim, seen } => self.agent_done(&group, &claim, &seen)?,
            Event::NotNeeded { file, why } => self.not_needed(&file, &why)?,
            Event::Checked(verdict) => self.checked(verdict)?,
            Event::Aborted { why } => {
                if why.trim().is_empty() {
                    return Err(Refused::NoReason);
                }
                self.finish(Status::Partial, format!("aborted: {}", why.trim()));
            }
        }
        self.settle();
        let effects = self.due();
        Ok((self, effects))
    }

    /// Returns the effects that are due in the present state. The result depends on the state only.
    pub fn due(&self) -> Vec<Effect> {
        if !self.is_active() {
            return vec![Effect::Report];
        }
        if self.checking.is_some() {
            return vec![Effect::Check];
        }
        self.waiting().map(|group| Effect::Hand { group: group.id.clone() }).collect()
    }

    /// Requests the check when the last group of an iteration is settled. If all groups failed, the cascade
    /// ends.
    fn settle(&mut self) {
        if !self.is_active() || self.checking.is_some() {
            return;
        }
        let Some(iteration) = self.iterations.last() else { return };
        if iteration.groups.iter().any(|group| group.stage != Stage::Settled) {
            return;
        }
        if iteration.groups.iter().all(Group::has_failed) {
            let number = iteration.number;
            let errors: Vec<String> =
                iteration.groups.iter().flat_map(|group| group.errors.clone()).collect();
            self.warnings.extend(errors);
            self.finish(Status::Partial, format!("all implementers of iteration {number} failed"));
            return;
        }
        self.checking = Some(0);
    }

    fn finish(&mut self, status: Status, why: impl Into<String>) {
        self.checking = None;
        self.end = Some(End { status, why: why.into() });
    }

    fn warn(&mut self, warning: String) {
        if !self.warnings.contains(&warning) {
            self.warnings.push(warning);
        }
    }

    fn current(&mut self) -> &mut Iteration {
        self.iterations.last_mut().expect("an active cascade has an iteration")
    }

    fn group_at(&self, id: &str, stage: Stage) -> Result<usize, Refused> {
        let groups = &self.iteration().expect("an active cascade has an iteration").groups;
        let Some(at) = groups.iter().position(|group| group.id == id) else {
            let known = groups.iter().map(|group| group.id.clone()).collect();
            return Err(Refused::NoGroup { group: id.to_owned(), known });
        };
        let why = match groups[at].stage {
            found if found == stage => return Ok(at),
            Stage::Waiting => "was not handed out yet: `lockstep cascade next` does that",
            Stage::Handed => "is in an agent's hands already",
            Stage::Settled => "is settled",
        };
        Err(Refused::Stage { group: id.to_owned(), why })
    }

    fn not_needed(&mut self, file: &str, why: &str) -> Result<(), Refused> {
        if why.trim().is_empty() {
            return Err(Refused::NoReason);
        }
        let open = |file: &Assignment| matches!(file.outcome, None | Some(Outcome::Skipped { .. }));
        let known: Vec<String> =
            self.assignments().filter(|(_, _, a)| open(a)).map(|(_, _, a)| a.path.clone()).collect();
        if !known.iter().any(|path| path == file) {
            return Err(Refused::NoDependent { file: file.to_owned(), open: known });
        }
        for group in self.iterations.iter_mut().flat_map(|iteration| &mut iteration.groups) {
            for assignment in group.files.iter_mut().filter(|a| a.path == file && open(a)) {
                assignment.outcome = Some(Outcome::Dismissed);
            }
            if group.files.iter().all(|file| file.outcome.is_some()) {
                group.stage = Stage::Settled;
            }
        }
        self.dismissed.insert(file.to_owned(), why.trim().to_owned());
        Ok(())
    }

    fn checked(&mut self, verdict: Verdict) -> Result<(), Refused> {
        let failures = self.checking.ok_or(Refused::NoCheck)?;
        match verdict {
            Verdict::Found(findings) => self.judge(findings),
            Verdict::Failed(why) if failures == 0 => {
                self.warn(format!("The convergence check failed and is repeated: {why}"));
                self.checking = Some(1);
            }
            Verdict::Failed(why) => {
                self.warn(format!("The convergence check failed a second time: {why}"));
                self.finish(Status::Partial, "the convergence check could not be made");
            }
        }
        Ok(())
    }
}

impl Group {
    /// Returns true if no file of the group could be updated.
    fn has_failed(&self) -> bool {
        self.files.iter().all(|file| matches!(file.outcome, Some(Outcome::Skipped { .. })))
    }
}
