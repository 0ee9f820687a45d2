//! Unresolved references: complete paths, names and imports of files that no longer exist, paths in
//! structured places that no file has, and imports of names that their module does not define.
//!
//! The caller provides the deleted files, from git.

mod evidence;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::entity::{Aliases, Entity, Names, is_common_file_name, is_historical_record};
use crate::impact::{MissingImport, missing_imports};
use crate::language::typescript::modules::output_source;
use crate::language::{self, Language};
use crate::overlay::Overlay;
use crate::reference::{Certainty, Kind};
use crate::text::{Subject, WrittenPath, referrers, written_paths};
use crate::world::{FileId, World, base, join, parent, words};

/// A deleted file, with its names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Former {
    pub path: Box<str>,
    /// Its entities at that time: see [`entities`](crate::entity::entities).
    pub entities: Vec<Entity>,
}

/// A reference to something that was deleted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dangling {
    pub file: FileId,
    /// Line number, starting at 1.
    pub line: u32,
    pub kind: Kind,
    /// The certainty that the deleted file is meant.
    pub certainty: Certainty,
    /// The text of the reference.
    pub pattern: Box<str>,
    /// The path that it resolves to, or the name and the module that does not define it.
    pub target: String,
}

/// Dangling references, and whether all files were searched.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Search {
    /// Sorted by path and line.
    pub found: Vec<Dangling>,
    /// The number of unresolved imports, in files that may import a deleted file, that name none of the deleted files.
    pub unresolved: usize,
    /// Set if the deadline passed first.
    pub truncated: bool,
}

/// Finds all references to former files that no present file replaces, and all links and hook commands with
/// missing targets. Words alone, and paths that may mean a present file, do not count.
pub fn dangling(
    world: &dyn World,
    former: &[Former],
    aliases: &Aliases,
    is_over: &dyn Fn() -> bool,
) -> Search {
    // All files share the memo.
    let world: &dyn World = &Overlay::empty(world);
    let names = Names::of(world, aliases);
    let places = FormerPaths::new(former);
    let folders = folders(world);
    let mut search = Search::default();
    for file in world.files() {
        if is_over() {
            search.truncated = true;
            break;
        }
        search.found.extend(places.written_in(world, &folders, file));
        let (imports, unresolved) = places.imported_by(world, file);
        search.found.extend(imports);
        search.unresolved += unresolved;
        search.found.extend(broken_links(world, &folders, file));
        let known: BTreeSet<u32> = search
            .found
            .iter()
            .filter(|dangling| dangling.file == file)
            .map(|dangling| dangling.line)
            .collect();
        let missing = missing_names(world, file);
        // Without time, files are not read, and every name would be missing.
        if is_over() {
            search.truncated = true;
            break;
        }
        search.found.extend(missing.into_iter().filter(|dangling| !known.contains(&dangling.line)));
    }
    for former in former {
        if is_over() {
            search.truncated = true;
            break;
        }
        search.found.extend(former_names(world, &names, former));
    }
    let found = &mut search.found;
    found.retain(|dangling| dangling.kind < Kind::Mention && dangling.certainty == Certainty::Resolved);
    found.sort_by(|a, b| {
        let key = |dangling: &Dangling| (dangling.line, dangling.kind, dangling.target.clone());
        world.path(a.file).cmp(world.path(b.file)).then_with(|| key(a).cmp(&key(b)))
    });
    // Two former files may have had the same name.
    let (mut patterns, mut targets) = (BTreeSet::new(), BTreeSet::new());
    found.retain(|dangling| {
        patterns.insert((dangling.file, dangling.line, dangling.pattern.clone()))
            && targets.insert((dangling.file, dangling.line, dangling.target.clone()))
    });
    search
}

/// The paths of former files, with lookup tables.
struct FormerPaths<'a> {
    paths: BTreeSet<&'a str>,
    by_name: HashMap<&'a str, Vec<&'a str>>,
    /// Former files by the name that an import may use: their stem, or their directory if the name is
    /// generic.
    by_module: BTreeMap<&'a str, Vec<&'a str>>,
}

impl<'a> FormerPaths<'a> {
    fn new(former: &'a [Former]) -> Self {
        let mut all = Self { paths: BTreeSet::new(), by_name: HashMap::new(), by_module: BTreeMap::new() };
        for path in former.iter().map(|former| &*former.path) {
            all.paths.insert(path);
            all.by_name.entry(base(path)).or_default().push(path);
            let stem = if is_common_file_name(base(path)) { base(parent(path)) } else { base(path) };
            let stem = stem.split('.').next().unwrap_or_default();
            if !stem.is_empty() && Language::of(path) != Language::Text {
                all.by_module.entry(stem).or_default().push(path);
            }
        }
        all
    }

