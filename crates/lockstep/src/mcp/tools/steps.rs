//! `step_show`, `step_phase_start|done|skip`, `prompt_check`, `audit_show`.

use lockstep_steps::prompt_check::PromptCheck;
use lockstep_steps::step::evidence::PhaseOutcome;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::clock;
use crate::error::CommandError;
use crate::mcp::call_context::CallContext;
use crate::mcp::tool::{McpTool, ToolEffect, ToolError};
use crate::project::ActiveProject;
use crate::steps::audit_query::{AuditEntriesOutput, AuditFilter};
use crate::steps::output::StepWriteOutput;
use crate::steps::record_phase::{PhaseRecorder, PhaseRequest};
use crate::steps::view::StepView;
use crate::steps::{StepContext, StepsError};

/// The recorded name of an anonymous caller.
const ANONYMOUS: &str = "someone";

/// Show a step: its state, its phases, who has it, and whether its state was recorded.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct StepShowTool {
    /// The step file, or the step's id.
    step: String,
}

impl McpTool for StepShowTool {
    const NAME: &'static str = "step_show";
    const EFFECT: ToolEffect = ToolEffect::Reads;
    type Output = StepView;

    fn call(self, work: &CallContext) -> Result<StepView, ToolError> {
        let project = ActiveProject::discover(&work.directory)?;
        let steps = StepContext::new(&project, clock::now());
        let file = steps
            .resolve_from_directory(&work.directory, &self.step)
            .map_err(|problem| StepsError::Refused(vec![problem]))?;
        Ok(steps.show(&file)?)
    }
}

/// A phase of a step, and its recorder.
struct PhaseRef<'a> {
    step: &'a str,
    phase: &'a str,
    who: Option<&'a str>,
    run: Option<&'a str>,
}

fn record(which: &PhaseRef<'_>, act: PhaseRequest, work: &CallContext) -> Result<StepWriteOutput, ToolError> {
    if which.run.is_some() && !work.caller.may_run {
        return Err(CommandError::usage("this server runs no commands")
            .hint("run it in a shell: `lockstep step phase done STEP PHASE --run CMD`, which asks for the client's permission")
            .hint("or start the server with `lockstep mcp --allow-run`")
            .into());
    }
    let project = ActiveProject::discover(&work.directory)?;
    let steps = StepContext::new(&project, clock::now());
    let file = steps
        .resolve_from_directory(&work.directory, which.step)
        .map_err(|problem| StepsError::Refused(vec![problem]))?;
    let who = work.caller.name(which.who)?.unwrap_or(ANONYMOUS);
    Ok(steps.record_phase(&file, which.phase, act, PhaseRecorder { who, run: which.run })?)
}

/// Start a phase of a step. The phases before it must be complete, unless the phase set says otherwise.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct StepPhaseStartTool {
    /// The step file, or the step's id.
    step: String,
    /// The phase.
    phase: String,
    /// Your name: the owner of a lock, and the name in the audit trail.
    #[serde(rename = "as")]
    who: Option<String>,
}

impl McpTool for StepPhaseStartTool {
    const NAME: &'static str = "step_phase_start";
    const EFFECT: ToolEffect = ToolEffect::Writes;
    type Output = StepWriteOutput;

    fn call(self, work: &CallContext) -> Result<StepWriteOutput, ToolError> {
        let which = PhaseRef { step: &self.step, phase: &self.phase, who: self.who.as_deref(), run: None };
        record(&which, PhaseRequest::Start, work)
    }
}

/// End a phase of a step.
///
/// With run, Lockstep runs the command and records its exit code, duration and output: a RED phase is proven
/// by a command that fails, any other by one that passes. The server must have been started with --allow-run
/// for that. If the project requires evidence for the phase, a claim without run is refused.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct StepPhaseDoneTool {
    /// The step file, or the step's id.
    step: String,
    /// The phase.
    phase: String,
    /// The outcome; decided by the command of run if absent.
    outcome: Option<ClaimedOutcome>,
    /// Additional details.
    details: Option<String>,
    /// A command for the shell, run in the project as evidence.
    run: Option<String>,
    /// Your name: the owner of a lock, and the name in the audit trail.
    #[serde(rename = "as")]
    who: Option<String>,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
