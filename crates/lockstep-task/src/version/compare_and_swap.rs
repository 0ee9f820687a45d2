//! Compare-and-swap: a new version follows the one it was made from, or nothing happens.

use std::fmt;

use serde::Serialize;

use super::diff::{DocumentDiff, diff};
use super::loss::{Loss, losses, undeclared_losses};
use super::merge::{ThreeWayDiff, merge, three_way};
use crate::document::TaskDocument;
use crate::key_path::KeyPath;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CurrentVersion<'a> {
    /// Starts at 1.
    pub version: u64,
    pub delivered: bool,
    pub document: &'a TaskDocument,
}

#[derive(Debug, Clone, Copy)]
pub struct VersionProposal<'a> {
    pub base: u64,
    /// The content of that version; `None` if it is no longer known.
    pub base_document: Option<&'a TaskDocument>,
    pub document: &'a TaskDocument,
    /// Set if it may be merged with later writes.
    pub merge: bool,
    /// The places that it drops on purpose.
    pub drops: &'a [KeyPath],
}

#[derive(Debug, Clone, PartialEq)]
pub struct NextVersion {
    pub version: u64,
    pub document: TaskDocument,
    /// Set if it was merged with other writes.
    pub merged: bool,
    /// The changes to the current version.
    pub diff: DocumentDiff,
    /// Names to drop that this write does not drop.
    pub idle_drops: Vec<KeyPath>,
}

/// A reason to refuse a proposal.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "refused", rename_all = "snake_case")]
pub enum SwapError {
    /// The task is delivered, and final.
    Delivered { present: u64 },
    /// The base has not been written yet.
    NoSuchBase { base: u64, present: u64 },
    /// Someone was first.
    Conflict {
        base: u64,
        present: u64,
        /// Set if the sides conflict, or a merge was not requested.
        clashes: bool,
        /// The changes of both sides, by section; `None` if the base is unknown.
        sections: Option<ThreeWayDiff>,
    },
    /// The proposal would lose data that another phase relies on.
    #[serde(rename = "lost")]
    WouldLose { losses: Vec<Loss> },
}

/// Returns the version that follows from `proposal` when `current` is the present one. `None` if it has the same
/// content.
pub fn compare_and_swap(
    current: CurrentVersion<'_>,
    proposal: VersionProposal<'_>,
) -> Result<Option<NextVersion>, SwapError> {
    let present = current.version;
    if current.delivered {
        return Err(SwapError::Delivered { present });
    }
    if proposal.base > present {
        return Err(SwapError::NoSuchBase { base: proposal.base, present });
    }
    let merged = proposal.base < present;
    let document = if merged { merge_with_current(current, proposal)? } else { proposal.document.clone() };
    let diff = diff(current.document, &document);
    if diff.is_empty() {
        return Ok(None);
    }
    let lost = losses(current.document, &document);
    let idle_drops = unused_drops(proposal.drops, &lost);
    let lost = undeclared_losses(lost, proposal.drops, &document);
    if !lost.is_empty() {
        return Err(SwapError::WouldLose { losses: lost });
    }
    Ok(Some(NextVersion { version: present + 1, document, merged, diff, idle_drops }))
}

fn merge_with_current(
    current: CurrentVersion<'_>,
    proposal: VersionProposal<'_>,
) -> Result<TaskDocument, SwapError> {
    let conflict = |clashes, sections| SwapError::Conflict {
        base: proposal.base,
        present: current.version,
        clashes,
        sections,
    };
    let Some(base) = proposal.base_document else { return Err(conflict(true, None)) };
    let merge_result = merge(base, proposal.document, current.document);
    let clashes = !merge_result.clashes.is_empty();
    if clashes || !proposal.merge {
        return Err(conflict(clashes, Some(three_way(base, proposal.document, current.document))));
    }
    Ok(merge_result.document)
}

fn unused_drops(drops: &[KeyPath], lost: &[Loss]) -> Vec<KeyPath> {
    drops.iter().filter(|drop| !lost.iter().any(|loss| loss.place.starts_with(drop))).cloned().collect()
}

impl fmt::Display for SwapError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Delivered { present } => write!(
                f,
                "PT-v{present} is DELIVERED and final; `lockstep task reopen --why …` makes it open to changes again"
            ),
            Self::NoSuchBase { base, present } => {
                write!(
                    f,
                    "there is no PT-v{base} yet: the present version is PT-v{present}; name the version that was read"
                )
            }
            Self::Conflict { base, present, clashes, sections } => {
                write!(f, "this write was made from PT-v{base}, and the present version is PT-v{present}; ")?;
                match (sections, clashes) {
                    (None, _) => write!(
                        f,
                        "PT-v{base} is not known any more, so nothing can be merged; read PT-v{present} and apply the change to it"
                    ),
                    (Some(sections), true) => write!(
                        f,
                        "both changed the same places; read PT-v{present} and apply the change to it\n{sections}"
                    ),
                    (Some(sections), false) => {
                        write!(f, "the changes do not conflict, so `--merge` can merge them\n{sections}")
                    }
                }
            }
            Self::WouldLose { losses } => {
                writeln!(f, "this write would lose what other phases rely on:")?;
                losses.iter().try_for_each(|loss| writeln!(f, "  {loss}"))?;
                let drops: Vec<_> = losses.iter().map(|loss| format!("--drop '{}'", loss.place)).collect();
                write!(f, "keep them, or give them up by name: {}", drops.join(" "))
            }
        }
    }
}
