//! Finds the references to a target: checks the names and values of every candidate.

use std::collections::{BTreeMap, BTreeSet};

use super::names::{Query, Symbol, View, full_name};
use super::search_target::{SearchTarget, reference};
use super::{Leads, Packages, is_member, is_type};
use crate::facts::{Declaration, Definition, Import, Reach, Role, Shape, Use};
use crate::reference::{FileReferences, Kind, Place, Reference, Target};
use crate::world::{FileId, World, base};

/// The places that reference the target: in other files, or in its own if [`Target::own_file`] is set.
pub(crate) fn referrers(world: &dyn World, packages: &dyn Packages, target: &Target<'_>) -> Vec<Reference> {
    find_referrers(world, packages, target, false)
}

/// The places in other files that reference a definition of one of several targets, each with the position of the target. Uses of values
/// of unknown types may be left out unless `with_losses` is set.
pub(crate) fn users(
    world: &dyn World,
    packages: &dyn Packages,
    targets: &[Target<'_>],
    with_losses: bool,
    is_over: &dyn Fn() -> bool,
) -> Vec<(usize, Reference)> {
    let in_time = targets.iter().enumerate().take_while(|_| !is_over());
    let users = |(at, target)| {
        find_referrers(world, packages, target, !with_losses)
            .into_iter()
            .map(move |reference| (at, reference))
    };
    in_time.flat_map(users).collect()
}

fn find_referrers(
    world: &dyn World,
    packages: &dyn Packages,
    target: &Target<'_>,
    decided_only: bool,
) -> Vec<Reference> {
    let query = Query::new(world, packages);
    let mut found = Vec::new();
    let may_be_named = |symbol: &Definition| target.own_file || symbol.reach != Reach::File;
    for (at, symbol) in target.symbols.iter().enumerate().filter(|(_, symbol)| may_be_named(symbol)) {
        if let Some(mut wanted) = SearchTarget::new(&query, target.file, symbol) {
            wanted.decided_only = decided_only;
            let files = if target.own_file { vec![target.file] } else { wanted.candidates() };
            let places = files.into_iter().flat_map(|file| wanted.places(file));
            found.extend(places.map(|reference| Reference { symbol: Some(at), ..reference }));
        }
    }
    if target.module {
        found.extend(importers(&query, target.file));
    }
    found.sort_by(|a, b| {
        let key = |r: &Reference| (r.line, r.symbol, r.role, r.certainty);
        world.path(a.file).cmp(world.path(b.file)).then_with(|| key(a).cmp(&key(b)))
    });
    found.dedup_by(|a, b| (a.file, a.line, a.symbol, a.role) == (b.file, b.line, b.symbol, b.role));
    found
}

/// Returns every import that resolves to the file.
pub(super) fn importers(query: &Query<'_>, target: FileId) -> Vec<Reference> {
    let name = base(query.world.path(target));
    let stem = name.split('.').next().unwrap_or(name);
    // An import of a package names it.
    let package = query.view(target).map(|view| view.package.clone()).unwrap_or_default();
    let package = package.rsplit(['.', '/']).next().filter(|last| !last.is_empty());
    let names = std::iter::once(stem).chain(package);
    let files: BTreeSet<FileId> = names.flat_map(|name| query.containing(name)).collect();
    let mut found = Vec::new();
    for file in files.into_iter().filter(|file| *file != target) {
        let Some(view) = query.view(file) else { continue };
        for import in &view.facts.imports {
            let leads = query.packages.resolve_import(query, file, import);
            if matches!(leads, Leads::To(files) if files.len() == 1 && files.contains(&target)) {
                found.push(reference(file, import.line, Kind::Import, Role::Import, &import.module));
            }
        }
    }
    found
}

/// Returns the references of a file: by its imports, and by the names it uses of its own package.
pub(crate) fn outgoing(world: &dyn World, packages: &dyn Packages, file: FileId) -> FileReferences {
    let query = Query::new(world, packages);
    let mut outgoing = FileReferences::default();
    let Some(view) = query.view(file) else { return outgoing };
    let mut seen = BTreeSet::new();
    let mut add = |outgoing: &mut FileReferences, to: FileId, line, kind, pattern: &str| {
        if to != file && seen.insert((to, line)) {
            outgoing.references.push((to, Place { line, kind, pattern: pattern.into() }));
        }
    };
    for import in &view.facts.imports {
        match packages.resolve_import(&query, file, import) {
            // A package of many files is not referenced as a unit: the used parts are found below.
            Leads::To(files) if files.len() == 1 => {
                files
                    .into_iter()
                    .for_each(|to| add(&mut outgoing, to, import.line, Kind::Import, &import.module));
            }
            Leads::To(_) => {}
            Leads::Outside => outgoing.external += 1,
            Leads::Missing => outgoing.unresolved.push(unresolved(import)),
        }
    }
    for (line, name, to) in used_files(&query, file, &view) {
        add(&mut outgoing, to, line, Kind::Symbol, &name);
    }
    outgoing
}

/// Returns the imports of a file that should resolve to the project and do not.
pub(crate) fn unresolved_imports(world: &dyn World, packages: &dyn Packages, file: FileId) -> Vec<Place> {
    let query = Query::new(world, packages);
    let Some(view) = query.view(file) else { return Vec::new() };
    let imports = view.facts.imports.iter();
    let missing = imports.filter(|import| packages.resolve_import(&query, file, import) == Leads::Missing);
    missing.map(unresolved).collect()
}

fn unresolved(import: &Import) -> Place {
    Place { line: import.line, kind: Kind::Import, pattern: import.module.clone() }
}

/// Returns the files whose definitions a file names, without resolving members of values.
fn used_files(query: &Query<'_>, file: FileId, view: &View) -> Vec<(u32, Box<str>, FileId)> {
    let mut known: BTreeMap<(String, Option<String>), Vec<FileId>> = BTreeMap::new();
    let mut found = Vec::new();
    for used in &view.facts.uses {
        let Some(path) = written_path(used) else { continue };
        let container = container_of(view, used.within);
        let key = (path.clone(), container.map(str::to_owned));
        let files =
            known.entry(key).or_insert_with(|| defining(query, file, view, container, &path, &used.name));
        found.extend(files.iter().map(|to| (used.line, used.name.clone(), *to)));
    }
    found
}

fn defining(
    query: &Query<'_>,
    file: FileId,
    view: &View,
    container: Option<&str>,
    path: &str,
    name: &str,
) -> Vec<FileId> {
    let own =
        |definition: &Definition| query.means(view, container, path, &full_name(&view.package, definition));
    if view.definitions_named(name).any(|(_, definition)| own(definition)) {
        return Vec::new();
    }
    let is_meant = |symbol: &&Symbol| {
        if symbol.file == file {
            return false;
        }
        let Some(other) =
            query.view(symbol.file).filter(|candidate| query.may_mean(view, path, &candidate.package))
        else {
            return false;
        };
        let definition = other.facts.definitions.get(symbol.at);
        let definition =
            definition.filter(|definition| definition.reach != Reach::File && !is_member(definition));
        let full = definition.map(|definition| full_name(&other.package, definition));
        full.is_some_and(|full| query.means(view, container, path, &full)) && query.sees(file, symbol.file)
    };
    let kinds = [Declaration::Type, Declaration::Outer];
    let definitions =
        kinds.map(|declaration| query.definitions_of(name, declaration, || query.directories(view, path)));
    let meant = definitions.iter().flat_map(|definition| definition.iter()).filter(is_meant);
    let files: BTreeSet<FileId> = meant.map(|symbol| symbol.file).collect();
    files.into_iter().collect()
}

/// Returns the container of a place's enclosing definition, including the definition's own name if it has
/// members.
pub(super) fn container_of(view: &View, within: Option<u32>) -> Option<&str> {
    let definition = view.facts.definitions.get(usize::try_from(within?).ok()?)?;
    if is_type(definition) {
        let inside = view.facts.definitions.iter().skip(within? as usize + 1).find_map(|inner| {
            let path = inner.container.as_deref()?;
            (path.rsplit('.').next() == Some(&definition.name)).then_some(path)
        });
        return inside.or(definition.container.as_deref());
    }
    definition.container.as_deref()
}

/// Returns the path by which a name is written, if there is one.
pub(super) fn written_path(used: &Use) -> Option<String> {
    match &used.of {
        None => Some(used.name.to_string()),
        Some(of) => path_of(of).map(|before| format!("{before}.{}", used.name)),
    }
}

fn path_of(shape: &Shape) -> Option<String> {
    match shape {
        Shape::Name(path) => Some(path.to_string()),
        Shape::Member(of, name) => path_of(of).map(|before| format!("{before}.{name}")),
        _ => None,
    }
}
