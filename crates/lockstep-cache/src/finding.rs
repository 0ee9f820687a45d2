//! Findings of a build for the user. Every omission is reported.

use std::fmt;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BuildFinding {
    pub section: String,
    pub kind: BuildFindingKind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BuildFindingKind {
    MissingSkill {
        agent: String,
        id: String,
    },
    /// Several skills have one id; the first is used.
    DuplicateId {
        id: String,
        used: String,
        /// One that is not.
        other: String,
    },
    /// No agent owns a skill.
    UnownedId {
        id: String,
        path: String,
    },
    /// A file could not be used.
    Unusable {
        path: String,
        why: String,
    },
    /// Bytes of a file were not UTF-8 and were replaced by U+FFFD.
    NotUtf8 {
        path: String,
    },
    /// An entry of a manifest could not be used.
    BadEntry {
        entry: String,
        why: String,
    },
    /// An external skill names a file that points outside the skill folder.
    OutsideSkillDir {
        skill: String,
        file: String,
    },
    /// Content has section markers; they are escaped.
    Markers {
        /// The position within the section.
        place: String,
        count: usize,
    },
}

impl BuildFinding {
    pub(crate) fn new(section: &impl fmt::Display, kind: BuildFindingKind) -> Self {
        Self { section: section.to_string(), kind }
    }

    /// Returns true if `cache check` answers "no" because of it, `strict` or not.
    pub fn fails_check(&self, strict: bool) -> bool {
        matches!(self.kind, BuildFindingKind::MissingSkill { .. }) && strict || self.is_fault()
    }

    /// Returns true if the cache differs from its source.
    fn is_fault(&self) -> bool {
        matches!(
            self.kind,
            BuildFindingKind::DuplicateId { .. }
                | BuildFindingKind::OutsideSkillDir { .. }
                | BuildFindingKind::Markers { .. }
                | BuildFindingKind::BadEntry { .. }
        )
    }
}

impl fmt::Display for BuildFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.section)?;
        match &self.kind {
            BuildFindingKind::MissingSkill { agent, id } => {
                write!(
                    f,
                    "`{agent}` owns {id}, but no skill has this id; add the skill, or take the id from the manifest"
                )
            }
            BuildFindingKind::DuplicateId { id, used, other } => {
                write!(
                    f,
                    "{id} is the id of {used}, which is used, and of {other}; give one of them another id"
                )
            }
            BuildFindingKind::UnownedId { id, path } => write!(f, "no agent owns {id} ({path})"),
            BuildFindingKind::Unusable { path, why } => write!(f, "{path} is not used: {why}"),
            BuildFindingKind::NotUtf8 { path } => {
                write!(
                    f,
                    "{path} is not UTF-8; what could not be read is replaced by U+FFFD. Save it as UTF-8"
                )
            }
            BuildFindingKind::BadEntry { entry, why } => write!(f, "{entry} is not used: {why}"),
            BuildFindingKind::OutsideSkillDir { skill, file } => {
                write!(
                    f,
                    "external skill `{skill}` names `{file}`, which points outside the skill folder; it was not read"
                )
            }
            BuildFindingKind::Markers { place, count } => {
                write!(
                    f,
                    "{place} contains {count} section markers; they are escaped. Remove them if they are no example"
                )
            }
        }
    }
}
