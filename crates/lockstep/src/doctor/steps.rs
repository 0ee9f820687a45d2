//! Steps: is the trail whole, are the tables usable, and does git ask the commit gate?

use super::Check;
use crate::clock;
use crate::project::ActiveProject;
use crate::setup::git_hook_asks;
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
    match steps.words() {
        Ok((_, broken)) if broken.is_empty() => Check::ok(NAME, "it is whole"),
        Ok((_, broken)) => {
            Check::failed(NAME, broken.join("; "), "restore its files from where they are kept")
        }
        Err(error) => Check::failed(NAME, error.to_string(), "make the files of the trail readable"),
    }
}

fn git_hook(project: &ActiveProject) -> Check {
    const NAME: &str = "commit gate";
    match git_hook_asks(&project.root) {
        Some(true) => Check::ok(NAME, "git asks it before every commit"),
        Some(false) => Check::warning(
            NAME,
            "git does not ask it: commits by people, and by programs that agents start, pass no gate",
            "`lockstep init --git-hook` has git ask",
        ),
        None => Check::skipped(NAME, "there is no repository"),
    }
}
