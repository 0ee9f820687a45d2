//! Opening an index: from disk, then up to date with a look at the files, with as much effort as is asked for.

use std::io::{self, ErrorKind};
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, OnceLock};

use lockstep_store::StateDir;

use super::files::Files;
use super::harvest::{Harvest, harvest};
use super::listing::list;
use super::look::look;
use super::manifest::Manifest;
use super::progress::Progress;
use super::settings::Settings;
use super::storage::{Part, Storage, Writer};
use super::table::{Source, Table};
use super::update::Plan;
use super::version::now;
use super::{Index, rules};
use crate::IndexError;

/// Where an index is kept.
#[derive(Debug, Clone, Copy)]
pub enum Home<'a> {
    /// In the state directory of a project.
    State(&'a StateDir),
    /// Nowhere: it goes with the process, and nothing is written.
    Memory,
}

/// How much may be done before answers are given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effort {
    /// Few changed files are read; with many the index stays behind, and says so. None is built where there is none.
    Few,
    /// Whatever it takes.
    Whole,
}

/// So many changed files are read before an answer that should come at once.
const FEW: usize = 300;

/// A manifest is read so often again when what it names has been replaced meanwhile.
const TRIES: usize = 20;

impl Index {
    /// Opens the index of the project at `root` and brings it up to date; `None` where there is none and building one is more
    /// than `effort` allows.
    pub fn open(
        root: &Path,
        home: Home<'_>,
        settings: &Settings,
        effort: Effort,
        progress: &dyn Progress,
    ) -> Result<Option<Self>, IndexError> {
        let storage = match home {
            Home::State(state) => Some(Storage::new(state)),
            Home::Memory => None,
        };
        let (base, generation) = match &storage {
            Some(storage) => load(storage, settings)?,
            None => (None, 0),
        };
        if base.is_none() && effort == Effort::Few {
            return Ok(None);
        }
        let opening = Opening { root, storage, generation, settings, effort, progress };
        opening.bring_up_to_date(base).map(Some)
    }

    /// Opens the index of the project at `root`, builds it where there is none, and brings it up to date.
    pub fn open_or_build(
        root: &Path,
        home: Home<'_>,
        settings: &Settings,
        progress: &dyn Progress,
    ) -> Result<Self, IndexError> {
        let opened = Self::open(root, home, settings, Effort::Whole, progress)?;
        Ok(opened.expect("with whole effort an index is built"))
    }
}

/// What is read from disk.
#[derive(Debug)]
struct Base {
    manifest: Manifest,
    files: Files,
    words: Vec<Table>,
    facts: Vec<Table>,
}

impl Base {
    fn empty(settings: &Settings) -> Self {
        Self {
            manifest: Manifest::empty(settings),
            files: Files::default(),
            words: Vec::new(),
            facts: Vec::new(),
        }
    }
}

/// The index on disk, `None` where there is none that this program can use; and the generation of what is there.
fn load(storage: &Storage, settings: &Settings) -> Result<(Option<Base>, u64), IndexError> {
    let mut generation = 0;
    for _ in 0..TRIES {
        let Some(manifest) = storage.manifest()? else { return Ok((None, 0)) };
        generation = manifest.generation;
        if !manifest.is_ours(settings) {
            break;
        }
        match load_parts(storage, manifest.with_our_facts()) {
            Ok(base) => return Ok((base, generation)),
            // A writer has replaced the manifest and removed what the one before named.
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(_) => break,
        }
    }
    Ok((None, generation))
}

fn load_parts(storage: &Storage, manifest: Manifest) -> io::Result<Option<Base>> {
    let tables = |part, numbers: &[u32]| {
        numbers.iter().map(|number| storage.table(part, *number)).collect::<io::Result<Vec<_>>>()
    };
    let words = tables(Part::Words, &manifest.words)?;
    let facts = tables(Part::Facts, &manifest.facts)?;
    let files = storage.files(manifest.files)?;
    Ok(files.map(|files| Base { manifest, files, words, facts }))
}

struct Opening<'a> {
    root: &'a Path,
    storage: Option<Storage>,
    /// What was on disk when it was read.
    generation: u64,
    settings: &'a Settings,
    effort: Effort,
    progress: &'a dyn Progress,
}

