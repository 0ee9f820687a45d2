//! The transitions: how each event changes a cascade, and what is to be done then.

mod check;
mod done;
mod open;

pub use open::Start;

use crate::event::{Effect, Event, Verdict};
use crate::state::{Assignment, Cascade, End, Group, Iteration, Outcome, Stage, Status};

/// Why an event does not fit the state. Nothing has changed then.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// It is over.
    #[error("the cascade has ended ({status}): {why}")]
    Ended {
        /// How.
        status: &'static str,
        /// In words.
        why: String,
    },
    /// There is no such group now.
    #[error("there is no group {group:?} in this iteration; the groups are {}", known.join(", "))]
    NoGroup {
        /// What was named.
        group: String,
        /// Those there are.
        known: Vec<String>,
    },
    /// The group is not where the event needs it to be.
    #[error("group {group} {why}")]
    Stage {
        /// The group.
        group: String,
        /// Where it is instead.
        why: &'static str,
    },
    /// The file is not one that waits for somebody.
    #[error("{file:?} is no open dependent of this cascade; those are {}", list(open))]
    NoDependent {
        /// What was named.
        file: String,
        /// Those there are.
        open: Vec<String>,
    },
    /// A reason is needed, and none was given.
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
    /// What an event makes of the cascade, and what is to be done then.
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

    /// What is to be done in the present state. The same state asks for the same.
    pub fn due(&self) -> Vec<Effect> {
        if !self.is_active() {
            return vec![Effect::Report];
        }
        if self.checking.is_some() {
            return vec![Effect::Check];
        }
        self.waiting().map(|group| Effect::Hand { group: group.id.clone() }).collect()
    }

    /// When the last group of an iteration is settled, the check is due; where all of them failed, it is over.
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
    /// Whether none of its files could be brought up to date.
    fn has_failed(&self) -> bool {
        self.files.iter().all(|file| matches!(file.outcome, Some(Outcome::Skipped { .. })))
    }
}
