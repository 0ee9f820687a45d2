//! Delivery: the cache as parts within the client's limit.
//!
//! [`parts`] for a session, [`subagent_part`] for a subagent. Pure: the caller supplies the mode, the limits,
//! the reason of the session start and the staleness of the cache. It also registers the entries and sends
//! the parts.

mod full;
mod index;
mod limits;
mod subagent;

pub use limits::{ClientLimits, LIMITS, LimitScope};
pub use subagent::subagent_part;

use std::ops::Range;

use crate::cache_document::{CacheDocument, CacheSectionView};
use crate::section::{ContentStrategy, SectionConfig};

/// Sections that come first after the client compacted its context, because the work in progress was lost.
const AFTER_COMPACTION: [&str; 2] = ["ACTIVE_WORK", "TASK"];

/// The source of a session start after a compaction.
const COMPACTED: &str = "compact";

/// The delivered share of the cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeliveryMode {
    /// One part: a list of the sections, the most important content that fits in full, and how to get the
    /// rest.
    Index,
    /// The complete content, in as many parts as necessary.
    Full,
    Off,
}

#[derive(Debug, Clone, Copy)]
pub struct DeliveryContext<'a> {
    pub mode: DeliveryMode,
    pub limits: &'a ClientLimits,
    /// The reason for the session's start: `startup`, `resume`, `clear`, `compact`.
    pub source: &'a str,
    /// The configured sections: their priorities, and their sources.
    pub sections: &'a [SectionConfig],
    /// The cache file, as a reader opens it.
    pub path: &'a str,
    /// The prefix of a section's MCP resource, if there is a server.
    pub resource: Option<&'a str>,
    /// The reason why the cache is stale, if it is.
    pub stale: Option<&'a str>,
    /// The number of registered hook entries for the parts of `full`.
    pub entries: usize,
}

/// The text of one hook entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CachePart {
    /// The text, within the client's limit.
    pub text: String,
    /// The content from the cache, in this order, at the end of its text.
    pub carries: Vec<PartContent>,
}

/// A section, or a piece of one, in a part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartContent {
    /// The section; `None` is the cache's header.
    pub section: Option<String>,
    /// Which piece of how many, counted from 1.
    pub piece: (usize, usize),
    /// The position in the cache's text.
    pub span: Range<usize>,
}

/// The parts of `document` for a session, in the order of their entries. None is longer than the client accepts.
pub fn parts(document: &CacheDocument<'_>, delivery: &DeliveryContext<'_>) -> Vec<CachePart> {
    select_parts(document, delivery, |_| true)
}

/// One of these parts, by its number from 1; the others are not made.
pub fn part(
    document: &CacheDocument<'_>,
    delivery: &DeliveryContext<'_>,
    number: usize,
) -> Option<CachePart> {
    select_parts(document, delivery, |other| other == number).pop()
}

fn select_parts(
    document: &CacheDocument<'_>,
    delivery: &DeliveryContext<'_>,
    wanted: impl Fn(usize) -> bool,
) -> Vec<CachePart> {
    let parts = match delivery.mode {
        DeliveryMode::Off => Vec::new(),
        DeliveryMode::Index if wanted(1) => vec![index::index_part(document, delivery)],
        DeliveryMode::Index => Vec::new(),
        DeliveryMode::Full => full::parts(document, delivery, wanted),
    };
    // A part that does not fit would arrive as a preview of a file, which is worse than nothing.
    parts.into_iter().filter(|part| delivery.limits.unit.count(&part.text) <= delivery.limits.entry).collect()
}

/// Returns the number of hook entries that `document` needs in [`DeliveryMode::Full`].
pub fn entries_needed(document: &CacheDocument<'_>, delivery: &DeliveryContext<'_>) -> usize {
    full::plan_parts(document, delivery).len()
}

impl DeliveryContext<'_> {
    /// Encodes the inputs of the parts of a fresh cache, apart from the settings, for their cache key.
    ///
    /// The number at the start is the version of the encoding. Raising it drops all cached parts.
    pub fn fingerprint(&self) -> String {
        let Self { mode, limits, source, sections: _, path: _, resource, stale, entries } = self;
        let mode = match mode {
            DeliveryMode::Index => "index",
            DeliveryMode::Full => "full",
            DeliveryMode::Off => "off",
        };
        let limits = limits.fingerprint();
        let compacted = *source == COMPACTED;
        format!("1 {mode} {limits} {compacted} {resource:?} {stale:?} {entries}")
    }

    fn is_external(&self, section: &str) -> bool {
        self.configured(section).is_some_and(|section| section.strategy == ContentStrategy::ExternalSkills)
    }

    fn configured(&self, section: &str) -> Option<&SectionConfig> {
        self.sections.iter().find(|configured| configured.name.as_str() == section)
    }

    /// Returns the position of a section after a compaction; other sections follow.
    fn urgency(&self, section: &str) -> usize {
        let urgent = AFTER_COMPACTION.iter().position(|name| *name == section);
        urgent.filter(|_| self.source == COMPACTED).unwrap_or(AFTER_COMPACTION.len())
    }

    /// Less is more important.
    fn rank(&self, section: &str) -> (usize, u32) {
        (self.urgency(section), self.configured(section).map_or(u32::MAX, |section| section.priority))
    }

    fn staleness(&self) -> String {
        self.stale
            .map(|why| format!(" It is stale: {}.", crate::text_length::one_line(why)))
            .unwrap_or_default()
    }

    /// Describes how to get a section that is not delivered.
    fn retrieval_hint(&self) -> String {
        let resource =
            self.resource.map(|prefix| format!(", MCP resource `{prefix}NAME`")).unwrap_or_default();
        format!("`lockstep cache section NAME`{resource}, or the lines given in {}", self.path)
    }
}

/// One line for a section that is not here.
fn section_pointer_line(entry: &CacheSectionView<'_>) -> String {
    let (first, last) = entry.lines;
    let chars = crate::text_length::chars(match entry.content() {
        crate::cache_document::SectionContent::Text(ref text) => text,
        crate::cache_document::SectionContent::Skipped(_) => "",
    });
    format!("{}: {chars} characters, lines {first}-{last}", entry.name)
}

/// Joins `items` into at most `max` characters, and counts the rest.
fn fitted(items: &[String], max: usize) -> String {
    let mut out = String::new();
    for (at, item) in items.iter().enumerate() {
        let separator = if at == 0 { "" } else { ", " };
        let more = format!(" and {} more", items.len() - at);
        if crate::text_length::chars(&out) + separator.len() + crate::text_length::chars(item) + more.len()
            > max
        {
            return out + &more;
        }
        out = out + separator + item;
    }
    out
}
