//! Resolves a name that a user gave to files and definitions: a path, a place, a module, a symbol, a package, the name of a skill.

use std::path::Path;
use std::sync::Arc;

use lockstep_index::index::Index;
use lockstep_refs::entity::{Aliases, Entity, Names, entities};
use lockstep_refs::facts::{Definition, DefinitionKind, Facts, Reach};
use lockstep_refs::module_lookup;
use lockstep_refs::world::{FileId, World as _, base, parent};

use crate::refs::package::Package;
use crate::workspace::Workspace;

/// Everything that a name refers to.
#[derive(Default)]
pub(crate) struct ReferenceTarget {
    /// The distinct entities with the name, each with its own references.
    pub(crate) groups: Vec<Group>,
    pub(crate) targets: Vec<TargetFile>,
    pub(crate) packages: Vec<(usize, Package)>,
}

/// One entity with the name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Group {
    /// The location: `path:line`, or a path.
    pub(crate) at: String,
    /// A name that refers to this one only.
    pub(crate) narrow: String,
}

/// A file that defines the name, or that the name refers to.
pub(crate) struct TargetFile {
    pub(crate) file: FileId,
    pub(crate) symbols: Vec<Definition>,
    /// The group of each symbol; of a target without symbols, the first is its group.
    pub(crate) groups: Vec<usize>,
    pub(crate) entities: Vec<Entity>,
    pub(crate) whole: bool,
    /// A directory whose own references to the target are left out.
    pub(crate) outside_of: Option<String>,
}

impl TargetFile {
    pub(crate) fn group_of(&self, symbol: Option<usize>) -> usize {
        let at = if self.whole { 0 } else { symbol.unwrap_or(0) };
        self.groups.get(at).or(self.groups.first()).copied().unwrap_or(0)
    }
}

impl ReferenceTarget {
    pub(crate) fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// Returns true if it has no symbols but headings of documents.
    fn has_only_headings(&self) -> bool {
        let mut symbols = self.targets.iter().flat_map(|target| &target.symbols);
        symbols.all(|symbol| symbol.kind == DefinitionKind::Section)
    }

    fn group(&mut self, at: String, narrow: String) -> usize {
        self.groups.push(Group { at, narrow });
        self.groups.len() - 1
    }

    fn add_file(&mut self, index: &Index, file: FileId, aliases: &Aliases) {
        if self.targets.iter().any(|target| target.file == file && target.whole) {
            return;
        }
        let path = index.path(file);
        let group = self.group(path.to_owned(), path.to_owned());
        self.targets.push(whole_file(index, file, aliases, group));
    }

    fn add_directory(&mut self, index: &Index, directory: &str, aliases: &Aliases) {
        let inside: Vec<FileId> =
            index.files().into_iter().filter(|file| is_below(index.path(*file), directory)).collect();
        if inside.is_empty() {
            return;
        }
        let display = if directory.is_empty() { "./".to_owned() } else { format!("{directory}/") };
        let group = self.group(display.clone(), display);
        for file in inside {
            let target = whole_file(index, file, aliases, group);
            self.targets.push(TargetFile { outside_of: Some(directory.to_owned()), ..target });
        }
    }

    /// Adds definitions of one file. Those with the same qualified name form one group: overloads, a getter
    /// and its setter.
    fn add_symbols(&mut self, index: &Index, file: FileId, symbols: Vec<Definition>) {
        if symbols.is_empty() {
            return;
        }
        let path = index.path(file);
        let mut known: Vec<(String, usize)> = Vec::new();
        let mut groups = Vec::new();
        for symbol in &symbols {
            let name = qualified(symbol);
            let group = match known.iter().find(|(other, _)| *other == name) {
                Some((_, group)) => *group,
                None => {
                    let separator = if path.ends_with(".md") { '#' } else { ':' };
                    let narrow = format!("{path}{separator}{name}");
                    let group = self.group(format!("{path}:{}", symbol.line), narrow);
                    known.push((name, group));
                    group
                }
            };
            groups.push(group);
        }
        self.targets.push(TargetFile {
            file,
            symbols,
            groups,
            entities: Vec::new(),
            whole: false,
            outside_of: None,
        });
    }
}

