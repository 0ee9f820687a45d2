//! `lockstep init`.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use lockstep_config::Project;
use lockstep_git::Repository;
use lockstep_index::index::is_stored;
use lockstep_index::sweep::baseline;
use lockstep_store::StateDir;

use super::plan_output::PlanOutput;
use super::{CommandContext, CommandStatus};
use crate::env_vars::HOME;
use crate::error::{CommandError, CommandResult};
use crate::executable;
use crate::hook::HookClient;
use crate::output_format::OutputFormat;
use crate::project::ActiveProject;
use crate::setup::{
    Installation, LOCAL_SETTINGS, PlannedFileEdit, SHARED_SETTINGS, SetupPlan, build_cache, has_plugin,
    hook_blockers, plan_configuration, plan_git_hook, plan_plugin, plan_registration, plan_removal, root_of,
};
use crate::steps::ungated_commits::git;
use crate::workspace::background_build::start_index_build;

/// The time that `init` waits for the index. The index of a larger project is finished in the background.
const INDEX_WAIT: Duration = Duration::from_secs(2);

/// Set up a project: hooks, configuration and index
///
/// Sets up the git repository that this directory belongs to. Writes a short lockstep.toml, registers the hooks in the settings of
/// the clients that are found (Claude Code), and starts the build of the index. If the project has skills or agents, or uses a
/// framework, it also builds the session cache. Other content of existing files does not change. Running it again changes
/// nothing, or updates older entries. `lockstep uninstall` undoes it exactly.
///
/// Exit code 3 if the client's settings keep every hook from running; the message says which key or line to change.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lockstep init --dry-run        show what would be changed
  lockstep init                  set up the repository this directory belongs to
  lockstep init --git-hook       also check commits, in git's pre-commit hook
  lockstep init --plugin         install the hooks as a plugin, with skills and agents
  lockstep init --local          register for yourself only (.claude/settings.local.json)
  lockstep init --client claude  register even if the client is not found on this machine")]
pub(crate) struct InitArgs {
    /// Show what would be changed, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// The clients to register with, instead of those that are found
    #[arg(long, value_enum, value_name = "CLIENT")]
    client: Vec<HookClient>,
    /// Register in the settings that are not shared with the team
    #[arg(long)]
    local: bool,
    /// Set up the plugin instead of entries in the settings: a copy in .claude/skills/lockstep, which Claude Code loads
    ///
    /// Lockstep's entries in the project's settings are removed, since the plugin has the hooks. If the plugin is installed from a
    /// marketplace, no copy is made. A project that has the copy keeps it: `lockstep init` then updates it.
    #[arg(long, conflicts_with = "local")]
    plugin: bool,
    /// Have git ask the commit gate before every commit, in its pre-commit hook; a hook that is there runs first
    #[arg(long)]
    git_hook: bool,
}

pub(crate) fn run(args: &InitArgs, context: &CommandContext) -> CommandResult {
    let root = root_of(&context.directory)?;
    if !root.join(".git").exists() && Repository::is_bare(&root).unwrap_or_default() {
        return Err(CommandError::bare_repository(&root));
    }
    if root != context.directory && context.format == OutputFormat::Text {
        context
            .terminal
            .say_line(&format!("Setting up {}, which this directory belongs to.", root.display()));
    }
    let state = StateDir::for_project(&root);
    let clients = clients(args, &root);
    let plugin = args.plugin || has_plugin(&root);
    // Two processes that set the project up take turns.
    let directory = std::fs::File::open(&root).ok();
    if let Some(directory) = directory.as_ref().filter(|_| !args.dry_run) {
        let _ = directory.lock();
    }
    let former = Installation::load(&state)?;
    let mut plan = make_plan(args, &root, &clients, plugin, former.clone())?;
    let mut applied = Vec::new();
    if !args.dry_run {
        plan = apply_plan(plan, &former, &mut applied, |installation| {
            make_plan(args, &root, &clients, plugin, installation)
        })?;
    }
    applied.append(&mut plan.edits);
    plan.edits = applied;
    advise(&clients, plugin, &mut plan);
    let settings = if args.local { LOCAL_SETTINGS } else { SHARED_SETTINGS };
    if !clients.is_empty() && !plugin && !args.local {
        note_ignored(&root, &mut plan);
    }
    let blockers = match clients.is_empty() {
        true => Vec::new(),
        false => hook_blockers(&root, (!plugin).then_some(settings), &plan),
    };
    if !args.dry_run {
        build_cache(&root, false, &mut plan)?;
        plan.installation.save(&state)?;
        baseline(&root, &state)?;
        build_index(&root, &mut plan)?;
    } else {
        build_cache(&root, true, &mut plan)?;
    }
    let output = PlanOutput { root: &root, plan: &plan, dry_run: args.dry_run };
    output.show(context, "is set up already: nothing to change");
    if !blockers.is_empty() {
        return Err(no_hook_runs(&blockers));
    }
    if !args.dry_run && !plan.edits.is_empty() && !clients.is_empty() {
        output.next(
            context,
            "Restart running sessions, so that they see the hooks. `lockstep doctor` checks them.",
        );
    }
    Ok(CommandStatus::Success)
}

/// The number of times that a file which others change is read again.
const MAX_PLANS: usize = 100;

