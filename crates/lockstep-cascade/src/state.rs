//! The state of a cascade: what is kept between two events, and what can be read off it.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::event::{Dependent, Digest};
use crate::grouping::Role;
use crate::tier::Tier;

/// The version of the state's form.
pub const FORMAT: u32 = 1;

/// A cascade.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cascade {
    /// The version of this form.
    pub format: u32,
    /// How much effort it is worth.
    pub tier: Tier,
    /// What counts as a new impact.
    pub converge_on: ConvergeOn,
    /// The files whose change began it.
    pub causes: Vec<Cause>,
    /// The direct dependents it began with.
    pub original: BTreeSet<String>,
    /// The iterations, the last one under way.
    pub iterations: Vec<Iteration>,
    /// While a convergence check is due: how often it has failed.
    pub checking: Option<u8>,
    /// The contents that files have had, oldest first.
    pub contents: BTreeMap<String, Vec<Option<Digest>>>,
    /// Dependents that need no change, and why.
    pub dismissed: BTreeMap<String, String>,
    /// Files that came back after they had been handled, and what shows that they no longer fit; empty where nothing does.
    pub returned: BTreeMap<String, Vec<String>>,
    /// What a reader must know.
    pub warnings: Vec<String>,
    /// How it ended.
    pub end: Option<End>,
}

/// `[cascade] converge_on`: what counts as a new impact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ConvergeOn {
    /// Dependents that no longer fit.
    #[default]
    Breaking,
    /// Every direct dependent.
    Any,
}

/// A file whose change others must follow.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cause {
    /// Relative to the root.
    pub path: String,
    /// Where it was before, if that is another place.
    pub from: Option<String>,
    /// What it was.
    pub before: Former,
}

/// What a file was before a change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Former {
    /// Nobody knows.
    Unknown,
    /// It did not exist.
    Absent,
    /// This.
    Content(Digest),
}

impl From<Option<Digest>> for Former {
    fn from(content: Option<Digest>) -> Self {
        content.map_or(Self::Absent, Self::Content)
    }
}

/// One round: groups, and the check after them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Iteration {
    /// From 1 on.
    pub number: u8,
    /// The files whose change its dependents must follow.
    pub causes: Vec<Cause>,
    /// At most two.
    pub groups: Vec<Group>,
    /// How many agents were started, fresh ones for a second attempt included.
    pub agents: u32,
    /// What the files that changed were when it began.
    pub before: BTreeMap<String, Option<Digest>>,
    /// What those files were when they were last looked at.
    pub after: BTreeMap<String, Option<Digest>>,
    /// Files that nobody was asked to change, and the groups that were at work when they did.
    pub violations: BTreeMap<String, Vec<String>>,
    /// What the check found, once it was made.
    pub new_impacts: Option<Vec<String>>,
    /// Whether the verification passed, where there is one.
    pub oracle_passed: Option<bool>,
}

/// Files for one agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Group {
    /// The number of the iteration and a letter: `1a`.
    pub id: String,
    /// What kind of agent it needs.
    pub role: Role,
    /// Its files, by path.
    pub files: Vec<Assignment>,
    /// Where it stands.
    pub stage: Stage,
    /// 1, or 2 after it was retried.
    pub attempt: u8,
    /// What went wrong with each attempt.
    pub errors: Vec<String>,
}

/// Where a group stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Stage {
    /// It waits for an agent.
    Waiting,
    /// An agent has it.
    Handed,
    /// Nothing more is done about it.
    Settled,
}

/// A file in a group.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Assignment {
    /// Relative to the root.
    pub path: String,
    /// On what it depends, one entry for each cause.
    pub needs: Vec<Dependent>,
    /// What became of it.
    pub outcome: Option<Outcome>,
    /// What was stale in it when it was last looked at.
    pub left: Vec<String>,
}

impl Assignment {
    /// Whether it is known to no longer fit what it references.
    pub fn breaks(&self) -> bool {
        self.needs.iter().any(|need| need.breaks == Some(true))
    }
}

