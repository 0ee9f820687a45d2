//! Links of wikis and notebooks to a document by its title: `[[Page]]`, `[[Page|text]]`, `[[folder/Page#Heading]]`.

use super::context::Document;
use super::{Subject, reference};
use crate::entity::EntityKind;
use crate::language::Language;
use crate::reference::{Certainty, Kind, Reference};
use crate::world::{World, base};

/// The links to the subject by its title, if it is a document and no other document has the title.
pub(super) fn referrers(world: &dyn World, subject: &Subject<'_>, found: &mut Vec<Reference>) {
    let is_searched = subject.entities.iter().any(|entity| entity.kind == EntityKind::Path);
    let Some(title) = base(subject.path).strip_suffix(".md").filter(|_| is_searched) else { return };
    let is_other = |path: &str| path != subject.path;
    if world.named(base(subject.path)).into_iter().any(|file| is_other(world.path(file))) {
        return;
    }
    for file in world.containing(title) {
        let from = world.path(file);
        if Language::of(from) != Language::Markdown || !is_other(from) {
            continue;
        }
        let Some(text) = world.text(file).filter(|text| text.contains("[[")) else { continue };
        let document = Document::new(from, &text);
        for (at, _) in text.match_indices("[[") {
            let Some((link, _)) = text[at + 2..].split_once("]]") else { continue };
            let spot = document.spot(at, at + 2);
            let is_meant = is_same_title(target(link), title) && !document.is_fenced(&spot);
            if is_meant {
                found.push(reference(file, spot.number, Kind::Path, Certainty::Resolved, link));
            }
        }
    }
}

/// The title of a link's target.
fn target(link: &str) -> &str {
    let path = link.split(['|', '#', '^']).next().unwrap_or_default().trim();
    let name = path.rsplit('/').next().unwrap_or(path);
    name.strip_suffix(".md").unwrap_or(name)
}

/// Returns true if two titles are the same but for spaces that a wiki replaces by dashes.
fn is_same_title(left: &str, right: &str) -> bool {
    let plain = |title: &str| title.replace('-', " ").to_lowercase();
    !left.is_empty() && plain(left) == plain(right)
}
