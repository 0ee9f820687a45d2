//! The locations of TypeScript and JavaScript modules: relative paths, `paths` of a project, packages of a
//! workspace.

use std::cell::OnceCell;
use std::rc::Rc;

use super::config::{Package, Project, packages, projects};
use crate::language::Language;
use crate::memo::Memo;
use crate::resolve::{Found, Module, Scheme};
use crate::world::{FileId, World, base, join, parent};

/// Extensions that an import may omit, best first.
const ENDINGS: [&str; 10] = [".ts", ".tsx", ".d.ts", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs", ".json"];
/// Build output directories, which represent the sources next to them.
const BUILT: [&str; 9] = ["dist", "lib", "build", "out", "es", "esm", "cjs", "types", "esnext"];

/// Members of arrays, strings and functions: a value of unknown type may always be one of those.
const OF_LISTS_AND_STRINGS: [&str; 38] = [
    "apply",
    "at",
    "bind",
    "call",
    "charAt",
    "concat",
    "every",
    "fill",
    "filter",
    "find",
    "findIndex",
    "flat",
    "flatMap",
    "forEach",
    "includes",
    "indexOf",
    "join",
    "length",
    "map",
    "match",
    "padStart",
    "pop",
    "push",
    "reduce",
    "replace",
    "replaceAll",
    "reverse",
    "shift",
    "slice",
    "some",
    "sort",
    "splice",
    "split",
    "startsWith",
    "toString",
    "trim",
    "unshift",
    "valueOf",
];

/// The modules of a world, by its configuration.
#[derive(Default)]
pub(super) struct Modules {
    projects: OnceCell<Vec<Project>>,
    packages: OnceCell<Vec<Package>>,
}

impl Modules {
    pub(super) fn new(world: &dyn World) -> Rc<Self> {
        Memo::part(world, Language::TypeScript)
    }

    fn projects(&self, world: &dyn World) -> &[Project] {
        self.projects.get_or_init(|| projects(world))
    }

    fn packages(&self, world: &dyn World) -> &[Package] {
        self.packages.get_or_init(|| packages(world))
    }

    /// By the `paths` and the base of the nearest project that has any.
    fn by_project(&self, world: &dyn World, path: &str, module: &str) -> Option<Found> {
        let project = self.projects(world).iter().find(|project| is_below(path, &project.directory))?;
        for (pattern, targets) in &project.paths {
            let Some(star) = matched(pattern, module) else { continue };
            let found = targets.iter().find_map(|target| file(world, &target.replacen('*', star, 1)));
            match found {
                Some(found) => return Some(Found::Here(Module::File(found))),
                None if pattern.len() > 1 => return Some(Found::Missing),
                None => {}
            }
        }
        let base = project.base.as_ref()?;
        let found = file(world, &join(base, module)?)?;
        Some(Found::Here(Module::File(found)))
    }

    /// By the name of a package of the project, or by its own `imports`.
    fn by_package(&self, world: &dyn World, path: &str, module: &str) -> Option<Found> {
        if module.starts_with('#') {
            let own = self.packages(world).iter().filter(|package| is_below(path, &package.directory));
            let own = own.max_by_key(|package| package.directory.len())?;
            return exported(world, own, module).map(|file| Found::Here(Module::File(file)));
        }
        let package = self.packages(world).iter().find(|package| {
            !package.name.is_empty()
                && module
                    .strip_prefix(&*package.name)
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })?;
        let rest = module.get(package.name.len()..)?.trim_start_matches('/');
        let subpath = if rest.is_empty() { ".".to_owned() } else { format!("./{rest}") };
        let found = exported(world, package, &subpath).or_else(|| resolve_unconfigured(world, package, rest));
        Some(found.map_or(Found::Missing, |file| Found::Here(Module::File(file))))
    }
}

impl Scheme for Modules {
    fn language(&self) -> Language {
        Language::TypeScript
    }

    fn speaks(&self, language: Language) -> bool {
        matches!(language, Language::TypeScript | Language::Tsx | Language::JavaScript)
    }

    fn module(&self, world: &dyn World, from: FileId, module: &str) -> Found {
        let path = world.path(from);
        let module = module.split(['?', '!']).next().unwrap_or(module);
        if module.starts_with('.') {
            let found = join(parent(path), module).and_then(|path| file(world, &path));
            return match found {
                Some(found) => Found::Here(Module::File(found)),
                None => Found::Missing,
            };
        }
        self.by_project(world, path, module)
            .or_else(|| self.by_package(world, path, module))
            .unwrap_or(Found::Outside)
    }

    fn hands_on_what_it_imports(&self) -> bool {
        false
    }

    fn constructors(&self) -> &[&'static str] {
        &["constructor"]
    }

    fn is_structural(&self) -> bool {
        true
    }

    fn is_everybodys(&self, member: &str) -> bool {
        OF_LISTS_AND_STRINGS.contains(&member)
    }

    fn separator(&self) -> char {
        '.'
    }

    fn module_words(&self, world: &dyn World, file: FileId) -> Vec<String> {
        let path = world.path(file);
        let stem = base(path).split('.').next().unwrap_or_default();
        let mut words = vec![stem.to_owned()];
        if stem == "index" {
            words.push(base(parent(path)).to_owned());
            // An import from the same directory is only a dot.
            words.push("from".to_owned());
        }
        let own = self.packages(world).iter().filter(|package| is_below(path, &package.directory));
        words.extend(own.map(|package| package.name.clone()));
        words.retain(|word| !word.is_empty());
        words
    }

    fn may_import(&self, world: &dyn World, from: FileId, file: FileId, word: &str) -> bool {
        // Only an import from below its directory can consist of dots alone.
        word != "from" || is_below(world.path(from), parent(world.path(file)))
    }
}

/// Returns true if two worlds have other settings for the locations of modules.
pub(crate) fn settings_differ(one: &dyn World, other: &dyn World) -> bool {
    projects(one) != projects(other) || packages(one) != packages(other)
}

/// Returns true if a module that a file imports is a file of the project.
pub(crate) fn leads_to_file(world: &dyn World, from: FileId, module: &str) -> bool {
    matches!(Modules::new(world).module(world, from, module), Found::Here(Module::File(_)))
}

fn is_below(path: &str, directory: &str) -> bool {
    directory.is_empty() || path.strip_prefix(directory).is_some_and(|rest| rest.starts_with('/'))
}

/// Returns the text that matches the star of a pattern; empty if there is no star.
fn matched<'m>(pattern: &str, module: &'m str) -> Option<&'m str> {
    match pattern.split_once('*') {
        Some((start, end)) => module.strip_prefix(start)?.strip_suffix(end),
        None => (pattern == module).then_some(""),
    }
}

