//! The places that reference a target, or that a target references.

use std::collections::BTreeMap;
use std::sync::Arc;

use lockstep_index::index::Index;
use lockstep_refs::entity::{Aliases, Names};
use lockstep_refs::facts::Definition;
use lockstep_refs::language;
use lockstep_refs::limits::Limits;
use lockstep_refs::overlay::Overlay;
use lockstep_refs::reference::{Certainty, Kind, Target};
use lockstep_refs::text::{self, Subject};
use lockstep_refs::world::{FileId, World};
use schemars::JsonSchema;
use serde::Serialize;

use crate::refs::target::{ReferenceTarget, TargetFile, is_below};

/// A place that references something.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub(crate) struct ReferenceLocation {
    /// From the root.
    pub(crate) file: String,
    /// import, symbol, path, name or mention.
    #[schemars(with = "String")]
    pub(crate) kind: Kind,
    pub(crate) line: u32,
    pub(crate) text: String,
    /// The text of the reference in the line.
    pub(crate) pattern: String,
    /// resolved; possible or untyped where only types, or a run, could decide.
    #[schemars(with = "String")]
    pub(crate) certainty: Certainty,
    /// The referenced file, if the query is about outgoing references.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) target: Option<String>,
    /// The index of the referenced definition in `definitions`, if there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) definition: Option<usize>,
    /// True if it is in the file that defines the referenced entity.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) same_file: bool,
}

/// The places that were found for a target.
#[derive(Default)]
pub(crate) struct Places {
    pub(crate) found: Vec<ReferenceLocation>,
    /// The number of unresolved imports in the referring files.
    pub(crate) unresolved: usize,
    /// The number of omitted references within the requested directory.
    pub(crate) inside: usize,
    /// True if the time was over before everything was searched.
    pub(crate) is_partial: bool,
    /// The limits of the search that were reached.
    pub(crate) limits: Limits,
}

impl ReferenceTarget {
    /// Finds the places that reference it, sorted by file, kind and line, each place once.
    pub(crate) fn referrers(&self, index: &Index, is_over: &dyn Fn() -> bool) -> Places {
        let mut places = Places::default();
        let limits_before = Limits::of_thread();
        // All targets share a memo.
        let world = Overlay::empty(index);
        for target in &self.targets {
            if is_over() {
                break;
            }
            target.add_referrers(index, &world, &mut places);
        }
        for (group, package) in &self.packages {
            let found = package.referrers(index, is_over);
            places.found.extend(
                found
                    .into_iter()
                    .map(|candidate| ReferenceLocation { definition: Some(*group), ..candidate }),
            );
        }
        places.is_partial = is_over();
        places.found = each_once(std::mem::take(&mut places.found));
        if self.groups.len() < 2 {
            places.found.iter_mut().for_each(|found| found.definition = None);
        }
        places.unresolved = unresolved(&world, &places.found, is_over);
        places.limits = Limits::of_thread().since(&limits_before);
        places
    }

    /// Finds the references of its files; for a symbol, those of the lines of its definition.
    pub(crate) fn outgoing_references(
        &self,
        index: &Index,
        aliases: &Aliases,
        is_over: &dyn Fn() -> bool,
    ) -> Places {
        let names = Names::of(index, aliases);
        let world = Overlay::empty(index);
        let limits_before = Limits::of_thread();
        let mut places = Places::default();
        for target in &self.targets {
            if is_over() {
                break;
            }
            let own = index
                .facts(target.file)
                .map(|facts| language::rules(facts.language).outgoing(&world, target.file))
                .unwrap_or_default();
            let in_text = text::outgoing(index, &names, target.file);
            places.unresolved += own.unresolved.iter().filter(|at| target.covers(at.line)).count();
            for (to, at) in own.references.into_iter().chain(in_text.references) {
                let place = location(index, target.file, at.line, at.kind, &at.pattern, Certainty::Resolved);
                let target_path = Some(index.path(to).to_owned());
                let place = place.filter(|_| target.covers(at.line));
                places.found.extend(place.map(|place| ReferenceLocation { target: target_path, ..place }));
            }
            if !target.whole {
                target.add_own_references(index, &mut places);
            }
        }
        places.is_partial = is_over();
        places.found = each_once(std::mem::take(&mut places.found));
        places.limits = Limits::of_thread().since(&limits_before);
        places
    }
}

