//! The cache of one project, on disk: built under a lock, replaced in one step, checked against its inputs.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

use blake3::Hash;
use jiff::Timestamp;
use lockstep_fs::{FileLock, FileStamp};
use lockstep_store::{StateDir, StoreError};

use crate::budget::{ComposedCache, compose, find_spoofed_markers};
use crate::build_record::{BuildRecord, TrackedInput, all_unchanged};
use crate::build_report::{BuildOptions, BuildReport, CheckReport, Freshness};
use crate::cache_document::{CacheDocument, CacheHeader, SectionContent};
use crate::content_provider::ContentProvider;
use crate::error::CacheError;
use crate::lock::lock;
use crate::part_cache::{self, CachedPart, PartKeys};
use crate::section::ContentStrategy;
use crate::sections::{CollectedSections, collect_sections, non_file_inputs};
use crate::settings::CacheSettings;
use crate::skill_facts_cache::SkillFactsCache;
use crate::text_length::chars;
use crate::{cache_file, state_files, watch_list};

#[derive(Debug)]
pub struct SessionCache {
    root: PathBuf,
    settings: CacheSettings,
    state: StateDir,
    /// Read once per process.
    memo: RefCell<Option<SkillFactsCache>>,
}

/// The cache file at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CacheSnapshot {
    pub text: String,
    /// From before it was read.
    stamp: FileStamp,
}

impl SessionCache {
    /// The cache of the project at `root`. Nothing is read yet.
    pub fn open(root: &Path, settings: CacheSettings) -> Self {
        Self {
            root: root.to_path_buf(),
            settings,
            state: StateDir::for_project(root),
            memo: RefCell::new(None),
        }
    }

    pub fn settings(&self) -> &CacheSettings {
        &self.settings
    }

    pub fn path(&self) -> PathBuf {
        self.root.join(self.settings.target())
    }

    /// Returns the cache file's text, or `None` if there is no file.
    pub fn read(&self) -> Result<Option<String>, CacheError> {
        Ok(self.snapshot()?.map(|snapshot| snapshot.text))
    }

    /// Returns the current cache file, or `None` if there is none.
    pub fn snapshot(&self) -> Result<Option<CacheSnapshot>, CacheError> {
        Ok(cache_file::read(&self.path())?.map(|(text, stamp)| CacheSnapshot { text, stamp }))
    }

    /// Returns the cached part for `asked` if all of its inputs are certainly unchanged. Reads neither the
    /// cache nor any source.
    pub fn cached_part(&self, provider: &dyn ContentProvider, asked: &str) -> Option<CachedPart> {
        let seals = PartKeys::of(&self.settings)?;
        let list = part_cache::load_watch_list(&self.state);
        let seal = seals.of_parts(&list, &self.non_file_inputs(&seals, provider))?;
        let ready = part_cache::load_part(&self.state, asked, &seal)?;
        watch_list::is_current(&list, &self.root).then_some(ready)
    }

    /// Stores a part made from a fresh cache for `asked`, if its validity can be checked later. `provider` is
    /// the one with which the cache was found fresh.
    pub fn store_part(
        &self,
        provider: &dyn ContentProvider,
        of: &CacheSnapshot,
        asked: &str,
        ready: &CachedPart,
    ) {
        let record = state_files::record(&self.state);
        let values = non_file_inputs(&self.settings, provider);
        let recorded = record.looks.iter().filter(|(_, look)| matches!(look, TrackedInput::Value(_)));
        if record.written != Some(digest(&of.text)) || !recorded.eq(&values) {
            return;
        }
        let Some(list) = watch_list::encode_watch_list(&record, self.settings.target(), &of.stamp) else {
            return;
        };
        let Some(seals) = PartKeys::of(&self.settings) else { return };
        let Some(seal) = seals.of_parts(&list, &values) else { return };
        // A part that cannot be stored is made again the next time.
        let _ = part_cache::save_part(&self.state, &list, asked, &seal, ready);
        if let Some(stamp) = self.has_provided_sections().then(|| provider.stamp()).flatten() {
            let _ = part_cache::keep_values(&self.state, &seals.of_values(&stamp), &values);
        }
    }

    /// Returns the inputs that are not files. The provider is not asked if its stamp is unchanged.
    fn non_file_inputs(
        &self,
        seals: &PartKeys,
        provider: &dyn ContentProvider,
    ) -> BTreeMap<String, TrackedInput> {
        let stamp = self.has_provided_sections().then(|| provider.stamp()).flatten();
        let stored = stamp.and_then(|stamp| part_cache::load_values(&self.state, &seals.of_values(&stamp)));
        stored.unwrap_or_else(|| non_file_inputs(&self.settings, provider))
    }

