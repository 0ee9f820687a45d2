//! What happens to a cascade, and what it asks for.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

/// A digest of a content. Equal contents, equal digests; nothing else is known of it here.
pub type Digest = String;

/// A file that depends on one that changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dependent {
    /// Relative to the root.
    pub path: String,
    /// The changed file it depends on: the file itself if its own edit broke references in it. Empty if only the verification names it.
    pub cause: String,
    /// Whether it references the changed file itself.
    pub direct: bool,
    /// The name by which it does.
    pub pattern: String,
    /// The lines that show it, as `file:line:text`.
    pub evidence: Vec<String>,
    /// How the reference was found, where that is known.
    pub kind: Option<String>,
    /// Whether it no longer fits what it references, where that is known.
    pub breaks: Option<bool>,
}

impl Dependent {
    /// Returns true if the file broke its own references.
    pub fn is_own(&self) -> bool {
        self.path == self.cause
    }
}

/// Something that happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// A group was given to an agent.
    Handed {
        /// The group.
        group: String,
        /// What its files were at that moment.
        before: BTreeMap<String, Option<Digest>>,
    },
    /// Nobody is at work on what was handed out: the program that watched the agents is gone, and they with it.
    Interrupted {
        /// What was found.
        seen: Observation,
    },
    /// An agent has ended.
    Done {
        /// Its group.
        group: String,
        /// What it says of itself.
        claim: Claim,
        /// What was found.
        seen: Observation,
    },
    /// Somebody has looked at a dependent: it needs no change.
    NotNeeded {
        /// The dependent.
        file: String,
        /// Why.
        why: String,
    },
    /// The convergence check was made, or could not be made.
    Checked(Verdict),
    /// Somebody ended the cascade.
    Aborted {
        /// Why.
        why: String,
    },
}

/// What an agent says of itself. It counts for nothing but warnings.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Claim {
    /// Whether it says that it did what it was asked.
    pub complete: bool,
    /// The files it says it has changed, relative to the root, where it says so.
    pub files: Option<Vec<String>>,
    /// What went wrong.
    pub error: Option<String>,
    /// Files that it changed in a place of its own without being asked; they were not brought back.
    pub outside: Vec<String>,
}

/// What was seen on disk.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Observation {
    /// Every assigned file of the iteration.
    pub files: BTreeMap<String, Seen>,
    /// Other files that are not what they were when the iteration began.
    pub others: Vec<Other>,
}

/// An assigned file as it was seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// Its content; `None` where there is no file.
    pub content: Option<Digest>,
    /// What is stale in it.
    pub left: Left,
}

/// What is stale in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Left {
    /// Nothing.
    Nothing,
    /// These lines, as `file:line:text`.
    Stale(Vec<String>),
    /// It cannot be told, for this reason.
    Unknown(String),
}

/// A file that nobody was asked to change, and that changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Other {
    /// Relative to the root.
    pub path: String,
    /// What it was when the iteration began.
    pub before: Option<Digest>,
    /// What it is.
    pub content: Option<Digest>,
}

/// The result of a convergence check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// What depends on what this iteration changed.
    Found(Findings),
    /// The check could not be made.
    Failed(String),
}

/// What depends on what an iteration changed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Findings {
    /// The dependents, at any distance, whether or not they are known already.
    pub dependents: Vec<Dependent>,
    /// What the verification said, where there is one.
    pub oracle: Option<Oracle>,
    /// About the files named above.
    pub terrain: Terrain,
    /// What a reader must know about them.
    pub warnings: Vec<String>,
}

/// What a verification said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Oracle {
    /// Whether it passed.
    pub passed: bool,
    /// The files its failures name, with the line that does.
    pub failures: Vec<(String, String)>,
}

/// What grouping needs to know of files.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Terrain {
    /// Their sizes in bytes.
    pub sizes: BTreeMap<String, u64>,
    /// Sets of files that import each other in a circle.
    pub cycles: Vec<BTreeSet<String>>,
}

/// Something that is to be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// Give this group to an agent.
    Hand {
        /// The group.
        group: String,
    },
    /// Check what depends on what this iteration changed.
    Check,
    /// Tell how it ended.
    Report,
}