enum ClaimedOutcome {
    Pass,
    Fail,
}

impl McpTool for StepPhaseDoneTool {
    const NAME: &'static str = "step_phase_done";
    const EFFECT: ToolEffect = ToolEffect::Runs;
    type Output = StepWriteOutput;

    fn call(self, work: &CallContext) -> Result<StepWriteOutput, ToolError> {
        if self.outcome.is_none() && self.run.is_none() {
            return Err(CommandError::usage("how the phase ended is not said")
                .hint("give outcome (PASS or FAIL), or a command to run")
                .into());
        }
        let outcome = self.outcome.map(|outcome| match outcome {
            ClaimedOutcome::Pass => PhaseOutcome::Pass,
            ClaimedOutcome::Fail => PhaseOutcome::Fail,
        });
        let (who, run) = (self.who.as_deref(), self.run.as_deref());
        let which = PhaseRef { step: &self.step, phase: &self.phase, who, run };
        record(&which, PhaseRequest::Done { outcome, details: self.details.clone() }, work)
    }
}

/// Skip a phase of a step, or defer it.
///
/// The reason begins with BLOCKED_BY_DEPENDENCY:, NOT_APPLICABLE: or APPROVED_SKIP:, which let a commit pass,
/// or with DEFERRED:, which does not: a deferred phase can be started later.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct StepPhaseSkipTool {
    /// The step file, or the step's id.
    step: String,
    /// The phase.
    phase: String,
    /// Why, as in "NOT_APPLICABLE: no user interface".
    blocked_by: String,
    /// Additional details.
    details: Option<String>,
    /// Your name: the owner of a lock, and the name in the audit trail.
    #[serde(rename = "as")]
    who: Option<String>,
}

impl McpTool for StepPhaseSkipTool {
    const NAME: &'static str = "step_phase_skip";
    const EFFECT: ToolEffect = ToolEffect::Writes;
    type Output = StepWriteOutput;

    fn call(self, work: &CallContext) -> Result<StepWriteOutput, ToolError> {
        let which = PhaseRef { step: &self.step, phase: &self.phase, who: self.who.as_deref(), run: None };
        record(
            &which,
            PhaseRequest::Skip { blocked_by: self.blocked_by.clone(), details: self.details.clone() },
            work,
        )
    }
}

/// Check that the prompt of a step has its markers, its sections, and their required content.
///
/// The gate makes the same checks before an agent starts. A prompt without a DES-VALIDATION marker is an
/// ad-hoc one: nothing is checked, and a warning says so.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct PromptCheckTool {
    /// The complete prompt.
    prompt: String,
}

impl McpTool for PromptCheckTool {
    const NAME: &'static str = "prompt_check";
    const EFFECT: ToolEffect = ToolEffect::Reads;
    type Output = PromptCheck;

    fn call(self, work: &CallContext) -> Result<PromptCheck, ToolError> {
        let project = ActiveProject::discover(&work.directory)?;
        Ok(StepContext::new(&project, clock::now()).check_prompt(&self.prompt)?)
    }
}

/// List entries of the audit trail of the steps, the oldest first: every change of a step and every decision of a gate.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AuditShowTool {
    /// Only about this step: its file, or its id.
    step: Option<String>,
    /// Only this event, as in TASK_INVOCATION_REJECTED.
    event: Option<String>,
    /// Only since this day or moment, in UTC: 2026-02-14, or 2026-02-14T10:00:00Z.
    since: Option<String>,
    /// Only before this day or moment, in UTC.
    until: Option<String>,
}

impl McpTool for AuditShowTool {
    const NAME: &'static str = "audit_show";
    const EFFECT: ToolEffect = ToolEffect::Reads;
    type Output = AuditEntriesOutput;

    fn call(self, work: &CallContext) -> Result<AuditEntriesOutput, ToolError> {
        let project = ActiveProject::discover(&work.directory)?;
        let wanted = AuditFilter {
            step: self.step.as_deref(),
            event: self.event.as_deref(),
            since: self.since.as_deref(),
            until: self.until.as_deref(),
        };
        Ok(StepContext::new(&project, clock::now()).entries(&work.directory, &wanted)?)
    }
}