/// Returns `Type.method`, or the name alone.
pub(crate) fn qualified(symbol: &Definition) -> String {
    match &symbol.container {
        Some(container) => format!("{container}.{}", symbol.name),
        None => symbol.name.to_string(),
    }
}

impl Workspace {
    /// Resolves a name. A path to a file or a place in one is only that; any other name refers to everything that has it.
    pub(crate) fn resolve_target(&self, index: &Index, directory: &Path, name: &str) -> ReferenceTarget {
        let aliases = self.aliases();
        let mut target = ReferenceTarget::default();
        let name = name.trim();
        let files = self.files_called(index, directory, name);
        if !files.is_empty() {
            files.into_iter().for_each(|file| target.add_file(index, file, &aliases));
            return target;
        }
        if let Some((files, rest)) = self.place_in_file(index, directory, name) {
            files.into_iter().for_each(|file| add_place(&mut target, index, file, rest, &aliases));
            let is_line = rest.bytes().all(|byte| byte.is_ascii_digit());
            if !target.is_empty() || is_line {
                return target;
            }
        }
        let here = self.relative(directory, Path::new(".")).unwrap_or_default();
        let path = self.relative(directory, Path::new(name.trim_end_matches('/'))).ok();
        let is_directory = path.as_ref().is_some_and(|path| self.root.join(path).is_dir());
        if let Some(path) = path.as_ref().filter(|_| is_directory && name.contains('/')) {
            target.add_directory(index, path, &aliases);
            return target;
        }
        add_symbols_called(&mut target, index, name);
        let is_word = !name.contains(['.', ':', '/']);
        // A heading that happens to have the name does not hide a module or a directory.
        let is_heading = target.has_only_headings();
        if is_heading || !is_word {
            let modules = module_lookup::named(index, &here, name);
            modules.into_iter().for_each(|file| target.add_file(index, file, &aliases));
        }
        add_entities_called(&mut target, index, name, &aliases);
        for package in Package::called(index, name) {
            let group = target.group(package.manifest().to_owned(), package.manifest().to_owned());
            target.packages.push((group, package));
        }
        let has_files = target.targets.iter().any(|target| target.whole) || !target.packages.is_empty();
        if let Some(path) = path.filter(|_| is_directory && is_heading && !has_files) {
            target.add_directory(index, &path, &aliases);
        }
        target
    }

    /// Returns the file at a path, or every file whose path ends with it.
    fn files_called(&self, index: &Index, directory: &Path, name: &str) -> Vec<FileId> {
        let by_path = self.relative(directory, Path::new(name)).ok().and_then(|path| index.find(&path));
        match by_path.or_else(|| index.find(name)) {
            Some(file) => vec![file],
            None => file_by_suffix(index, name),
        }
    }

    /// Splits `file:12`, `file.md#slug`, `file.py:NAME` and `path::symbol` into the files and the rest.
    fn place_in_file<'n>(
        &self,
        index: &Index,
        directory: &Path,
        name: &'n str,
    ) -> Option<(Vec<FileId>, &'n str)> {
        name.match_indices([':', '#']).find_map(|(at, _)| {
            let files = self.files_called(index, directory, &name[..at]);
            let rest = name[at..].trim_matches([':', '#']);
            (!files.is_empty() && !rest.is_empty()).then_some((files, rest))
        })
    }
}

