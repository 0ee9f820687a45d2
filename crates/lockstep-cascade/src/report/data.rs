//! Everything about a cascade as data.

use schemars::JsonSchema;
use serde::Serialize;

use super::files_changed;
use crate::MAX_ITERATIONS;
use crate::state::{Cascade, Group, Iteration, Outcome, Stage};

/// A cascade as data: the L1, and what stands behind it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Data {
    /// `execution`.
    pub domain: &'static str,
    /// `cascade`.
    pub skill: &'static str,
    /// `converged`, `partial` or `skipped`.
    pub status: &'static str,
    /// How many iterations there were.
    pub iterations: usize,
    /// How many there can be.
    pub max_iterations: u8,
    /// How many files were brought up to date.
    pub files_updated: usize,
    /// How many could not be.
    pub files_skipped: usize,
    /// Whether nothing unresolved is left; `null` where the question does not arise.
    pub convergence: Option<bool>,
    /// The log of each iteration.
    pub iteration_details: Vec<IterationLog>,
    /// What a reader must know.
    pub warnings: Vec<String>,
    /// Whether there is something to do.
    pub active: bool,
    /// How it ended, in words.
    pub why: Option<String>,
    /// How much effort it is worth.
    pub tier: &'static str,
    /// The files whose change began it.
    pub causes: Vec<String>,
    /// Where the groups of the present iteration stand.
    pub groups: Vec<GroupData>,
    /// Files that were brought up to date.
    pub updated: Vec<String>,
    /// Files that could not be, and why.
    pub skipped: Vec<Named>,
    /// Dependents that need no change, and why.
    pub dismissed: Vec<Named>,
    /// Files that are known not to fit.
    pub unresolved: Vec<String>,
    /// What is to be done next.
    pub next: &'static str,
}

/// What happened in one iteration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct IterationLog {
    /// From 1 on.
    pub iteration: u8,
    /// How many agents were started.
    pub implementers_spawned: u32,
    /// How many files were brought up to date.
    pub files_changed: usize,
    /// How many new impacts the check found.
    pub new_impacts_detected: usize,
    /// The assigned files and what became of them.
    pub changed_files: Vec<ChangedFile>,
    /// The new impacts.
    pub new_impact_files: Vec<String>,
    /// Files that nobody was asked to change.
    pub scope_violations: Vec<Violation>,
    /// Whether the verification passed, where there is one.
    pub verified: Option<bool>,
}

/// An assigned file and what became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ChangedFile {
    /// Relative to the root.
    pub path: String,
    /// Who had it.
    pub implementer: String,
    /// `complete`, `failed` or, while nobody knows, `open`.
    pub status: &'static str,
    /// Whether it has another content than before.
    pub changed: bool,
}

/// A file that changed although nobody was asked to change it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Violation {
    /// Relative to the root.
    pub path: String,
    /// The groups that were at work.
    pub groups: Vec<String>,
}

/// A file and the reason for what became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Named {
    /// Relative to the root.
    pub path: String,
    /// The reason.
    pub why: String,
}

/// Where a group stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct GroupData {
    /// `1a`.
    pub id: String,
    /// The kind of agent.
    pub role: &'static str,
    /// `waiting`, `handed` or `settled`.
    pub stage: &'static str,
    /// 1 or 2.
    pub attempt: u8,
    /// Its files that are not resolved.
    pub open: Vec<String>,
}

impl Cascade {
    /// Everything about it.
    pub fn data(&self) -> Data {
        let named = |pairs: Vec<(&str, &str)>| {
            pairs
                .into_iter()
                .map(|(path, why)| Named { path: path.to_owned(), why: why.to_owned() })
                .collect()
        };
        let groups =
            self.iteration().filter(|_| self.is_active()).map_or_else(Vec::new, |i| i.groups.clone());
        Data {
            domain: "execution",
            skill: "cascade",
            status: self.status().word(),
            iterations: self.iterations.len(),
            max_iterations: MAX_ITERATIONS,
            files_updated: self.updated().len(),
            files_skipped: self.skipped().len(),
            convergence: self.convergence(),
            iteration_details: self.iterations.iter().map(log).collect(),
            warnings: self.all_warnings(),
            active: self.is_active(),
            why: self.end.as_ref().map(|end| end.why.clone()),
            tier: self.tier.word(),
            causes: self.causes.iter().map(|cause| cause.path.clone()).collect(),
            groups: groups.iter().map(group_data).collect(),
            updated: self.updated().into_iter().map(str::to_owned).collect(),
            skipped: named(self.skipped().into_iter().collect()),
            dismissed: named(
                self.dismissed.iter().map(|(path, why)| (path.as_str(), why.as_str())).collect(),
            ),
            unresolved: self.unresolved().into_iter().map(str::to_owned).collect(),
            next: if self.is_active() { "continue-cascade" } else { "execution-review" },
        }
    }
}

fn group_data(group: &Group) -> GroupData {
    let stage = match group.stage {
        Stage::Waiting => "waiting",
        Stage::Handed => "handed",
        Stage::Settled => "settled",
    };
    let open = group.files.iter().filter(|file| file.outcome.is_none());
    GroupData {
        id: group.id.clone(),
        role: group.role.word(),
        stage,
        attempt: group.attempt,
        open: open.map(|file| file.path.clone()).collect(),
    }
}

/// The log of one iteration.
pub(super) fn log(iteration: &Iteration) -> IterationLog {
    let files = iteration.groups.iter().flat_map(|group| group.files.iter().map(move |file| (group, file)));
    let changed = |(group, file): (&Group, &crate::state::Assignment)| ChangedFile {
        path: file.path.clone(),
        implementer: format!("{}-{}", group.role.word(), group.id),
        status: match file.outcome {
            Some(Outcome::Skipped { .. }) => "failed",
            Some(_) => "complete",
            None => "open",
        },
        changed: iteration.has_changed(&file.path),
    };
    let new = iteration.new_impacts.clone().unwrap_or_default();
    let violations = iteration.violations.iter();
    IterationLog {
        iteration: iteration.number,
        implementers_spawned: iteration.agents,
        files_changed: files_changed(iteration),
        new_impacts_detected: new.len(),
        changed_files: files.map(changed).collect(),
        new_impact_files: new,
        scope_violations: violations
            .map(|(path, groups)| Violation { path: path.clone(), groups: groups.clone() })
            .collect(),
        verified: iteration.oracle_passed,
    }
}