/// What became of an assigned file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// It changed, and nothing stale is left in it.
    Updated,
    /// It did not change, and nothing stale is in it.
    Unchanged,
    /// It needs no change: somebody said so, and why.
    Dismissed,
    /// It could not be brought up to date.
    Skipped {
        /// Why.
        error: String,
    },
}

/// How a cascade ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct End {
    /// The status of the contract.
    pub status: Status,
    /// In words.
    pub why: String,
}

/// `status`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Nothing unresolved is left.
    Converged,
    /// Something is.
    Partial,
    /// There was nothing to do, or nothing to go by.
    Skipped,
}

impl Status {
    /// The word of the contract.
    pub fn word(self) -> &'static str {
        match self {
            Self::Converged => "converged",
            Self::Partial => "partial",
            Self::Skipped => "skipped",
        }
    }
}

impl Cascade {
    /// Whether there is still something to do.
    pub fn is_active(&self) -> bool {
        self.end.is_none()
    }

    /// The iteration that is under way, or was last.
    pub fn iteration(&self) -> Option<&Iteration> {
        self.iterations.last()
    }

    /// A group of the iteration that is under way.
    pub fn group(&self, id: &str) -> Option<&Group> {
        self.iteration()?.groups.iter().find(|group| group.id == id)
    }

    /// The groups that wait for an agent.
    pub fn waiting(&self) -> impl Iterator<Item = &Group> {
        self.at_stage(Stage::Waiting)
    }

    /// The groups that an agent has.
    pub fn handed(&self) -> impl Iterator<Item = &Group> {
        self.at_stage(Stage::Handed)
    }

    fn at_stage(&self, stage: Stage) -> impl Iterator<Item = &Group> {
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

    /// The assigned files that were brought up to date.
    pub fn updated(&self) -> BTreeSet<&str> {
        let updated = |(_, _, file): &(_, _, &Assignment)| file.outcome == Some(Outcome::Updated);
        self.assignments().filter(updated).map(|(_, _, file)| file.path.as_str()).collect()
    }

    /// The files that could not be brought up to date, and why.
    pub fn skipped(&self) -> BTreeMap<&str, &str> {
        let mut skipped = BTreeMap::new();
        for (_, _, file) in self.assignments() {
            if let Some(Outcome::Skipped { error }) = &file.outcome {
                skipped.insert(file.path.as_str(), error.as_str());
            }
        }
        skipped
    }

    /// Files that are known not to fit and that nobody will look at: new impacts after the last iteration, files that
    /// came back, files that were being worked on when the cascade ended.
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

    /// Every file the cascade is about: its causes, and what it assigned or saw change.
    pub fn own_files(&self) -> BTreeSet<&str> {
        let causes = self.iterations.iter().flat_map(|iteration| &iteration.causes).chain(&self.causes);
        let assigned = self.assignments().map(|(_, _, file)| file.path.as_str());
        causes.map(|cause| cause.path.as_str()).chain(assigned).collect()
    }

    /// What the present iteration changed so far, with what it was before.
    pub fn changed(&self) -> Vec<Cause> {
        self.iteration().map_or_else(Vec::new, Iteration::changed)
    }
}

impl Iteration {
    /// What it changed, with what that was before; as of the last look.
    pub fn changed(&self) -> Vec<Cause> {
        let differs = |(path, before): &(&String, &Option<Digest>)| {
            self.after.get(*path).is_some_and(|after| after != *before)
        };
        let changed = self.before.iter().filter(differs);
        let cause = |(path, before): (&String, &Option<Digest>)| Cause {
            path: path.clone(),
            from: None,
            before: before.clone().into(),
        };
        changed.map(cause).collect()
    }

    /// Whether it changed a file.
    pub fn has_changed(&self, path: &str) -> bool {
        self.before.get(path).is_some_and(|before| self.after.get(path).is_some_and(|after| after != before))
    }
}