/// Adds the target of `rest` in a file: the definition at a line, or the definitions of a name.
fn add_place(target: &mut ReferenceTarget, index: &Index, file: FileId, rest: &str, aliases: &Aliases) {
    let facts: Option<Arc<Facts>> = index.facts(file);
    let definitions = || facts.iter().flat_map(|facts| facts.definitions.iter());
    let line = rest.split(':').next().and_then(|number| number.parse::<u32>().ok());
    match line {
        Some(line) => {
            let around =
                definitions().filter(|definition| definition.line <= line && line <= definition.end_line);
            // The innermost definition, and its overloads on the same line.
            match around
                .max_by_key(|candidate| (candidate.line, std::cmp::Reverse(candidate.end_line)))
                .cloned()
            {
                Some(definition) => target.add_symbols(index, file, vec![definition]),
                None if has_line(index, file, line) => target.add_file(index, file, aliases),
                None => {}
            }
        }
        None => {
            let wanted = rest.replace("::", ".");
            let fits = |definition: &&Definition| {
                let name = qualified(definition);
                name == wanted || name.ends_with(&format!(".{wanted}"))
            };
            target.add_symbols(index, file, definitions().filter(fits).cloned().collect());
        }
    }
}

fn has_line(index: &Index, file: FileId, line: u32) -> bool {
    let lines = index.text(file).map(|text| text.lines().count());
    lines.is_none_or(|count| 1 <= line && line as usize <= count.max(1))
}

fn whole_file(index: &Index, file: FileId, aliases: &Aliases, group: usize) -> TargetFile {
    let facts: Option<Arc<Facts>> = index.facts(file);
    let reachable = |definition: &&Definition| definition.reach > Reach::File;
    let symbols =
        facts.iter().flat_map(|facts| facts.definitions.iter().filter(reachable)).cloned().collect();
    let entities = entities(index.path(file), index.text(file).as_deref(), aliases);
    TargetFile { file, symbols, groups: vec![group], entities, whole: true, outside_of: None }
}

/// Returns the files whose path ends with the name.
fn file_by_suffix(index: &Index, name: &str) -> Vec<FileId> {
    let mut files = index.named(base(name));
    files.retain(|file| index.path(*file).strip_suffix(name).is_some_and(|before| before.ends_with('/')));
    files
}

pub(crate) fn is_below(path: &str, directory: &str) -> bool {
    directory.is_empty() || path.strip_prefix(directory).is_some_and(|rest| rest.starts_with('/'))
}

/// Adds every definition of a symbol: `name`, `Type.name`, `a::b::name`.
fn add_symbols_called(target: &mut ReferenceTarget, index: &Index, name: &str) {
    let parts: Vec<&str> = name.split(['.', ':', '#']).filter(|part| !part.is_empty()).collect();
    let Some((last, before)) = parts.split_last() else { return };
    for file in index.containing(last) {
        let Some(facts) = index.facts(file) else { continue };
        let path = index.path(file);
        let stem = base(path).split('.').next().unwrap_or_default();
        let fits = |definition: &&Definition| {
            let members = || {
                let container = definition.container.iter().flat_map(|path| path.split('.'));
                let folder = parent(path).rsplit('/').next();
                container.chain([stem]).chain(folder).any(|part| before.last() == Some(&part))
            };
            *definition.name == **last && (before.is_empty() || members())
        };
        let symbols = facts.definitions.iter().filter(fits).cloned().collect();
        target.add_symbols(index, file, symbols);
    }
}

/// Adds the skills, agents and commands of this name. A heading of the same name in the same file is the same
/// entity.
fn add_entities_called(target: &mut ReferenceTarget, index: &Index, name: &str, aliases: &Aliases) {
    let names = Names::of(index, aliases);
    for (file, kind) in names.get(name) {
        let entity = Entity { kind: *kind, name: name.into() };
        if let Some(target) = target.targets.iter_mut().find(|target| target.file == *file) {
            target.entities.push(entity);
            continue;
        }
        let path = index.path(*file).to_owned();
        let group = target.group(format!("{path}:1"), path);
        target.targets.push(TargetFile {
            file: *file,
            symbols: Vec::new(),
            groups: vec![group],
            entities: vec![entity],
            whole: false,
            outside_of: None,
        });
    }
}
