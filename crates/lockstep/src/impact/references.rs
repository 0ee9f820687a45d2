//! Who references what: a file, a symbol, a name.

use std::path::Path;
use std::sync::Arc;

use lockstep_index::index::Index;
use lockstep_refs::entity::{Aliases, Entity, Names, entities};
use lockstep_refs::facts::{Definition, Facts, Reach};
use lockstep_refs::language;
use lockstep_refs::module;
use lockstep_refs::reference::{Certainty, Kind, Target};
use lockstep_refs::text::{self, Subject};
use lockstep_refs::world::{FileId, World as _, parent};
use schemars::JsonSchema;
use serde::Serialize;

use super::tree::Tree;

/// A place that references something.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub(crate) struct Found {
    /// From the root.
    pub(crate) file: String,
    /// import, symbol, path, name or mention.
    #[schemars(with = "String")]
    pub(crate) kind: Kind,
    pub(crate) line: u32,
    /// The line.
    pub(crate) text: String,
    /// What in it is the reference.
    pub(crate) pattern: String,
    /// resolved; possible or untyped where only types, or a run, could decide.
    #[schemars(with = "String")]
    pub(crate) certainty: Certainty,
    /// The file it leads to, where that is the question.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) target: Option<String>,
}

/// What a name stands for.
#[derive(Default)]
pub(crate) struct Sought {
    /// Where it is defined: the path and the line.
    pub(crate) defined: Vec<(String, u32)>,
    files: Vec<SoughtFile>,
}

/// One file in which it is defined, or which it is.
struct SoughtFile {
    file: FileId,
    symbols: Vec<Definition>,
    entities: Vec<Entity>,
    /// Whether the whole file is meant.
    whole: bool,
}

impl Sought {
    pub(crate) fn is_nothing(&self) -> bool {
        self.files.is_empty()
    }

    /// With what the name stands for besides.
    fn add(&mut self, other: Self) {
        self.defined.extend(other.defined);
        self.files.extend(other.files);
    }

    /// Who references it, sorted by file, kind and line; and how many imports in those files lead to nothing.
    pub(crate) fn referrers(&self, index: &Index) -> (Vec<Found>, usize) {
        let mut found = Vec::new();
        for sought in &self.files {
            let target = Target {
                file: sought.file,
                symbols: &sought.symbols,
                module: sought.whole,
                now: None,
                own_file: false,
            };
            let subject = Subject {
                path: index.path(sought.file),
                entities: &sought.entities,
                symbols: &sought.symbols,
                history: false,
            };
            let facts = index.facts(sought.file);
            let by_rules = facts.map(|facts| language::rules(facts.language).referrers(index, &target));
            let by_text = text::referrers(index, &subject);
            for reference in by_rules.into_iter().flatten().chain(by_text) {
                found.extend(place(
                    index,
                    reference.file,
                    reference.line,
                    reference.kind,
                    &reference.pattern,
                    reference.certainty,
                ));
            }
        }
        let unresolved = unresolved(index, &mut found);
        (found, unresolved)
    }

    /// What its files reference.
    pub(crate) fn outgoing(&self, index: &Index, aliases: &Aliases) -> (Vec<Found>, usize) {
        let names = Names::of(index, aliases);
        let (mut found, mut unresolved) = (Vec::new(), 0);
        for sought in &self.files {
            let by_rules = index
                .facts(sought.file)
                .map(|facts| language::rules(facts.language).outgoing(index, sought.file))
                .unwrap_or_default();
            unresolved += by_rules.unresolved.len();
            let by_text = text::outgoing(index, &names, sought.file);
            for (target, at) in by_rules.references.into_iter().chain(by_text.references) {
                let place = place(index, sought.file, at.line, at.kind, &at.pattern, Certainty::Resolved);
                let target = Some(index.path(target).to_owned());
                found.extend(place.map(|place| Found { target, ..place }));
            }
        }
        found.sort();
        found.dedup();
        (found, unresolved)
    }
}

/// Sorts and counts what the referring files could not resolve.
fn unresolved(index: &Index, found: &mut Vec<Found>) -> usize {
    found.sort();
    found.dedup_by(|a, b| (&a.file, a.line, a.kind, &a.pattern) == (&b.file, b.line, b.kind, &b.pattern));
    let mut files: Vec<&str> = found.iter().map(|found| &*found.file).collect();
    files.dedup();
    let outgoing = |path: &&str| -> Option<usize> {
        let file = index.find(path)?;
        let facts = index.facts(file)?;
        Some(language::rules(facts.language).outgoing(index, file).unresolved.len())
    };
    files.iter().filter_map(outgoing).sum()
}

