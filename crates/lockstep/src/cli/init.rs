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
    Installation, LOCAL_SETTINGS, Plan, SHARED_SETTINGS, build_cache, has_plugin, plan_configuration,
    plan_git_hook, plan_plugin, plan_registration, plan_removal, root_of,
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
  lockstep init --plugin         let Claude Code's plugin bring the hooks, with skills, agents and tools
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
    /// Set up the plugin instead of entries in the settings: a copy in .claude/skills/lockstep, which Claude Code loads by itself
    ///
    /// Entries of Lockstep's in the project's settings are taken out, since the plugin brings the hooks. Where the plugin is installed
    /// from a marketplace, no copy is made. A project that has the copy keeps it: `lockstep init` then brings it up to date.
    #[arg(long, conflicts_with = "local")]
    plugin: bool,
    /// Have git ask the commit gate before every commit, in its pre-commit hook; a hook that is there runs first
    #[arg(long)]
    git_hook: bool,
}

pub(crate) fn run(args: &InitArgs, context: &Context) -> Result<Answer, CommandError> {
    let root = root_of(&context.directory)?;
    let state = StateDir::of(&root);
    let clients = clients(args, &root);
    let plugin = args.plugin || has_plugin(&root);
    let mut plan = Plan { installation: Installation::load(&state)?, ..Plan::default() };
    plan_configuration(&root, &mut plan)?;
    for client in &clients {
        let Client::Claude = client;
        match plugin {
            true => {
                plan_removal(&root, SHARED_SETTINGS, &mut plan)?;
                plan_removal(&root, LOCAL_SETTINGS, &mut plan)?;
                plan_plugin(&root, &mut plan)?;
            }
            false => {
                let settings = if args.local { LOCAL_SETTINGS } else { SHARED_SETTINGS };
                plan_registration(&root, settings, &mut plan)?;
            }
        }
    }
    if args.git_hook {
        plan_git_hook(&root, &mut plan)?;
    }
    advise(&clients, plugin, &mut plan);
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
    if args.plugin {
        return vec![Client::Claude];
    }
    let at_home = || HOME.get().is_some_and(|home| Path::new(&home).join(".claude").is_dir());
    let claude = root.join(".claude").is_dir() || program::find("claude").is_some() || at_home();
    if claude { vec![Client::Claude] } else { Vec::new() }
}

fn advise(clients: &[Client], plugin: bool, plan: &mut Plan) {
    if clients.is_empty() {
        plan.notes.push(
            "No client was found. `lockstep init --client claude` registers the hooks anyway.".to_owned(),
        );
    } else if plugin && program::own_name() != "lockstep" {
        plan.notes.push(
            "`lockstep` is not on PATH, and the plugin looks for it there only: put it on PATH before you start a session."
                .to_owned(),
        );
    } else if program::own_name() != "lockstep" {
        plan.notes.push(format!(
            "`lockstep` is not on PATH, so the hooks call {}. Put it on PATH and run `lockstep init` again before you share \
             the settings.",
            program::own_name()
        ));
    }
}
