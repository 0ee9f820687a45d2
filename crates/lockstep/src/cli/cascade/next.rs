//! `lockstep cascade next`.

use serde::Serialize;

use super::WhichArgs;
use crate::cascade::{Cascades, Handout, hand};
use crate::cli::{Answer, Context};
use crate::error::CommandError;
use lockstep_cascade::inspect::catch_up;

/// Print the groups to run now, each with the prompt for its agent
///
/// The groups that wait are handed out. Those that were handed out before and are not done are printed again, so that a Lead that
/// lost its context can go on.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lockstep cascade next
  lockstep cascade next --format json
  lockstep cascade next --analyst         the prompt for a second opinion on convergence")]
pub(crate) struct NextArgs {
    #[command(flatten)]
    which: WhichArgs,
    /// Print the prompt for a second opinion on what the iteration changed, and hand out nothing
    #[arg(long)]
    analyst: bool,
}

#[derive(Serialize)]
struct Shown {
    id: i64,
    active: bool,
    groups: Vec<Group>,
}

#[derive(Serialize)]
struct Group {
    #[serde(flatten)]
    handout: Handout,
    handed_before: bool,
}

pub(crate) fn run(args: &NextArgs, context: &Context, cascades: &Cascades) -> Result<Answer, CommandError> {
    let mut opened = cascades.needed(&args.which.which())?;
    let id = opened.record.id;
    let mut disk = cascades.disk(&opened, None)?;
    let state = &mut opened.state;
    if args.analyst {
        let prompt = disk.analyst(state, "Answer in text: the list, and how you found it.")?;
        context.terminal.say(&context.format.render(&prompt.text).unwrap_or(prompt.text));
        return Ok(Answer::Yes);
    }
    catch_up(state, &mut disk)?;
    let mut groups = Vec::new();
    let handed: Vec<String> = state.handed().map(|group| group.id.clone()).collect();
    let waiting: Vec<String> = state.waiting().map(|group| group.id.clone()).collect();
    for group in handed.iter().chain(&waiting) {
        let found = state.group(group).cloned().expect("it is one of the iteration's");
        let handout = disk.handout(state, &found, &delivery(group))?;
        let handed_before = handed.contains(group);
        if !handed_before {
            hand(state, &mut disk, group)?;
        }
        groups.push(Group { handout, handed_before });
    }
    let shown = Shown { id, active: state.is_active(), groups };
    context.terminal.say(&context.format.render(&shown).unwrap_or_else(|| text(&shown)));
    Ok(Answer::Yes)
}

fn delivery(group: &str) -> String {
    format!(
        "Return both to the Lead. The Lead then runs `lockstep cascade done {group} --status complete` (or `failed`), which looks at \
         the files itself. For a file that needs no change: `lockstep cascade done --not-needed FILE --why REASON`."
    )
}

fn text(shown: &Shown) -> String {
    if !shown.active {
        return format!("Cascade {} is over: `lockstep cascade report` shows how it ended.\n", shown.id);
    }
    let parts: Vec<String> = shown.groups.iter().map(part).collect();
    parts.join("\n")
}

fn part(group: &Group) -> String {
    let handout = &group.handout;
    let again = if group.handed_before { ", handed out before" } else { "" };
    format!(
        "==> {} for {}, attempt {}{again}, {} of at most {} characters <==\n{}",
        handout.group, handout.role, handout.attempt, handout.chars, handout.budget_chars, handout.prompt
    )
}