pub(super) fn place(
    index: &Index,
    file: FileId,
    line: u32,
    kind: Kind,
    pattern: &str,
    certainty: Certainty,
) -> Option<Found> {
    let text: Arc<str> = index.text(file)?;
    let shown = text.lines().nth((line as usize).checked_sub(1)?)?;
    Some(Found {
        file: index.path(file).to_owned(),
        kind,
        line,
        text: shown.to_owned(),
        pattern: pattern.to_owned(),
        certainty,
        target: None,
    })
}

impl Tree {
    /// What a name that a person gave stands for: a file by its path or an end of it, else a module and a symbol, else the name of
    /// an entity.
    pub(crate) fn seek(&self, index: &Index, directory: &Path, name: &str) -> Sought {
        let by_path = self.relative(directory, Path::new(name)).ok().and_then(|path| index.find(&path));
        if let Some(file) = by_path.or_else(|| index.find(name)).or_else(|| by_end(index, name)) {
            return whole_file(index, file, &self.aliases());
        }
        let here = self.relative(directory, Path::new(".")).unwrap_or_default();
        let modules = module::named(index, &here, name);
        // A word alone is a symbol's before it is a module's.
        let is_word = !name.contains(['.', ':', '/']);
        let mut sought = by_symbol(index, name);
        if sought.is_nothing() || !is_word {
            modules.into_iter().for_each(|file| sought.add(whole_file(index, file, &self.aliases())));
        }
        if !sought.is_nothing() {
            return sought;
        }
        let names = Names::of(index, &self.aliases());
        let mut sought = Sought::default();
        for (file, kind) in names.get(name) {
            let entity = Entity { kind: *kind, name: name.into() };
            sought.defined.push((index.path(*file).to_owned(), 1));
            sought.files.push(SoughtFile {
                file: *file,
                symbols: Vec::new(),
                entities: vec![entity],
                whole: false,
            });
        }
        sought
    }
}

fn whole_file(index: &Index, file: FileId, aliases: &Aliases) -> Sought {
    let path = index.path(file);
    let facts: Option<Arc<Facts>> = index.facts(file);
    let reachable = |definition: &&Definition| definition.reach > Reach::File;
    let symbols =
        facts.iter().flat_map(|facts| facts.definitions.iter().filter(reachable)).cloned().collect();
    let entities = entities(path, index.text(file).as_deref(), aliases);
    Sought {
        defined: vec![(path.to_owned(), 1)],
        files: vec![SoughtFile { file, symbols, entities, whole: true }],
    }
}

/// The one file whose path ends so.
fn by_end(index: &Index, name: &str) -> Option<FileId> {
    let base = lockstep_refs::world::base(name);
    let mut fitting = index.named(base).into_iter().filter(|file| {
        let path = index.path(*file);
        path.strip_suffix(name).is_some_and(|before| before.ends_with('/'))
    });
    match (fitting.next(), fitting.next()) {
        (Some(file), None) => Some(file),
        _ => None,
    }
}

/// Every definition of a symbol: `name`, `Type.name`, `a::b::name`.
fn by_symbol(index: &Index, name: &str) -> Sought {
    let parts: Vec<&str> = name.split(['.', ':', '#']).filter(|part| !part.is_empty()).collect();
    let mut sought = Sought::default();
    let Some((last, before)) = parts.split_last() else { return sought };
    for file in index.containing(last) {
        let Some(facts) = index.facts(file) else { continue };
        let stem =
            index.path(file).rsplit('/').next().and_then(|base| base.split('.').next()).unwrap_or_default();
        let fits = |definition: &&Definition| {
            let held = || {
                let container = definition.container.iter().flat_map(|path| path.split('.'));
                let folder = parent(index.path(file)).rsplit('/').next();
                container.chain([stem]).chain(folder).any(|part| before.last() == Some(&part))
            };
            *definition.name == **last && (before.is_empty() || held())
        };
        let symbols: Vec<Definition> = facts.definitions.iter().filter(fits).cloned().collect();
        if symbols.is_empty() {
            continue;
        }
        let lines = symbols.iter().map(|symbol| (index.path(file).to_owned(), symbol.line));
        sought.defined.extend(lines);
        sought.files.push(SoughtFile { file, symbols, entities: Vec::new(), whole: false });
    }
    sought
}
