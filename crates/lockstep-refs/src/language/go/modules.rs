//! The modules and packages of Go: the directories that imports name, and the names that packages declare.

use std::cell::{OnceCell, RefCell};
use std::rc::Rc;

use foldhash::HashMap;

use crate::language::Language;
use crate::memo::Memo;
use crate::world::{FileId, World, parent};

/// The location of a package.
#[derive(Debug, Clone)]
pub(super) enum Place {
    Here(String),
    Missing,
    Outside,
}

/// The modules of a world, and the resolution of its imports.
#[derive(Default)]
pub(super) struct Modules {
    /// The name of each module and the directory of its `go.mod`.
    modules: OnceCell<Vec<(String, String)>>,
    imports: RefCell<HashMap<Box<str>, Place>>,
    /// The names of packages, by their full names.
    names: RefCell<HashMap<Box<str>, PackageNames>>,
}

/// The names that the files of one package declare for it.
type PackageNames = Rc<[Box<str>]>;

/// The directory of an import path, by the modules of the project.
pub(super) fn directory(world: &dyn World, import: &str) -> Place {
    let known = Memo::part::<Modules>(world, Language::Go);
    if let Some(place) = known.imports.borrow().get(import) {
        return place.clone();
    }
    let place = find_directory(world, known.modules.get_or_init(|| modules(world)), import);
    known.imports.borrow_mut().insert(import.into(), place.clone());
    place
}

pub(super) fn modules(world: &dyn World) -> Vec<(String, String)> {
    let named = world.named("go.mod").into_iter().filter_map(|file| {
        let text = world.text(file)?;
        Some((module_name(&text)?.to_owned(), parent(world.path(file)).to_owned()))
    });
    named.collect()
}

pub(super) fn find_directory(world: &dyn World, modules: &[(String, String)], import: &str) -> Place {
    let mut best: Option<(usize, String)> = None;
    for (module, root) in modules {
        let Some(rest) = inside_module(import, module) else { continue };
        if best.as_ref().is_none_or(|(known, _)| module.len() > *known) {
            let parts = [root, rest.trim_start_matches('/')];
            let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
            best = Some((module.len(), parts.join("/")));
        }
    }
    match best {
        Some((_, directory)) if sources(world, &directory).is_empty() => Place::Missing,
        Some((_, directory)) => Place::Here(directory),
        None => Place::Outside,
    }
}

pub(super) fn sources(world: &dyn World, directory: &str) -> Vec<FileId> {
    let is_source =
        |file: &FileId| world.path(*file).ends_with(".go") && !world.path(*file).ends_with("_test.go");
    world.directory(directory).into_iter().filter(is_source).collect()
}

/// Returns the names that a package declares, otherwise the last part of its path that is not a version. Its
/// files agree, unless only some of them were changed.
pub(super) fn package_names(world: &dyn World, full: &str, import: &str) -> PackageNames {
    let known = Memo::part::<Modules>(world, Language::Go);
    if let Some(names) = known.names.borrow().get(full) {
        return Rc::clone(names);
    }
    let names: Rc<[Box<str>]> = declared_names(world, full, import).into();
    known.names.borrow_mut().insert(full.into(), Rc::clone(&names));
    names
}

pub(super) fn declared_names(world: &dyn World, full: &str, import: &str) -> Vec<Box<str>> {
    let files = full.strip_prefix('/').map(|directory| sources(world, directory)).unwrap_or_default();
    let mut declared: Vec<Box<str>> = Vec::new();
    for name in files.into_iter().filter_map(|file| world.package(file)) {
        if !declared.contains(&name) {
            declared.push(name);
        }
    }
    if declared.is_empty() {
        let is_version =
            |part: &&str| part.strip_prefix('v').is_some_and(|n| n.bytes().all(|b| b.is_ascii_digit()));
        let last = import.rsplit('/').find(|part| !is_version(part)).unwrap_or(import);
        declared.push(last.trim_start_matches("go-").split('.').next().unwrap_or(last).into());
    }
    declared
}

/// Returns the module name in a `go.mod`.
pub(crate) fn module_name(text: &str) -> Option<&str> {
    let name = text.lines().find_map(|line| line.trim().strip_prefix("module "))?;
    Some(name.split("//").next().unwrap_or(name).trim().trim_matches('"'))
}

/// Returns the rest of an import path after a module's name, if it is a package of that module.
pub(crate) fn inside_module<'i>(import: &'i str, module: &str) -> Option<&'i str> {
    import.strip_prefix(module).filter(|rest| rest.is_empty() || rest.starts_with('/'))
}