impl Opening<'_> {
    fn bring_up_to_date(self, base: Option<Base>) -> Result<Index, IndexError> {
        let filter = self.settings.filter(self.root)?;
        let outside_rules = rules::outside(self.root);
        let is_new = base.is_none();
        let mut base = base.unwrap_or_else(|| Base::empty(self.settings));
        let plan = if is_new {
            Plan::whole(list(self.root, "", None, &filter))
        } else {
            let mut look = look(self.root, &base.files, self.settings.max_file_bytes);
            look.rules_changed |= base.manifest.outside_rules != outside_rules;
            if look.is_as_before() {
                return Ok(self.opened(base, !is_new));
            }
            Plan::new(self.root, &base.files, look, &filter)
        };
        if self.effort == Effort::Few && plan.read.len() > FEW {
            return Ok(self.behind(base, &plan));
        }
        if plan.is_empty() && !is_new && base.manifest.outside_rules == outside_rules {
            return Ok(self.opened(base, true));
        }
        base.manifest.outside_rules = outside_rules;
        self.apply(base, &plan)
    }

    fn apply(self, mut base: Base, plan: &Plan) -> Result<Index, IndexError> {
        let first = base.manifest.next_document;
        let limit = self.settings.max_file_bytes;
        let Harvest { files, tables } = harvest(self.root, &plan.read, first, limit, self.progress)
            .map_err(IndexError::io("index", self.root))?;
        base.files = plan.apply(&base.files, &files, first);
        base.manifest.next_document += u32::try_from(plan.read.len()).unwrap_or(u32::MAX);
        base.manifest.written_at = now();
        let kept = self.keep(&mut base, &tables)?;
        base.words.extend(tables.into_iter().map(|bytes| Table::new(Source::Memory(bytes))));
        Ok(self.opened(base, kept))
    }

    /// Writes the update down where nobody else is writing and nobody was faster. Whether it did or not, this process has it
    /// in memory. A disk on which nothing can be written is no reason to give no answer.
    fn keep(&self, base: &mut Base, tables: &[Vec<u8>]) -> Result<bool, IndexError> {
        let Some(storage) = &self.storage else { return Ok(false) };
        let Ok(Ok(writer)) = storage.lock("update") else { return Ok(false) };
        if storage.manifest()?.map_or(0, |present| present.generation) != self.generation {
            return Ok(false);
        }
        base.manifest.generation = self.generation;
        Ok(write(&writer, base, tables).is_ok())
    }

    fn opened(self, base: Base, kept: bool) -> Index {
        let Base { manifest, files, words, facts } = base;
        let numbered = files.records.iter().zip(0_u32..);
        let mut documents: Vec<(u32, u32)> = numbered.map(|(record, file)| (record.document, file)).collect();
        documents.sort_unstable();
        let count = files.len();
        Index {
            root: self.root.to_owned(),
            storage: self.storage,
            settings: self.settings.clone(),
            manifest,
            kept,
            files,
            words,
            facts,
            documents,
            differing: Vec::new(),
            behind: 0,
            moved: AtomicBool::new(false),
            damaged: AtomicBool::new(false),
            by_directory: OnceLock::new(),
            by_name: OnceLock::new(),
            texts: std::iter::repeat_with(OnceLock::new).take(count).collect(),
            known_facts: std::iter::repeat_with(OnceLock::new).take(count).collect(),
            parsed: Mutex::default(),
        }
    }

    fn behind(self, base: Base, plan: &Plan) -> Index {
        let known = plan.read.iter().filter_map(|path| base.files.paths.find(path));
        let mut differing: Vec<u32> = known.filter_map(|file| u32::try_from(file).ok()).collect();
        differing.extend_from_slice(&plan.dropped);
        differing.sort_unstable();
        let behind = plan.read.len() + plan.dropped.len();
        Index { differing, behind, ..self.opened(base, true) }
    }
}

/// Writes new tables of words and the file table, then the manifest that names them. Where there have come to be many tables,
/// some are made one.
fn write(writer: &Writer, base: &mut Base, tables: &[Vec<u8>]) -> Result<(), IndexError> {
    let mut manifest = base.manifest.clone();
    manifest.next_number = manifest.next_number.max(writer.first_free());
    let mut number = || {
        let number = manifest.next_number;
        manifest.next_number += 1;
        number
    };
    let mut added = Vec::new();
    for table in tables {
        let number = number();
        writer.put(Part::Words, number, table)?;
        added.push(number);
    }
    let files = number();
    writer.put(Part::Files, files, &base.files.encode())?;
    manifest.files = files;
    manifest.words.extend(added);
    manifest.generation += 1;
    writer.replace(&manifest)?;
    base.manifest = manifest;
    Ok(())
}
