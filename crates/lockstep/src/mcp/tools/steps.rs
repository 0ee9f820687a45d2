//! `step_show`, `step_phase_start|done|skip`, `prompt_check`, `audit_show`.

use lockstep_steps::prompt::PromptCheck;
use lockstep_steps::step::evidence::Outcome;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::clock;
use crate::error::{CommandError, Kind};
use crate::mcp::tool::{Effect, Tool, ToolError};
use crate::mcp::work::Work;
use crate::project::ActiveProject;
use crate::steps::listing::{Entries, Wanted};
use crate::steps::output::StepWritten;
use crate::steps::phases::{Act, Actor};
use crate::steps::view::StepView;
use crate::steps::{Steps, StepsError};

/// The recorded name of an anonymous caller.
const SOMEONE: &str = "someone";

/// Show a step: its state, its phases, who has it, and whether its state was recorded.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ShowInput {
    /// The step file, or the step's id.
    step: String,
}

pub(super) struct StepShow;

impl Tool for StepShow {
    const NAME: &'static str = "step_show";
    const EFFECT: Effect = Effect::Reads;
    type Input = ShowInput;
    type Output = StepView;

    fn call(input: ShowInput, work: &Work) -> Result<StepView, ToolError> {
        let project = ActiveProject::of_command(&work.directory)?;
        let steps = Steps::new(&project, clock::now());
        let file = steps
            .given(&work.directory, &input.step)
            .map_err(|problem| StepsError::Refused(vec![problem]))?;
        Ok(steps.show(&file)?)
    }
}

/// A phase of a step, and its recorder.
struct Which<'a> {
    step: &'a str,
    phase: &'a str,
    who: Option<&'a str>,
    run: Option<&'a str>,
}

fn record(which: &Which<'_>, act: Act, work: &Work) -> Result<StepWritten, ToolError> {
    if which.run.is_some() && !work.caller.may_run {
        return Err(CommandError::new(Kind::Usage, "this server runs no commands")
            .hint("run it in a shell: `lockstep step phase done STEP PHASE --run CMD`, which asks for the client's permission")
            .hint("or start the server with `lockstep mcp --allow-run`")
            .into());
    }
    let project = ActiveProject::of_command(&work.directory)?;
    let steps = Steps::new(&project, clock::now());
    let file =
        steps.given(&work.directory, which.step).map_err(|problem| StepsError::Refused(vec![problem]))?;
    let who = work.caller.name(which.who)?.unwrap_or(SOMEONE);
    Ok(steps.record_phase(&file, which.phase, act, Actor { who, run: which.run })?)
}

/// Start a phase of a step. The phases before it must be complete, unless the phase set says otherwise.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct StartInput {
    /// The step file, or the step's id.
    step: String,
    /// The phase.
    phase: String,
    /// Your name: the owner of a lock, and the name in the audit trail.
    #[serde(rename = "as")]
    who: Option<String>,
}

/// `step_phase_start`.
pub(super) struct StepPhaseStart;

impl Tool for StepPhaseStart {
    const NAME: &'static str = "step_phase_start";
    const EFFECT: Effect = Effect::Writes;
    type Input = StartInput;
    type Output = StepWritten;

    fn call(input: StartInput, work: &Work) -> Result<StepWritten, ToolError> {
        let which = Which { step: &input.step, phase: &input.phase, who: input.who.as_deref(), run: None };
        record(&which, Act::Start, work)
    }
}

/// End a phase of a step.
///
/// With run, Lockstep runs the command and records its exit code, duration and output: a RED phase is proven
/// by a command that fails, any other by one that passes. The server must have been started with --allow-run
/// for that. If the project requires evidence for the phase, a claim without run is refused.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct DoneInput {
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

/// `step_phase_done`.
pub(super) struct StepPhaseDone;

impl Tool for StepPhaseDone {
    const NAME: &'static str = "step_phase_done";
    const EFFECT: Effect = Effect::Runs;
    type Input = DoneInput;
    type Output = StepWritten;

    fn call(input: DoneInput, work: &Work) -> Result<StepWritten, ToolError> {
        if input.outcome.is_none() && input.run.is_none() {
            return Err(CommandError::new(Kind::Usage, "how the phase ended is not said")
                .hint("give outcome (PASS or FAIL), or a command to run")
                .into());
        }
        let outcome = input.outcome.map(|outcome| match outcome {
            ClaimedOutcome::Pass => Outcome::Pass,
            ClaimedOutcome::Fail => Outcome::Fail,
        });
        let (who, run) = (input.who.as_deref(), input.run.as_deref());
        let which = Which { step: &input.step, phase: &input.phase, who, run };
        record(&which, Act::Done { outcome, details: input.details.clone() }, work)
    }
}

/// Skip a phase of a step, or defer it.
///
/// The reason begins with BLOCKED_BY_DEPENDENCY:, NOT_APPLICABLE: or APPROVED_SKIP:, which let a commit pass,
/// or with DEFERRED:, which does not: a deferred phase can be started later.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SkipInput {
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

/// `step_phase_skip`.
pub(super) struct StepPhaseSkip;

impl Tool for StepPhaseSkip {
    const NAME: &'static str = "step_phase_skip";
    const EFFECT: Effect = Effect::Writes;
    type Input = SkipInput;
    type Output = StepWritten;

    fn call(input: SkipInput, work: &Work) -> Result<StepWritten, ToolError> {
        let which = Which { step: &input.step, phase: &input.phase, who: input.who.as_deref(), run: None };
        record(
            &which,
            Act::Skip { blocked_by: input.blocked_by.clone(), details: input.details.clone() },
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
pub(super) struct CheckInput {
    /// The complete prompt.
    prompt: String,
}

/// `prompt_check`.
pub(super) struct CheckPrompt;

impl Tool for CheckPrompt {
    const NAME: &'static str = "prompt_check";
    const EFFECT: Effect = Effect::Reads;
    type Input = CheckInput;
    type Output = PromptCheck;

    fn call(input: CheckInput, work: &Work) -> Result<PromptCheck, ToolError> {
        let project = ActiveProject::of_command(&work.directory)?;
        Ok(Steps::new(&project, clock::now()).check_prompt(&input.prompt)?)
    }
}

/// List entries of the audit trail of the steps, the oldest first: every change of a step and every decision of a gate.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AuditInput {
    /// Only about this step: its file, or its id.
    step: Option<String>,
    /// Only this event, as in TASK_INVOCATION_REJECTED.
    event: Option<String>,
    /// Only since this day or moment, in UTC: 2026-02-14, or 2026-02-14T10:00:00Z.
    since: Option<String>,
    /// Only before this day or moment, in UTC.
    until: Option<String>,
}

pub(super) struct AuditShow;

impl Tool for AuditShow {
    const NAME: &'static str = "audit_show";
    const EFFECT: Effect = Effect::Reads;
    type Input = AuditInput;
    type Output = Entries;

    fn call(input: AuditInput, work: &Work) -> Result<Entries, ToolError> {
        let project = ActiveProject::of_command(&work.directory)?;
        let wanted = Wanted {
            step: input.step.as_deref(),
            event: input.event.as_deref(),
            since: input.since.as_deref(),
            until: input.until.as_deref(),
        };
        Ok(Steps::new(&project, clock::now()).entries(&work.directory, &wanted)?)
    }
}
