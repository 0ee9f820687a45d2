//! Commits in git: the content of the next one, and the record of the gate's decision. Never used by a
//! client's hook.

use std::path::{Path, PathBuf};
use std::process::Command;

use lockstep_git::{SAFE_SETTINGS, WITHOUT_HOOKS, output_of_git};
use lockstep_steps::gate::GateResult;
use lockstep_steps::step::Step;

use super::audit::event;
use super::gates::ChangedPath;
use super::{StepContext, StepsError, StepsResult};
use crate::env_vars::{GIT_DIR, GIT_INDEX_FILE};

/// The parent and the tree that a commit is made from.
#[derive(Debug, Clone, PartialEq, Eq)]
struct CommitBase {
    parent: Option<String>,
    tree: Option<String>,
}

impl StepContext<'_> {
    /// The files that the commit being made changes, from the project's root. Bytes that are no text are replaced.
    pub(crate) fn staged_files(&self) -> StepsResult<Vec<String>> {
        let text = self.git(&["diff", "--cached", "--name-only", "--no-renames", "--relative", "-z"])?;
        Ok(names(&text))
    }

    /// The files that differ between two trees, from the project's root.
    pub(crate) fn changed_between(&self, from: &str, to: &str) -> StepsResult<Vec<String>> {
        let text =
            self.git(&["diff-tree", "-r", "--name-only", "--no-renames", "--relative", "-z", from, to])?;
        Ok(names(&text))
    }

    /// The tree of the index: the content of the commit being made.
    pub(crate) fn staged_tree(&self) -> StepsResult<String> {
        Ok(self.git(&["write-tree"])?.trim().to_owned())
    }

    /// Returns all differences from the content at the beginning of the step. `None` if that is unknown.
    pub(crate) fn changed_since(&self, step: Option<&Step>, start: Option<&str>) -> Option<Vec<ChangedPath>> {
        let begun = step.is_some_and(|step| !step.is_pristine());
        let from = match start.filter(|_| begun) {
            Some(tree) => tree.to_owned(),
            None => self.head_tree().ok()?,
        };
        let now = self.snapshot().ok()?;
        let names = self.changed_between(&from, &now).ok()?;
        Some(names.into_iter().map(|name| (name.clone(), Some(name))).collect())
    }

    /// Returns the tree of the last commit; the empty tree if there is none.
    pub(super) fn head_tree(&self) -> StepsResult<String> {
        match self.git(&["rev-parse", "--verify", "--quiet", "HEAD^{tree}"]) {
            Ok(tree) => Ok(tree.trim().to_owned()),
            Err(_) => Ok(self.git(&["hash-object", "-t", "tree", "--stdin"])?.trim().to_owned()),
        }
    }

    /// The tree of all files of the project as they are on disk. Flags that hide changes from git (`skip-worktree`,
    /// `assume-unchanged`) and times of files have no effect.
    pub(crate) fn snapshot(&self) -> StepsResult<String> {
        let index = self.git(&["rev-parse", "--path-format=absolute", "--git-path", "index"])?;
        let directory = self.project.state.ensure_dir("")?;
        let copy = directory.join(format!("snapshot-{}.index", std::process::id()));
        let _removed = RemovedFile(copy.clone());
        // A repository without an index has nothing to copy.
        let _ = std::fs::copy(index.trim_end_matches('\n'), &copy);
        let with = Asked { index: Some(&copy), ..Asked::default() };
        let flags = with.ask(&self.project.root, &["ls-files", "-v", "-z", "."]).map_err(StepsError::Git)?;
        let hidden: Vec<&str> = flags
            .split('\0')
            .filter_map(|line| line.split_at_checked(2))
            .filter(|(flag, name)| {
                let hides = flag.starts_with(|c: char| c == 'S' || c.is_ascii_lowercase());
                hides && self.project.root.join(name).symlink_metadata().is_ok()
            })
            .map(|(_, name)| name)
            .collect();
        for flag in ["--no-skip-worktree", "--no-assume-unchanged"] {
            let input = hidden.iter().map(|name| format!("{name}\0")).collect::<String>();
            if !hidden.is_empty() {
                let with = Asked { index: Some(&copy), input: Some(&input) };
                with.ask(&self.project.root, &["update-index", flag, "-z", "--stdin"])
                    .map_err(StepsError::Git)?;
            }
        }
        with.ask(&self.project.root, &["add", "--all", "--", "."]).map_err(StepsError::Git)?;
        Ok(with.ask(&self.project.root, &["write-tree"]).map_err(StepsError::Git)?.trim().to_owned())
    }

    /// Records the decision of gate 3 about the commit in progress.
    pub(crate) fn record_commit(&self, judged: &GateResult, by_git: bool) {
        let name = if judged.validation.failed() { event::COMMIT_REJECTED } else { event::COMMIT_VALIDATED };
        let mut record = self.gate_record(name, None, judged);
        if by_git {
            let basis = self.basis();
            record = record.with("parent", basis.parent).with("tree", basis.tree);
        }
        self.append_audit(None, &record);
    }

    fn basis(&self) -> CommitBase {
        let asked = |arguments: &[&str]| self.git(arguments).ok().map(|text| text.trim().to_owned());
        CommitBase {
            parent: asked(&["rev-parse", "--verify", "--quiet", "HEAD"]),
            tree: asked(&["write-tree"]),
        }
    }

    /// Returns true if the project is in a repository.
    pub(crate) fn has_repository(&self) -> bool {
        self.project.root.ancestors().any(|directory| directory.join(".git").exists())
    }

    pub(super) fn git(&self, arguments: &[&str]) -> StepsResult<String> {
        git(&self.project.root, arguments).map_err(StepsError::Git)
    }

    /// Runs a git command with a text on its standard input.
    pub(super) fn git_with(&self, arguments: &[&str], input: &str) -> StepsResult<String> {
        let asked = Asked { input: Some(input), index: None };
        asked.ask(&self.project.root, arguments).map_err(StepsError::Git)
    }
}

