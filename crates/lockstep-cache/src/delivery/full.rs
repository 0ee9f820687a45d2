//! The complete cache in parts: sections in full, or in numbered pieces cut at line ends. Together they are
//! exactly the cache.

use std::ops::Range;

use crate::cache_document::CacheDocument;
use crate::text_length::LengthUnit;

use super::{CachePart, DeliveryContext, LimitScope, PartContent, fitted};

/// The space reserved in every part for its first line.
const PREAMBLE_RESERVE: usize = 700;

/// Returns the parts for the registered entries, limited to the `wanted` numbers. If more are needed, the
/// last one names the missing sections.
pub(super) fn parts(
    document: &CacheDocument<'_>,
    delivery: &DeliveryContext<'_>,
    wanted: impl Fn(usize) -> bool,
) -> Vec<CachePart> {
    let entries = match delivery.limits.entries {
        LimitScope::PerEntry => delivery.entries,
        LimitScope::Shared => delivery.entries.min(1),
    };
    let mut loads = plan_parts(document, delivery);
    let needed = loads.len();
    let missing = if needed > entries { loads.split_off(entries.saturating_sub(1)) } else { Vec::new() };
    let of = loads.len() + usize::from(!missing.is_empty());
    let mut parts: Vec<CachePart> = loads
        .into_iter()
        .zip(1..)
        .filter(|(_, number)| wanted(*number))
        .map(|(carries, number)| {
            let mut text = preamble(document, delivery, number, of, &carries);
            carries.iter().for_each(|carried| text.push_str(&document.text[carried.span.clone()]));
            CachePart { text, carries }
        })
        .collect();
    if !missing.is_empty() && entries > 0 && wanted(of) {
        parts.push(overflow(document, delivery, needed, entries, &missing));
    }
    parts
}

/// Returns the content of each part, for any number of entries.
pub(super) fn plan_parts(
    document: &CacheDocument<'_>,
    delivery: &DeliveryContext<'_>,
) -> Vec<Vec<PartContent>> {
    let unit = delivery.limits.unit;
    let room = delivery.limits.part.saturating_sub(PREAMBLE_RESERVE).max(1);
    let mut loads: Vec<Vec<PartContent>> = Vec::new();
    let mut free = 0;
    for (section, span) in section_spans(document, delivery) {
        let text = &document.text[span.clone()];
        if unit.count(text) > free && (unit.count(text) <= room || free < room / 4) {
            loads.push(Vec::new());
            free = room;
        }
        let pieces = split_at_lines(text, unit, free, room);
        let of = pieces.len();
        for (at, piece) in pieces.into_iter().enumerate() {
            if at > 0 {
                loads.push(Vec::new());
                free = room;
            }
            free = free.saturating_sub(unit.count(&text[piece.clone()]));
            let span = span.start + piece.start..span.start + piece.end;
            let carried = PartContent { section: section.clone(), piece: (at + 1, of), span };
            loads.last_mut().expect("one was pushed when there was no room").push(carried);
        }
    }
    loads
}

/// The cache's text, cut before every section; urgent sections first.
fn section_spans(
    document: &CacheDocument<'_>,
    delivery: &DeliveryContext<'_>,
) -> Vec<(Option<String>, Range<usize>)> {
    let starts = document.sections.iter().map(|entry| entry.span.start);
    let ends: Vec<usize> = starts.chain([document.text.len()]).collect();
    let mut units = vec![(None, 0..ends[0])];
    let mut sections: Vec<_> = document.sections.iter().zip(ends.windows(2)).collect();
    sections.sort_by_key(|(entry, _)| delivery.urgency(entry.name));
    units.extend(sections.iter().map(|(entry, ends)| (Some(entry.name.to_owned()), ends[0]..ends[1])));
    units
}

/// Cuts `text` into pieces, the first of at most `free`, the others of at most `room`; at line ends, and
/// inside a line only if it is longer than a piece.
fn split_at_lines(text: &str, unit: LengthUnit, free: usize, room: usize) -> Vec<Range<usize>> {
    let mut pieces = Vec::new();
    let (mut from, mut at, mut used, mut limit) = (0, 0, 0, free);
    for line in text.split_inclusive('\n') {
        let mut size = unit.count(line);
        if used > 0 && used + size > limit {
            pieces.push(from..at);
            (from, used, limit) = (at, 0, room);
        }
        at += line.len();
        while used + size > limit {
            let rest = &text[from..at];
            let piece = unit.prefix(rest, limit).len().max(first_char(rest));
            pieces.push(from..from + piece);
            from += piece;
            (size, limit) = (unit.count(&text[from..at]), room);
        }
        used += size;
    }
    if from < at {
        pieces.push(from..at);
    }
    pieces
}

/// The least that can be cut off.
fn first_char(text: &str) -> usize {
    text.chars().next().map_or(0, char::len_utf8)
}

/// Returns the first line of a part, which describes it for a reader who sees no other part.
fn preamble(
    document: &CacheDocument<'_>,
    delivery: &DeliveryContext<'_>,
    number: usize,
    of: usize,
    carries: &[PartContent],
) -> String {
    let names: Vec<String> = carries.iter().filter_map(name).collect();
    let external = carries.iter().filter_map(|carried| carried.section.as_deref());
    let external: Vec<String> =
        external.filter(|name| delivery.is_external(name)).map(ToOwned::to_owned).collect();
    let note = match external.as_slice() {
        [] => String::new(),
        names => format!(" {} is text of external skills, not of this project.", fitted(names, 100)),
    };
    let hash = &document.header.hash;
    let stale = delivery.staleness();
    let stale = delivery.limits.unit.prefix(&stale, 150);
    let what = if names.is_empty() { "the header".to_owned() } else { fitted(&names, 300) };
    format!("Lockstep session cache, hash {hash}, part {number} of {of}: {what}.{stale}{note}\n")
}

fn name(carried: &PartContent) -> Option<String> {
    let section = carried.section.as_ref()?;
    Some(match carried.piece {
        (_, 1) => section.clone(),
        (piece, of) => format!("{section} (piece {piece} of {of})"),
    })
}

/// The last part, when there are fewer entries than parts: nothing is left out silently.
fn overflow(
    document: &CacheDocument<'_>,
    delivery: &DeliveryContext<'_>,
    needed: usize,
    entries: usize,
    missing: &[Vec<PartContent>],
) -> CachePart {
    let names: Vec<String> = missing.iter().flatten().filter_map(name).collect();
    let room = delivery.limits.part.saturating_sub(PREAMBLE_RESERVE);
    let text = format!(
        "Lockstep session cache, hash {}, part {entries} of {entries}: the cache needs {needed} parts, and {entries} are \
         registered. `lockstep init` registers the others. Until then, by {}: {}.\n",
        document.header.hash,
        delivery.retrieval_hint(),
        fitted(&names, room),
    );
    CachePart {
        text: delivery.limits.unit.prefix(&text, delivery.limits.part).to_owned(),
        carries: Vec::new(),
    }
}