    /// Returns true if a section gets its text from a provider.
    fn has_provided_sections(&self) -> bool {
        self.settings.sections().iter().any(|section| section.strategy == ContentStrategy::Given)
    }

    /// Builds the cache with `time` in its header. Writes nothing if the file already has the same content.
    pub fn build(
        &self,
        provider: &dyn ContentProvider,
        time: Timestamp,
        options: BuildOptions,
    ) -> Result<BuildReport, CacheError> {
        let mut warnings = Vec::new();
        let lock = self.lock(options.deadline, &mut warnings)?;
        let known = state_files::record(&self.state);
        let gathered = self.gather(provider, &known, options.deadline)?;
        let hash = gathered.inputs.hash();
        let header = CacheHeader::new(time, gathered.inputs.files(), &hash);
        let composed = compose(&header, &gathered.drafts, self.settings.budget());
        // An unreadable file may still be replaced; the target decides that.
        let current =
            self.read().ok().flatten().filter(|text| !options.force && same_but_time(text, &composed.text));
        let written = current.is_none();
        let text = current.unwrap_or_else(|| composed.text.clone());
        if written {
            cache_file::ensure_writable(&self.root, self.settings.target(), &self.state)?;
            lockstep_fs::write_atomically(&self.path(), text.as_bytes(), 0o600).map_err(StoreError::from)?;
        }
        let record = BuildRecord { written: Some(digest(&text)), ..gathered.record.clone() };
        if record != known {
            warnings.extend(self.save_state(&record, &gathered));
        }
        drop(lock);
        let (sections, skipped) = list_sections(&text);
        let mut findings = gathered.findings;
        findings.extend(find_spoofed_markers(&gathered.drafts));
        Ok(BuildReport {
            path: self.path(),
            chars: chars(&text),
            hash,
            written,
            sections,
            skipped,
            mitigations: composed.mitigations,
            findings,
            sources: gathered.resolved,
            opened: gathered.opened,
            warnings,
        })
    }

    /// Checks that the cache is up to date. If no input was touched, no source is read.
    pub fn freshness(
        &self,
        provider: &dyn ContentProvider,
        deadline: Option<Instant>,
    ) -> Result<Freshness, CacheError> {
        let Some(snapshot) = self.snapshot()? else { return Ok(Freshness::Missing) };
        self.freshness_of(&snapshot, provider, deadline)
    }

    /// Checks that a snapshot is up to date.
    pub fn freshness_of(
        &self,
        snapshot: &CacheSnapshot,
        provider: &dyn ContentProvider,
        deadline: Option<Instant>,
    ) -> Result<Freshness, CacheError> {
        let text = &snapshot.text;
        let values = non_file_inputs(&self.settings, provider);
        let record = state_files::record_text(&self.state);
        if all_unchanged(&record, &self.root, &values, digest(text)) {
            return Ok(Freshness::Fresh);
        }
        let known = BuildRecord::decode(&record).unwrap_or_default();
        let gathered = self.gather(provider, &known, deadline)?;
        let freshness = self.compare_with_build(text, &known, &gathered);
        if freshness == Freshness::Fresh {
            self.refresh_stamps(&record, text, &gathered);
        }
        Ok(freshness)
    }

    /// Returns the result of `cache check`. Writes nothing.
    pub fn check(&self, provider: &dyn ContentProvider) -> Result<CheckReport, CacheError> {
        let known = state_files::record(&self.state);
        let gathered = self.gather(provider, &known, None)?;
        let freshness = match self.read()? {
            Some(text) => self.compare_with_build(&text, &known, &gathered),
            None => Freshness::Missing,
        };
        let composed = self.composed(&gathered);
        let mut findings = gathered.findings;
        findings.extend(find_spoofed_markers(&gathered.drafts));
        Ok(CheckReport { freshness, mitigations: composed.mitigations, findings, sources: gathered.resolved })
    }

    /// Returns the text that a build would write now, apart from the time. Writes nothing.
    pub fn preview(&self, provider: &dyn ContentProvider) -> Result<String, CacheError> {
        Ok(self.composed(&self.collect_sections(provider)?).text)
    }

    /// Returns the text that a build would write now, and each section in full, before the budget is applied.
    pub(crate) fn collect_sections(
        &self,
        provider: &dyn ContentProvider,
    ) -> Result<CollectedSections, CacheError> {
        self.gather(provider, &state_files::record(&self.state), None)
    }

