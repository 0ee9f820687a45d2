//! Everything about a cascade as data.

use schemars::JsonSchema;
use serde::Serialize;

use super::files_changed;
use crate::MAX_ITERATIONS;
use crate::state::{Cascade, FileOutcome, Group, GroupStage, Iteration};

/// A cascade as data: the L1 and its details.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "Data")]
pub struct CascadeReport {
    /// `execution`.
    pub domain: &'static str,
    /// `cascade`.
    pub skill: &'static str,
    /// `converged`, `partial` or `skipped`.
    pub status: &'static str,
    /// The number of iterations so far.
    pub iterations: usize,
    /// The maximum number of iterations.
    pub max_iterations: u8,
    /// The number of files that were updated.
    pub files_updated: usize,
    /// The number of files that could not be updated.
    pub files_skipped: usize,
    /// True if nothing is unresolved; `null` for a skipped cascade.
    pub convergence: Option<bool>,
    /// The log of each iteration.
    pub iteration_details: Vec<IterationLog>,
    /// Warnings for the report.
    pub warnings: Vec<String>,
    /// True until the cascade has ended.
    pub active: bool,
    /// The reason for the end, as text.
    pub why: Option<String>,
    /// The effort: `TRIVIAL`, `STANDARD` or `COMPLEX`.
    pub tier: &'static str,
    /// The changed files that started the cascade.
    pub causes: Vec<String>,
    /// The progress of the groups of the present iteration.
    pub groups: Vec<GroupStatus>,
    /// Files that were updated.
    pub updated: Vec<String>,
    /// Files that could not be updated, with the reasons.
    pub skipped: Vec<FileWithReason>,
    /// Dependents that need no change, with the reasons.
    pub dismissed: Vec<FileWithReason>,
    /// Files that are known to need a change that no agent will make.
    pub unresolved: Vec<String>,
    /// The next action.
    pub next: &'static str,
}

/// The log of one iteration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct IterationLog {
    /// Starts at 1.
    pub iteration: u8,
    /// The number of agents that were started.
    pub implementers_spawned: u32,
    /// The number of files that were updated.
    pub files_changed: usize,
    /// The number of new impacts that the check found.
    pub new_impacts_detected: usize,
    /// The assigned files with their outcomes.
    pub changed_files: Vec<AssignedFileStatus>,
    /// The new impacts.
    pub new_impact_files: Vec<String>,
    /// Files that changed although they were assigned to no agent.
    pub scope_violations: Vec<ScopeViolation>,
    /// The result of the verification, if one is configured.
    pub verified: Option<bool>,
}

/// An assigned file with its outcome.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "ChangedFile")]
pub struct AssignedFileStatus {
    /// Relative to the root.
    pub path: String,
    /// The role and group of its agent, such as `implementer-1a`.
    pub implementer: String,
    /// `complete`, `failed` or, without an outcome, `open`.
    pub status: &'static str,
    /// True if the content differs from the one before the iteration.
    pub changed: bool,
}

/// A file that changed although it was assigned to no agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "Violation")]
pub struct ScopeViolation {
    /// Relative to the root.
    pub path: String,
    /// The groups that were active at the time.
    pub groups: Vec<String>,
}

/// A file with the reason for its outcome.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "Named")]
pub struct FileWithReason {
    /// Relative to the root.
    pub path: String,
    /// The reason.
    pub why: String,
}

/// The progress of a group.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "GroupData")]
pub struct GroupStatus {
    /// The iteration's number and a letter, such as `1a`.
    pub id: String,
    /// The kind of agent.
    pub role: &'static str,
    /// `waiting`, `handed` or `settled`.
    pub stage: &'static str,
    /// 1 or 2.
    pub attempt: u8,
    /// Files that are not resolved.
    pub open: Vec<String>,
}

impl Cascade {
    pub fn data(&self) -> CascadeReport {
        let named = |pairs: Vec<(&str, &str)>| {
            pairs
                .into_iter()
                .map(|(path, why)| FileWithReason { path: path.to_owned(), why: why.to_owned() })
                .collect()
        };
        let groups =
            self.iteration().filter(|_| self.is_active()).map_or_else(Vec::new, |i| i.groups.clone());
        CascadeReport {
            domain: "execution",
            skill: "cascade",
            status: self.status().as_str(),
            iterations: self.iterations.len(),
            max_iterations: MAX_ITERATIONS,
            files_updated: self.updated().len(),
            files_skipped: self.skipped().len(),
            convergence: self.convergence(),
            iteration_details: self.iterations.iter().map(log).collect(),
            warnings: self.all_warnings(),
            active: self.is_active(),
            why: self.end.as_ref().map(|end| end.why.clone()),
            tier: self.tier.as_str(),
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

fn group_data(group: &Group) -> GroupStatus {
    let stage = match group.stage {
        GroupStage::Waiting => "waiting",
        GroupStage::Dispatched => "handed",
        GroupStage::Settled => "settled",
    };
    let open = group.files.iter().filter(|file| file.outcome.is_none());
    GroupStatus {
        id: group.id.clone(),
        role: group.role.as_str(),
        stage,
        attempt: group.attempt,
        open: open.map(|file| file.path.clone()).collect(),
    }
}

pub(super) fn log(iteration: &Iteration) -> IterationLog {
    let files = iteration.groups.iter().flat_map(|group| group.files.iter().map(move |file| (group, file)));
    let changed = |(group, file): (&Group, &crate::state::Assignment)| AssignedFileStatus {
        path: file.path.clone(),
        implementer: format!("{}-{}", group.role.as_str(), group.id),
        status: match file.outcome {
            Some(FileOutcome::Skipped { .. }) => "failed",
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
            .map(|(path, groups)| ScopeViolation { path: path.clone(), groups: groups.clone() })
            .collect(),
        verified: iteration.oracle_passed,
    }
}
