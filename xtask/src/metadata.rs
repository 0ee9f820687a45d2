//! Packages and dependencies from `cargo metadata`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use serde::Deserialize;

use crate::{XtaskResult, workspace};

/// The resolved workspace.
#[derive(Debug, Deserialize)]
pub(crate) struct Metadata {
    pub(crate) packages: Vec<Package>,
    pub(crate) target_directory: PathBuf,
    workspace_members: BTreeSet<String>,
    resolve: Resolve,
}

/// A package, ours or another's.
#[derive(Debug, Deserialize)]
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) version: String,
    id: String,
    pub(crate) license: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Resolve {
    nodes: Vec<Node>,
}

#[derive(Debug, Deserialize)]
struct Node {
    id: String,
    deps: Vec<Dependency>,
}

#[derive(Debug, Deserialize)]
struct Dependency {
    pkg: String,
    dep_kinds: Vec<DependencyKind>,
}

#[derive(Debug, Deserialize)]
struct DependencyKind {
    /// Absent for what is linked into the program; `dev` or `build` otherwise.
    kind: Option<String>,
}

impl Metadata {
    /// Asks cargo, by the lock file as it is.
    pub(crate) fn load() -> XtaskResult<Self> {
        let mut cargo = workspace::cargo();
        cargo.args(["metadata", "--format-version", "1", "--locked"]);
        Ok(serde_json::from_slice(&workspace::output(cargo)?)?)
    }

    pub(crate) fn members(&self) -> impl Iterator<Item = &Package> {
        self.packages.iter().filter(|package| self.workspace_members.contains(&package.id))
    }

    /// Every package linked into `package`, each with the one through which it was reached first; tests and build scripts do
    /// not count.
    pub(crate) fn linked(&self, package: &Package) -> BTreeMap<&str, &str> {
        let names: BTreeMap<&str, &str> =
            self.packages.iter().map(|package| (package.id.as_str(), package.name.as_str())).collect();
        let mut reached = BTreeMap::new();
        let mut open = vec![package.id.as_str()];
        while let Some(id) = open.pop() {
            for dependency in self.node(id).map_or(&[][..], |node| &node.deps) {
                let is_linked = dependency.dep_kinds.iter().any(|kind| kind.kind.is_none());
                let name = names[dependency.pkg.as_str()];
                if is_linked && !reached.contains_key(name) {
                    reached.insert(name, names[id]);
                    open.push(&dependency.pkg);
                }
            }
        }
        reached
    }

    fn node(&self, id: &str) -> Option<&Node> {
        self.resolve.nodes.iter().find(|node| node.id == id)
    }
}