    fn gather(
        &self,
        provider: &dyn ContentProvider,
        known: &BuildRecord,
        deadline: Option<Instant>,
    ) -> Result<CollectedSections, CacheError> {
        let mut memo = self.memo.borrow_mut();
        let memo = memo.get_or_insert_with(|| state_files::memo(&self.state));
        collect_sections(&self.root, &self.settings, provider, known, memo, deadline)
            .map_err(|source| CacheError::Root { path: self.root.clone(), source })?
            .map_err(|_| CacheError::DeadlineExceeded)
    }

    fn composed(&self, gathered: &CollectedSections) -> ComposedCache {
        let header =
            CacheHeader::new(Timestamp::UNIX_EPOCH, gathered.inputs.files(), &gathered.inputs.hash());
        compose(&header, &gathered.drafts, self.settings.budget())
    }

    /// Compares the file `text` with the result of a build. That alone decides; the record only names the
    /// changed inputs.
    fn compare_with_build(&self, text: &str, known: &BuildRecord, gathered: &CollectedSections) -> Freshness {
        let document = match CacheDocument::parse(text) {
            Ok(document) => document,
            Err(damage) => return Freshness::Modified(Some(damage)),
        };
        if same_but_time(text, &self.composed(gathered).text) {
            return Freshness::Fresh;
        }
        let hash = &document.header.hash;
        if *hash == gathered.inputs.hash().to_hex()[..8] {
            return Freshness::Modified(None);
        }
        let recorded = *hash == known.inputs().hash().to_hex()[..8];
        Freshness::Stale(if recorded { known.inputs().changes(&gathered.inputs) } else { Vec::new() })
    }

    /// Saves new stamps of unchanged inputs, so that the next check need not read them again; unless a build
    /// is running.
    fn refresh_stamps(&self, known: &str, text: &str, gathered: &CollectedSections) {
        let Ok(Some(_lock)) = self.lock(Some(Instant::now()), &mut Vec::new()) else { return };
        if state_files::record_text(&self.state) == known {
            self.save_state(
                &BuildRecord { written: Some(digest(text)), ..gathered.record.clone() },
                gathered,
            );
        }
    }

    /// Stores the record and the memo, or returns the reason why not.
    fn save_state(&self, record: &BuildRecord, gathered: &CollectedSections) -> Option<String> {
        let mut memo = self.memo.borrow_mut();
        let memo = memo.get_or_insert_default();
        memo.retain(&gathered.inputs);
        let result = state_files::keep(&self.state, record, memo);
        result.err().map(|error| format!("the record of this build was not kept: {error}"))
    }

    /// Allows one build at a time. Without a lock, the file is still replaced atomically: two builds at once
    /// only do the work twice.
    fn lock(
        &self,
        deadline: Option<Instant>,
        warnings: &mut Vec<String>,
    ) -> Result<Option<FileLock>, CacheError> {
        let locked = state_files::lock_file(&self.state)
            .map_err(CacheError::from)
            .and_then(|path| lock(path, deadline));
        match locked {
            Ok(file) => Ok(Some(file)),
            Err(error @ (CacheError::DeadlineExceeded | CacheError::Busy { .. })) => Err(error),
            Err(error) => {
                warnings.push(format!("the build could not be locked: {error}"));
                Ok(None)
            }
        }
    }
}

fn digest(text: &str) -> Hash {
    blake3::hash(text.as_bytes())
}

/// Returns true if two caches differ at most in the time of their headers.
fn same_but_time(one: &str, other: &str) -> bool {
    let split = |text| -> Option<(CacheHeader, &str)> {
        let (line, rest) = str::split_once(text, '\n')?;
        Some((CacheHeader { generated: String::new(), ..CacheHeader::parse(line)? }, rest))
    };
    split(one).is_some_and(|one| split(other) == Some(one))
}

/// The sections with content and their lengths; the sections without and the reasons.
#[expect(clippy::type_complexity, reason = "two lists of pairs say what they are")]
fn list_sections(text: &str) -> (Vec<(String, usize)>, Vec<(String, String)>) {
    let (mut sections, mut skipped) = (Vec::new(), Vec::new());
    let document = CacheDocument::parse(text).expect("what was composed is a cache");
    for entry in &document.sections {
        match entry.content() {
            SectionContent::Text(text) => sections.push((entry.name.to_owned(), chars(&text))),
            SectionContent::Skipped(why) => skipped.push((entry.name.to_owned(), why)),
        }
    }
    (sections, skipped)
}
