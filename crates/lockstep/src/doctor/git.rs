//! Checks the git repository of the project.

use std::path::Path;

use lockstep_git::Repository;

use super::DoctorCheck;

const NAME: &str = "git";

/// Checks that `root` is in a git repository, and that git can be run.
pub(super) fn check(root: &Path) -> DoctorCheck {
    match Repository::worktree_root_of(root) {
        Ok(Some(top)) => DoctorCheck::ok(NAME, format!("{} is the repository", top.display())),
        Ok(None) => match Repository::refusal(root) {
            Some(refusal) => DoctorCheck::failed(NAME, refusal.to_string(), "as the message says"),
            None => DoctorCheck::failed(
                NAME,
                format!(
                    "{} is not in a git repository. Without one, the original content of changed files is often \
                     unknown, ignored files are not recognised, and `lockstep impact` needs the names of the \
                     changed files",
                    root.display()
                ),
                "run `git init` there and commit the files",
            ),
        },
        Err(error) => DoctorCheck::failed(
            NAME,
            format!("git cannot be run, so the original content of changed files is not known: {error}"),
            "install git, or correct what the message names",
        ),
    }
}
