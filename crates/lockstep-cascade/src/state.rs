//! The state of a cascade, and the values derived from it.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::event::{CascadeDependent, Digest};
use crate::grouping::AgentRole;
use crate::tier::Tier;

/// The version of the state's format.
pub const FORMAT: u32 = 1;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cascade {
    pub format: u32,
    /// The effort, which limits the number and the turns of agents.
    pub tier: Tier,
    pub converge_on: ConvergeOn,
    /// The changed files that started the cascade.
    pub causes: Vec<RootCause>,
    /// The direct dependents when the cascade began.
    pub original: BTreeSet<String>,
    /// The iterations; the last one may be in progress.
    pub iterations: Vec<Iteration>,
    /// The number of failed convergence checks; set while a check is due.
    pub checking: Option<u8>,
    /// The contents that files have had, oldest first.
    pub contents: BTreeMap<String, Vec<Option<Digest>>>,
    /// Dependents that need no change, with the reasons.
    pub dismissed: BTreeMap<String, String>,
    /// Files that need a change again after they were handled, with the stale lines as evidence. The list is
    /// empty if there is no evidence.
    pub returned: BTreeMap<String, Vec<String>>,
    pub warnings: Vec<String>,
    /// Set once the cascade has ended.
    pub end: Option<CascadeEnd>,
}

/// `[cascade] converge_on`: the definition of a new impact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ConvergeOn {
    /// Only dependents that no longer fit.
    #[default]
    Breaking,
    /// Every direct dependent.
    Any,
}

/// A changed file that other files must follow.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RootCause {
    /// Relative to the root.
    pub path: String,
    /// The former path of a moved file.
    pub from: Option<String>,
    /// The content before the change.
    pub before: OriginalDigest,
}

/// The content of a file before a change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OriginalDigest {
    Unknown,
    /// The file did not exist.
    Absent,
    Content(Digest),
}

impl From<Option<Digest>> for OriginalDigest {
    fn from(content: Option<Digest>) -> Self {
        content.map_or(Self::Absent, Self::Content)
    }
}

