//! Packages of the project by the names in their manifests, and the files that import them.

use lockstep_index::index::Index;
use lockstep_refs::facts::Import;
use lockstep_refs::reference::{Certainty, Kind};
use lockstep_refs::world::{FileId, World as _, base, join, parent};

use crate::refs::references::{ReferenceLocation, location};

/// A manifest format, with its kind of imports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ecosystem {
    Npm,
    Cargo,
    Go,
    Python,
}

const MANIFESTS: &[(&str, Ecosystem)] = &[
    ("package.json", Ecosystem::Npm),
    ("Cargo.toml", Ecosystem::Cargo),
    ("go.mod", Ecosystem::Go),
    ("pyproject.toml", Ecosystem::Python),
    ("setup.cfg", Ecosystem::Python),
];

/// Other files in which a package is named as a dependency.
const OTHER_MANIFESTS: &[&str] =
    &["go.work", "pnpm-workspace.yaml", "tsconfig.json", "turbo.json", "requirements.txt", "Pipfile"];

pub(crate) struct Package {
    ecosystem: Ecosystem,
    name: String,
    manifest: String,
    /// The names by which code imports it.
    imported_as: Vec<String>,
    /// The directories of all packages of the same kind: a file belongs to the nearest.
    directories: Vec<String>,
}

impl Package {
    pub(crate) fn called(index: &Index, name: &str) -> Vec<Self> {
        let mut found = Vec::new();
        for (file_name, ecosystem) in MANIFESTS {
            let manifests = index.named(file_name);
            let declares = |file: &FileId| {
                let text = index.text(*file)?;
                declared_name(*ecosystem, &text).filter(|declared| ecosystem.is_same(declared, name))
            };
            for (file, declared) in manifests.iter().filter_map(|file| Some((*file, declares(file)?))) {
                let manifest = index.path(file).to_owned();
                let directories = manifests.iter().map(|file| parent(index.path(*file)).to_owned()).collect();
                let imported_as = ecosystem.imported_as(index, parent(&manifest), &declared);
                found.push(Self {
                    ecosystem: *ecosystem,
                    name: declared,
                    manifest,
                    imported_as,
                    directories,
                });
            }
        }
        found
    }

    pub(crate) fn manifest(&self) -> &str {
        &self.manifest
    }

    /// The places outside the package that import it or name it as a dependency.
    pub(crate) fn referrers(&self, index: &Index, is_over: &dyn Fn() -> bool) -> Vec<ReferenceLocation> {
        let mut found = Vec::new();
        let mut files: Vec<FileId> =
            self.imported_as.iter().chain([&self.name]).flat_map(|name| index.containing(name)).collect();
        files.sort_unstable();
        files.dedup();
        for file in files {
            if is_over() {
                break;
            }
            let path = index.path(file);
            if path != self.manifest && !self.contains(path) {
                self.referrers_in(index, file, &mut found);
            }
        }
        found
    }

    fn referrers_in(&self, index: &Index, file: FileId, found: &mut Vec<ReferenceLocation>) {
        let mut lines = Vec::new();
        for import in index.facts(file).iter().flat_map(|facts| facts.imports.iter()) {
            if self.is_imported_by(import) {
                lines.push(import.line);
                found.extend(location(
                    index,
                    file,
                    import.line,
                    Kind::Import,
                    &import.module,
                    Certainty::Resolved,
                ));
            }
        }
        let name = base(index.path(file));
        let is_manifest = MANIFESTS.iter().any(|(manifest, _)| *manifest == name)
            || OTHER_MANIFESTS.contains(&name)
            || name.starts_with("requirements") && name.ends_with(".txt");
        let Some(text) = index.text(file) else { return };
        for (number, line) in (1_u32..).zip(text.lines()).filter(|(number, _)| !lines.contains(number)) {
            let is_path = self.ecosystem == Ecosystem::Cargo
                && self.imported_as.iter().any(|name| has_word(line, &format!("{name}::")));
            let (kind, certainty) = match () {
                () if is_path => (Kind::Symbol, Certainty::Resolved),
                () if !has_word(line, &self.name) => continue,
                () if is_manifest => (Kind::Name, Certainty::Resolved),
                () => (Kind::Mention, Certainty::Possible),
            };
            found.extend(location(index, file, number, kind, &self.name, certainty));
        }
    }

