//! `lockstep step new`.

use lockstep_steps::problem::StepProblem;
use lockstep_steps::step::Step;
use serde_json::json;

use super::{ActorArgs, CommandContext, written};
use crate::steps::{StepContext, StepsError, StepsResult};

/// Make a step file
///
/// It is written to the directory of the steps (`[steps] dir`), named by its id. Other fields may be added to it by hand: only its
/// state is Lockstep's.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lockstep step new 01-01 --project auth --description 'Add login'
  lockstep step new 01-02 --project auth --phases tdd-5 --allow 'src/auth/**' --max-turns 40")]
pub(crate) struct StepNewArgs {
    /// The step's id, such as 01-01
    #[arg(value_name = "ID")]
    id: String,
    /// The project the step belongs to
    #[arg(long, value_name = "NAME")]
    project: String,
    /// The phase set: tdd-14, tdd-8, tdd-5, tdd-3, or one of the project's own
    #[arg(long, value_name = "SET")]
    phases: Option<String>,
    /// The work to do
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,
    /// Files that may be changed, as a pattern from the project's root; may be repeated
    #[arg(long, value_name = "PATTERN")]
    allow: Vec<String>,
    /// Files that may not be changed; may be repeated
    #[arg(long, value_name = "PATTERN")]
    forbid: Vec<String>,
    /// The most turns its agent should take
    #[arg(long, value_name = "N")]
    max_turns: Option<u64>,
    #[command(flatten)]
    who: ActorArgs,
}

pub(super) fn run(args: &StepNewArgs, steps: &StepContext<'_>, context: &CommandContext) -> StepsResult {
    let machine = steps.machine()?;
    let name = args.phases.as_deref().unwrap_or(&steps.project.config().steps.phases.0);
    let refuse = |problem: StepProblem| StepsError::Refused(vec![problem]);
    let set = machine.phase_set(name).ok_or_else(|| {
        let message = format!("There is no phase set {name:?}");
        refuse(StepProblem::invalid("phases", message, format!("The sets are {}", machine.set_names())))
    })?;
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    if args.id.is_empty() || args.id.starts_with('.') || !args.id.chars().all(plain) || args.id.len() > 100 {
        let fix = "Use letters, digits, '.', '_' and '-', as in 01-01";
        return Err(refuse(StepProblem::invalid(
            "id",
            format!("{:?} cannot be a file's name", args.id),
            fix,
        )));
    }
    let step = filled(&Step::new(&args.id, &args.project, set), args).map_err(StepsError::Refused)?;
    let path = steps.dir().join(format!("{}.json", args.id));
    let file = steps.confine_path(&path, &args.id).map_err(refuse)?;
    steps.create(&file, &step, &args.who.who)?;
    Ok(written(context, &file, &step, None))
}

/// Returns the step with the given arguments.
fn filled(step: &Step, args: &StepNewArgs) -> Result<Step, Vec<StepProblem>> {
    let mut value = step.value().clone();
    if let Some(description) = &args.description {
        value["description"] = json!(description);
    }
    if let Some(turns) = args.max_turns {
        value["max_turns"] = json!(turns);
    }
    if !args.allow.is_empty() || !args.forbid.is_empty() {
        value["boundary"] = json!({"allowed": args.allow, "forbidden": args.forbid});
    }
    Step::parse(&value.to_string())
}
