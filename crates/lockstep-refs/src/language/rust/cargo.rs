//! `Cargo.toml`: the crates of a package, and the names of other packages of the project.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use toml::de::{DeTable, DeValue};

use crate::language::Language;
use crate::memo::Memo;
use crate::world::{FileId, World, base, join, parent};

/// The parts of a manifest on which names depend.
#[derive(Debug, Default)]
pub(super) struct Package {
    pub(super) directory: String,
    /// The name of the library in paths.
    pub(super) library: String,
    pub(super) library_root: Option<FileId>,
    /// Set if a build script may set conditions.
    pub(super) has_build_script: bool,
    default_features: HashSet<String>,
    /// Root files that the manifest names itself.
    roots: Vec<String>,
    /// Dependencies: the name in paths, and the directory if it is given.
    dependencies: HashMap<String, Dependency>,
}

/// The manifests of a world, by their directories.
#[derive(Default)]
struct Manifests {
    packages: RefCell<HashMap<String, Option<Rc<Package>>>>,
    workspaces: RefCell<HashMap<String, Rc<HashMap<String, Dependency>>>>,
}

#[derive(Debug, Clone)]
struct Dependency {
    /// The package's own name.
    package: String,
    directory: Option<String>,
}

impl Package {
    /// The package in a directory, if there is a manifest with one. Each manifest is read once.
    pub(super) fn of(world: &dyn World, directory: &str) -> Option<Rc<Self>> {
        let known = Memo::part::<Manifests>(world, Language::Rust);
        if let Some(package) = known.packages.borrow().get(directory) {
            return package.clone();
        }
        let package = Self::read(world, directory).map(Rc::new);
        known.packages.borrow_mut().insert(directory.to_owned(), package.clone());
        package
    }

    fn read(world: &dyn World, directory: &str) -> Option<Self> {
        let manifest = world.find(&join(directory, "Cargo.toml")?)?;
        let text = world.text(manifest)?;
        let table = DeTable::parse(&text).ok()?;
        let table = table.get_ref();
        let package = get(table, "package")?.as_table()?;
        let name = text_at(package, "name")?;
        let library_table = get(table, "lib").and_then(DeValue::as_table);
        let library = library_table.and_then(|lib| text_at(lib, "name")).unwrap_or(name);
        let library_path = library_table.and_then(|lib| text_at(lib, "path")).unwrap_or("src/lib.rs");
        let library_root = join(directory, library_path).and_then(|path| world.find(&path));
        let mut roots: Vec<String> =
            library_root.map(|root| world.path(root).to_owned()).into_iter().collect();
        let build = join(directory, text_at(package, "build").unwrap_or("build.rs"));
        let has_build_script = build.as_ref().is_some_and(|path| world.find(path).is_some());
        roots.extend(build);
        for kind in ["bin", "test", "example", "bench"] {
            let targets = get(table, kind).and_then(DeValue::as_array);
            for target in targets.into_iter().flat_map(|targets| targets.iter()) {
                let path = target.get_ref().as_table().and_then(|target| text_at(target, "path"));
                roots.extend(path.and_then(|path| join(directory, path)));
            }
        }
        let dependencies = dependencies(world, directory, table);
        let library = name_in_paths(library);
        let default_features = default_features(table);
        let directory = directory.to_owned();
        Some(Self {
            directory,
            library,
            library_root,
            has_build_script,
            default_features,
            roots,
            dependencies,
        })
    }

    /// Returns true if a file is the root of one of the package's crates.
    pub(super) fn is_root(&self, path: &str) -> bool {
        if self.roots.iter().any(|root| root == path) {
            return true;
        }
        let inside = match self.directory.as_str() {
            "" => path,
            directory => match path.strip_prefix(directory).and_then(|rest| rest.strip_prefix('/')) {
                Some(rest) => rest,
                None => return false,
            },
        };
        let parts: Vec<&str> = inside.split('/').collect();
        match parts.as_slice() {
            ["src", "main.rs" | "lib.rs"] | ["build.rs"] => true,
            ["src", "bin", file] | ["tests" | "examples" | "benches", file] => file.ends_with(".rs"),
            ["src", "bin", _, "main.rs"] | ["tests" | "examples" | "benches", _, "main.rs"] => true,
            _ => false,
        }
    }

    /// Returns true if a feature is enabled by default.
    pub(super) fn has_by_default(&self, feature: &str) -> bool {
        self.default_features.contains(feature)
    }

    /// Returns true if a file is the root of the library.
    pub(super) fn is_library(&self, file: FileId) -> bool {
        self.library_root == Some(file)
    }

    /// Returns true if the manifest has a dependency with this name in paths.
    pub(super) fn depends_on(&self, name: &str) -> bool {
        self.dependencies.contains_key(name)
    }

