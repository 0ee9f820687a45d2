//! `lockstep init`.

use std::path::Path;

use lockstep_index::sweep::baseline;
use lockstep_store::StateDir;

use super::planned::Planned;
use super::{Answer, Context};
use crate::env_vars::HOME;
use crate::error::CommandError;
use crate::hook::Client;
use crate::program;
use crate::setup::{
    Installation, LOCAL_SETTINGS, Plan, SHARED_SETTINGS, build_cache, plan_configuration, plan_git_hook,
    plan_registration, root_of,
};

/// Set up a project for its clients
///
/// Writes lockstep.toml, with every key and its default in comments, and registers the hooks in the settings of the clients
/// that are found. Where the project has skills or agents, or uses a framework, it builds the session cache. What is there stays
/// as it is. Running it again changes nothing, or brings older entries up to date.
/// `lockstep uninstall` undoes it exactly.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lockstep init --dry-run        show what would be changed
  lockstep init                  set up the repository this directory belongs to
  lockstep init --git-hook       have commits pass the gate of the steps, too
  lockstep init --local          register for yourself only (.claude/settings.local.json)
  lockstep init --client claude  register even if the client is not found on this machine")]
pub(crate) struct InitArgs {
    /// Show what would be changed, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// The clients to register with, instead of those that are found
    #[arg(long, value_enum, value_name = "CLIENT")]
    client: Vec<Client>,
    /// Register in the settings that are not shared with the team
    #[arg(long)]
    local: bool,
    /// Have git ask the commit gate before every commit, in its pre-commit hook; a hook that is there runs first
    #[arg(long)]
    git_hook: bool,
}

pub(crate) fn run(args: &InitArgs, context: &Context) -> Result<Answer, CommandError> {
    let root = root_of(&context.directory)?;
    let state = StateDir::of(&root);
    let clients = clients(args, &root);
    let mut plan = Plan { installation: Installation::load(&state)?, ..Plan::default() };
    plan_configuration(&root, &mut plan)?;
    for client in &clients {
        let Client::Claude = client;
        plan_registration(&root, if args.local { LOCAL_SETTINGS } else { SHARED_SETTINGS }, &mut plan)?;
    }
    if args.git_hook {
        plan_git_hook(&root, &mut plan)?;
    }
    advise(&clients, &mut plan);
    if !args.dry_run {
        for edit in &plan.edits {
            edit.apply()?;
        }
        build_cache(&root, false, &mut plan)?;
        plan.installation.save(&state)?;
        baseline(&root, &state)?;
    } else {
        build_cache(&root, true, &mut plan)?;
    }
    let shown = Planned { root: &root, plan: &plan, dry_run: args.dry_run };
    shown.show(context, "is set up already: nothing to change");
    if !args.dry_run && !plan.edits.is_empty() {
        shown.next(
            context,
            "Restart running sessions, so that they see the hooks. `lockstep doctor` checks them.",
        );
    }
    Ok(Answer::Yes)
}

/// The clients asked for, else those with a trace in the project or on this machine.
fn clients(args: &InitArgs, root: &Path) -> Vec<Client> {
    if !args.client.is_empty() {
        return args.client.clone();
    }
    let at_home = || HOME.get().is_some_and(|home| Path::new(&home).join(".claude").is_dir());
    let claude = root.join(".claude").is_dir() || program::find("claude").is_some() || at_home();
    if claude { vec![Client::Claude] } else { Vec::new() }
}

fn advise(clients: &[Client], plan: &mut Plan) {
    if clients.is_empty() {
        plan.notes.push(
            "No client was found. `lockstep init --client claude` registers the hooks anyway.".to_owned(),
        );
    } else if program::own_name() != "lockstep" {
        plan.notes.push(format!(
            "`lockstep` is not on PATH, so the hooks call {}. Put it on PATH and run `lockstep init` again before you share \
             the settings.",
            program::own_name()
        ));
    }
}
