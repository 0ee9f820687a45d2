//! Importers of a file that take names from it which it does not have: dependents that are broken whatever the file was before.

use super::dependents::{Dependent, Evidence, Hop};
use crate::language;
use crate::reference::{Certainty, Kind, Target};
use crate::world::World;

/// Returns the files that import the file at `path` and take names from their modules that certainly do not exist. It needs no original
/// content, so it is asked if that is only assumed.
pub fn broken_importers(world: &dyn World, path: &str) -> Vec<Dependent> {
    let Some(file) = world.find(path) else { return Vec::new() };
    let Some(facts) = world.facts(file).filter(|facts| facts.problems == 0) else { return Vec::new() };
    let target = Target { file, symbols: &[], module: true, now: None, own_file: false };
    let references = language::rules(facts.language).referrers(world, &target);
    let mut found: Vec<Dependent> = Vec::new();
    for importer in references.chunk_by(|a, b| a.file == b.file) {
        let id = importer[0].file;
        let (Some(facts), Some(text)) = (world.facts(id), world.text(id)) else { continue };
        let lines: Vec<&str> = text.lines().collect();
        let missing = language::rules(facts.language).missing_names(world, id);
        // Only names that are imported from this file on the same line count.
        let taken = missing
            .into_iter()
            .filter(|candidate| importer.iter().any(|reference| reference.line == candidate.line));
        let evidence: Vec<Evidence> = taken
            .filter_map(|candidate| {
                let text = (*lines.get((candidate.line as usize).checked_sub(1)?)?).to_owned();
                let (line, kind, pattern) = (candidate.line, candidate.kind, candidate.name.to_string());
                Some(Evidence { line, text, kind, breaks: true, certainty: Certainty::Resolved, pattern })
            })
            .collect();
        let Some(first) = evidence.first() else { continue };
        found.push(Dependent {
            path: world.path(id).to_owned(),
            hop: Hop::Direct,
            kind: Kind::Import,
            breaks: true,
            certainty: Certainty::Resolved,
            pattern: first.pattern.clone(),
            evidence,
        });
    }
    found
}
