//! The gates: pure functions that return a verdict, with a log of the checks.
//!
//! A gate only reads. The callers act on its verdict: refuse, set a step to FAILED, or write the audit.

pub mod commit;
pub mod invocation;
pub mod stop;

use lockstep_text::single_line;
use serde::Serialize;

use crate::problem::StepProblem;
use crate::state_machine::{SkipReason, StepMachines};
use crate::step::evidence::PhaseOutcome;
use crate::step::transition::{TransitionRules, reason_problem};
use crate::step::{Step, StepPhase};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum GateVerdict {
    /// Nothing is wrong.
    Pass,
    /// Something must be fixed.
    Fail,
    /// Nothing must be fixed, but something should be checked.
    Warning,
}

impl GateVerdict {
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
pub struct GateValidation {
    pub gate_id: &'static str,
    pub result: GateVerdict,
    /// Problems that must be fixed.
    pub errors: Vec<String>,
    /// Problems that should be checked.
    pub warnings: Vec<String>,
    /// Suggestions for fixing the errors.
    pub recovery_suggestions: Vec<String>,
}

impl GateValidation {
    /// Returns true if something must be fixed.
    pub fn failed(&self) -> bool {
        self.result == GateVerdict::Fail
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct GateCheck {
    pub what: String,
    pub found: String,
    /// Set if the check passed.
    #[serde(rename = "good")]
    pub passed: bool,
}

/// A gate's answer with its reasons, and every error beside its own suggestion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GateResult {
    pub validation: GateValidation,
    pub looked_at: Vec<GateCheck>,
    pub fixes: Vec<(String, String)>,
}

impl GateResult {
    /// Adds an error that was found outside of the gate's own rules.
    pub fn fail(&mut self, error: String, mend: &str) {
        let validation = &mut self.validation;
        validation.result = GateVerdict::Fail;
        validation.errors.push(error.clone());
        validation.recovery_suggestions.push(mend.to_owned());
        self.fixes.push((error, mend.to_owned()));
    }

    /// Every error with its suggestion, a line each, for a person or a model.
    pub fn render_errors(&self) -> String {
        let line = |(error, mend): &(String, String)| {
            format!("- {}. Suggestion: {}.\n", single_line(error), single_line(mend))
        };
        self.fixes.iter().map(line).collect()
    }
}

/// Collects the findings of a gate.
#[derive(Debug)]
pub(crate) struct GateEvaluator {
    gate_id: &'static str,
    fixes: Vec<(String, String)>,
    warnings: Vec<String>,
    looked_at: Vec<GateCheck>,
}

impl GateEvaluator {
    pub(crate) fn new(gate_id: &'static str) -> Self {
        Self { gate_id, fixes: Vec::new(), warnings: Vec::new(), looked_at: Vec::new() }
    }

    pub(crate) fn error(&mut self, message: impl Into<String>, suggestion: impl Into<String>) {
        self.fixes.push((message.into(), suggestion.into()));
    }

    pub(crate) fn problem(&mut self, problem: &StepProblem) {
        self.error(problem.to_string(), problem.suggestion.clone());
    }

    pub(crate) fn warn(&mut self, message: impl Into<String>) {
        self.warnings.push(message.into());
    }

    /// Records a check. `before` is the number of errors before it.
    pub(crate) fn record_check(&mut self, what: impl Into<String>, found: impl Into<String>, before: usize) {
        let good = self.fixes.len() == before;
        self.looked_at.push(GateCheck { what: what.into(), found: found.into(), passed: good });
    }

    pub(crate) fn errors(&self) -> usize {
        self.fixes.len()
    }

