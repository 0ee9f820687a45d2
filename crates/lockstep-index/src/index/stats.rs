//! Counts of what an index holds. Files, definitions, imports and uses are counted from the stored facts; references need every
//! file to be resolved, which takes minutes in a large project, and are counted only on request.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use lockstep_refs::entity::{Aliases, Names, entities};
use lockstep_refs::facts::Facts;
use lockstep_refs::language::{Language, rules};
use lockstep_refs::reference::Kind;
use lockstep_refs::text;
use lockstep_refs::world::{FileId, World as _};
use rayon::prelude::*;
use serde::Serialize;

use super::content::Unseen;
use super::progress::{Phase, Progress};
use super::{Index, Table};

/// What an index holds.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Stats {
    /// Files in scope.
    pub files: usize,
    /// Files that were looked into, by language.
    pub languages: BTreeMap<String, usize>,
    /// Files that were not.
    pub unseen: Unseen,
    /// What files are known by: paths, names, and the symbols they define.
    pub entities: usize,
    /// Definitions in the files whose facts are kept.
    pub definitions: usize,
    /// Import statements in these files.
    pub imports: usize,
    /// Places in these files where a name is used.
    pub uses: usize,
    /// Places in one file that lead to another, by kind; `None` where they were not counted.
    pub references: Option<BTreeMap<&'static str, usize>>,
    /// Imports that lead to nothing in the project although they should; `None` where they were not counted.
    pub unresolved: Option<usize>,
    /// Imports that lead out of the project; `None` where they were not counted.
    pub external: Option<usize>,
    /// Places that a parser could not make sense of.
    pub problems: usize,
    /// Files whose facts are kept.
    pub facts_kept: usize,
    /// What it takes on disk.
    pub bytes: Bytes,
    /// How long the last whole build took, in milliseconds.
    pub build_ms: BuildMs,
}

/// Sizes of the parts of an index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Bytes {
    /// The file table.
    pub files: u64,
    /// Tables of words.
    pub words: u64,
    /// Tables of facts.
    pub facts: u64,
}

/// How long the parts of a build took.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct BuildMs {
    /// Finding and reading all files.
    pub words: u64,
    /// Parsing all files; zero where that was not done at once.
    pub facts: u64,
}

/// What one file adds.
#[derive(Debug, Default)]
struct Share {
    entities: usize,
    definitions: usize,
    imports: usize,
    uses: usize,
    problems: usize,
    is_kept: bool,
}

/// What the references of one file add.
#[derive(Debug, Default)]
struct ReferenceShare {
    references: BTreeMap<Kind, usize>,
    unresolved: usize,
    external: usize,
}

impl Index {
    /// Counts what it holds, from the facts that are kept: no file is parsed.
    pub fn stats(&self) -> Stats {
        let aliases = Aliases::default();
        let shares: Vec<Share> =
            self.files().into_par_iter().map(|file| self.share(file, &aliases)).collect();
        let size = |tables: &[Table]| tables.iter().map(Table::len).sum();
        let mut stats = Stats {
            files: self.files.len(),
            unseen: self.files.unseen(),
            bytes: Bytes {
                files: self.files.encode().len() as u64,
                words: size(&self.words),
                facts: size(&self.facts),
            },
            build_ms: BuildMs {
                words: self.manifest.build_micros[0] / 1000,
                facts: self.manifest.build_micros[1] / 1000,
            },
            ..Stats::default()
        };
        for file in self.texts() {
            let language = Language::of(self.path(FileId(file)));
            *stats.languages.entry(format!("{language:?}")).or_default() += 1;
        }
        for share in shares {
            stats.entities += share.entities + share.definitions;
            stats.definitions += share.definitions;
            stats.imports += share.imports;
            stats.uses += share.uses;
            stats.problems += share.problems;
            stats.facts_kept += usize::from(share.is_kept);
        }
        stats
    }

    /// Counts the references too, by parsing and resolving every file.
    pub fn stats_with_references(&self, progress: &dyn Progress) -> Stats {
        let aliases = Aliases::default();
        let names = Names::of(self, &aliases);
        let files = self.files();
        let done = AtomicUsize::new(0);
        let count = |file: &FileId| {
            let share = self.reference_share(*file, &names);
            progress.report(Phase::References, done.fetch_add(1, Ordering::Relaxed) + 1, files.len());
            share
        };
        let shares: Vec<ReferenceShare> = files.par_iter().map(count).collect();
        let mut references = BTreeMap::new();
        for (kind, count) in shares.iter().flat_map(|share| &share.references) {
            *references.entry(kind.word()).or_default() += *count;
        }
        Stats {
            references: Some(references),
            unresolved: Some(shares.iter().map(|share| share.unresolved).sum()),
            external: Some(shares.iter().map(|share| share.external).sum()),
            ..self.stats()
        }
    }

    fn share(&self, file: FileId, aliases: &Aliases) -> Share {
        let entities = entities(self.path(file), None, aliases).len();
        let document = self.files.records[file.0 as usize].document;
        let facts = self.facts_bytes(document).and_then(|bytes| postcard::from_bytes::<Facts>(&bytes).ok());
        let Some(facts) = facts else { return Share { entities, ..Share::default() } };
        Share {
            entities,
            definitions: facts.definitions.len(),
            imports: facts.imports.len(),
            uses: facts.uses.len(),
            problems: facts.problems as usize,
            is_kept: true,
        }
    }

    fn reference_share(&self, file: FileId, names: &Names) -> ReferenceShare {
        let Some(facts) = self.facts(file) else { return ReferenceShare::default() };
        let own = rules(facts.language).outgoing(self, file);
        let in_text = text::outgoing(self, names, file);
        let mut references = BTreeMap::new();
        for (_, place) in own.references.iter().chain(&in_text.references) {
            *references.entry(place.kind).or_default() += 1;
        }
        ReferenceShare {
            references,
            unresolved: own.unresolved.len() + in_text.unresolved.len(),
            external: own.external as usize,
        }
    }
}
