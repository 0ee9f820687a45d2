//! Actions on a phase of a step: start, finish, skip, fail; with the evidence of a command.

use lockstep_steps::step::evidence::PhaseOutcome;
use lockstep_steps::step::transition::{self, PhaseAction, TransitionRules};
use serde_json::json;

use super::files::StepFile;
use super::output::StepWriteOutput;
use super::{StepContext, StepsError, StepsResult, evidence};

#[derive(Debug, Clone)]
pub(crate) enum PhaseRequest {
    Start,
    /// Finishes the phase. Without an outcome, the command's result decides.
    Done {
        outcome: Option<PhaseOutcome>,
        details: Option<String>,
    },
    /// Skips or defers the phase, for this reason.
    Skip {
        blocked_by: String,
        details: Option<String>,
    },
    /// Aborts the phase.
    Fail {
        details: Option<String>,
    },
}

impl PhaseRequest {
    fn event(&self) -> &'static str {
        match self {
            Self::Start => "STEP_PHASE_STARTED",
            Self::Done { .. } => "STEP_PHASE_EXECUTED",
            Self::Skip { .. } => "STEP_PHASE_SKIPPED",
            Self::Fail { .. } => "STEP_PHASE_FAILED",
        }
    }
}

/// The actor, and the command that is run as evidence.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PhaseRecorder<'a> {
    pub(crate) who: &'a str,
    pub(crate) run: Option<&'a str>,
}

impl StepContext<'_> {
    pub(crate) fn record_phase(
        &self,
        file: &StepFile,
        phase: &str,
        act: PhaseRequest,
        actor: PhaseRecorder<'_>,
    ) -> StepsResult<StepWriteOutput> {
        let (machine, rules) = (self.machine()?, self.evidence_rules());
        let rules = TransitionRules { machine: &machine, evidence: &rules };
        // The command may take long, so it runs before the lock is acquired.
        let evidence = actor.run.map(|command| evidence::run(command, &self.project.root, &self.moment()));
        let evidence = evidence.transpose().map_err(StepsError::Run)?;
        let event = act.event();
        let act = match act {
            PhaseRequest::Start => PhaseAction::Start,
            PhaseRequest::Done { outcome, details } => PhaseAction::Done { outcome, details, evidence },
            PhaseRequest::Skip { blocked_by, details } => PhaseAction::Skip { blocked_by, details },
            PhaseRequest::Fail { details } => PhaseAction::Fail { details, evidence },
        };
        let step = self.change(
            file,
            actor.who,
            event,
            |step| transition::apply_phase_action(step, phase, &act, rules, &self.moment()),
            |record| match &act {
                PhaseAction::Done { evidence: Some(evidence), .. }
                | PhaseAction::Fail { evidence: Some(evidence), .. } => record
                    .with("phase", phase)
                    .with("command", evidence.command.as_str())
                    .with("exit_code", json!(evidence.exit_code))
                    .with("duration_ms", evidence.duration_ms)
                    .with("output_digest", evidence.output_digest.as_str()),
                PhaseAction::Skip { blocked_by, .. } => {
                    record.with("phase", phase).with("blocked_by", blocked_by.as_str())
                }
                _ => record.with("phase", phase),
            },
        )?;
        Ok(StepWriteOutput::new(file, &step, Some(phase)))
    }
}
