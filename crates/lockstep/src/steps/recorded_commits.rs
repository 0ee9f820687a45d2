//! Commits that the gate let through, and those that it did not see.
//!
//! A commit is seen if the trail records it by its id, or by its tree and parent (before a commit has an id). Everything that was there when
//! the first step was made is the baseline.

use std::collections::{BTreeMap, BTreeSet};

use lockstep_steps::audit::TrailEntry;
use serde::Serialize;
use serde_json::json;

use super::audit::event;
use super::{StepContext, StepsError, StepsResult};

/// A commit that passed no gate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct UngatedCommit {
    pub(crate) commit: String,
    pub(crate) subject: String,
}

/// The commits of a repository, compared with the trail.
#[derive(Debug, Clone, Default)]
pub(crate) struct CommitComparison {
    /// Commits of this repository that passed no gate, oldest first.
    pub(crate) unseen: Vec<UngatedCommit>,
    /// The number of commits on local branches that came from a remote and were not judged here.
    pub(crate) from_remotes: usize,
}

/// The commits of a range, compared with the trail.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct RangeComparison {
    pub(crate) commits: usize,
    /// Commits that the trail does not record as let through.
    pub(crate) unproven: Vec<UngatedCommit>,
    /// Places at which the trail does not continue its former state.
    pub(crate) rewritten: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Commit {
    pub(super) id: String,
    pub(super) tree: String,
    pub(super) parents: Vec<String>,
    pub(super) subject: String,
}

/// The commits that a trail contains.
#[derive(Debug, Clone, Default)]
pub(super) struct RecordedCommits {
    ids: BTreeSet<String>,
    /// The parents that each tree was judged on.
    trees: BTreeMap<String, Vec<String>>,
    /// Commits that are on record as unseen.
    told: BTreeSet<String>,
    /// The commits before the first step; `None` if no baseline is recorded.
    baseline: Option<Vec<String>>,
}

/// The most commits that a baseline names.
const MAX_BASELINE: usize = 5000;

/// The names of a commit's fields in the output of `rev-list`.
const FORMAT: &str = "--format=tformat:%H%x09%T%x09%P%x09%s";

impl RecordedCommits {
    pub(super) fn of(entries: &[TrailEntry]) -> Self {
        let mut seen = Self::default();
        for entry in entries {
            let text = |name: &str| entry.text(name).to_owned();
            match entry.event() {
                event::COMMIT_VALIDATED if !entry.text("commit").is_empty() => {
                    seen.ids.insert(text("commit"));
                }
                event::COMMIT_VALIDATED if !entry.text("tree").is_empty() => {
                    seen.trees.entry(text("tree")).or_default().push(text("parent"));
                }
                event::COMMIT_UNSEEN => seen.told.extend([text("commit")]),
                // Only the first counts: a later one would excuse commits made in between.
                event::BASELINE if seen.baseline.is_none() => {
                    let tips = entry.fields().get("tips").and_then(|tips| tips.as_array());
                    let ids = tips.into_iter().flatten().filter_map(|tip| tip.as_str().map(str::to_owned));
                    seen.baseline = Some(ids.collect());
                }
                _ => {}
            }
        }
        if seen.baseline.is_none() {
            // A trail from before baselines: the parent of the first judged commit is the baseline.
            let judged = |entry: &&TrailEntry| entry.fields().contains_key("tree");
            let parent = entries.iter().find(judged).map(|entry| entry.text("parent").to_owned());
            seen.baseline =
                parent.map(|parent| vec![parent].into_iter().filter(|id| !id.is_empty()).collect());
        }
        seen
    }

    /// Returns true if a commit passed the gate. `all` has the related commits and those that an amended one
    /// replaced.
    ///
    /// One judgement of a tree is valid for one commit: another commit of the same content was not judged.
    pub(super) fn contains(&self, commit: &Commit, all: &BTreeMap<String, Commit>) -> bool {
        if self.ids.contains(&commit.id) {
            return true;
        }
        let Some(judged) = self.trees.get(&commit.tree) else { return false };
        let is_judged = |commit: &Commit| {
            judged.iter().any(|parent| {
                let amends = all.get(parent).is_some_and(|amended| amended.parents == commit.parents);
                commit.parents.contains(parent) || (parent.is_empty() && commit.parents.is_empty()) || amends
            })
        };
        let others = all.values().filter(|other| {
            other.tree == commit.tree
                && other.id != commit.id
                && !self.ids.contains(&other.id)
                && is_judged(other)
        });
        is_judged(commit) && judged.len() > others.count()
    }

