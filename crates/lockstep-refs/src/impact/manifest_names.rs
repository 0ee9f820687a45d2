//! Names that manifests define for others: scripts, targets, features, packages. An edit that takes such a name away breaks the places
//! that use it.

mod actions;
mod commands;
mod definitions;

use std::collections::BTreeSet;

use super::FileImpact;
use super::dependents::{DependentSet, Evidence, Place};
use super::edit::Edit;
use super::own_file::{self, BrokenReference};
use crate::facts::Role;
use crate::language::Language;
use crate::reference::{Certainty, Kind, Reference};
use crate::world::{FileId, World, base, parent};
use commands::{is_run, lists_feature, makes};
use definitions::definitions;

/// A name that a manifest defines.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Name {
    kind: NameKind,
    name: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum NameKind {
    /// A script of `package.json`, `composer.json` or `deno.json`, a recipe of a `justfile`.
    Script,
    /// A target of a makefile.
    Target,
    /// A feature of a package of Rust.
    Feature,
    /// A package of Rust.
    Crate,
    /// A package of JavaScript.
    Package,
    /// A path that a package of JavaScript exports, with the name of the package.
    Subpath,
    /// A group of optional dependencies of a package of Python.
    Extra,
    /// An input of an action or a workflow.
    Input,
    /// An output of an action or a workflow.
    Output,
    /// A job of a workflow, a service of a composition: other entries of the file wait for it.
    Entry,
}

impl NameKind {
    fn word(self) -> &'static str {
        match self {
            Self::Script => "script",
            Self::Target => "target",
            Self::Feature => "feature",
            Self::Crate | Self::Package => "package",
            Self::Subpath => "export",
            Self::Extra => "extra",
            Self::Input => "input",
            Self::Output => "output",
            Self::Entry => "job or service",
        }
    }
}

/// Collects the places that use names which the edited manifest does not define any more. `world` has the files after the edit.
pub(super) fn collect(
    world: &dyn World,
    edit: &Edit,
    former: Option<&str>,
    collector: &mut DependentSet<'_>,
    found: &mut FileImpact,
) {
    let Some(former) = former.filter(|_| !edit.is_moved()) else { return };
    let now = world.find(&edit.path).and_then(|file| Some((file, world.text(file)?)));
    let Some((own, now)) = now else { return };
    let (was, is) = (definitions(&edit.path, former), definitions(&edit.path, &now));
    // A manifest that does not parse defines nothing that is known.
    if is.is_empty() {
        return;
    }
    let package = is.iter().find(|name| name.kind == NameKind::Crate).map(|name| &*name.name);
    for name in was.difference(&is) {
        let search = Search { world, manifest: &edit.path, name, package };
        for (file, line) in search.uses() {
            let reference = reference(file, line, &name.name);
            if file == own {
                own_file::merge(&mut found.broken_in_file, search.in_manifest(&now, line));
            } else {
                collector.add(Place { breaks: true, reference });
            }
        }
    }
}

fn reference(file: FileId, line: u32, name: &str) -> Reference {
    Reference {
        file,
        line,
        kind: Kind::Name,
        role: Role::Value,
        certainty: Certainty::Resolved,
        pattern: name.into(),
        symbol: None,
        arguments: None,
        through: None,
        within: None,
    }
}

/// The search for the uses of a name that a manifest defined.
struct Search<'s> {
    world: &'s dyn World,
    manifest: &'s str,
    name: &'s Name,
    /// The package of Rust that the manifest is of.
    package: Option<&'s str>,
}