/// One iteration: its groups, and the check after them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Iteration {
    /// Starts at 1.
    pub number: u8,
    /// The changed files that the dependents must follow.
    pub causes: Vec<RootCause>,
    /// At most [`MAX_GROUPS`](crate::MAX_GROUPS).
    pub groups: Vec<Group>,
    /// The number of agents that were started, including those for second attempts.
    pub agents: u32,
    /// The contents of the watched files when the iteration began.
    pub before: BTreeMap<String, Option<Digest>>,
    /// The contents of these files at the last observation.
    pub after: BTreeMap<String, Option<Digest>>,
    /// Files that changed although they were assigned to no agent, and the groups that were active at the
    /// time.
    pub violations: BTreeMap<String, Vec<String>>,
    /// The result of the check, once it has run.
    pub new_impacts: Option<Vec<String>>,
    /// The result of the verification, if one is configured.
    pub oracle_passed: Option<bool>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Group {
    /// The number of the iteration and a letter: `1a`.
    pub id: String,
    pub role: AgentRole,
    /// Sorted by path.
    pub files: Vec<Assignment>,
    pub stage: GroupStage,
    /// 1, or 2 after it was retried.
    pub attempt: u8,
    pub errors: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum GroupStage {
    Waiting,
    /// The group is assigned to an agent.
    #[serde(rename = "handed")]
    Dispatched,
    Settled,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Assignment {
    /// Relative to the root.
    pub path: String,
    /// The references to changed files, one entry for each cause.
    #[serde(rename = "needs")]
    pub dependencies: Vec<CascadeDependent>,
    pub outcome: Option<FileOutcome>,
    /// The stale lines at the last observation.
    #[serde(rename = "left")]
    pub stale_lines: Vec<String>,
}

impl Assignment {
    /// Returns true if the file is known to no longer fit what it references.
    pub fn breaks(&self) -> bool {
        self.dependencies.iter().any(|need| need.breaks == Some(true))
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FileOutcome {
    /// The file changed, and no stale lines are left.
    Updated,
    /// The file did not change, and it has no stale lines.
    Unchanged,
    /// A user or agent decided, with a reason, that the file needs no change.
    Dismissed,
    /// The file could not be updated.
    Skipped { error: String },
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CascadeEnd {
    pub status: CascadeStatus,
    /// The reason, as text for people.
    pub why: String,
}

/// `status` of the L1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CascadeStatus {
    /// Nothing unresolved is left.
    Converged,
    /// Some files are unresolved.
    Partial,
    /// There was nothing to do, or no usable report.
    Skipped,
}

impl CascadeStatus {
    /// The value in the L1.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Converged => "converged",
            Self::Partial => "partial",
            Self::Skipped => "skipped",
        }
    }
}

impl Cascade {
    /// Returns true until the cascade has ended.
    pub fn is_active(&self) -> bool {
        self.end.is_none()
    }

    /// Returns the iteration in progress, or the last one.
    pub fn iteration(&self) -> Option<&Iteration> {
        self.iterations.last()
    }

    /// Returns a group of the last iteration.
    pub fn group(&self, id: &str) -> Option<&Group> {
        self.iteration()?.groups.iter().find(|group| group.id == id)
    }

    pub fn waiting(&self) -> impl Iterator<Item = &Group> {
        self.at_stage(GroupStage::Waiting)
    }

    /// The groups that are assigned to an agent.
    pub fn dispatched(&self) -> impl Iterator<Item = &Group> {
        self.at_stage(GroupStage::Dispatched)
    }

    fn at_stage(&self, stage: GroupStage) -> impl Iterator<Item = &Group> {
        let active = self.is_active();
        let groups = self.iterations.last().into_iter().flat_map(|iteration| &iteration.groups);
        groups.filter(move |group| active && group.stage == stage)
    }

    /// Every assigned file of every iteration, with its group.
    pub fn assignments(&self) -> impl Iterator<Item = (&Iteration, &Group, &Assignment)> {
        self.iterations.iter().flat_map(|iteration| {
            let groups = iteration.groups.iter();
            groups.flat_map(move |group| group.files.iter().map(move |file| (iteration, group, file)))
        })
    }

    /// The assigned files that were updated.
    pub fn updated(&self) -> BTreeSet<&str> {
        let updated = |(_, _, file): &(_, _, &Assignment)| file.outcome == Some(FileOutcome::Updated);
        self.assignments().filter(updated).map(|(_, _, file)| file.path.as_str()).collect()
    }

    /// The files that could not be updated, with the reasons.
    pub fn skipped(&self) -> BTreeMap<&str, &str> {
        let mut skipped = BTreeMap::new();
        for (_, _, file) in self.assignments() {
            if let Some(FileOutcome::Skipped { error }) = &file.outcome {
                skipped.insert(file.path.as_str(), error.as_str());
            }
        }
        skipped
    }

    /// Returns the files that are known not to fit and that no agent will change: new impacts after the last
    /// iteration, files that need a change again, and files in progress when the cascade ended.
    pub fn unresolved(&self) -> BTreeSet<&str> {
        let mut unresolved: BTreeSet<&str> = BTreeSet::new();
        for (path, evidence) in &self.returned {
            if !evidence.is_empty() {
                unresolved.insert(path);
            }
        }
        if let Some(new) = self.iteration().and_then(|iteration| iteration.new_impacts.as_ref()) {
            unresolved.extend(new.iter().map(String::as_str));
        }
        let open = self.assignments().filter(|(_, _, file)| file.outcome.is_none());
        unresolved.extend(open.map(|(_, _, file)| file.path.as_str()));
        unresolved.retain(|path| !self.dismissed.contains_key(*path));
        unresolved
    }

    /// Returns every file of the cascade: its causes with their former paths, and the files that it assigned.
    pub fn own_files<'a>(&'a self) -> BTreeSet<&'a str> {
        let causes = self.iterations.iter().flat_map(|iteration| &iteration.causes).chain(&self.causes);
        let assigned = self.assignments().map(|(_, _, file)| file.path.as_str());
        let paths = |cause: &'a RootCause| [Some(cause.path.as_str()), cause.from.as_deref()];
        causes.flat_map(paths).flatten().chain(assigned).collect()
    }

    /// Returns the files that the present iteration has changed, with their former contents.
    pub fn changed(&self) -> Vec<RootCause> {
        self.iteration().map_or_else(Vec::new, Iteration::changed)
    }

    /// The causes, and every file that an iteration changed, each with its first known content.
    pub fn all_changed(&self) -> Vec<RootCause> {
        let mut all = self.causes.clone();
        for changed in self.iterations.iter().flat_map(Iteration::changed) {
            if !all.iter().any(|known| known.path == changed.path) {
                all.push(changed);
            }
        }
        all
    }
}

impl Iteration {
    /// Returns the files that changed up to the last observation, with their former contents.
    pub fn changed(&self) -> Vec<RootCause> {
        let differs = |(path, before): &(&String, &Option<Digest>)| {
            self.after.get(*path).is_some_and(|after| after != *before)
        };
        let changed = self.before.iter().filter(differs);
        let cause = |(path, before): (&String, &Option<Digest>)| RootCause {
            path: path.clone(),
            from: None,
            before: before.clone().into(),
        };
        changed.map(cause).collect()
    }

    /// Returns true if this iteration changed the file.
    pub fn has_changed(&self, path: &str) -> bool {
        self.before.get(path).is_some_and(|before| self.after.get(path).is_some_and(|after| after != before))
    }
}