    pub(crate) fn finish(self) -> GateResult {
        let result = match (self.fixes.is_empty(), self.warnings.is_empty()) {
            (false, _) => GateVerdict::Fail,
            (true, false) => GateVerdict::Warning,
            (true, true) => GateVerdict::Pass,
        };
        let (errors, mut suggestions): (Vec<_>, Vec<_>) = self.fixes.iter().cloned().unzip();
        let mut seen = std::collections::BTreeSet::new();
        suggestions.retain(|suggestion: &String| seen.insert(suggestion.clone()));
        let validation = GateValidation {
            gate_id: self.gate_id,
            result,
            errors,
            warnings: self.warnings,
            recovery_suggestions: suggestions,
        };
        GateResult { validation, looked_at: self.looked_at, fixes: self.fixes }
    }
}

/// The audit trail's record of a step's state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AuditMatch {
    /// The last recorded state is the present state.
    Matches,
    /// The trail has no record of the step.
    Missing,
    /// The last recorded state differs.
    Differs {
        /// The status that was recorded last.
        status: String,
    },
    /// The state is recorded, but the rules are not those that the step began under.
    OtherRules,
    /// The trail is not valid, so the recorded state is unknown.
    Unknown { why: String },
}

/// Checks that the present state was reached through `lockstep step`.
fn check_recorded(judge: &mut GateEvaluator, file: &str, step: &Step, recorded: &AuditMatch) {
    let before = judge.errors();
    let found = match recorded {
        AuditMatch::Matches => "the audit trail records it".to_owned(),
        AuditMatch::Missing if step.is_pristine() => "not begun, and not recorded yet".to_owned(),
        AuditMatch::Missing => {
            judge.error(
                format!("The state of {file} ({}) is recorded nowhere: it was written by hand", step.status()),
                "Set its phases back to NOT_EXECUTED and its status to TODO, and record what happens with `lockstep step phase`; where it was \
                 begun elsewhere, the Lead takes it over with `lockstep step adopt`",
            );
            "nothing is recorded of it".to_owned()
        }
        AuditMatch::Differs { status } => {
            judge.error(
                format!(
                    "The state of {file} was changed by hand: {status} was recorded, and {} with another log is there",
                    step.status()
                ),
                "Restore the recorded state (`lockstep audit show` tells it) and use `lockstep step` for changes",
            );
            format!("the audit trail records another state ({status})")
        }
        AuditMatch::OtherRules => {
            judge.error(
                format!("The rules of {file} changed after it began: the gates, the tables of the steps or the place of the trail"),
                format!("Restore them, or let a person accept them on record: `lockstep step accept {file} --why …`"),
            );
            "it began under other rules".to_owned()
        }
        AuditMatch::Unknown { why } => {
            judge.error(
                format!("Nothing vouches for the state of {file}: {why}"),
                "`lockstep audit verify` names the place; restore the trail, or let a person accept it: `lockstep audit accept --why …`",
            );
            "the audit trail is not what was recorded".to_owned()
        }
    };
    judge.record_check(format!("the state of {file}"), found, before);
}

/// Phases that are not over as they must be before a task is done or a commit is made.
pub(crate) fn incomplete_phases(phases: &[StepPhase], rules: TransitionRules<'_>) -> Vec<StepProblem> {
    phases.iter().filter_map(|phase| incomplete_phase(phase, rules)).collect()
}

fn incomplete_phase(phase: &StepPhase, rules: TransitionRules<'_>) -> Option<StepProblem> {
    let name = &phase.name;
    match phase.status.as_str() {
        "EXECUTED" => match phase.outcome.as_deref().and_then(PhaseOutcome::parse) {
            None => Some(StepProblem::missing(
                name,
                format!("Phase {name} EXECUTED without outcome"),
                format!("Add outcome to {name}"),
            )),
            Some(PhaseOutcome::Fail) => Some(StepProblem::invalid(
                name,
                format!("Phase {name} EXECUTED with outcome FAIL"),
                format!("Begin a step in which {name} passes"),
            )),
            Some(PhaseOutcome::Pass) => rules
                .evidence
                .claim_problem(name, PhaseOutcome::Pass, phase.evidence.as_ref())
                .map(|message| StepProblem::invalid(name, message, format!("Prove {name} with --run"))),
        },
        "SKIPPED" => skip_problem(phase, rules.machine).or_else(|| {
            phase.is_deferred(rules.machine).then(|| {
                let reason = phase.blocked_by.as_deref().unwrap_or_default();
                let fix = format!("Do it: `lockstep step phase start FILE {name}`, then `done`");
                StepProblem::incomplete(name, format!("Phase {name} is put off ({reason})"), fix)
            })
        }),
        status => Some(StepProblem::incomplete(
            name,
            format!("Phase {name} is {status}"),
            format!("End {name}, or skip it with a reason"),
        )),
    }
}

/// Returns the problem with the reason of a skipped phase.
fn skip_problem(phase: &StepPhase, machine: &StepMachines) -> Option<StepProblem> {
    match phase.blocked_by.as_deref() {
        None => Some(StepProblem::missing(
            &phase.name,
            format!("Phase {} SKIPPED without blocked_by", phase.name),
            format!("Add blocked_by reason to {}", phase.name),
        )),
        Some(reason)
            if matches!(machine.classify_skip_reason(reason), SkipReason::Empty | SkipReason::Unknown) =>
        {
            reason_problem(&phase.name, reason, machine)
        }
        Some(_) => None,
    }
}

/// Phases of an ordered set that began before those before them had ended: a log that was written backwards.
fn out_of_order(step: &Step, machine: &StepMachines) -> Vec<StepProblem> {
    if !step.phase_set(machine).is_none_or(|set| set.ordered) {
        return Vec::new();
    }
    let at = |text: &Option<String>| text.as_deref().and_then(crate::stale_phases::parse_timestamp_utc);
    let mut problems = Vec::new();
    let mut last: Option<(&str, jiff::Timestamp)> = None;
    for phase in step.phases().iter().filter(|phase| !phase.reopened) {
        let (started, ended) = (at(&phase.started_at), at(&phase.ended_at));
        if let (Some((name, end)), Some(start)) = (last, started.or(ended))
            && start < end
        {
            problems.push(StepProblem::invalid(
                &phase.name,
                format!("Phase {} began before {name} had ended", phase.name),
                "Record phases as they happen, in their order",
            ));
        }
        if let (Some(start), Some(end)) = (started, ended)
            && end < start
        {
            let message = format!("Phase {} ended before it began", phase.name);
            problems.push(StepProblem::invalid(&phase.name, message, "Record phases as they happen"));
        }
        if let Some(end) = ended.or(started) {
            last = Some((&phase.name, last.map_or(end, |(_, other)| other.max(end))));
        }
    }
    problems
}
