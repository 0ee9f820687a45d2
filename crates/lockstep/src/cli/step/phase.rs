//! `lockstep step phase start|done|skip|fail`.

use clap::ValueEnum;
use lockstep_steps::step::evidence::PhaseOutcome;

use super::{ActorArgs, CommandContext, CommandStatus, resolve_step};
use crate::steps::record_phase::{PhaseRecorder, PhaseRequest};
use crate::steps::{StepContext, StepsResult};

/// Record what happens with a phase
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lockstep step phase start 01-01 RED_UNIT
  lockstep step phase done 01-01 RED_UNIT --run 'cargo test'
  lockstep step phase skip 01-01 REFACTOR_L4 --blocked-by 'NOT_APPLICABLE: nothing to refactor'")]
pub(crate) struct StepPhaseArgs {
    #[command(subcommand)]
    command: StepPhaseCommand,
}

#[derive(Debug, clap::Subcommand)]
enum StepPhaseCommand {
    Start(PhaseStartArgs),
    Done(PhaseDoneArgs),
    Skip(PhaseSkipArgs),
    Fail(PhaseFailArgs),
}

/// Which phase of which step, and who records it.
#[derive(Debug, clap::Args)]
struct PhaseRefArgs {
    /// The step file, or the step's id
    #[arg(value_name = "FILE")]
    file: String,
    /// The phase
    #[arg(value_name = "PHASE")]
    phase: String,
    #[command(flatten)]
    who: ActorArgs,
}

/// Start a phase
///
/// The phases before it must be complete, unless the phase set says otherwise.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lockstep step phase start 01-01 PREPARE
  lockstep step phase start steps/01-01.json RED_UNIT --as crafter")]
struct PhaseStartArgs {
    #[command(flatten)]
    which: PhaseRefArgs,
}

/// End a phase
///
/// With --run, Lockstep runs the command and records its exit code, duration and output: a RED phase is
/// proven by a command that fails, any other by one that passes. If `[steps] evidence` names the phase, a
/// claim without --run is refused. EXECUTED ends a phase, with either outcome: to be able to try again, end
/// it with `fail`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lockstep step phase done 01-01 PREPARE --outcome PASS
  lockstep step phase done 01-01 GREEN_UNIT --run 'cargo test'")]
struct PhaseDoneArgs {
    #[command(flatten)]
    which: PhaseRefArgs,
    /// The outcome; by default decided by the command of --run
    #[arg(long, value_enum, value_name = "OUTCOME", ignore_case = true, required_unless_present = "run")]
    outcome: Option<OutcomeArg>,
    /// Additional details
    #[arg(long, value_name = "TEXT")]
    details: Option<String>,
    /// Run this command with the shell, in the project, as evidence
    #[arg(long, value_name = "CMD")]
    run: Option<String>,
}

/// Skip a phase, or defer it
///
/// The reason begins with BLOCKED_BY_DEPENDENCY:, NOT_APPLICABLE: or APPROVED_SKIP:, which let a commit pass,
/// or with DEFERRED:, which does not: a deferred phase can be started later.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lockstep step phase skip 01-01 REFACTOR_L4 --blocked-by 'NOT_APPLICABLE: nothing to refactor'
  lockstep step phase skip 01-01 REVIEW --blocked-by 'DEFERRED: the reviewer is away'")]
struct PhaseSkipArgs {
    #[command(flatten)]
    which: PhaseRefArgs,
    /// Why, as in 'NOT_APPLICABLE: no user interface'
    #[arg(long, value_name = "REASON")]
    blocked_by: String,
    /// Additional details
    #[arg(long, value_name = "TEXT")]
    details: Option<String>,
}

/// End a phase as failed; it can be started again
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lockstep step phase fail 01-01 GREEN_UNIT --details 'the test itself is wrong'")]
struct PhaseFailArgs {
    #[command(flatten)]
    which: PhaseRefArgs,
    /// Additional details
    #[arg(long, value_name = "TEXT")]
    details: Option<String>,
    /// Run this command with the shell, in the project, as evidence
    #[arg(long, value_name = "CMD")]
    run: Option<String>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
#[value(rename_all = "UPPER")]
enum OutcomeArg {
    /// As it should
    Pass,
    /// Not as it should
    Fail,
}

pub(super) fn run(args: &StepPhaseArgs, steps: &StepContext<'_>, context: &CommandContext) -> StepsResult {
    let (which, run, act) = match &args.command {
        StepPhaseCommand::Start(args) => (&args.which, None, PhaseRequest::Start),
        StepPhaseCommand::Done(args) => {
            let outcome = args.outcome.map(|outcome| match outcome {
                OutcomeArg::Pass => PhaseOutcome::Pass,
                OutcomeArg::Fail => PhaseOutcome::Fail,
            });
            (&args.which, args.run.as_deref(), PhaseRequest::Done { outcome, details: args.details.clone() })
        }
        StepPhaseCommand::Skip(args) => {
            let (blocked_by, details) = (args.blocked_by.clone(), args.details.clone());
            (&args.which, None, PhaseRequest::Skip { blocked_by, details })
        }
        StepPhaseCommand::Fail(args) => {
            (&args.which, args.run.as_deref(), PhaseRequest::Fail { details: args.details.clone() })
        }
    };
    let file = resolve_step(steps, context, &which.file)?;
    context.print(&steps.record_phase(
        &file,
        &which.phase,
        act,
        PhaseRecorder { who: &which.who.who, run },
    )?);
    Ok(CommandStatus::Success)
}
