//! The index part: a list of the sections, the most important content that fits in full, and how to get the
//! rest.

use crate::cache_document::{CacheDocument, CacheSectionView};

use super::{CachePart, DeliveryContext, PartContent, section_pointer_line};

pub(super) fn index_part(document: &CacheDocument<'_>, delivery: &DeliveryContext<'_>) -> CachePart {
    let mut ranked: Vec<&CacheSectionView<'_>> = document.sections.iter().collect();
    ranked.sort_by_key(|entry| (delivery.rank(entry.name), entry.span.start));
    let count = |text: &str| delivery.limits.unit.count(text);
    let room = delivery.limits.part;
    let contents = IndexPart { document, delivery, ranked: &ranked };
    let mut here: Vec<&CacheSectionView<'_>> = Vec::new();
    // Lines get shorter when a section is added, so a section that fits next to all lines fits.
    let mut used = count(&contents.text(&here, room));
    for entry in ranked.iter().filter(|entry| entry.skipped().is_none()) {
        let more = count(&document.text[entry.span.clone()]) + count("\n\n");
        if used + more <= room {
            used += more;
            here.push(entry);
        }
    }
    let mut text = contents.text(&here, room);
    for entry in &here {
        text.push_str("\n\n");
        text.push_str(&document.text[entry.span.clone()]);
    }
    let carries = here.iter().map(|entry| PartContent {
        section: Some(entry.name.to_owned()),
        piece: (1, 1),
        span: entry.span.clone(),
    });
    CachePart { text, carries: carries.collect() }
}

struct IndexPart<'a, 'd> {
    document: &'a CacheDocument<'d>,
    delivery: &'a DeliveryContext<'a>,
    ranked: &'a [&'a CacheSectionView<'d>],
}

impl IndexPart<'_, '_> {
    /// Renders the table of contents; `here` are the sections that are delivered in full.
    fn text(&self, here: &[&CacheSectionView<'_>], room: usize) -> String {
        let header = &self.document.header;
        let mut text = format!(
            "Lockstep session cache, hash {}, of {}: {} sections.{} A section that is not below: {}.",
            header.hash,
            header.generated,
            self.document.sections.len(),
            self.delivery.staleness(),
            self.delivery.retrieval_hint(),
        );
        let unit = self.delivery.limits.unit;
        text = unit.prefix(&text, room / 2).to_owned();
        for (at, entry) in self.ranked.iter().enumerate() {
            let line = format!("\n- {}", self.line(entry, here));
            let rest = format!("\n- and {} more: `lockstep cache show`", self.ranked.len() - at);
            if unit.count(&text) + unit.count(&line) + unit.count(&rest) > room {
                return text + &rest;
            }
            text.push_str(&line);
        }
        text
    }

    fn line(&self, entry: &CacheSectionView<'_>, here: &[&CacheSectionView<'_>]) -> String {
        let external = if self.delivery.is_external(entry.name) {
            "; text of external skills, not of this project"
        } else {
            ""
        };
        if let Some(why) = entry.skipped() {
            return format!("{}: skipped, {why}", entry.name);
        }
        if here.iter().any(|there| there.name == entry.name) {
            return format!("{}: below{external}", entry.name);
        }
        format!("{}{external}", section_pointer_line(entry))
    }
}