    /// Returns the directory of the package that a name in paths means, if it is part of the project.
    pub(super) fn dependency(&self, world: &dyn World, name: &str) -> Option<String> {
        let dependency = self.dependencies.get(name)?;
        if let Some(directory) = &dependency.directory {
            return Some(directory.clone());
        }
        // Without a path it comes from a registry, or it is the same package in the same repository.
        let manifests = world.named("Cargo.toml");
        let candidates = manifests.into_iter().map(|file| parent(world.path(file)).to_owned());
        candidates.filter(|directory| base(directory) == dependency.package || directory.is_empty()).find(
            |directory| {
                Self::of(world, directory).is_some_and(|p| p.library == name_in_paths(&dependency.package))
            },
        )
    }

    /// Returns the names of other packages.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.dependencies.keys().map(String::as_str)
    }
}

/// Returns the features that `default` enables.
fn default_features(table: &DeTable<'_>) -> HashSet<String> {
    let mut found: HashSet<String> = HashSet::new();
    let Some(features) = get(table, "features").and_then(DeValue::as_table) else { return found };
    let mut open = vec!["default".to_owned()];
    while let Some(name) = open.pop() {
        let leads = get(features, &name).and_then(DeValue::as_array);
        let leads =
            leads.into_iter().flat_map(|leads| leads.iter()).filter_map(|lead| lead.get_ref().as_str());
        // `dep:x` and `x/y` refer to other packages.
        open.extend(leads.filter(|lead| !found.contains(*lead)).map(str::to_owned));
        found.insert(name);
    }
    found
}

fn dependencies(world: &dyn World, directory: &str, table: &DeTable<'_>) -> HashMap<String, Dependency> {
    let mut found = HashMap::new();
    let mut tables = vec![table];
    if let Some(targets) = get(table, "target").and_then(DeValue::as_table) {
        tables.extend(targets.iter().filter_map(|(_, target)| target.get_ref().as_table()));
    }
    let mut shared = None;
    for table in tables {
        for kind in ["dependencies", "dev-dependencies", "build-dependencies"] {
            let Some(entries) = get(table, kind).and_then(DeValue::as_table) else { continue };
            for (name, entry) in entries.iter() {
                let name: &str = name.get_ref();
                let entry = entry.get_ref().as_table();
                let inherited = entry
                    .is_some_and(|entry| get(entry, "workspace").and_then(DeValue::as_bool).unwrap_or(false));
                let dependency = if inherited {
                    let shared = shared.get_or_insert_with(|| workspace(world, directory));
                    shared.get(name).cloned()
                } else {
                    None
                };
                let dependency = dependency.unwrap_or_else(|| dependency_of(directory, name, entry));
                found.insert(name_in_paths(name), dependency);
            }
        }
    }
    found
}

fn dependency_of(directory: &str, name: &str, entry: Option<&DeTable<'_>>) -> Dependency {
    Dependency {
        package: entry.and_then(|entry| text_at(entry, "package")).unwrap_or(name).to_owned(),
        directory: entry.and_then(|entry| text_at(entry, "path")).and_then(|path| join(directory, path)),
    }
}

/// The dependencies that the workspace around a directory declares for its members.
fn workspace(world: &dyn World, directory: &str) -> Rc<HashMap<String, Dependency>> {
    let known = Memo::part::<Manifests>(world, Language::Rust);
    if let Some(dependencies) = known.workspaces.borrow().get(directory) {
        return Rc::clone(dependencies);
    }
    let dependencies = match workspace_in(world, directory) {
        Some(dependencies) => Rc::new(dependencies),
        None if directory.is_empty() => Rc::default(),
        None => workspace(world, parent(directory)),
    };
    known.workspaces.borrow_mut().insert(directory.to_owned(), Rc::clone(&dependencies));
    dependencies
}

fn workspace_in(world: &dyn World, directory: &str) -> Option<HashMap<String, Dependency>> {
    let text = world.text(world.find(&join(directory, "Cargo.toml")?)?)?;
    // Most manifests are those of members.
    if !text.contains("workspace") {
        return None;
    }
    let table = DeTable::parse(&text).ok()?;
    let workspace = get(table.get_ref(), "workspace").and_then(DeValue::as_table)?;
    let entries = get(workspace, "dependencies").and_then(DeValue::as_table);
    let entries = entries.into_iter().flat_map(|entries| entries.iter()).map(|(name, entry)| {
        let name: &str = name.get_ref();
        (name.to_owned(), dependency_of(directory, name, entry.get_ref().as_table()))
    });
    Some(entries.collect())
}

fn get<'t, 'i>(table: &'t DeTable<'i>, key: &str) -> Option<&'t DeValue<'i>> {
    table.iter().find(|(name, _)| name.get_ref() == key).map(|(_, value)| value.get_ref())
}

fn text_at<'t>(table: &'t DeTable<'_>, key: &str) -> Option<&'t str> {
    get(table, key)?.as_str()
}

/// Converts a package name to a name in paths, which cannot contain a dash.
fn name_in_paths(name: &str) -> String {
    name.replace('-', "_")
}
