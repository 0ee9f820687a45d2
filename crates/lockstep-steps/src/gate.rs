//! The gates: pure functions that return a verdict, with a log of the checks.
//!
//! A gate only reads. The callers act on its verdict: refuse, set a step to FAILED, or write the audit.

pub mod commit;
pub mod invocation;
pub mod stop;

use lockstep_text::single_line;
use serde::Serialize;

use crate::machine::{Machine, Reason};
use crate::problem::Problem;
use crate::step::change::{Rules, reason_problem};
use crate::step::evidence::Outcome;
use crate::step::{Phase, Step};

/// The result of a gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Verdict {
    /// Nothing is wrong.
    Pass,
    /// Something must be fixed.
    Fail,
    /// Nothing must be fixed, but something should be checked.
    Warning,
}

impl Verdict {
    /// Returns the name in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pass => "PASS",
            Self::Fail => "FAIL",
            Self::Warning => "WARNING",
        }
    }
}

/// A gate's answer, as programs read it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Validation {
    /// The gate.
    pub gate_id: &'static str,
    pub result: Verdict,
    /// Problems that must be fixed.
    pub errors: Vec<String>,
    /// Problems that should be checked.
    pub warnings: Vec<String>,
    /// Suggestions for fixing the errors.
    pub recovery_suggestions: Vec<String>,
}

impl Validation {
    /// Returns true if something must be fixed.
    pub fn failed(&self) -> bool {
        self.result == Verdict::Fail
    }
}

/// One check of a gate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Look {
    /// The subject of the check.
    pub what: String,
    /// The finding.
    pub found: String,
    /// Set if the check passed.
    pub good: bool,
}

/// A gate's answer with its reasons, and every error beside its own suggestion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judged {
    pub validation: Validation,
    /// The checks, in order.
    pub looked_at: Vec<Look>,
    /// Each error with its fix.
    pub mends: Vec<(String, String)>,
}

impl Judged {
    /// Adds an error that was found outside of the gate's own rules.
    pub fn fail(&mut self, error: String, mend: &str) {
        let validation = &mut self.validation;
        validation.result = Verdict::Fail;
        validation.errors.push(error.clone());
        validation.recovery_suggestions.push(mend.to_owned());
        self.mends.push((error, mend.to_owned()));
    }

    /// Every error with its suggestion, a line each, for a person or a model.
    pub fn told(&self) -> String {
        let line = |(error, mend): &(String, String)| {
            format!("- {}. Suggestion: {}.\n", single_line(error), single_line(mend))
        };
        self.mends.iter().map(line).collect()
    }
}

/// Collects the findings of a gate.
#[derive(Debug)]
pub(crate) struct Judge {
    gate_id: &'static str,
    mends: Vec<(String, String)>,
    warnings: Vec<String>,
    looked_at: Vec<Look>,
}

impl Judge {
    pub(crate) fn new(gate_id: &'static str) -> Self {
        Self { gate_id, mends: Vec::new(), warnings: Vec::new(), looked_at: Vec::new() }
    }

    pub(crate) fn error(&mut self, message: impl Into<String>, suggestion: impl Into<String>) {
        self.mends.push((message.into(), suggestion.into()));
    }

    pub(crate) fn problem(&mut self, problem: &Problem) {
        self.error(problem.to_string(), problem.suggestion.clone());
    }

    pub(crate) fn warn(&mut self, message: impl Into<String>) {
        self.warnings.push(message.into());
    }

    /// Records a check. `before` is the number of errors before it.
    pub(crate) fn look(&mut self, what: impl Into<String>, found: impl Into<String>, before: usize) {
        let good = self.mends.len() == before;
        self.looked_at.push(Look { what: what.into(), found: found.into(), good });
    }

    pub(crate) fn errors(&self) -> usize {
        self.mends.len()
    }

    pub(crate) fn verdict(self) -> Judged {
        let result = match (self.mends.is_empty(), self.warnings.is_empty()) {
            (false, _) => Verdict::Fail,
            (true, false) => Verdict::Warning,
            (true, true) => Verdict::Pass,
        };
        let (errors, mut suggestions): (Vec<_>, Vec<_>) = self.mends.iter().cloned().unzip();
        let mut seen = std::collections::BTreeSet::new();
        suggestions.retain(|suggestion: &String| seen.insert(suggestion.clone()));
        let validation = Validation {
            gate_id: self.gate_id,
            result,
            errors,
            warnings: self.warnings,
            recovery_suggestions: suggestions,
        };
        Judged { validation, looked_at: self.looked_at, mends: self.mends }
    }
}

/// The audit trail's record of a step's state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Recorded {
    /// The last recorded state is the present state.
    Same,
    /// The trail has no record of the step.
    Nothing,
    /// The last recorded state differs.
    Other {
        /// The status that was recorded last.
        status: String,
    },
    /// The state is recorded, but the rules are not those that the step began under.
    OtherRules,
    /// The trail is not valid, so the recorded state is unknown.
    Unknown { why: String },
}

