//! Moves of branches: git's reference-transaction hook checks them before they happen.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use lockstep_steps::gate::GateResult;

use super::audit::event;
use super::recorded_commits::{Commit, RecordedCommits};
use super::ungated_commits::git;
use super::{StepContext, StepsResult};

/// A ref that git is about to write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RefMove {
    pub(crate) old: String,
    pub(crate) new: String,
}

/// The decision about moves of branches.
#[derive(Debug)]
pub(crate) enum MoveVerdict {
    /// The moves only add commits that exist already, or have passed gate 3.
    Known,
    /// The moves add commits that gate 3 judged now.
    Judged(Box<GateResult>),
}

/// Returns the moves of branches and of a detached `HEAD` among the lines that git passes to its hook.
/// Deletions and changes of `HEAD`'s branch add no commit.
pub(crate) fn moves_of_branches(lines: &str) -> Vec<RefMove> {
    let parse = |line: &str| {
        let mut words = line.splitn(3, ' ');
        let (old, new, name) = (words.next()?, words.next()?, words.next()?);
        let branch = name.starts_with("refs/heads/")
            || name == "HEAD"
            || name.ends_with("/HEAD") && !name.starts_with("refs/");
        let brings = !new.starts_with("ref:") && new.bytes().any(|byte| byte != b'0');
        (branch && brings).then(|| RefMove { old: old.to_owned(), new: new.to_owned() })
    };
    let mut moves: Vec<RefMove> = Vec::new();
    for one in lines.lines().filter_map(parse) {
        if !moves.contains(&one) {
            moves.push(one);
        }
    }
    moves
}

/// The project's directory in the worktrees that a move of git concerns.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Worktrees {
    /// The present worktree if it belongs to the repository, else the main one. With `--git-dir`, git takes any directory for the
    /// worktree.
    pub(crate) present: PathBuf,
    /// The main worktree, where the present one is another.
    pub(crate) main: Option<PathBuf>,
}

impl Worktrees {
    pub(crate) fn of(directory: &Path, below: Option<&Path>) -> Self {
        let below = below.unwrap_or(Path::new(""));
        let asked = |arguments: &[&str]| {
            let answer = git(directory, arguments).ok()?;
            PathBuf::from(answer.trim_end_matches('\n')).canonicalize().ok()
        };
        let common = asked(&["rev-parse", "--path-format=absolute", "--git-common-dir"]);
        let top = asked(&["rev-parse", "--path-format=absolute", "--show-toplevel"]);
        let main = common.as_deref().and_then(Path::parent).map(|main| main.join(below));
        match (top.filter(|top| top.join(".git").exists()), main) {
            (Some(top), main) => {
                let present = top.join(below);
                Self { main: main.filter(|main| *main != present), present }
            }
            (None, Some(main)) => Self { present: main, main: None },
            (None, None) => Self { present: directory.join(below), main: None },
        }
    }
}

impl StepContext<'_> {
    /// Gate 3 for moves of branches. A move to a commit that a branch, a remote or the baseline has already is not a commit.
    pub(crate) fn judge_moves(&self, moves: &[RefMove]) -> StepsResult<MoveVerdict> {
        let entries = self.trail().verify()?.unwrap_or_default();
        let seen = RecordedCommits::of(&entries);
        let targets: String = moves.iter().map(|one| format!("{}\n", one.new)).collect();
        let known = ["--not", "--exclude=refs/*", "--all", "--branches", "--remotes"];
        let arrived = self.walk(&known, &(targets + &seen.excluded()))?;
        // An amended commit is judged on the one that it replaces.
        let mut all: BTreeMap<String, Commit> =
            arrived.iter().map(|commit| (commit.id.clone(), commit.clone())).collect();
        let olds: Vec<String> = moves
            .iter()
            .map(|one| one.old.clone())
            .filter(|old| old.bytes().any(|byte| byte != b'0'))
            .collect();
        if !olds.is_empty() {
            let olds = self.walk(&["--no-walk=unsorted"], &(olds.join("\n") + "\n"))?;
            all.extend(olds.into_iter().map(|commit| (commit.id.clone(), commit)));
        }
        let beside: String =
            arrived.iter().flat_map(|commit| &commit.parents).map(|parent| format!("^{parent}\n")).collect();
        if !arrived.is_empty() {
            let beside =
                self.walk(&["--max-count=2000", "--exclude=refs/*", "--all", "--branches"], &beside)?;
            all.extend(beside.into_iter().map(|commit| (commit.id.clone(), commit)));
        }
        let new: Vec<&Commit> = arrived.iter().filter(|commit| !seen.contains(commit, &all)).collect();
        if new.is_empty() {
            return Ok(MoveVerdict::Known);
        }
        let mut touched = Vec::new();
        for one in moves {
            let empty = one.old.bytes().all(|byte| byte == b'0');
            if !empty {
                touched.extend(self.changed_between(&one.old, &one.new)?);
            }
        }
        let trees: Vec<String> = new.iter().map(|commit| commit.tree.clone()).collect();
        let judged = self.judge_commit(&touched, &trees)?;
        let failed = judged.validation.failed();
        for commit in new {
            let name = if failed { event::COMMIT_REJECTED } else { event::COMMIT_VALIDATED };
            let record = self
                .gate_record(name, None, &judged)
                .with("commit", commit.id.as_str())
                .with("parent", commit.parents.first().cloned())
                .with("tree", commit.tree.as_str());
            self.append_audit(None, &record);
        }
        Ok(MoveVerdict::Judged(Box::new(judged)))
    }
}