/// Resolves a package's `exports` or `imports`.
fn exported(world: &dyn World, package: &Package, subpath: &str) -> Option<FileId> {
    for (pattern, targets) in &package.exports {
        let Some(star) = matched(pattern, subpath) else { continue };
        let found = targets.iter().find_map(|name| target(world, package, &name.replacen('*', star, 1)));
        if found.is_some() {
            return found;
        }
    }
    if subpath == "." { package.main.iter().find_map(|name| target(world, package, name)) } else { None }
}

/// Resolves a package without a configuration: its index, or the path as written.
fn resolve_unconfigured(world: &dyn World, package: &Package, rest: &str) -> Option<FileId> {
    let paths = if rest.is_empty() {
        vec!["src".to_owned(), String::new()]
    } else {
        vec![rest.to_owned(), format!("src/{rest}")]
    };
    paths.iter().find_map(|path| join(&package.directory, path).and_then(|path| file(world, &path)))
}

/// Returns a file of a package; if a build output is missing, its source.
fn target(world: &dyn World, package: &Package, path: &str) -> Option<FileId> {
    let path = path.trim_start_matches("./");
    let direct = join(&package.directory, path).and_then(|path| file(world, &path));
    if direct.is_some() {
        return direct;
    }
    let (first, mut rest) = path.split_once('/')?;
    if !BUILT.contains(&first) {
        return None;
    }
    loop {
        let source = join(&package.directory, &format!("src/{}", without_ending(rest)));
        if let Some(found) = source.and_then(|path| file(world, &path)) {
            return Some(found);
        }
        let (inner, more) = rest.split_once('/')?;
        if !BUILT.contains(&inner) {
            return None;
        }
        rest = more;
    }
}

fn without_ending(path: &str) -> &str {
    [".d.ts", ".d.mts", ".d.cts", ".js", ".mjs", ".cjs"]
        .iter()
        .find_map(|end| path.strip_suffix(end))
        .unwrap_or(path)
}

/// Returns the file that a path with or without an extension means.
fn file(world: &dyn World, path: &str) -> Option<FileId> {
    if let Some(found) = output_source(world, path) {
        return Some(found);
    }
    if base(path).contains('.')
        && let Some(found) = world.find(path)
    {
        return Some(found);
    }
    let with = |path: &str| ENDINGS.iter().find_map(|end| world.find(&format!("{path}{end}")));
    if !path.is_empty()
        && let Some(found) = with(path)
    {
        return Some(found);
    }
    let index = if path.is_empty() { "index".to_owned() } else { format!("{path}/index") };
    with(&index)
}

/// Returns the source of an output file, or the file itself if it is its own source.
pub(crate) fn output_source(world: &dyn World, path: &str) -> Option<FileId> {
    let sources: &[(&str, &[&str])] = &[
        (".js", &[".ts", ".tsx", ".d.ts", ".js"]),
        (".jsx", &[".tsx", ".jsx"]),
        (".mjs", &[".mts", ".d.mts", ".mjs"]),
        (".cjs", &[".cts", ".d.cts", ".cjs"]),
    ];
    let (stem, extensions) =
        sources.iter().find_map(|(end, others)| Some((path.strip_suffix(end)?, others)))?;
    extensions.iter().find_map(|extension| world.find(&format!("{stem}{extension}")))
}
