//! Links to a heading: `file.md#anchor`.

use super::path::{Paths, token};
use super::place::Document;
use super::{Subject, reference};
use crate::facts::DefinitionKind;
use crate::reference::{Certainty, Kind, Reference};
use crate::world::{World, base};

/// The links to the subject's headings.
pub(super) fn referrers(world: &dyn World, subject: &Subject<'_>, found: &mut Vec<Reference>) {
    let sections = || subject.symbols.iter().enumerate().filter(|(_, s)| s.kind == DefinitionKind::Section);
    if sections().next().is_none() {
        return;
    }
    let name = base(subject.path);
    let paths = Paths { world, also: Some(subject.path) };
    for file in world.containing(name) {
        let from = world.path(file);
        let Some(text) = world.text(file) else { continue };
        let document = Document::new(from, &text);
        for (at, _) in text.match_indices(name) {
            let end = at + name.len();
            let Some(anchor) = text.get(end..).and_then(|after| after.strip_prefix('#')) else { continue };
            let length = anchor
                .find(|c: char| !(c.is_alphanumeric() || matches!(c, '-' | '_')))
                .unwrap_or(anchor.len());
            let anchor = anchor.get(..length).unwrap_or_default();
            let Some((symbol, _)) = sections().find(|(_, section)| &*section.name == anchor) else {
                continue;
            };
            let leads = token(&text, at, end).and_then(|token| paths.lead(from, &token));
            if leads.is_some_and(|lead| lead.path == subject.path) {
                let line = document.spot(at, end).number;
                let link = reference(file, line, Kind::Path, Certainty::Resolved, anchor);
                found.push(Reference { symbol: Some(symbol), ..link });
            }
        }
    }
}
