//! C and C++: names that files got from a header which the changed file no longer includes.

use std::collections::{BTreeMap, BTreeSet};

use super::FileImpact;
use super::dependents::{DependentSet, Evidence, Place};
use super::edit::Edit;
use super::own_file::{self, BrokenReference};
use crate::facts::{Facts, Role};
use crate::language::{self, Language};
use crate::limits::Limit;
use crate::reference::{Certainty, Kind, Reference};
use crate::world::{FileId, World};

/// More headers are not followed.
const MAX_HEADERS: usize = 400;
/// More files that include the changed one are not searched.
const MAX_FILES: usize = 200;

/// Adds the uses of names that no included header declares any more. `world` has the files after the edit.
pub(super) fn collect(
    world: &dyn World,
    edit: &Edit,
    old: &Facts,
    new: Option<&Facts>,
    collector: &mut DependentSet<'_>,
    found: &mut FileImpact,
) {
    let (Some(new), Some(file)) = (new, world.find(&edit.path)) else { return };
    if !is_c(new.language) || new.problems > old.problems || edit.is_moved() {
        return;
    }
    let is_kept = |module: &str| new.imports.iter().any(|import| *import.module == *module);
    let removed = old.imports.iter().filter(|import| !is_kept(&import.module));
    let headers: Vec<FileId> = removed.filter_map(|import| language::included(world, file, import)).collect();
    if headers.is_empty() {
        return;
    }
    let lost = names(world, &closure(world, headers));
    let mut users = vec![file];
    users.extend(includers(world, file));
    for user in Limit::Files.take(users, MAX_FILES) {
        let Some(facts) = world.facts(user) else { continue };
        let seen: BTreeSet<FileId> = closure(world, vec![user]).into_iter().collect();
        let is_lost = |name: &str| {
            lost.get(name).is_some_and(|files| !files.iter().any(|candidate| seen.contains(candidate)))
                && !seen.iter().any(|candidate| defines(world, *candidate, name))
        };
        let mut listed = BTreeSet::new();
        for used in facts.uses.iter().filter(|usage| usage.of.is_none() && is_lost(&usage.name)) {
            if !listed.insert((used.line, used.name.clone())) {
                continue;
            }
            if user == file {
                let reason = format!("{} is no longer included", used.name);
                own_file::merge(
                    &mut found.broken_in_file,
                    in_file(world, file, used.line, &used.name, reason),
                );
            } else {
                collector
                    .add(Place { breaks: true, reference: place(user, used.line, &used.name, used.within) });
            }
        }
    }
}

fn is_c(language: Language) -> bool {
    matches!(language, Language::C | Language::Cpp)
}

fn place(file: FileId, line: u32, name: &str, within: Option<u32>) -> Reference {
    Reference {
        file,
        line,
        kind: Kind::Symbol,
        role: Role::Value,
        certainty: Certainty::Resolved,
        pattern: name.into(),
        symbol: None,
        arguments: None,
        through: None,
        within,
    }
}

fn in_file(world: &dyn World, file: FileId, line: u32, name: &str, reason: String) -> Vec<BrokenReference> {
    let text = world.text(file);
    let written = text.as_ref().and_then(|text| text.lines().nth(line.saturating_sub(1) as usize));
    let evidence = written.map(|text| Evidence {
        line,
        text: text.to_owned(),
        kind: Kind::Symbol,
        breaks: true,
        certainty: Certainty::Resolved,
        pattern: name.to_owned(),
    });
    evidence.map(|evidence| BrokenReference { evidence, reason, new_name: None }).into_iter().collect()
}

/// The files and everything that they include.
fn closure(world: &dyn World, from: Vec<FileId>) -> Vec<FileId> {
    let mut found = from;
    let mut done = 0;
    while let Some(file) = found.get(done).copied() {
        if done == MAX_HEADERS {
            Limit::Includes.reach();
            break;
        }
        done += 1;
        let Some(facts) = world.facts(file) else { continue };
        for header in facts.imports.iter().filter_map(|import| language::included(world, file, import)) {
            if !found.contains(&header) {
                found.push(header);
            }
        }
    }
    found
}

/// The names that headers declare, with the headers of each.
fn names(world: &dyn World, headers: &[FileId]) -> BTreeMap<Box<str>, Vec<FileId>> {
    let mut found: BTreeMap<Box<str>, Vec<FileId>> = BTreeMap::new();
    for header in headers {
        let Some(facts) = world.facts(*header) else { continue };
        for definition in facts.definitions.iter().filter(|definition| definition.container.is_none()) {
            found.entry(definition.name.clone()).or_default().push(*header);
        }
    }
    found
}

fn defines(world: &dyn World, file: FileId, name: &str) -> bool {
    world
        .facts(file)
        .is_some_and(|facts| facts.definitions.iter().any(|definition| *definition.name == *name))
}

/// The files that include a file, directly or through others.
fn includers(world: &dyn World, file: FileId) -> Vec<FileId> {
    let mut found = vec![file];
    let mut done = 0;
    while let Some(header) = found.get(done).copied() {
        if found.len() >= MAX_FILES {
            Limit::Includes.reach();
            break;
        }
        done += 1;
        let name = crate::world::base(world.path(header)).split('.').next().unwrap_or_default().to_owned();
        for other in world.containing(&name) {
            let Some(facts) = world.facts(other).filter(|facts| is_c(facts.language)) else { continue };
            let includes =
                facts.imports.iter().any(|import| language::included(world, other, import) == Some(header));
            if includes && !found.contains(&other) {
                found.push(other);
            }
        }
    }
    found.remove(0);
    found
}
