//! git's pre-commit hook: gate 3 for everybody who commits. A hook that was there runs first and keeps its word.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use lockstep_setup::record::{Record, Restore, restore};
use serde::{Deserialize, Serialize};

use super::{FileEdit, Plan, read};
use crate::error::{CommandError, Kind};
use crate::program;
use crate::steps::commits::git;

/// What shows that a hook is ours.
const MARK: &str = "# lockstep: gate 3 before every commit";

/// Where the hook that was there before is kept, beside ours.
const CHAINED: &str = "pre-commit.before-lockstep";

/// The mode of a hook: without the bit for executing, git passes it over.
const EXECUTABLE: u32 = 0o755;

/// What `init --git-hook` did, so that `uninstall` undoes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct GitHook {
    /// The hook.
    path: PathBuf,
    /// What was there before, and what was written.
    record: Record,
    /// The mode of what was there before.
    mode: Option<u32>,
}

/// Plans the hook of the repository that the project at `root` belongs to.
pub(crate) fn plan_git_hook(root: &Path, plan: &mut Plan) -> Result<(), CommandError> {
    let hooks = hooks_dir(root)?;
    let path = hooks.join("pre-commit");
    refuse_link(&path)?;
    let before = read(&path)?;
    let after = script(root);
    if before.as_deref() == Some(&after) {
        return Ok(());
    }
    let ours = before.as_ref().is_some_and(|text| text.contains(MARK));
    let (original, mode) = match (&plan.installation.git_hook, ours) {
        // An older one of ours is brought up to date; what was there before it is still known.
        (Some(known), true) => (known.record.original.clone(), known.mode),
        (None, true) => (read(&hooks.join(CHAINED))?, mode_of(&hooks.join(CHAINED))),
        (_, false) => (before.clone(), mode_of(&path)),
    };
    if let Some(text) = before.as_ref().filter(|_| !ours) {
        let kept = hooks.join(CHAINED);
        if kept.exists() {
            return Err(CommandError::new(
                Kind::Configuration,
                format!("{} is there already", kept.display()),
            )
            .hint(
                "an earlier hook was put there; look at both, and remove the one that is no longer wanted",
            ));
        }
        plan.edits.push(FileEdit { path: kept, before: None, after: Some(text.clone()), mode });
        plan.notes.push(format!("The hook that was there runs first; it is now {CHAINED}."));
    }
    let record = Record::new(original.as_deref(), &after);
    plan.installation.git_hook = Some(GitHook { path: path.clone(), record, mode });
    plan.edits.push(FileEdit { path, before, after: Some(after), mode: Some(EXECUTABLE) });
    Ok(())
}

/// The mode of a hook that is there: one that git passes over is to be passed over still.
fn mode_of(path: &Path) -> Option<u32> {
    Some(fs::metadata(path).ok()?.permissions().mode() & 0o7777)
}

/// Plans taking the hook out, and the one that was there before back in.
pub(crate) fn plan_git_hook_removal(plan: &mut Plan) -> Result<(), CommandError> {
    let Some(GitHook { path, record, mode }) = plan.installation.git_hook.take() else { return Ok(()) };
    let Some(before) = read(&path)? else { return Ok(()) };
    let after = match restore(&record, &before) {
        Some(Restore::Remove) => None,
        Some(Restore::Write(text)) => Some(text),
        None => {
            plan.notes
                .push(format!("{} was edited since `lockstep init` wrote it: it stays.", path.display()));
            return Ok(());
        }
    };
    let chained = path.with_file_name(CHAINED);
    let kept = read(&chained)?;
    plan.edits.push(FileEdit { path, before: Some(before), after, mode });
    if kept.is_some() {
        plan.edits.push(FileEdit { path: chained, before: kept, after: None, mode: None });
    }
    Ok(())
}

/// Whether git asks the gate before a commit in the project at `root`; `None` without a repository.
pub(crate) fn git_hook_asks(root: &Path) -> Option<bool> {
    let hooks = git(root, &["rev-parse", "--git-path", "hooks"]).ok()?;
    let path = root.join(hooks.trim_end_matches('\n')).join("pre-commit");
    let asks = fs::read_to_string(&path).is_ok_and(|text| text.contains("gate commit --git-hook"));
    let runs = mode_of(&path).is_some_and(|mode| mode & 0o111 != 0);
    Some(asks && runs)
}

/// Where git looks for hooks: `core.hooksPath`, else the repository's own, of a linked worktree too.
fn hooks_dir(root: &Path) -> Result<PathBuf, CommandError> {
    let asked = |arguments: &[&str]| {
        git(root, arguments).map(|text| PathBuf::from(text.trim_end_matches('\n'))).map_err(|why| {
            CommandError::new(
                Kind::Configuration,
                format!("there is no repository to put a hook into: {why}"),
            )
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
    Err(CommandError::new(
        Kind::Configuration,
        format!(
            "core.hooksPath leads out of the repository, to {}: other repositories use it too",
            hooks.display()
        ),
    )
    .hint("call `lockstep gate commit --git-hook` from the hook there; it does nothing in other projects"))
}

fn refuse_link(path: &Path) -> Result<(), CommandError> {
    if fs::symlink_metadata(path).is_ok_and(|meta| meta.is_symlink()) {
        return Err(CommandError::new(Kind::Configuration, format!("{} is a symbolic link", path.display()))
            .hint("call `lockstep gate commit --git-hook` at the end of the hook it leads to"));
    }
    Ok(())
}

fn script(root: &Path) -> String {
    let prefix = git(root, &["rev-parse", "--show-prefix"]).unwrap_or_default();
    let prefix = prefix.trim_end().trim_end_matches('/');
    let place = if prefix.is_empty() { String::new() } else { format!(" -C {}", program::quoted(prefix)) };
    let program = program::own_name();
    format!(
        "#!/bin/sh\n{MARK}\n\
         # `lockstep uninstall` takes it out again. A hook that was here before runs first.\n\
         before=\"$(dirname \"$0\")/{CHAINED}\"\n\
         if [ -x \"$before\" ]; then\n    \"$before\" \"$@\" || exit $?\nfi\n\
         if ! command -v {program} >/dev/null 2>&1; then\n    \
         echo \"lockstep: {} was not found, so the commit gate cannot run and the commit is refused.\" >&2\n    \
         echo \"lockstep: install it or put it on PATH; 'git commit --no-verify' goes past the gate, which the next audit reports.\" >&2\n    \
         exit 1\nfi\n\
         {program}{place} gate commit --git-hook\n\
         code=$?\n\
         if [ $code -gt 1 ]; then\n    \
         echo \"lockstep: the commit gate could not decide (exit code $code), so the commit is refused.\" >&2\nfi\n\
         exit $code\n",
        program.trim_matches('\'')
    )
}