    /// The baseline as input of `rev-list`.
    pub(super) fn excluded(&self) -> String {
        self.baseline.iter().flatten().map(|id| format!("^{id}\n")).collect()
    }
}

impl StepContext<'_> {
    /// Records the commits that existed before the first step, once. A project without a repository has none.
    pub(crate) fn ensure_baseline(&self) {
        let is_baseline = |entry: &TrailEntry| (entry.event() == event::BASELINE).then_some(());
        let known = self.trail().find_newest(&[event::BASELINE], is_baseline);
        if !self.has_repository() || !matches!(known, Ok(None)) {
            return;
        }
        if let Ok(tips) = self.tips() {
            self.append_audit(None, &self.record(event::BASELINE, None).with("tips", json!(tips)));
        }
    }

    /// Returns every commit that a ref or a reflog names and that no other ref reaches.
    fn tips(&self) -> StepsResult<Vec<String>> {
        let referred = self.git(&["rev-list", "--no-walk", "--all", "--ignore-missing"])?;
        let logged = self.git(&["rev-list", "--reflog", "--ignore-missing", "--not", "--all"])?;
        let mut tips: Vec<String> = referred.lines().chain(logged.lines()).map(str::to_owned).collect();
        tips.sort();
        tips.dedup();
        tips.truncate(MAX_BASELINE);
        Ok(tips)
    }

    /// Compares every commit of every local ref, worktree and reflog with the trail.
    pub(crate) fn compare_commits(&self) -> StepsResult<CommitComparison> {
        if !self.has_repository() {
            return Ok(CommitComparison::default());
        }
        let entries = self
            .trail()
            .verify()?
            .map_err(|broken| StepsError::Git(format!("the trail is not whole: {broken}")))?;
        let seen = RecordedCommits::of(&entries);
        if seen.baseline.is_none() {
            // Nothing was ever judged here.
            return Ok(CommitComparison::default());
        }
        let local = ["--exclude=refs/remotes/*", "--exclude=refs/stash", "--exclude=refs/notes/*", "--all"];
        let everywhere = self.walk(&local, &seen.excluded())?;
        let here = self.walk(&[&local[..], &["--not", "--remotes"]].concat(), &seen.excluded())?;
        let logged = self.logged(&seen)?;
        let all: BTreeMap<String, Commit> =
            everywhere.iter().chain(&logged).map(|commit| (commit.id.clone(), commit.clone())).collect();
        let ids: BTreeSet<&str> = here.iter().chain(&logged).map(|commit| commit.id.as_str()).collect();
        let mut compared = CommitComparison::default();
        let mut named = BTreeSet::new();
        for commit in logged.iter().chain(&here).filter(|commit| !seen.contains(commit, &all)) {
            if !seen.told.contains(&commit.id) && named.insert(&commit.id) {
                compared
                    .unseen
                    .push(UngatedCommit { commit: commit.id.clone(), subject: commit.subject.clone() });
            }
        }
        let elsewhere = |commit: &&Commit| !ids.contains(commit.id.as_str()) && !seen.contains(commit, &all);
        compared.from_remotes = everywhere.iter().filter(elsewhere).count();
        Ok(compared)
    }

    /// Compares the commits of a range with the trail in the checkout.
    pub(crate) fn prove_range(&self, range: &str) -> StepsResult<RangeComparison> {
        let (mut entries, mut rewritten) = (Vec::new(), Vec::new());
        let mut trail_files = Vec::new();
        let from = range.split("..").next().unwrap_or_default();
        for trail in self.trails() {
            match trail.verify()? {
                Ok(read) => entries.extend(read),
                Err(broken) => rewritten.push(self.shown(&trail, &broken.to_string())),
            }
            for file in trail.files()? {
                let Some(name) = self.relative(&file.path) else { continue };
                let former = self.git(&["show", &format!("{from}:./{name}")]).unwrap_or_default();
                if !file.text.starts_with(&former) {
                    rewritten.push(format!("{name} does not begin with its content at {from}"));
                }
                trail_files.push(name);
            }
        }
        let seen = RecordedCommits::of(&entries);
        let commits = self.walk(&[range], "")?;
        let all: BTreeMap<String, Commit> =
            commits.iter().map(|commit| (commit.id.clone(), commit.clone())).collect();
        let mut proven = RangeComparison { commits: commits.len(), rewritten, unproven: Vec::new() };
        for commit in commits.iter().filter(|commit| !seen.contains(commit, &all)) {
            let changed = match commit.parents.first() {
                Some(parent) => self.changed_between(parent, &commit.id)?,
                None => vec![String::new()],
            };
            let records_only = !changed.is_empty() && changed.iter().all(|name| trail_files.contains(name));
            if !records_only || commit.parents.len() > 1 {
                proven
                    .unproven
                    .push(UngatedCommit { commit: commit.id.clone(), subject: commit.subject.clone() });
            }
        }
        Ok(proven)
    }

    /// Returns the commits of reflogs, without those of remotes and notes and without the parts of a stash.
    fn logged(&self, seen: &RecordedCommits) -> StepsResult<Vec<Commit>> {
        let logs = |refs: &str| self.git(&["rev-list", "--walk-reflogs", "--ignore-missing", refs]);
        let of_remotes = logs("--remotes")?;
        // Without a wildcard, git would look below the name.
        let (stashes, notes) = (logs("--glob=refs/stas[h]")?, logs("--glob=refs/notes/*")?);
        let excluded = seen.excluded() + &of_remotes.lines().map(|id| format!("^{id}\n")).collect::<String>();
        let commits = self.walk(&["--reflog", "--not", "--remotes"], &excluded)?;
        let mut own: BTreeSet<String> = notes.lines().chain(stashes.lines()).map(str::to_owned).collect();
        let stashes: BTreeSet<&str> = stashes.lines().collect();
        let stashed = commits.iter().filter(|commit| stashes.contains(commit.id.as_str()));
        own.extend(stashed.flat_map(|commit| commit.parents.iter().skip(1).cloned()));
        Ok(commits.into_iter().filter(|commit| !own.contains(&commit.id)).collect())
    }

    /// The commits of a walk, oldest first. `input` names further revisions.
    pub(super) fn walk(&self, from: &[&str], input: &str) -> StepsResult<Vec<Commit>> {
        let arguments = [
            &[
                "rev-list",
                "--topo-order",
                "--reverse",
                "--encoding=UTF-8",
                "--ignore-missing",
                FORMAT,
                "--stdin",
            ],
            from,
        ]
        .concat();
        let text = self.git_with(&arguments, input)?;
        Ok(text.lines().filter(|line| !line.starts_with("commit ")).filter_map(commit).collect())
    }

    /// Puts commits that passed no gate on record, once each. A trail that is not whole is the gate's own reason to refuse.
    pub(crate) fn record_ungated_commits(&self) -> StepsResult<Vec<UngatedCommit>> {
        if self.trail().verify()?.is_err() {
            return Ok(Vec::new());
        }
        let unseen = self.compare_commits()?.unseen;
        for one in &unseen {
            let record = self
                .record(event::COMMIT_UNSEEN, None)
                .with("commit", one.commit.as_str())
                .with("subject", one.subject.as_str());
            self.append_audit(None, &record);
        }
        Ok(unseen)
    }
}

fn commit(line: &str) -> Option<Commit> {
    let mut columns = line.splitn(4, '\t');
    let mut column = || columns.next().map(str::to_owned);
    let (id, tree, parents) = (column()?, column()?, column()?);
    let parents = parents.split(' ').filter(|id| !id.is_empty()).map(str::to_owned).collect();
    Some(Commit { id, tree, parents, subject: column().unwrap_or_default() })
}