    /// Returns the complete paths to former files in a text.
    fn written_in(&self, world: &dyn World, folders: &BTreeSet<String>, file: FileId) -> Vec<Dangling> {
        let from = world.path(file);
        let is_read = !is_historical_record(from) && !evidence::is_pattern_list(from);
        let Some(text) = world.read_text_uncached(file).filter(|_| is_read) else { return Vec::new() };
        let is_wanted = |name: &str| self.by_name.contains_key(name);
        let mut written = written_paths(from, &text, &is_wanted);
        written.retain(|path| evidence::is_meant_here(world, from, &text, path));
        let target = |path: &WrittenPath| -> Option<String> {
            let exists = |name: &String| {
                world.find(name).or_else(|| output_source(world, name)).is_some() || folders.contains(name)
            };
            match path.meanings.iter().any(exists) {
                true => None,
                false => path
                    .meanings
                    .iter()
                    .find(|meaning| {
                        self.paths.contains(&***meaning) && evidence::is_specific(folders, meaning)
                    })
                    .cloned(),
            }
        };
        let place = |path: WrittenPath| {
            let target = target(&path)?;
            let certainty = Certainty::Resolved;
            Some(Dangling {
                file,
                line: path.line,
                kind: Kind::Path,
                certainty,
                pattern: path.written,
                target,
            })
        };
        written.into_iter().filter_map(place).collect()
    }

    /// Returns the unresolved imports of former files, and the number of other unresolved imports.
    fn imported_by(&self, world: &dyn World, file: FileId) -> (Vec<Dangling>, usize) {
        let Some(facts) = world.parse_facts_uncached(file) else { return (Vec::new(), 0) };
        let is_known = |text: &str| words(text).any(|word| self.by_module.contains_key(word));
        let may_dangle = |import: &crate::facts::Import| {
            is_known(&import.module) || import.names.iter().any(|name| is_known(&name.name))
        };
        if !facts.imports.iter().any(may_dangle) {
            return (Vec::new(), 0);
        }
        let unresolved = language::rules(facts.language).unresolved_imports(world, file);
        let place = |place: crate::reference::Place| {
            let import = facts.imports.iter().find(|import| import.line == place.line);
            let module = import.map_or(&*place.pattern, |import| &*import.module);
            let target = self
                .meant_by(world.path(file), facts.language, &place.pattern)
                .or_else(|| self.meant_by(world.path(file), facts.language, module))?;
            let (kind, certainty) = (Kind::Import, Certainty::Resolved);
            Some(Dangling { file, line: place.line, kind, certainty, pattern: place.pattern, target })
        };
        let all = unresolved.len();
        let found: Vec<Dangling> = unresolved.into_iter().filter_map(place).collect();
        let others = all - found.len();
        (found, others)
    }

    /// Returns the former file of the same language whose path ends as a module's name does.
    fn meant_by(&self, from: &str, language: Language, module: &str) -> Option<String> {
        let is_file = matches!(language, Language::C | Language::Cpp);
        let parts: Vec<&str> = words(module).collect();
        let fits = |end: &[&str], path: &str| {
            let other = Language::of(path);
            let same = match is_file {
                true => base(path) == base(module),
                false => other == language || is_script(other) && is_script(language),
            };
            same && evidence::is_same_project(from, path, &parts) && evidence::ends_like(path, end)
        };
        // The last word may be the imported name.
        let ends = (0..parts.len().min(2)).map(|cut| parts.split_at(parts.len() - cut).0);
        ends.filter(|end| !end.is_empty()).find_map(|end| {
            let paths = self.by_module.get(end.last()?)?;
            paths.iter().find(|path| fits(end, path)).map(|path| (*path).to_owned())
        })
    }
}

/// Returns the imports of names that their module, which exists, does not define.
fn missing_names(world: &dyn World, file: FileId) -> Vec<Dangling> {
    let facts =
        world.parse_facts_uncached(file).filter(|facts| facts.problems == 0 && !facts.imports.is_empty());
    let Some(facts) = facts else { return Vec::new() };
    let place = |missing_import: MissingImport| Dangling {
        file,
        line: missing_import.line,
        kind: Kind::Import,
        certainty: Certainty::Resolved,
        target: format!("{} in {}", missing_import.name, missing_import.module),
        pattern: missing_import.name,
    };
    missing_imports(world, file, &facts).into_iter().map(place).collect()
}

/// TypeScript and JavaScript import each other.
fn is_script(language: Language) -> bool {
    matches!(language, Language::TypeScript | Language::Tsx | Language::JavaScript)
}

