//! Steps: is the trail intact, are the tables valid, and does git ask the commit gate?

use super::Check;
use crate::clock;
use crate::project::ActiveProject;
use crate::setup::silent_git_hooks;
use crate::steps::Steps;

/// Nothing where the project has no steps.
pub(super) fn check(project: &ActiveProject) -> Vec<Check> {
    let steps = Steps::new(project, clock::now());
    if !steps.are_used() {
        return Vec::new();
    }
    vec![tables(&steps), trail(&steps), git_hook(project)]
}

fn tables(steps: &Steps<'_>) -> Check {
    const NAME: &str = "steps";
    let tables = steps.machine().map(drop).and(steps.commands().map(drop)).and(steps.definitions().map(drop));
    match tables {
        Ok(()) => Check::ok(
            NAME,
            format!("{} files that may be steps, and their tables can be used", steps.all().len()),
        ),
        Err(error) => {
            Check::failed(NAME, error.to_string(), "mend the file, or remove it to have the built-in one")
        }
    }
}

fn trail(steps: &Steps<'_>) -> Check {
    const NAME: &str = "audit trail";
    match steps.read_trails() {
        Ok(read) if !read.broken.is_empty() => Check::failed(
            NAME,
            read.broken.join("; "),
            "restore its files from where they are kept, or accept it as it is: `lockstep audit accept --why …`",
        ),
        Ok(read) if !read.unverified.is_empty() => Check::warning(
            NAME,
            read.unverified.join("; "),
            "`lockstep audit accept --why …` accepts them, on record",
        ),
        Ok(_) => Check::ok(NAME, "it is whole"),
        Err(error) => Check::failed(NAME, error.to_string(), "make the files of the trail readable"),
    }
}

fn git_hook(project: &ActiveProject) -> Check {
    const NAME: &str = "commit gate";
    match silent_git_hooks(&project.root) {
        Some(silent) if silent.is_empty() => {
            Check::ok(NAME, "git asks it before every commit and every move of a branch")
        }
        Some(silent) if silent == ["reference-transaction"] => Check::warning(
            NAME,
            "git asks it before every commit, and not before other moves of a branch: `--no-verify`, merges and plumbing pass no gate",
            "`lockstep init --git-hook` has git ask",
        ),
        Some(_) => Check::warning(
            NAME,
            "git does not ask it: commits by people, and by programs that agents start, pass no gate",
            "`lockstep init --git-hook` has git ask",
        ),
        None => Check::skipped(NAME, "there is no repository"),
    }
}
