//! git's own hooks: gate 3 for every commit. `pre-commit` runs before a commit, `reference-transaction`
//! before a branch moves. An existing hook runs first, and its refusal counts.

use std::fs;
use std::path::{Path, PathBuf};

use lockstep_setup::install_record::{InstallRecord, RestoreAction, restore};
use serde::{Deserialize, Serialize};

use super::{PlannedFileEdit, SetupPlan, read};
use crate::error::{CommandError, CommandResult};
use crate::executable;
use crate::steps::ungated_commits::git;

/// The mode of a hook: without the bit for executing, git passes it over.
const EXECUTABLE: u32 = 0o755;

/// A git hook that runs the gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Hook {
    PreCommit,
    ReferenceTransaction,
}

impl Hook {
    const ALL: [Self; 2] = [Self::PreCommit, Self::ReferenceTransaction];

    fn name(self) -> &'static str {
        match self {
            Self::PreCommit => "pre-commit",
            Self::ReferenceTransaction => "reference-transaction",
        }
    }

    /// The line that shows that a hook is ours.
    fn mark(self) -> &'static str {
        match self {
            Self::PreCommit => "# lockstep: gate 3 before every commit",
            Self::ReferenceTransaction => "# lockstep: gate 3 before every move of a branch",
        }
    }

    /// The command that runs the gate.
    fn command(self) -> &'static str {
        match self {
            Self::PreCommit => "gate commit --git-hook",
            Self::ReferenceTransaction => "gate refs --git-hook",
        }
    }

    /// The name of the hook that was there before, beside ours.
    fn chained(self) -> String {
        format!("{}.before-lockstep", self.name())
    }

    fn installed(self, plan: &mut SetupPlan) -> &mut Option<InstalledGitHook> {
        match self {
            Self::PreCommit => &mut plan.installation.git_hook,
            Self::ReferenceTransaction => &mut plan.installation.ref_hook,
        }
    }
}

/// A hook that `init --git-hook` wrote, so that `uninstall` undoes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct InstalledGitHook {
    path: PathBuf,
    /// The original content and the written content.
    record: InstallRecord,
    /// The mode of the replaced file.
    mode: Option<u32>,
}

/// Plans the hooks of the repository of the project at `root`.
pub(crate) fn plan_git_hook(root: &Path, plan: &mut SetupPlan) -> CommandResult<()> {
    let hooks = hooks_dir(root)?;
    Hook::ALL.into_iter().try_for_each(|hook| plan_hook(hook, root, &hooks, plan))
}

fn plan_hook(hook: Hook, root: &Path, hooks: &Path, plan: &mut SetupPlan) -> CommandResult<()> {
    let path = hooks.join(hook.name());
    refuse_link(hook, &path)?;
    let before = read(&path)?;
    let after = script(hook, root);
    if before.as_deref() == Some(&after) {
        return Ok(());
    }
    let chained_path = hooks.join(hook.chained());
    let ours = before.as_ref().is_some_and(|text| text.contains(hook.mark()));
    let (original, mode) = match (hook.installed(plan), ours) {
        // An older hook of ours is updated; the one that it replaced is still known.
        (Some(known), true) => (known.record.original.clone(), known.mode),
        (None, true) => (read(&chained_path)?, mode_of(&chained_path)),
        (_, false) => (before.clone(), mode_of(&path)),
    };
    if let Some(text) = before.as_ref().filter(|_| !ours) {
        if chained_path.exists() {
            return Err(CommandError::config(format!("{} is there already", chained_path.display())).hint(
                "an earlier hook was put there; look at both, and remove the one that is no longer wanted",
            ));
        }
        plan.edits.push(PlannedFileEdit {
            path: chained_path,
            before: None,
            after: Some(text.clone()),
            mode,
        });
        plan.notes.push(format!("The hook that was there runs first; it is now {}.", hook.chained()));
    }
    let record = InstallRecord::new(original.as_deref(), &after);
    *hook.installed(plan) = Some(InstalledGitHook { path: path.clone(), record, mode });
    plan.edits.push(PlannedFileEdit { path, before, after: Some(after), mode: Some(EXECUTABLE) });
    Ok(())
}