/// Returns the uses of a name that no present file has.
fn former_names(world: &dyn World, names: &Names, former: &Former) -> Vec<Dangling> {
    let is_removed = |entity: &&Entity| entity.is_name() && names.get(&entity.name).is_empty();
    let entities: Vec<Entity> = former.entities.iter().filter(is_removed).cloned().collect();
    if entities.is_empty() {
        return Vec::new();
    }
    let subject = Subject { path: &former.path, entities: &entities, symbols: &[], history: false };
    let place = |reference: crate::reference::Reference| Dangling {
        file: reference.file,
        line: reference.line,
        kind: reference.kind,
        certainty: reference.certainty,
        pattern: reference.pattern,
        target: former.path.to_string(),
    };
    let is_meant = |dangling: &Dangling| {
        let text = world.text(dangling.file);
        text.is_some_and(|text| evidence::is_delimited_name(&text, dangling.line, &dangling.pattern))
    };
    referrers(world, &subject).into_iter().map(place).filter(is_meant).collect()
}

/// Every directory with a file somewhere below it.
fn folders(world: &dyn World) -> BTreeSet<String> {
    let mut folders = BTreeSet::new();
    for file in world.files() {
        let mut folder = parent(world.path(file));
        while !folder.is_empty() && folders.insert(folder.to_owned()) {
            folder = parent(folder);
        }
    }
    folders
}

/// Returns the paths in a file's structured places that no file has.
fn broken_links(world: &dyn World, folders: &BTreeSet<String>, file: FileId) -> Vec<Dangling> {
    let from = world.path(file);
    let markdown = Language::of(from) == Language::Markdown;
    // The links of a template are relative to the file that is made of it.
    let is_template = from.split('/').any(|folder| folder == "templates");
    if is_historical_record(from) || is_template || !(markdown || is_settings(from)) {
        return Vec::new();
    }
    let Some(text) = world.text(file) else { return Vec::new() };
    let (targets, origin) = if markdown { (links(&text), parent(from)) } else { (hook_paths(&text), "") };
    let leads = |path: &str| {
        let with = |end: &str| world.find(&format!("{path}{end}")).is_some();
        // A page of a site may be generated from the document next to it.
        let is_rendered =
            path.strip_suffix(".html").is_some_and(|stem| world.find(&format!("{stem}.md")).is_some());
        is_rendered
            || folders.contains(path)
            || ["", ".md", ".mdx", "/index.md", "/README.md"].into_iter().any(with)
    };
    let lost =
        |target: &&(u32, &str)| join(origin, target.1).is_some_and(|path| !path.is_empty() && !leads(&path));
    let place = |target: &(u32, &str)| Dangling {
        file,
        line: target.0,
        kind: Kind::Path,
        certainty: Certainty::Resolved,
        pattern: target.1.into(),
        target: join(origin, target.1).unwrap_or_default(),
    };
    targets.iter().filter(lost).map(place).collect()
}

fn is_settings(path: &str) -> bool {
    matches!(base(path), "settings.json" | "settings.local.json") && base(parent(path)) == ".claude"
}

/// Returns the targets of Markdown links that name a file: relative, with an extension, outside code.
fn links(text: &str) -> Vec<(u32, &str)> {
    let mut found = Vec::new();
    let mut fenced = false;
    for (line, number) in text.lines().zip(1_u32..) {
        if line.trim_start().starts_with("```") || line.trim_start().starts_with("~~~") {
            fenced = !fenced;
        }
        if fenced {
            continue;
        }
        let code = code_spans(line);
        for (at, _) in line.match_indices("](") {
            let target = line
                .get(at + 2..)
                .and_then(|rest| rest.split([')', ' ', '#', '?']).next())
                .unwrap_or_default();
            if !code.iter().any(|span| span.contains(&at)) && is_relative(target) {
                found.push((number, target));
            }
        }
    }
    found
}

/// Returns the ranges between backticks.
fn code_spans(line: &str) -> Vec<std::ops::Range<usize>> {
    let ticks: Vec<usize> = line.match_indices('`').map(|(at, _)| at).collect();
    ticks.chunks_exact(2).map(|pair| pair[0]..pair[1]).collect()
}

fn is_relative(target: &str) -> bool {
    let plain = target.chars().all(|c| c.is_alphanumeric() || matches!(c, '.' | '/' | '_' | '-' | '+'));
    let extension =
        base(target).rsplit_once('.').is_some_and(|(stem, end)| !stem.is_empty() && !end.is_empty());
    plain && extension && !target.starts_with('/')
}

/// The project's files that hook commands of a client's settings name.
fn hook_paths(text: &str) -> Vec<(u32, &str)> {
    let mut found = Vec::new();
    for (line, number) in text.lines().zip(1_u32..).filter(|(line, _)| line.contains("\"command\"")) {
        for prefix in ["$CLAUDE_PROJECT_DIR/", "${CLAUDE_PROJECT_DIR}/", "$CLAUDE_PROJECT_DIR\\\"/"] {
            for (at, _) in line.match_indices(prefix) {
                let rest = line.get(at + prefix.len()..).unwrap_or_default();
                let target =
                    rest.split(['"', '\'', ' ', '\\', ';', '|', '&', ')']).next().unwrap_or_default();
                if is_relative(target) {
                    found.push((number, target));
                }
            }
        }
    }
    found
}
