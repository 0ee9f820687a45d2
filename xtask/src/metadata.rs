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
    pub(crate) resolve: Resolve,
}

/// A package, ours or another's.
#[derive(Debug, Deserialize)]
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) id: String,
    pub(crate) license: Option<String>,
    pub(crate) source: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Resolve {
    pub(crate) nodes: Vec<Node>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Node {
    pub(crate) id: String,
    pub(crate) deps: Vec<Dependency>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Dependency {
    pub(crate) pkg: String,
    pub(crate) dep_kinds: Vec<DependencyKind>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct DependencyKind {
    /// Absent for a linked package; `dev` or `build` otherwise.
    pub(crate) kind: Option<String>,
}

impl Metadata {
    /// Runs `cargo metadata` with the lock file as it is; `options` are appended.
    pub(crate) fn load(options: &[&str]) -> XtaskResult<Self> {
        let mut cargo = workspace::cargo();
        cargo.args(["metadata", "--format-version", "1", "--locked"]).args(options);
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

    pub(crate) fn node(&self, id: &str) -> Option<&Node> {
        self.resolve.nodes.iter().find(|node| node.id == id)
    }
}