impl Search<'_> {
    fn uses(&self) -> Vec<(FileId, u32)> {
        let (world, name) = (self.world, &*self.name.name);
        let crate_name = name.replace('-', "_");
        let mut files: BTreeSet<FileId> = world.containing(name).into_iter().collect();
        if self.name.kind == NameKind::Crate {
            files.extend(world.containing(&crate_name));
        }
        let others = self.other_manifests();
        let mut found = Vec::new();
        for file in files {
            let path = world.path(file);
            if is_locked(path) || crate::entity::is_historical_record(path) || !self.may_mean(path, &others) {
                continue;
            }
            let Some(text) = world.text(file) else { continue };
            if matches!(self.name.kind, NameKind::Input | NameKind::Output) {
                let lines = actions::uses(path, &text, self.manifest, self.name);
                found.extend(lines.into_iter().map(|line| (file, line)));
                continue;
            }
            let is_own = path == self.manifest || includes(&text, self.manifest);
            if !others.is_empty() && leaves_directory(path, &text) {
                continue;
            }
            let lines = text.lines().zip(1_u32..).filter(|(line, _)| !is_comment(path, line));
            let mut section = String::new();
            for (line, number) in lines {
                let is_head = match Language::of(path) {
                    Language::Yaml => !line.trim_start().starts_with('-'),
                    _ => line.starts_with('['),
                };
                if is_head {
                    line.trim().clone_into(&mut section);
                }
                if self.is_use(path, line, &section, is_own) {
                    found.push((file, number));
                }
            }
        }
        found
    }

    /// The directories of the other manifests, and whether they define the name too.
    fn other_manifests(&self) -> Vec<(String, bool)> {
        let files = self.world.named(base(self.manifest)).into_iter();
        let others = files.filter(|file| self.world.path(*file) != self.manifest);
        let directory = |file: FileId| {
            let path = self.world.path(file);
            let text = self.world.text(file)?;
            Some((parent(path).to_owned(), definitions(path, &text).contains(self.name)))
        };
        others.filter_map(directory).collect()
    }

    /// Returns true if a file uses the name of the edited manifest rather than that of another one.
    fn may_mean(&self, path: &str, others: &[(String, bool)]) -> bool {
        if self.name.kind == NameKind::Entry {
            return path == self.manifest;
        }
        if matches!(self.name.kind, NameKind::Input | NameKind::Output) {
            return true;
        }
        if matches!(self.name.kind, NameKind::Crate | NameKind::Package | NameKind::Subpath) {
            return !others.iter().any(|(_, defines)| *defines);
        }
        let is_around = |directory: &str| directory.is_empty() || path.starts_with(&format!("{directory}/"));
        let own = parent(self.manifest);
        let nearest =
            others.iter().filter(|(other, _)| is_around(other)).max_by_key(|(other, _)| other.len());
        let is_nearer = nearest.is_some_and(|(nearest, _)| !is_around(own) || nearest.len() > own.len());
        match (is_nearer, nearest) {
            (false, _) if is_around(own) => true,
            (true, Some((_, true))) => false,
            _ => !others.iter().any(|(_, defines)| *defines),
        }
    }

    fn is_use(&self, path: &str, line: &str, section: &str, is_own: bool) -> bool {
        let name = &*self.name.name;
        if !line.contains(name) && self.name.kind != NameKind::Crate {
            return false;
        }
        let language = Language::of(path);
        match self.name.kind {
            NameKind::Script => is_run(line, name),
            NameKind::Target => makes(path, line, name, is_own),
            NameKind::Feature => {
                let is_own = path == self.manifest && (section == "[features]" || line.contains("features"));
                let is_inside = path.starts_with(parent(self.manifest));
                let is_condition = is_inside
                    && language == Language::Rust
                    && line.contains(&format!("feature = \"{name}\""));
                // `dependency = { features = ["NAME"] }` of another manifest.
                let is_asked = base(path) == "Cargo.toml"
                    && self
                        .package
                        .is_some_and(|package| line.contains(package) || section.contains(package))
                    && line.contains("features");
                is_condition
                    || is_asked && line.contains(&format!("\"{name}\""))
                    || is_own && line.contains(&format!("\"{name}\""))
                    || lists_feature(line, name)
            }
            NameKind::Crate => self.is_crate_use(path, line, section),
            NameKind::Entry => commands::waits(line, section, name),
            NameKind::Extra => commands::asks_for_extra(line, name),
            NameKind::Subpath => imports(language, line, name, &['"', '\'']),
            NameKind::Input | NameKind::Output => false,
            NameKind::Package => is_package_use(language, path, line, name),
        }
    }

    fn is_crate_use(&self, path: &str, line: &str, section: &str) -> bool {
        let name = &*self.name.name;
        let in_paths = name.replace('-', "_");
        match Language::of(path) {
            Language::Toml if base(path) == "Cargo.toml" && path != self.manifest => {
                let key = line.split(['=', '.']).next().unwrap_or_default().trim().trim_matches('"');
                section.contains("dependencies") && key == name
                    || section.ends_with(&format!("dependencies.{name}]")) && line.starts_with('[')
                    || line.contains(&format!("package = \"{name}\""))
            }
            Language::Rust => commands::has_path_root(line, &in_paths),
            _ => commands::names_package(line, name),
        }
    }

    fn in_manifest(&self, text: &str, line: u32) -> Vec<BrokenReference> {
        let written = text.lines().nth(line.saturating_sub(1) as usize).unwrap_or_default();
        let evidence = Evidence {
            line,
            text: written.to_owned(),
            kind: Kind::Name,
            breaks: true,
            certainty: Certainty::Resolved,
            pattern: self.name.name.clone(),
        };
        let reason = format!("there is no {} {} any more", self.name.kind.word(), self.name.name);
        vec![BrokenReference { evidence, reason, new_name: None }]
    }
}

