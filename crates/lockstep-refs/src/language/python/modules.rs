//! The locations of Python modules: packages, source roots, relative imports.

use crate::facts::Import;
use crate::language::Language;
use crate::resolve::{Found, Module, Scheme};
use crate::world::{FileId, World, base, parent};

pub(super) struct Packages;

impl Scheme for Packages {
    fn language(&self) -> Language {
        Language::Python
    }

    fn speaks(&self, language: Language) -> bool {
        language == Language::Python
    }

    fn module(&self, world: &dyn World, from: FileId, module: &str) -> Found {
        let path = world.path(from);
        let relative = module.len() - module.trim_start_matches('.').len();
        if relative == 0 {
            return absolute(world, path, module);
        }
        let mut directory = parent(path);
        for _ in 1..relative {
            if directory.is_empty() {
                return Found::Missing;
            }
            directory = parent(directory);
        }
        match module_below(world, directory, &module[relative..]) {
            Some(module) => Found::Here(module),
            None => Found::Missing,
        }
    }

    fn bound(&self, world: &dyn World, from: FileId, module: &str) -> Found {
        // `import a.b` binds `a`, through which `a.b` is accessed.
        let first = module.split('.').next().unwrap_or(module);
        self.module(world, from, first)
    }

    fn submodule(&self, world: &dyn World, of: &Module, name: &str) -> Option<Module> {
        let directory = match of {
            Module::File(file) => package(world.path(*file))?,
            Module::Folder(path) => path,
        };
        module_below(world, directory, name)
    }

    fn hands_on_what_it_imports(&self) -> bool {
        true
    }

    fn is_for_others(&self, path: &str, import: &Import) -> bool {
        import.reexport && package(path).is_some()
    }

    fn constructors(&self) -> &[&'static str] {
        &["__init__", "__new__"]
    }

    fn separator(&self) -> char {
        '.'
    }
}

/// The directory of a package, by the path of its `__init__`.
fn package(path: &str) -> Option<&str> {
    base(path).starts_with("__init__.py").then(|| parent(path))
}

/// A module by its dotted name below a directory; the directory itself for the empty name.
fn module_below(world: &dyn World, directory: &str, dotted: &str) -> Option<Module> {
    let mut path = directory.to_owned();
    for part in dotted.split('.').filter(|part| !part.is_empty()) {
        if !path.is_empty() {
            path.push('/');
        }
        path.push_str(part);
    }
    let file = ["/__init__.pyi", "/__init__.py", ".pyi", ".py"]
        .iter()
        .filter(|_| !path.is_empty())
        .find_map(|end| world.find(&format!("{path}{end}")));
    if let Some(file) = file {
        return Some(Module::File(file));
    }
    (has_modules(world, &path) || (!path.is_empty() && is_namespace(world, &path)))
        .then(|| Module::Folder(path.into()))
}

/// Returns true if a directory without its own modules contains packages.
fn is_namespace(world: &dyn World, path: &str) -> bool {
    let start = format!("{path}/");
    world.named("__init__.py").iter().any(|file| world.path(*file).starts_with(&start))
}

fn absolute(world: &dyn World, from: &str, module: &str) -> Found {
    let first = module.split('.').next().unwrap_or(module);
    let rest = module.get(first.len()..).unwrap_or_default();
    match root(world, from, first) {
        Some(root) => match module_below(world, &root, &format!("{first}{rest}")) {
            Some(module) => Found::Here(module),
            None => Found::Missing,
        },
        None => namespace(world, from, module).map_or(Found::Outside, Found::Here),
    }
}

/// Finds a module through directories without `__init__`, which are used only if nothing else has the name.
fn namespace(world: &dyn World, from: &str, module: &str) -> Option<Module> {
    let mut directory = parent(from);
    loop {
        // The modules of a package do not see their neighbours.
        let is_package = world.find(&with(directory, "__init__.py")).is_some();
        let roots = [directory.to_owned(), with(directory, "src"), with(directory, "lib")];
        for root in roots.into_iter().filter(|_| !is_package) {
            match module_below(world, &root, module) {
                Some(Module::Folder(path)) if !has_modules(world, &path) => {}
                Some(found) => return Some(found),
                None => {}
            }
        }
        if directory.is_empty() {
            return None;
        }
        directory = parent(directory);
    }
}

fn has_modules(world: &dyn World, directory: &str) -> bool {
    world.directory(directory).iter().any(|file| world.path(*file).ends_with(".py"))
}

/// The directory that holds the top-level module `name`, as seen from a file.
fn root(world: &dyn World, from: &str, name: &str) -> Option<String> {
    let holds = |directory: &str| {
        let path = if directory.is_empty() { name.to_owned() } else { format!("{directory}/{name}") };
        [".py", ".pyi", "/__init__.py", "/__init__.pyi"]
            .iter()
            .any(|end| world.find(&format!("{path}{end}")).is_some())
    };
    // The directory of a script is its first root, but the modules of a package do not see their neighbours.
    let mut directory = parent(from);
    loop {
        let is_package = world.find(&with(directory, "__init__.py")).is_some();
        if !is_package {
            for root in [directory.to_owned(), with(directory, "src"), with(directory, "lib")] {
                if holds(&root) {
                    return Some(root);
                }
            }
        }
        if directory.is_empty() {
            break;
        }
        directory = parent(directory);
    }
    // Elsewhere in the project: the package nearest to the root.
    let mut roots: Vec<&str> = Vec::new();
    for file in world.named("__init__.py").into_iter().chain(world.named("__init__.pyi")) {
        let package = parent(world.path(file));
        if base(package) == name && world.find(&with(parent(package), "__init__.py")).is_none() {
            roots.push(parent(package));
        }
    }
    roots.sort_by_key(|root| (root.matches('/').count(), root.len()));
    roots.first().map(|root| (*root).to_owned())
}

fn with(directory: &str, name: &str) -> String {
    if directory.is_empty() { name.to_owned() } else { format!("{directory}/{name}") }
}
