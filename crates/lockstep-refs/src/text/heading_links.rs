//! Links to a heading: `file.md#anchor`.

use super::context::Document;
use super::paths::{Paths, token};
use super::spelling::{decode, enclosed, spellings};
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
    let spellings = spellings(name);
    let mut files: Vec<_> = spellings.iter().flat_map(|spelling| world.containing(spelling)).collect();
    files.sort_unstable();
    files.dedup();
    for file in files {
        let from = world.path(file);
        let Some(text) = world.text(file) else { continue };
        let document = Document::new(from, &text);
        for (at, written) in spellings.iter().flat_map(|spelling| text.match_indices(&**spelling)) {
            let end = at + written.len();
            let Some(anchor) = text.get(end..).and_then(|after| after.strip_prefix('#')) else { continue };
            let length = anchor
                .find(|c: char| !(c.is_alphanumeric() || matches!(c, '-' | '_' | '%')))
                .unwrap_or(anchor.len());
            let anchor = anchor.get(..length).unwrap_or_default();
            let decoded = decode(anchor);
            let Some((symbol, _)) = sections().find(|(_, section)| is_same_anchor(&section.name, &decoded))
            else {
                continue;
            };
            let line = document.spot(at, end);
            if document.is_fenced(&line) {
                continue;
            }
            let special = enclosed(line.line(), line.start());
            let special = special.into_iter().filter(|token| token.start <= at && end <= token.end);
            let mut leads = token(&text, at, end)
                .into_iter()
                .chain(special)
                .filter_map(|token| paths.resolve_path(from, &token));
            if leads.any(|lead| lead.path == subject.path) {
                let link = reference(file, line.number, Kind::Path, Certainty::Resolved, anchor);
                found.push(Reference { symbol: Some(symbol), ..link });
            }
        }
    }
}

/// Returns true if two anchors mean the same heading: renderers differ in case and in repeated and outer dashes.
pub(crate) fn is_same_anchor(left: &str, right: &str) -> bool {
    let parts = |anchor: &str| -> Vec<String> {
        anchor.split('-').filter(|part| !part.is_empty()).map(str::to_lowercase).collect()
    };
    left == right || parts(left) == parts(right)
}