    fn is_imported_by(&self, import: &Import) -> bool {
        let separator = match self.ecosystem {
            Ecosystem::Npm | Ecosystem::Go => "/",
            Ecosystem::Cargo => "::",
            Ecosystem::Python => ".",
        };
        self.imported_as.iter().any(|name| {
            let rest = import.module.strip_prefix(&**name);
            let in_names = self.ecosystem == Ecosystem::Cargo
                && import.module.is_empty()
                && import.names.iter().any(|imported| *imported.name == **name);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(separator)) || in_names
        })
    }

    /// Returns true if a file belongs to the package, and not to another one inside its directory.
    fn contains(&self, path: &str) -> bool {
        let holds = |directory: &&String| crate::refs::target::is_below(path, directory);
        let nearest = self.directories.iter().filter(holds).max_by_key(|directory| directory.len());
        nearest.is_some_and(|directory| directory == parent(&self.manifest))
    }
}

impl Ecosystem {
    fn is_same(self, declared: &str, given: &str) -> bool {
        match self {
            Self::Npm | Self::Go => declared == given,
            Self::Cargo => declared.replace('-', "_") == given.replace('-', "_"),
            Self::Python => normalized(declared) == normalized(given),
        }
    }

    fn imported_as(self, index: &Index, directory: &str, name: &str) -> Vec<String> {
        match self {
            Self::Npm | Self::Go => vec![name.to_owned()],
            Self::Cargo => vec![name.replace('-', "_")],
            Self::Python => {
                let sources = [directory.to_owned(), join(directory, "src").unwrap_or_default()];
                let modules = index.named("__init__.py").into_iter().filter_map(|file| {
                    let package = parent(index.path(file));
                    let is_top = sources.iter().any(|source| parent(package) == source);
                    is_top.then(|| base(package).to_owned())
                });
                let mut modules: Vec<String> = modules.filter(|name| name != "tests").collect();
                modules.push(normalized(name).replace('-', "_"));
                modules.sort();
                modules.dedup();
                modules
            }
        }
    }
}

/// A Python distribution name in its normal form.
fn normalized(name: &str) -> String {
    name.to_ascii_lowercase().replace(['_', '.'], "-")
}

fn declared_name(ecosystem: Ecosystem, text: &str) -> Option<String> {
    match ecosystem {
        Ecosystem::Npm => {
            let manifest: serde_json::Value = serde_json::from_str(text).ok()?;
            manifest.get("name")?.as_str().map(str::to_owned)
        }
        Ecosystem::Go => {
            let line = text.lines().find_map(|line| line.trim().strip_prefix("module "))?;
            Some(line.split("//").next().unwrap_or(line).trim().to_owned())
        }
        Ecosystem::Cargo => value_in(text, &["package"]),
        Ecosystem::Python => value_in(text, &["project", "tool.poetry", "metadata"]),
    }
}

/// The value of `name` in one of these tables of a TOML or INI file.
fn value_in(text: &str, tables: &[&str]) -> Option<String> {
    let mut table = "";
    for line in text.lines().map(str::trim) {
        if let Some(header) = line.strip_prefix('[') {
            table = header.split(']').next().unwrap_or_default().trim();
            continue;
        }
        let value = line.strip_prefix("name").and_then(|rest| rest.trim_start().strip_prefix('='));
        if let Some(value) = value.filter(|_| tables.contains(&table)) {
            let value = value.split('#').next().unwrap_or(value).trim();
            return Some(value.trim_matches(['"', '\'']).to_owned());
        }
    }
    None
}

/// Returns true if a line contains a complete word.
pub(crate) fn has_word(line: &str, word: &str) -> bool {
    let joins = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    line.match_indices(word).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + word.len()..].chars().next();
        let open = word.ends_with(':') || !after.is_some_and(joins);
        !before.is_some_and(joins) && open
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn manifests_declare_the_names_of_packages() {
        let name = |ecosystem, text| declared_name(ecosystem, text).unwrap_or_default();
        assert_eq!(name(Ecosystem::Npm, "{\"name\": \"@a/b\"}"), "@a/b");
        assert_eq!(name(Ecosystem::Go, "module example.com/x/v2 // deprecated\n"), "example.com/x/v2");
        assert_eq!(
            name(Ecosystem::Cargo, "[dependencies]\nname = \"no\"\n[package]\nname = \"yes\" # ours\n"),
            "yes"
        );
        assert_eq!(name(Ecosystem::Python, "[tool.poetry]\nname='my.dist'\n"), "my.dist");
    }

    #[test]
    fn words_are_not_found_inside_longer_ones() {
        assert!(has_word("\"@a/b\": \"*\"", "@a/b") && !has_word("\"@a/b-c\": \"*\"", "@a/b"));
        assert!(has_word("x = core::y()", "core::") && !has_word("x = my_core::y()", "core::"));
    }
}