/// Plans what `init` writes.
fn make_plan(
    args: &InitArgs,
    root: &Path,
    clients: &[HookClient],
    plugin: bool,
    installation: Installation,
) -> CommandResult<SetupPlan> {
    let mut plan = SetupPlan { installation, ..SetupPlan::default() };
    plan_configuration(root, &mut plan)?;
    for client in clients {
        let HookClient::Claude = client;
        match plugin {
            true => {
                plan_removal(root, SHARED_SETTINGS, &mut plan)?;
                plan_removal(root, LOCAL_SETTINGS, &mut plan)?;
                plan_plugin(root, &mut plan)?;
            }
            false => {
                let settings = if args.local { LOCAL_SETTINGS } else { SHARED_SETTINGS };
                plan_registration(root, settings, &mut plan)?;
            }
        }
    }
    if args.git_hook {
        plan_git_hook(root, &mut plan)?;
    }
    Ok(plan)
}

/// Carries a plan out, and moves its edits to `applied`. When another process has changed a file since it was read, `again` plans
/// with the file as it is now. Returns the plan that was carried out.
fn apply_plan(
    mut plan: SetupPlan,
    former: &Installation,
    applied: &mut Vec<PlannedFileEdit>,
    again: impl Fn(Installation) -> CommandResult<SetupPlan>,
) -> CommandResult<SetupPlan> {
    let former = former.settings.clone();
    for _ in 0..MAX_PLANS {
        let mut changed = None;
        for edit in std::mem::take(&mut plan.edits) {
            if changed.is_none() && !edit.apply()? {
                changed = Some(edit.path.clone());
            } else if changed.is_none() {
                applied.push(edit);
            }
        }
        let mut installation = plan.installation.clone();
        if let Some(path) = changed {
            // The record of this file was planned for its old content.
            installation.settings.retain(|name, _| !path.ends_with(name));
            let known = former.iter().filter(|(name, _)| path.ends_with(name));
            installation.settings.extend(known.map(|(name, record)| (name.clone(), record.clone())));
            plan = again(installation)?;
        } else if applied.iter().all(PlannedFileEdit::is_applied) {
            return Ok(plan);
        } else {
            // Another process wrote over an edit, perhaps with a text that it had read before.
            let next = again(installation)?;
            if next.edits.is_empty() {
                return Ok(plan);
            }
            plan = next;
        }
    }
    Err(CommandError::store("another process changes the settings all the time")
        .hint("end it, and run `lockstep init` again"))
}

fn no_hook_runs(blockers: &[String]) -> CommandError {
    CommandError::config("no hook will run in this project")
        .because(blockers)
        .hint("change the settings as it says; `lockstep doctor` then checks that the hooks run")
}

/// Notes that git ignores the settings, so that the hooks are registered for this clone only.
fn note_ignored(root: &Path, plan: &mut SetupPlan) {
    if git(root, &["check-ignore", "--quiet", SHARED_SETTINGS]).is_ok() {
        plan.notes.push(format!(
            "git ignores {SHARED_SETTINGS}: the hooks are registered in this clone only. Others run `lockstep init` \
             themselves, or stop ignoring the file."
        ));
    }
}

/// Builds the index of a project that has none. If that takes longer than [`INDEX_WAIT`], it continues in the background.
fn build_index(root: &Path, plan: &mut SetupPlan) -> CommandResult<()> {
    let Some(project) = Project::of_directory(root)?.map(ActiveProject::load).transpose()? else {
        return Ok(());
    };
    if is_stored(&project.state)? {
        return Ok(());
    }
    let failed = |error| CommandError::store(format!("cannot start the build of the index: {error}"));
    let mut build = start_index_build(&project.root).map_err(failed)?;
    let started = Instant::now();
    while build.try_wait().map_err(failed)?.is_none() {
        if started.elapsed() > INDEX_WAIT {
            plan.notes.push(
                "The index is being built in the background; `lockstep index --check` says when it is complete."
                    .to_owned(),
            );
            return Ok(());
        }
        thread::sleep(Duration::from_millis(5));
    }
    Ok(())
}

/// The clients asked for, else those with a trace in the project or on this machine.
fn clients(args: &InitArgs, root: &Path) -> Vec<HookClient> {
    if !args.client.is_empty() {
        return args.client.clone();
    }
    if args.plugin {
        return vec![HookClient::Claude];
    }
    let at_home = || HOME.get().is_some_and(|home| Path::new(&home).join(".claude").is_dir());
    let claude = root.join(".claude").is_dir() || executable::find("claude").is_some() || at_home();
    if claude { vec![HookClient::Claude] } else { Vec::new() }
}

fn advise(clients: &[HookClient], plugin: bool, plan: &mut SetupPlan) {
    if clients.is_empty() {
        plan.notes.push(
            "No client was found, so no hook was registered. `lockstep init --client claude` registers them anyway; \
             `lockstep impact` and `lockstep refs` need none."
                .to_owned(),
        );
    } else if plugin && executable::self_command() != "lockstep" {
        plan.notes.push(
            "`lockstep` is not on PATH, and the plugin looks for it there only: put it on PATH before you start a session."
                .to_owned(),
        );
    } else if executable::self_command() != "lockstep" {
        plan.notes.push(format!(
            "`lockstep` is not on PATH, so the hooks call {}. Put it on PATH and run `lockstep init` again before you share \
             the settings.",
            executable::self_command()
        ));
    }
}
