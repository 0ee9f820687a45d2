//! Commits as git sees them: what one is about to change, and which were made past the gate. Never on the path of a client's hook.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::SystemTime;

use lockstep_steps::audit::Entry;
use lockstep_steps::gate::Judged;
use lockstep_steps::stale::parse;
use lockstep_steps::step::Step;
use serde::Serialize;

use super::gates::Changed;
use super::trail::event;
use super::{Steps, StepsError};
use crate::env_vars::{GIT_DIR, GIT_INDEX_FILE};

/// How many commits are looked at for one that passed no gate.
const LOOK_BACK: &str = "200";

/// A commit that passed no gate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Unseen {
    pub(crate) commit: String,
    pub(crate) subject: String,
}

/// What a commit is made from.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Basis {
    parent: Option<String>,
    tree: Option<String>,
}

impl Steps<'_> {
    /// The files that the commit being made changes, from the project's root.
    pub(crate) fn staged(&self) -> Result<Vec<String>, StepsError> {
        let text = self.git(&["diff", "--cached", "--name-only", "--relative", "-z"])?;
        Ok(text.split('\0').filter(|name| !name.is_empty()).map(str::to_owned).collect())
    }

    /// Everything that differs from the last commit and was changed since the step began; `None` where git cannot say.
    pub(crate) fn uncommitted_since(&self, step: Option<&Step>) -> Option<Vec<Changed>> {
        let began = step.and_then(|step| {
            let started = step
                .phases()
                .iter()
                .filter_map(|phase| parse(phase.started_at.as_deref()?, self.now.time_zone()));
            Some(SystemTime::from(started.min()?))
        });
        let status = self
            .git(&["status", "--porcelain=v1", "-z", "--untracked-files=all", "--no-renames", "."])
            .ok()?;
        let prefix = self.git(&["rev-parse", "--show-prefix"]).ok()?;
        let prefix = prefix.trim_end();
        let names = status.split('\0').filter_map(|line| line.get(3..)?.strip_prefix(prefix));
        // What is gone has no time; it counts.
        let since = |name: &&str| match (began, fs::symlink_metadata(self.project.root.join(name))) {
            (Some(began), Ok(meta)) => meta.modified().map_or(true, |at| at >= began),
            _ => true,
        };
        Some(names.filter(since).map(|name| (name.to_owned(), Some(name.to_owned()))).collect())
    }

    /// Records what gate 3 decided about the commit that is being made.
    pub(crate) fn record_commit(&self, judged: &Judged, by_git: bool) {
        let name = if judged.validation.failed() { event::COMMIT_REJECTED } else { event::COMMIT_VALIDATED };
        let mut record = self.gate_record(name, None, judged);
        if by_git {
            let basis = self.basis();
            record = record.with("parent", basis.parent).with("tree", basis.tree);
        }
        self.audit(None, &record);
    }

    fn basis(&self) -> Basis {
        let asked = |arguments: &[&str]| self.git(arguments).ok().map(|text| text.trim().to_owned());
        Basis { parent: asked(&["rev-parse", "--verify", "--quiet", "HEAD"]), tree: asked(&["write-tree"]) }
    }

    /// Commits since the gate first saw one that it did not see, oldest first: made with `--no-verify` or by plumbing.
    pub(crate) fn unseen_commits(&self) -> Result<Vec<Unseen>, StepsError> {
        let entries = self.trail().verify()?.unwrap_or_default();
        let field = |entry: &Entry, name: &str| entry.text(name).to_owned();
        // By what was committed: an amended commit has another parent than the one it was judged on.
        let seen: Vec<String> = entries
            .iter()
            .filter(|entry| entry.event() == event::COMMIT_VALIDATED)
            .map(|entry| field(entry, "tree"))
            .collect();
        let told: Vec<String> = entries
            .iter()
            .filter(|entry| entry.event() == event::COMMIT_UNSEEN)
            .map(|entry| field(entry, "commit"))
            .collect();
        // From the first commit the gate knows of; what was before it is nobody's fault.
        let judged = |entry: &&Entry| entry.fields().contains_key("tree");
        let Some(first) = entries.iter().find(judged) else { return Ok(Vec::new()) };
        let range = match field(first, "parent") {
            parent if parent.is_empty() => "HEAD".to_owned(),
            parent => format!("{parent}..HEAD"),
        };
        let format = "--format=%H%x09%P%x09%T%x09%s";
        let Ok(log) = self.git(&["log", "--reverse", "--max-count", LOOK_BACK, format, &range]) else {
            // History was rewritten: there is no telling.
            return Ok(Vec::new());
        };
        let unseen = |line: &str| {
            let mut columns = line.splitn(4, '\t');
            let (commit, parents, tree) = (columns.next()?, columns.next()?, columns.next()?);
            // A merge has its own way through git, and its sides were judged when they were made.
            let fine = parents.contains(' ')
                || seen.iter().any(|seen| seen == tree)
                || told.iter().any(|told| told == commit);
            let subject = columns.next().unwrap_or_default().to_owned();
            (!fine).then(|| Unseen { commit: commit.to_owned(), subject })
        };
        Ok(log.lines().filter_map(unseen).collect())
    }

    /// Puts commits that passed no gate on record, once each.
    pub(crate) fn record_unseen(&self) -> Result<Vec<Unseen>, StepsError> {
        let unseen = self.unseen_commits()?;
        for one in &unseen {
            let record = self
                .record(event::COMMIT_UNSEEN, None)
                .with("commit", one.commit.as_str())
                .with("subject", one.subject.as_str());
            self.audit(None, &record);
        }
        Ok(unseen)
    }

    fn git(&self, arguments: &[&str]) -> Result<String, StepsError> {
        git(&self.project.root, arguments).map_err(StepsError::Git)
    }
}

/// What git says in a directory.
pub(crate) fn git(directory: &Path, arguments: &[&str]) -> Result<String, String> {
    let mut command = Command::new("git");
    command.arg("-C").arg(directory).args(arguments);
    // Inside a hook, git names these relative to the top of the tree; the project may lie below it.
    for place in [GIT_DIR, GIT_INDEX_FILE] {
        if let Some(absolute) = place.get().and_then(|path| std::path::absolute(path).ok()) {
            command.env(place.name, absolute);
        }
    }
    let output = command.output().map_err(|error| format!("git {}: {error}", arguments.join(" ")))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!("git {}: {}", arguments.join(" "), said.trim()));
    }
    String::from_utf8(output.stdout).map_err(|_| format!("git {}: not UTF-8", arguments.join(" ")))
}