/// The mode of a hook that is there: one that git passes over is to be passed over still.
fn mode_of(path: &Path) -> Option<u32> {
    Some(lockstep_fs::mode_of(&fs::metadata(path).ok()?))
}

/// Plans taking the hooks out, and those that were there before back in.
pub(crate) fn plan_git_hook_removal(plan: &mut SetupPlan) -> CommandResult<()> {
    Hook::ALL.into_iter().try_for_each(|hook| plan_removal(hook, plan))
}

fn plan_removal(hook: Hook, plan: &mut SetupPlan) -> CommandResult<()> {
    let Some(InstalledGitHook { path, record, mode }) = hook.installed(plan).take() else { return Ok(()) };
    let Some(before) = read(&path)? else { return Ok(()) };
    let after = match restore(&record, &before) {
        Some(RestoreAction::Remove) => None,
        Some(RestoreAction::Write(text)) => Some(text),
        None => {
            plan.notes
                .push(format!("{} was edited since `lockstep init` wrote it: it stays.", path.display()));
            return Ok(());
        }
    };
    let chained = path.with_file_name(hook.chained());
    let chained_text = read(&chained)?;
    plan.edits.push(PlannedFileEdit { path, before: Some(before), after, mode });
    if chained_text.is_some() {
        plan.edits.push(PlannedFileEdit { path: chained, before: chained_text, after: None, mode: None });
    }
    Ok(())
}

/// The hooks that do not ask the gate in the project at `root`; `None` without a repository.
pub(crate) fn silent_git_hooks(root: &Path) -> Option<Vec<&'static str>> {
    let hooks = git(root, &["rev-parse", "--git-path", "hooks"]).ok()?;
    let hooks = root.join(hooks.trim_end_matches('\n'));
    let asks = |hook: &Hook| {
        let path = hooks.join(hook.name());
        let asks = lockstep_fs::read_to_string(&path).is_ok_and(|text| text.contains(hook.command()));
        asks && mode_of(&path).is_some_and(|mode| mode & 0o111 != 0)
    };
    Some(Hook::ALL.iter().filter(|hook| !asks(hook)).map(|hook| hook.name()).collect())
}

/// Returns the file and the program of each hook of git that `init --git-hook` wrote, as the script names it.
pub(crate) fn git_hook_programs(root: &Path) -> Vec<(PathBuf, String)> {
    let Ok(hooks) = hooks_dir(root) else { return Vec::new() };
    let programs = Hook::ALL.iter().filter_map(|hook| {
        let path = hooks.join(hook.name());
        let text = lockstep_fs::read_to_string(&path).ok()?;
        let (_, rest) = text.split_once(hook.mark())?.1.split_once("command -v ")?;
        Some((path, rest.split(" >/dev/null").next()?.to_owned()))
    });
    programs.collect()
}

/// Returns git's directory of hooks: `core.hooksPath`, else the repository's own, also for a linked worktree.
fn hooks_dir(root: &Path) -> CommandResult<PathBuf> {
    let asked = |arguments: &[&str]| {
        git(root, arguments).map(|text| PathBuf::from(text.trim_end_matches('\n'))).map_err(|why| {
            CommandError::config(format!("there is no repository to put a hook into: {why}"))
                .hint("run `git init` first, or leave --git-hook out")
        })
    };
    let top = asked(&["rev-parse", "--show-toplevel"])?;
    let common = top.join(asked(&["rev-parse", "--git-common-dir"])?);
    let common = if common.is_absolute() { common } else { root.join(common) };
    let hooks = asked(&["rev-parse", "--git-path", "hooks"])?;
    let hooks = if hooks.is_absolute() { hooks } else { root.join(hooks) };
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let inside = real(&hooks).starts_with(real(&top)) || real(&hooks).starts_with(real(&common));
    if inside {
        return Ok(hooks);
    }
    Err(CommandError::config(format!(
        "core.hooksPath points outside the repository, to {}: other repositories use it too",
        hooks.display()
    ))
    .hint("call `lockstep gate commit --git-hook` from the hook there; it does nothing in other projects"))
}