impl TargetFile {
    fn add_referrers(&self, index: &Index, world: &dyn World, places: &mut Places) {
        let target = Target {
            file: self.file,
            symbols: &self.symbols,
            module: self.whole,
            now: None,
            own_file: false,
        };
        let path = index.path(self.file);
        let subject = Subject { path, entities: &self.entities, symbols: &self.symbols, history: false };
        let facts = index.facts(self.file);
        let by_rules = facts.map(|facts| language::rules(facts.language).referrers(world, &target));
        let by_text = text::referrers(world, &subject);
        for reference in by_rules.into_iter().flatten().chain(by_text) {
            let (kind, certainty) = (reference.kind, reference.certainty);
            let found = location(index, reference.file, reference.line, kind, &reference.pattern, certainty);
            let Some(found) = found else { continue };
            if self.outside_of.as_deref().is_some_and(|directory| is_below(&found.file, directory)) {
                places.inside += 1;
                continue;
            }
            let definition = Some(self.group_of(reference.symbol));
            places.found.push(ReferenceLocation { definition, ..found });
        }
        if !self.whole {
            self.add_own_uses(index, world, places);
        }
    }

    /// Adds the uses of its symbols in the file that defines them.
    fn add_own_uses(&self, index: &Index, world: &dyn World, places: &mut Places) {
        let target =
            Target { file: self.file, symbols: &self.symbols, module: false, now: None, own_file: true };
        let Some(facts) = index.facts(self.file) else { return };
        for reference in language::rules(facts.language).referrers(world, &target) {
            let (kind, certainty) = (reference.kind, reference.certainty);
            let found = location(index, self.file, reference.line, kind, &reference.pattern, certainty);
            let definition = Some(self.group_of(reference.symbol));
            places.found.extend(found.map(|candidate| ReferenceLocation {
                definition,
                same_file: true,
                ..candidate
            }));
        }
    }

    /// Adds the references of its symbols' lines in the same file.
    fn add_own_references(&self, index: &Index, places: &mut Places) {
        let Some(facts) = index.facts(self.file) else { return };
        let is_other = |definition: &&Definition| !self.symbols.iter().any(|own| own == *definition);
        let others: Vec<Definition> = facts.definitions.iter().filter(is_other).cloned().collect();
        let target = Target { file: self.file, symbols: &others, module: false, now: None, own_file: true };
        for reference in language::rules(facts.language).referrers(index, &target) {
            let (kind, certainty) = (reference.kind, reference.certainty);
            let found = location(index, self.file, reference.line, kind, &reference.pattern, certainty);
            let target = Some(index.path(self.file).to_owned());
            let found = found.filter(|_| reference.file == self.file && self.covers(reference.line));
            places.found.extend(found.map(|candidate| ReferenceLocation {
                target,
                same_file: true,
                ..candidate
            }));
        }
    }

    /// Returns true if a line belongs to the target.
    fn covers(&self, line: u32) -> bool {
        self.whole
            || self.symbols.is_empty()
            || self.symbols.iter().any(|symbol| symbol.line <= line && line <= symbol.end_line)
    }
}

/// Keeps each line once for each target, with its most certain and strongest reading.
pub(crate) fn each_once(found: Vec<ReferenceLocation>) -> Vec<ReferenceLocation> {
    let mut best: BTreeMap<(String, u32, Option<String>), ReferenceLocation> = BTreeMap::new();
    for place in found {
        let key = (place.file.clone(), place.line, place.target.clone());
        let rank =
            |reference_location: &ReferenceLocation| (reference_location.certainty, reference_location.kind);
        match best.get_mut(&key) {
            Some(known) if rank(&place) < rank(known) => *known = place,
            Some(_) => {}
            None => drop(best.insert(key, place)),
        }
    }
    let mut found: Vec<ReferenceLocation> = best.into_values().collect();
    found.sort();
    found
}

/// Counts the unresolved imports in the referring files.
fn unresolved(world: &dyn World, found: &[ReferenceLocation], is_over: &dyn Fn() -> bool) -> usize {
    let mut files: Vec<&str> = found.iter().map(|found| &*found.file).collect();
    files.dedup();
    let outgoing = |path: &str| -> Option<usize> {
        let file = world.find(path)?;
        let facts = world.facts(file)?;
        Some(language::rules(facts.language).unresolved_imports(world, file).len())
    };
    files.into_iter().take_while(|_| !is_over()).filter_map(outgoing).sum()
}

pub(crate) fn location(
    index: &Index,
    file: FileId,
    line: u32,
    kind: Kind,
    pattern: &str,
    certainty: Certainty,
) -> Option<ReferenceLocation> {
    let text: Arc<str> = index.text(file)?;
    let source_line = text.lines().nth((line as usize).checked_sub(1)?)?;
    Some(ReferenceLocation {
        file: index.path(file).to_owned(),
        kind,
        line,
        text: source_line.to_owned(),
        pattern: pattern.to_owned(),
        certainty,
        target: None,
        definition: None,
        same_file: false,
    })
}
