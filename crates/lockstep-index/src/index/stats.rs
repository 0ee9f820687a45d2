//! Counts the contents of an index.
//!
//! Files, definitions, imports and uses are counted from the stored facts. Counting references resolves every
//! file, which takes minutes in a large project, so it is done only on request.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use lockstep_refs::entity::{Aliases, Names, entities};
use lockstep_refs::facts::Facts;
use lockstep_refs::language::{Language, rules};
use lockstep_refs::limits::Limits;
use lockstep_refs::overlay::Overlay;
use lockstep_refs::reference::Kind;
use lockstep_refs::text;
use lockstep_refs::world::{FileId, World as _};
use rayon::prelude::*;
use serde::Serialize;

use super::content::SkippedFiles;
use super::progress::{IndexPhase, IndexProgress};
use super::{Index, SortedTable};

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct IndexStats {
    pub files: usize,
    /// Parsed files by language.
    pub languages: BTreeMap<String, usize>,
    /// Files that could not be read, by reason.
    pub unseen: SkippedFiles,
    /// Names of files: paths, base names and defined symbols.
    pub entities: usize,
    /// Definitions in the files with stored facts.
    pub definitions: usize,
    /// Import statements in these files.
    pub imports: usize,
    /// Uses of names in these files.
    pub uses: usize,
    /// References between files, by kind; `None` if they were not counted.
    pub references: Option<BTreeMap<&'static str, usize>>,
    /// Imports of the project's own files that do not resolve; `None` if they were not counted.
    pub unresolved: Option<usize>,
    /// Imports of external packages; `None` if they were not counted.
    pub external: Option<usize>,
    /// The number of times each limit of resolution was reached; `None` if references were not counted.
    pub limits: Option<Limits>,
    pub problems: usize,
    /// Files that exceed the limits of the parser. Nothing is known of their code.
    pub over_budget: usize,
    /// Files of which a limit kept some places from being read, such as code that is nested too deeply.
    pub partly_read: usize,
    /// Files with stored facts.
    pub facts_kept: usize,
    /// Size on disk.
    pub bytes: IndexBytes,
    /// Duration of the last full build in milliseconds.
    pub build_ms: BuildMs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct IndexBytes {
    /// The number of the file table.
    pub files: u64,
    pub words: u64,
    pub facts: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct BuildMs {
    /// Finding and reading all files.
    pub words: u64,
    /// Parsing all files; zero if they were not parsed at once.
    pub facts: u64,
}

/// The number of files that share a memo while references are counted. More would use too much memory, fewer
/// would repeat work.
const FILES_PER_MEMO: usize = 512;

#[derive(Debug, Default)]
struct FileCounts {
    entities: usize,
    definitions: usize,
    imports: usize,
    uses: usize,
    problems: usize,
    is_over_budget: bool,
    is_partly_read: bool,
    is_kept: bool,
}

/// The counts of one file's references.
#[derive(Debug, Default)]
struct ReferenceShare {
    references: BTreeMap<Kind, usize>,
    unresolved: usize,
    external: usize,
    limits: Limits,
}

impl Index {
    /// Counts from the stored facts. No file is parsed.
    pub fn stats(&self) -> IndexStats {
        let aliases = Aliases::default();
        let shares: Vec<FileCounts> =
            self.files().into_par_iter().map(|file| self.share(file, &aliases)).collect();
        let size = |tables: &[SortedTable]| tables.iter().map(SortedTable::len).sum();
        let mut stats = IndexStats {
            files: self.files.len(),
            unseen: self.files.unseen(),
            bytes: IndexBytes {
                files: self.files.encode().len() as u64,
                words: size(&self.words),
                facts: size(&self.facts),
            },
            build_ms: BuildMs {
                words: self.manifest.build_micros[0] / 1000,
                facts: self.manifest.build_micros[1] / 1000,
            },
            ..IndexStats::default()
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
            stats.over_budget += usize::from(share.is_over_budget);
            stats.partly_read += usize::from(share.is_partly_read);
            stats.facts_kept += usize::from(share.is_kept);
        }
        stats
    }

    /// Also counts the references, by parsing and resolving every file.
    pub fn stats_with_references(&self, progress: &dyn IndexProgress) -> IndexStats {
        let aliases = Aliases::default();
        let names = Names::of(self, &aliases);
        let files = self.files();
        let done = AtomicUsize::new(0);
        // Files that are counted together share a memo.
        let count = |some: &[FileId]| -> Vec<ReferenceShare> {
            let world = Overlay::empty(self);
            let count_one = |file: &FileId| {
                let share = self.reference_share(&world, *file, &names);
                progress.report(
                    IndexPhase::References,
                    done.fetch_add(1, Ordering::Relaxed) + 1,
                    files.len(),
                );
                share
            };
            some.iter().map(count_one).collect()
        };
        let shares: Vec<ReferenceShare> =
            files.par_chunks(FILES_PER_MEMO).map(count).flatten_iter().collect();
        let mut references = BTreeMap::new();
        for (kind, count) in shares.iter().flat_map(|share| &share.references) {
            *references.entry(kind.word()).or_default() += *count;
        }
        let mut limits = Limits::default();
        shares.iter().for_each(|share| limits.add(&share.limits));
        IndexStats {
            references: Some(references),
            limits: Some(limits),
            unresolved: Some(shares.iter().map(|share| share.unresolved).sum()),
            external: Some(shares.iter().map(|share| share.external).sum()),
            ..self.stats()
        }
    }

    fn share(&self, file: FileId, aliases: &Aliases) -> FileCounts {
        let entities = entities(self.path(file), None, aliases).len();
        let document = self.files.records[file.0 as usize].document;
        let facts = self.facts_bytes(document).and_then(|bytes| postcard::from_bytes::<Facts>(&bytes).ok());
        let Some(facts) = facts else { return FileCounts { entities, ..FileCounts::default() } };
        FileCounts {
            entities,
            definitions: facts.definitions.len(),
            imports: facts.imports.len(),
            uses: facts.uses.len(),
            problems: facts.problems as usize,
            is_over_budget: facts.is_unparsable(),
            is_partly_read: facts.omitted > 0,
            is_kept: true,
        }
    }

    fn reference_share(&self, world: &Overlay<'_>, file: FileId, names: &Names) -> ReferenceShare {
        let Some(facts) = self.facts(file) else { return ReferenceShare::default() };
        let limits_before = Limits::of_thread();
        let own = rules(facts.language).outgoing(world, file);
        let in_text = text::outgoing(world, names, file);
        let mut references = BTreeMap::new();
        for (_, place) in own.references.iter().chain(&in_text.references) {
            *references.entry(place.kind).or_default() += 1;
        }
        ReferenceShare {
            references,
            unresolved: own.unresolved.len() + in_text.unresolved.len(),
            external: own.external as usize,
            limits: Limits::of_thread().since(&limits_before),
        }
    }
}