fn refuse_link(hook: Hook, path: &Path) -> CommandResult<()> {
    if fs::symlink_metadata(path).is_ok_and(|meta| meta.is_symlink()) {
        return Err(CommandError::config(format!("{} is a symbolic link", path.display()))
            .hint(format!("call `lockstep {}` at the end of the hook it leads to", hook.command())));
    }
    Ok(())
}

fn script(hook: Hook, root: &Path) -> String {
    let prefix = git(root, &["rev-parse", "--show-prefix"]).unwrap_or_default();
    let prefix = prefix.trim_end().trim_end_matches('/');
    let program = executable::self_command();
    match hook {
        Hook::PreCommit => {
            let place = if prefix.is_empty() {
                String::new()
            } else {
                format!(" -C {}", executable::shell_quote(prefix))
            };
            pre_commit(&program, &place)
        }
        Hook::ReferenceTransaction => {
            let below = if prefix.is_empty() {
                String::new()
            } else {
                format!(" --below {}", executable::shell_quote(prefix))
            };
            reference_transaction(&program, &below)
        }
    }
}

fn pre_commit(program: &str, place: &str) -> String {
    let (mark, chained) = (Hook::PreCommit.mark(), Hook::PreCommit.chained());
    let command = Hook::PreCommit.command();
    format!(
        "#!/bin/sh\n{mark}\n\
         # `lockstep uninstall` takes it out again. A hook that was here before runs first.\n\
         before=\"$(dirname \"$0\")/{chained}\"\n\
         if [ -x \"$before\" ]; then\n    \"$before\" \"$@\" || exit $?\nfi\n\
         if ! command -v {program} >/dev/null 2>&1; then\n    \
         echo \"lockstep: {} was not found, so the commit gate cannot run and the commit is refused.\" >&2\n    \
         echo \"lockstep: install it or put it on PATH, or remove the hooks pre-commit and reference-transaction.\" >&2\n    \
         exit 1\nfi\n\
         {program}{place} {command}\n\
         code=$?\n\
         if [ $code -gt 1 ]; then\n    \
         echo \"lockstep: the commit gate could not decide (exit code $code), so the commit is refused.\" >&2\nfi\n\
         exit $code\n",
        program.trim_matches('\'')
    )
}

/// git runs it for every ref: changes that concern no branch end in the shell.
fn reference_transaction(program: &str, below: &str) -> String {
    let hook = Hook::ReferenceTransaction;
    let (mark, chained, command) = (hook.mark(), hook.chained(), hook.command());
    format!(
        "#!/bin/sh\n{mark}\n\
         # `lockstep uninstall` takes it out again. A hook that was here before runs first.\n\
         before=\"$(dirname \"$0\")/{chained}\"\n\
         moves=$(cat)\n\
         if [ -x \"$before\" ]; then\n    printf '%s\\n' \"$moves\" | \"$before\" \"$@\" || exit $?\nfi\n\
         [ \"$1\" = prepared ] || exit 0\n\
         case \"$moves\" in *' refs/heads/'* | *HEAD*) ;; *) exit 0 ;; esac\n\
         if ! command -v {program} >/dev/null 2>&1; then\n    \
         echo \"lockstep: {} was not found, so the commit gate cannot run and the branch is not moved.\" >&2\n    \
         exit 1\nfi\n\
         printf '%s\\n' \"$moves\" | {program} {command}{below}\n\
         code=$?\n\
         if [ $code -gt 1 ]; then\n    \
         echo \"lockstep: the commit gate could not decide (exit code $code), so the branch is not moved.\" >&2\nfi\n\
         exit $code\n",
        program.trim_matches('\'')
    )
}