/// Checks that the present state was reached through `lockstep step`.
fn check_recorded(judge: &mut Judge, file: &str, step: &Step, recorded: &Recorded) {
    let before = judge.errors();
    let found = match recorded {
        Recorded::Same => "the audit trail records it".to_owned(),
        Recorded::Nothing if step.is_pristine() => "not begun, and not recorded yet".to_owned(),
        Recorded::Nothing => {
            judge.error(
                format!("The state of {file} ({}) is recorded nowhere: it was written by hand", step.status()),
                "Set its phases back to NOT_EXECUTED and its status to TODO, and record what happens with `lockstep step phase`; where it was \
                 begun elsewhere, the Lead takes it over with `lockstep step adopt`",
            );
            "nothing is recorded of it".to_owned()
        }
        Recorded::Other { status } => {
            judge.error(
                format!(
                    "The state of {file} was changed by hand: {status} was recorded, and {} with another log is there",
                    step.status()
                ),
                "Restore the recorded state (`lockstep audit show` tells it) and use `lockstep step` for changes",
            );
            format!("the audit trail records another state ({status})")
        }
        Recorded::OtherRules => {
            judge.error(
                format!("The rules of {file} changed after it began: the gates, the tables of the steps or the place of the trail"),
                format!("Restore them, or let a person accept them on record: `lockstep step accept {file} --why …`"),
            );
            "it began under other rules".to_owned()
        }
        Recorded::Unknown { why } => {
            judge.error(
                format!("Nothing vouches for the state of {file}: {why}"),
                "`lockstep audit verify` names the place; restore the trail, or let a person accept it: `lockstep audit accept --why …`",
            );
            "the audit trail is not what was recorded".to_owned()
        }
    };
    judge.look(format!("the state of {file}"), found, before);
}

/// Phases that are not over as they must be before a task is done or a commit is made.
pub(crate) fn open_phases(phases: &[Phase], rules: Rules<'_>) -> Vec<Problem> {
    phases.iter().filter_map(|phase| open_phase(phase, rules)).collect()
}

fn open_phase(phase: &Phase, rules: Rules<'_>) -> Option<Problem> {
    let name = &phase.name;
    match phase.status.as_str() {
        "EXECUTED" => match phase.outcome.as_deref().and_then(Outcome::parse) {
            None => Some(Problem::missing(
                name,
                format!("Phase {name} EXECUTED without outcome"),
                format!("Add outcome to {name}"),
            )),
            Some(Outcome::Fail) => Some(Problem::invalid(
                name,
                format!("Phase {name} EXECUTED with outcome FAIL"),
                format!("Begin a step in which {name} passes"),
            )),
            Some(Outcome::Pass) => rules
                .evidence
                .refute(name, Outcome::Pass, phase.evidence.as_ref())
                .map(|message| Problem::invalid(name, message, format!("Prove {name} with --run"))),
        },
        "SKIPPED" => skip_problem(phase, rules.machine).or_else(|| {
            phase.is_deferred(rules.machine).then(|| {
                let reason = phase.blocked_by.as_deref().unwrap_or_default();
                let fix = format!("Do it: `lockstep step phase start FILE {name}`, then `done`");
                Problem::incomplete(name, format!("Phase {name} is put off ({reason})"), fix)
            })
        }),
        status => Some(Problem::incomplete(
            name,
            format!("Phase {name} is {status}"),
            format!("End {name}, or skip it with a reason"),
        )),
    }
}

/// Returns the problem with the reason of a skipped phase.
fn skip_problem(phase: &Phase, machine: &Machine) -> Option<Problem> {
    match phase.blocked_by.as_deref() {
        None => Some(Problem::missing(
            &phase.name,
            format!("Phase {} SKIPPED without blocked_by", phase.name),
            format!("Add blocked_by reason to {}", phase.name),
        )),
        Some(reason) if matches!(machine.reason(reason), Reason::Empty | Reason::Unknown) => {
            reason_problem(&phase.name, reason, machine)
        }
        Some(_) => None,
    }
}

/// Phases of an ordered set that began before those before them had ended: a log that was written backwards.
fn out_of_order(step: &Step, machine: &Machine) -> Vec<Problem> {
    if !step.phase_set(machine).is_none_or(|set| set.ordered) {
        return Vec::new();
    }
    let at = |text: &Option<String>| text.as_deref().and_then(crate::stale::parse_exact);
    let mut problems = Vec::new();
    let mut last: Option<(&str, jiff::Timestamp)> = None;
    for phase in step.phases().iter().filter(|phase| !phase.reopened) {
        let (started, ended) = (at(&phase.started_at), at(&phase.ended_at));
        if let (Some((name, end)), Some(start)) = (last, started.or(ended))
            && start < end
        {
            problems.push(Problem::invalid(
                &phase.name,
                format!("Phase {} began before {name} had ended", phase.name),
                "Record phases as they happen, in their order",
            ));
        }
        if let (Some(start), Some(end)) = (started, ended)
            && end < start
        {
            let message = format!("Phase {} ended before it began", phase.name);
            problems.push(Problem::invalid(&phase.name, message, "Record phases as they happen"));
        }
        if let Some(end) = ended.or(started) {
            last = Some((&phase.name, last.map_or(end, |(_, other)| other.max(end))));
        }
    }
    problems
}
