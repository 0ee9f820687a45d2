//! Events that change a cascade, and the effects it requests.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

/// A content digest. Two contents are equal if and only if their digests are; nothing else is derived from it
/// here.
pub type Digest = String;

/// A file that depends on one that changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CascadeDependent {
    /// Relative to the root.
    pub path: String,
    /// The changed file it depends on: the file itself if its own edit broke references in it. Empty if only the verification names it.
    pub cause: String,
    /// Set if the file references the changed file itself.
    pub direct: bool,
    pub pattern: String,
    /// The evidence, as `file:line:text`.
    pub evidence: Vec<String>,
    /// The kind of reference, if known.
    pub kind: Option<String>,
    /// True if the file no longer fits the changed file; `None` if unknown.
    pub breaks: Option<bool>,
}

impl CascadeDependent {
    /// Returns true if the file broke its own references.
    pub fn is_own(&self) -> bool {
        self.path == self.cause
    }
}

/// An input of the state machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CascadeEvent {
    /// A group was assigned to an agent.
    Dispatched {
        group: String,
        /// The contents of its files at that moment.
        before: BTreeMap<String, Option<Digest>>,
    },
    /// The program that watched the agents ended, and the agents with it.
    Interrupted {
        seen: DiskObservation,
    },
    AgentFinished {
        group: String,
        claim: AgentClaim,
        seen: DiskObservation,
    },
    /// A user or agent decided that a dependent needs no change.
    Dismissed {
        file: String,
        why: String,
    },
    /// The convergence check was made, or could not be made.
    CheckCompleted(CheckResult),
    Aborted {
        why: String,
    },
}

/// An agent's report about its own work. It can only add warnings.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AgentClaim {
    /// Set if the agent reports that it completed the assignment.
    pub complete: bool,
    /// The files that the agent reports as changed, relative to the root.
    pub files: Option<Vec<String>>,
    pub error: Option<String>,
    /// Files that the agent changed in its own worktree without being asked. They were not copied back.
    pub unassigned_files: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DiskObservation {
    /// Every assigned file of the iteration.
    pub files: BTreeMap<String, ObservedFile>,
    /// Other files that changed since the iteration began.
    pub unassigned_changes: Vec<UnassignedChange>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObservedFile {
    /// `None` if the file does not exist.
    pub content: Option<Digest>,
    pub left: FileStaleness,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileStaleness {
    Clean,
    /// These lines, as `file:line:text`.
    Stale(Vec<String>),
    /// The file could not be checked, for this reason.
    Unknown(String),
}

/// A file that changed although it was assigned to no agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnassignedChange {
    /// Relative to the root.
    pub path: String,
    /// The content when the iteration began.
    pub before: Option<Digest>,
    pub content: Option<Digest>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CheckResult {
    Found(CheckFindings),
    /// The check could not be made.
    Failed(String),
}

/// The dependents of the files that an iteration changed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CheckFindings {
    /// The dependents at any distance, including those already known.
    pub dependents: Vec<CascadeDependent>,
    /// The result of the verification, if one is configured.
    pub oracle: Option<VerificationResult>,
    /// Sizes and import cycles of these files.
    pub terrain: GroupingInput,
    /// Warnings about these findings, for the report.
    pub warnings: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerificationResult {
    pub passed: bool,
    /// The files that its failures name, with the output line that names them.
    pub failures: Vec<(String, String)>,
}

/// The facts about files that grouping needs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GroupingInput {
    /// File sizes in bytes.
    pub sizes: BTreeMap<String, u64>,
    /// Sets of files that import each other in a circle.
    pub cycles: Vec<BTreeSet<String>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CascadeEffect {
    /// Give this group to an agent.
    Dispatch {
        group: String,
    },
    /// Check the dependents of the files that this iteration changed.
    Check,
    Report,
}