fn names(text: &str) -> Vec<String> {
    text.split('\0').filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

/// A file that is removed when its use ends.
struct RemovedFile(PathBuf);

impl Drop for RemovedFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

pub(crate) fn git(directory: &Path, arguments: &[&str]) -> Result<String, String> {
    Asked::default().ask(directory, arguments)
}

/// Settings that make git's output depend only on the repository.
const SETTINGS: &[&str] = &[
    "core.untrackedCache=false",
    "core.trustctime=true",
    "core.checkStat=default",
    "core.ignoreStat=false",
    "core.safecrlf=false",
    "i18n.logOutputEncoding=UTF-8",
];

/// A git command, its input and its index.
#[derive(Debug, Clone, Copy, Default)]
struct Asked<'a> {
    /// The index in the place of the repository's.
    index: Option<&'a Path>,
    input: Option<&'a str>,
}

impl Asked<'_> {
    fn ask(self, directory: &Path, arguments: &[&str]) -> Result<String, String> {
        let failed = |why: &dyn std::fmt::Display| format!("git {}: {why}", arguments.join(" "));
        let mut command = Command::new("git");
        command.arg("-C").arg(directory).arg("--no-replace-objects");
        let asks_for_hooks = arguments.contains(&"--git-path");
        let without_hooks = (!asks_for_hooks).then_some(&WITHOUT_HOOKS);
        let settings = SAFE_SETTINGS.iter().chain(SETTINGS).chain(without_hooks);
        command.args(settings.flat_map(|setting| ["-c", setting]));
        command.args(arguments).env("GIT_GRAFT_FILE", "/dev/null");
        // Inside a hook, git names these relative to the top of the tree; the project may lie below it.
        for place in [GIT_DIR, GIT_INDEX_FILE] {
            if let Some(absolute) = place.get().and_then(|path| std::path::absolute(path).ok()) {
                command.env(place.name, absolute);
            }
        }
        if let Some(index) = self.index {
            command.env(GIT_INDEX_FILE.name, index);
        }
        let output = output_of_git(command, self.input.unwrap_or("")).map_err(|error| failed(&error))?;
        if !output.status.success() {
            return Err(failed(&String::from_utf8_lossy(&output.stderr).trim()));
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }
}