/// Returns true if a file of JavaScript imports the package, another manifest depends on it, or a command selects it.
fn is_package_use(language: Language, path: &str, line: &str, name: &str) -> bool {
    use Language::{JavaScript, Tsx, TypeScript};
    match language {
        JavaScript | Tsx | TypeScript => imports(language, line, name, &['"', '\'', '/']),
        Language::Json if base(path) == "package.json" => {
            let is_key = line
                .split_once(&format!("\"{name}\""))
                .is_some_and(|(_, rest)| rest.trim_start().starts_with(':'));
            is_key || commands::names_package(line, name)
        }
        Language::Json => name.contains(['-', '@', '/']) && is_quoted(line, name, &['"', '/']),
        _ => commands::names_package(line, name),
    }
}

/// Returns true if a line of JavaScript imports a module whose name begins so and goes on with one of `ends`.
fn imports(language: Language, line: &str, name: &str, ends: &[char]) -> bool {
    let is_import = ["from", "import", "require", "mock"].iter().any(|word| line.contains(word));
    crate::language::family(language) == Language::TypeScript && is_import && is_quoted(line, name, ends)
}

/// Returns true if a quoted text begins with a name and goes on with one of `ends`.
fn is_quoted(line: &str, name: &str, ends: &[char]) -> bool {
    line.match_indices(name)
        .any(|(at, _)| line[..at].ends_with(['"', '\'']) && line[at + name.len()..].starts_with(ends))
}

/// Returns true if a makefile includes another one.
fn includes(text: &str, manifest: &str) -> bool {
    let is_included = |line: &str| {
        let list = line.trim_start_matches(['-', 's']).strip_prefix("include ");
        list.is_some_and(|list| list.split_whitespace().any(|word| base(word) == base(manifest)))
    };
    text.lines().any(is_included)
}

/// Returns true for files that tools write.
fn is_locked(path: &str) -> bool {
    let name = base(path);
    name.ends_with(".lock") || name.contains("-lock.") || name == "lock.yaml"
}

/// Returns true if commands of a workflow run in another directory: the manifest that they mean is not known.
fn leaves_directory(path: &str, text: &str) -> bool {
    Language::of(path) == Language::Yaml && text.contains("working-directory:")
}

fn is_comment(path: &str, line: &str) -> bool {
    let start = line.trim_start();
    match Language::of(path) {
        Language::Markdown | Language::Html => false,
        Language::Rust | Language::JavaScript | Language::TypeScript | Language::Tsx => {
            start.starts_with("//")
        }
        Language::Json => false,
        _ => start.starts_with('#'),
    }
}
