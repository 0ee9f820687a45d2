//! Compare-and-swap: a new version follows the one it was made from, or nothing happens.

use std::fmt;

use serde::Serialize;

use super::diff::{Diff, diff};
use super::lost::{Loss, losses, uncovered};
use super::merge::{ThreeWay, merge, three_way};
use crate::document::Document;
use crate::place::Place;

/// A version as it is stored.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Held<'a> {
    /// Starts at 1.
    pub version: u64,
    pub delivered: bool,
    pub document: &'a Document,
}

/// A requested next version.
#[derive(Debug, Clone, Copy)]
pub struct Proposal<'a> {
    /// The version it was made from.
    pub base: u64,
    /// The content of that version; `None` if it is no longer known.
    pub base_document: Option<&'a Document>,
    /// The new content.
    pub document: &'a Document,
    /// Set if it may be merged with later writes.
    pub merge: bool,
    /// The places that it drops on purpose.
    pub drops: &'a [Place],
}

/// The result of an accepted proposal.
#[derive(Debug, Clone, PartialEq)]
pub enum Swap {
    /// The next version.
    Next(Next),
    /// The proposal equals the current version: nothing is written.
    Unchanged,
}

/// The next version.
#[derive(Debug, Clone, PartialEq)]
pub struct Next {
    pub version: u64,
    pub document: Document,
    /// Set if it was merged with other writes.
    pub merged: bool,
    /// The changes to the current version.
    pub diff: Diff,
    /// Names to drop that this write does not drop.
    pub idle_drops: Vec<Place>,
}

/// A reason to refuse a proposal.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "refused", rename_all = "snake_case")]
pub enum SwapRefusal {
    /// The task is delivered, and final.
    Delivered {
        /// The present version.
        present: u64,
    },
    /// The base has not been written yet.
    NoSuchBase {
        /// The base named.
        base: u64,
        /// The present version.
        present: u64,
    },
    /// Someone was first.
    Conflict {
        /// The base named.
        base: u64,
        /// The present version.
        present: u64,
        /// Set if the sides conflict, or a merge was not requested.
        clashes: bool,
        /// The changes of both sides, by section; `None` if the base is unknown.
        sections: Option<ThreeWay>,
    },
    /// The proposal would lose data that another phase relies on.
    Lost { losses: Vec<Loss> },
}

/// Decides about `proposal` when `current` is the present version.
pub fn swap(current: Held<'_>, proposal: Proposal<'_>) -> Result<Swap, SwapRefusal> {
    let present = current.version;
    if current.delivered {
        return Err(SwapRefusal::Delivered { present });
    }
    if proposal.base > present {
        return Err(SwapRefusal::NoSuchBase { base: proposal.base, present });
    }
    let merged = proposal.base < present;
    let document = if merged { brought_together(current, proposal)? } else { proposal.document.clone() };
    let diff = diff(current.document, &document);
    if diff.is_empty() {
        return Ok(Swap::Unchanged);
    }
    let lost = losses(current.document, &document);
    let idle_drops = idle(proposal.drops, &lost);
    let lost = uncovered(lost, proposal.drops, &document);
    if !lost.is_empty() {
        return Err(SwapRefusal::Lost { losses: lost });
    }
    Ok(Swap::Next(Next { version: present + 1, document, merged, diff, idle_drops }))
}

fn brought_together(current: Held<'_>, proposal: Proposal<'_>) -> Result<Document, SwapRefusal> {
    let conflict = |clashes, sections| SwapRefusal::Conflict {
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

fn idle(drops: &[Place], lost: &[Loss]) -> Vec<Place> {
    drops.iter().filter(|drop| !lost.iter().any(|loss| loss.place.is_within(drop))).cloned().collect()
}

impl fmt::Display for SwapRefusal {
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
                        write!(f, "the changes do not meet, so `--merge` brings them together\n{sections}")
                    }
                }
            }
            Self::Lost { losses } => {
                writeln!(f, "this write would lose what other phases rely on:")?;
                losses.iter().try_for_each(|loss| writeln!(f, "  {loss}"))?;
                let drops: Vec<_> = losses.iter().map(|loss| format!("--drop '{}'", loss.place)).collect();
                write!(f, "keep them, or give them up by name: {}", drops.join(" "))
            }
        }
    }
}
