//! Steps: is the trail intact, are the tables valid, and does git ask the commit gate?

use super::DoctorCheck;
use crate::clock;
use crate::project::ActiveProject;
use crate::setup::silent_git_hooks;
use crate::steps::StepContext;

/// Nothing where the project has no steps.
pub(super) fn check(project: &ActiveProject) -> Vec<DoctorCheck> {
    let steps = StepContext::new(project, clock::now());
    if !steps.has_steps() {
        return Vec::new();
    }
    vec![tables(&steps), trail(&steps), git_hook(project)]
}

fn tables(steps: &StepContext<'_>) -> DoctorCheck {
    const NAME: &str = "steps";
    let tables = steps.machine().map(drop).and(steps.commands().map(drop)).and(steps.definitions().map(drop));
    match tables {
        Ok(()) => DoctorCheck::ok(
            NAME,
            format!(
                "{} files that may be steps, and their tables can be used",
                steps.list_step_files().len()
            ),
        ),
        Err(error) => DoctorCheck::failed(
            NAME,
            error.to_string(),
            "mend the file, or remove it to have the built-in one",
        ),
    }
}

fn trail(steps: &StepContext<'_>) -> DoctorCheck {
    const NAME: &str = "audit trail";
    match steps.read_trails() {
        Ok(read) if !read.broken.is_empty() => DoctorCheck::failed(
            NAME,
            read.broken.join("; "),
            "restore its files from where they are kept, or accept it as it is: `lockstep audit accept --why …`",
        ),
        Ok(read) if !read.unverified.is_empty() => DoctorCheck::warning(
            NAME,
            read.unverified.join("; "),
            "`lockstep audit accept --why …` accepts them, on record",
        ),
        Ok(_) => DoctorCheck::ok(NAME, "it is whole"),
        Err(error) => DoctorCheck::failed(NAME, error.to_string(), "make the files of the trail readable"),
    }
}

fn git_hook(project: &ActiveProject) -> DoctorCheck {
    const NAME: &str = "commit gate";
    match silent_git_hooks(&project.root) {
        Some(silent) if silent.is_empty() => {
            DoctorCheck::ok(NAME, "git asks it before every commit and every move of a branch")
        }
        Some(silent) if silent == ["reference-transaction"] => DoctorCheck::warning(
            NAME,
            "git asks it before every commit, and not before other moves of a branch: `--no-verify`, merges and plumbing pass no gate",
            "`lockstep init --git-hook` has git ask",
        ),
        Some(_) => DoctorCheck::warning(
            NAME,
            "git does not ask it: commits by people, and by programs that agents start, pass no gate",
            "`lockstep init --git-hook` has git ask",
        ),
        None => DoctorCheck::skipped(NAME, "there is no repository"),
    }
}
