//! The cache of one project, on disk: built under a lock, replaced in one step, checked against its inputs.

use std::cell::RefCell;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use blake3::Hash;
use jiff::Timestamp;
use lockstep_store::{StateDir, StoreError, write_atomically};

use crate::compose::{Composed, Mitigation, compose, spoofed};
use crate::document::{BEGINNING, Content, Document, Header, NotACache};
use crate::finding::Finding;
use crate::gather::{Gathered, Resolved, gather, values};
use crate::inputs::InputChange;
use crate::memo::{self, Memo};
use crate::provider::Provider;
use crate::record::{self, Look, Record};
use crate::settings::Settings;

/// How long a build waits for another one. A build takes tens of milliseconds.
const PATIENCE: Duration = Duration::from_secs(5);

/// The state of a cache beside its project's other state.
const STATE: &str = "cache";

/// Why a cache could not be built or read. What is wrong with a section is no error but in the section's marker.
#[derive(Debug, thiserror::Error)]
pub enum CacheError {
    /// The project's root cannot be used.
    #[error("the project root {} cannot be used", path.display())]
    Root {
        /// The root.
        path: PathBuf,
        /// The system's answer.
        #[source]
        source: io::Error,
    },
    /// The cache file cannot be read or written.
    #[error("cannot {what} the session cache {}", path.display())]
    Target {
        /// What was attempted.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's answer.
        #[source]
        source: io::Error,
    },
    /// Something else is where the cache would be written.
    #[error(
        "{} is not written: {why}. Name another file in `[cache] path`, or remove this one", path.display()
    )]
    Foreign {
        /// The file.
        path: PathBuf,
        /// What it is.
        why: &'static str,
    },
    /// The file could not be replaced.
    #[error(transparent)]
    Write(#[from] StoreError),
    /// Another process builds, and does not end.
    #[error("another process has been building this cache for {} s ({} is locked)", PATIENCE.as_secs(), path.display())]
    Busy {
        /// The lock file.
        path: PathBuf,
    },
    /// Reading took longer than was allowed; the cache is as it was.
    #[error("the session cache could not be built in the time that was allowed")]
    Late,
}

/// The cache of one project.
#[derive(Debug)]
pub struct Cache {
    root: PathBuf,
    settings: Settings,
    state: StateDir,
    /// Read once per process.
    memo: RefCell<Option<Memo>>,
}

/// How to build.
#[derive(Debug, Clone, Copy, Default)]
pub struct BuildOptions {
    /// Write although nothing changed.
    pub force: bool,
    /// Give up at this time.
    pub deadline: Option<Instant>,
}

/// What a build did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Built {
    /// The cache file.
    pub path: PathBuf,
    /// Its length in characters.
    pub chars: usize,
    /// The whole content hash.
    pub hash: Hash,
    /// Whether the file was written; false when it already said the same.
    pub written: bool,
    /// The sections with content, each with its length.
    pub sections: Vec<(String, usize)>,
    /// The sections without, each with the reason.
    pub skipped: Vec<(String, String)>,
    /// What was done to keep the budget.
    pub mitigations: Vec<Mitigation>,
    /// What was noticed.
    pub findings: Vec<Finding>,
    /// Where sections come from.
    pub sources: Vec<Resolved>,
    /// How many files had to be opened.
    pub opened: usize,
    /// What went wrong without harm to the cache: state that could not be kept.
    pub warnings: Vec<String>,
}

/// Whether the cache is what a build would write now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Freshness {
    /// It is.
    Fresh,
    /// There is no cache.
    Missing,
    /// Inputs changed since; without a record of the last build it is not known which.
    Stale(Vec<InputChange>),
    /// The file is not what was built: it was changed, or is damaged at this place.
    Altered(Option<NotACache>),
}

/// The answer of `cache check`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checked {
    /// Whether it is up to date.
    pub freshness: Freshness,
    /// What had to be done to keep the budget.
    pub mitigations: Vec<Mitigation>,
    /// What was noticed.
    pub findings: Vec<Finding>,
    /// Where sections come from.
    pub sources: Vec<Resolved>,
}

impl Checked {
    /// Whether all is well.
    pub fn passes(&self) -> bool {
        self.freshness == Freshness::Fresh
            && self.mitigations.is_empty()
            && !self.findings.iter().any(Finding::fails_check)
    }
}

impl Cache {
    /// The cache of the project at `root`. Nothing is read yet.
    pub fn open(root: &Path, settings: Settings) -> Self {
        Self { root: root.to_path_buf(), settings, state: StateDir::of(root), memo: RefCell::new(None) }
    }

    /// The configuration.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The cache file.
    pub fn path(&self) -> PathBuf {
        self.root.join(self.settings.target())
    }

    /// The cache file's text; `None` if there is none.
    pub fn read(&self) -> Result<Option<String>, CacheError> {
        let path = self.path();
        match fs::read_to_string(&path) {
            Ok(text) => Ok(Some(text)),
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(None),
            Err(source) => Err(CacheError::Target { what: "read", path, source }),
        }
    }

    /// Builds the cache as of `time`, which stands in its header. Nothing is written when the file already says the same.
    pub fn build(
        &self,
        provider: &dyn Provider,
        time: Timestamp,
        options: BuildOptions,
    ) -> Result<Built, CacheError> {
        let mut warnings = Vec::new();
        let lock = self.lock(options.deadline).or_else(|error| match error {
            error @ (CacheError::Write(_) | CacheError::Target { .. }) => {
                // The file is replaced in one step all the same; two builds at once only do the work twice.
                warnings.push(format!("the build could not be locked: {error}"));
                Ok(None)
            }
            error => Err(error),
        })?;
        let known = self.record();
        let gathered = self.gather(provider, &known, options.deadline)?;
        let hash = gathered.inputs.hash();
        let current = self.current(&known, &gathered)?.filter(|_| !options.force);
        let header = Header::new(time, gathered.inputs.files(), &hash);
        let composed = compose(&header, &gathered.drafts, self.settings.budget());
        let written = current.is_none();
        let text = current.unwrap_or_else(|| composed.text.clone());
        if written {
            self.target_is_ours()?;
            write_atomically(&self.path(), text.as_bytes(), 0o600)?;
        }
        let record = Record { written: Some(blake3::hash(text.as_bytes())), ..gathered.record.clone() };
        if record != known {
            warnings.extend(self.keep(&record, &gathered));
        }
        drop(lock);
        Ok(self.built(&text, hash, written, gathered, composed, warnings))
    }

    /// Whether the cache is up to date. When nothing was touched, no source is read.
    pub fn freshness(
        &self,
        provider: &dyn Provider,
        deadline: Option<Instant>,
    ) -> Result<Freshness, CacheError> {
        let known = self.record();
        if let Some(text) = self.read()?
            && known.written == Some(blake3::hash(text.as_bytes()))
            && self.untouched(&known, provider)
        {
            return Ok(Freshness::Fresh);
        }
        let gathered = self.gather(provider, &known, deadline)?;
        self.compared(&known, &gathered)
    }

    /// Everything `cache check` says. Writes nothing.
    pub fn check(&self, provider: &dyn Provider) -> Result<Checked, CacheError> {
        let known = self.record();
        let gathered = self.gather(provider, &known, None)?;
        let freshness = self.compared(&known, &gathered)?;
        let (composed, findings) = self.composed(&gathered);
        Ok(Checked { freshness, mitigations: composed.mitigations, findings, sources: gathered.resolved })
    }

    /// What a build would write now, and each section whole, as it is before the budget.
    pub(crate) fn on_disk(&self, provider: &dyn Provider) -> Result<Gathered, CacheError> {
        self.gather(provider, &self.record(), None)
    }

    fn composed(&self, gathered: &Gathered) -> (Composed, Vec<Finding>) {
        let header = Header::new(Timestamp::UNIX_EPOCH, gathered.inputs.files(), &gathered.inputs.hash());
        let composed = compose(&header, &gathered.drafts, self.settings.budget());
        let mut findings = gathered.findings.clone();
        findings.extend(spoofed(&gathered.drafts));
        (composed, findings)
    }

    fn gather(
        &self,
        provider: &dyn Provider,
        known: &Record,
        deadline: Option<Instant>,
    ) -> Result<Gathered, CacheError> {
        let mut memo = self.memo.borrow_mut();
        let memo = memo.get_or_insert_with(|| Memo::decode(&self.kept(memo::FILE)));
        gather(&self.root, &self.settings, provider, known, memo, deadline)
            .map_err(|source| CacheError::Root { path: self.root.clone(), source })?
            .map_err(|_| CacheError::Late)
    }

    /// The file's text, if a build would write the same but for the time.
    fn current(&self, known: &Record, gathered: &Gathered) -> Result<Option<String>, CacheError> {
        let text = self.read().or_else(|error| match error {
            // What cannot be read may still be replaced; whether it may, is decided there.
            CacheError::Target { .. } => Ok(None),
            error => Err(error),
        })?;
        Ok(text.filter(|text| {
            known.written == Some(blake3::hash(text.as_bytes())) && known.inputs() == gathered.inputs
        }))
    }

    fn compared(&self, known: &Record, gathered: &Gathered) -> Result<Freshness, CacheError> {
        let Some(text) = self.read()? else { return Ok(Freshness::Missing) };
        let document = match Document::parse(&text) {
            Ok(document) => document,
            Err(damage) => return Ok(Freshness::Altered(Some(damage))),
        };
        let Some(written) = known.written else {
            let same = document.header.hash == gathered.inputs.hash().to_hex()[..8];
            return Ok(if same { Freshness::Fresh } else { Freshness::Stale(Vec::new()) });
        };
        if written != blake3::hash(text.as_bytes()) {
            return Ok(Freshness::Altered(None));
        }
        let changes = known.inputs().changes(&gathered.inputs);
        Ok(if changes.is_empty() { Freshness::Fresh } else { Freshness::Stale(changes) })
    }

    /// Whether everything that was looked at is certainly as it was.
    fn untouched(&self, known: &Record, provider: &dyn Provider) -> bool {
        let is_value = |look: &Look| matches!(look, Look::Value(_) | Look::Unusable(_));
        let values = values(&self.settings, provider);
        let recorded = known.looks.iter().filter(|(_, look)| is_value(look));
        recorded.eq(values.iter()) && known.looks.iter().all(|(path, look)| look.still(&self.root.join(path)))
    }

    fn record(&self) -> Record {
        Record::decode(&self.kept(record::FILE)).unwrap_or_default()
    }

    /// A file of the cache's state; empty when there is none.
    fn kept(&self, file: &str) -> String {
        fs::read_to_string(self.state.path().join(STATE).join(file)).unwrap_or_default()
    }

    /// Keeps the record and the memo. Failing costs time later, nothing else.
    fn keep(&self, record: &Record, gathered: &Gathered) -> Option<String> {
        let mut memo = self.memo.borrow_mut();
        if let Some(memo) = memo.as_mut() {
            memo.retain(&gathered.inputs);
        }
        let keep = || -> Result<(), StoreError> {
            let dir = self.state.ensure(STATE)?;
            replace(&dir, record::FILE, &record.encode())?;
            replace(&dir, memo::FILE, &memo.as_ref().map(Memo::encode).unwrap_or_default())
        };
        keep().err().map(|error| format!("the record of this build was not kept: {error}"))
    }

    /// Only a cache, or nothing, is ever overwritten, and only inside of the project.
    fn target_is_ours(&self) -> Result<(), CacheError> {
        let path = self.path();
        let foreign = |why| Err(CacheError::Foreign { path: path.clone(), why });
        let target = |what, source| CacheError::Target { what, path: path.clone(), source };
        if Path::new(self.settings.target()).starts_with(StateDir::NAME) {
            self.state.ensure("")?;
        }
        let dir = path.parent().unwrap_or(&self.root);
        // Looked at before anything is created: a link must not make us create directories elsewhere.
        let existing = dir.ancestors().find(|dir| dir.symlink_metadata().is_ok()).unwrap_or(&self.root);
        let real = |path: &Path| path.canonicalize().map_err(|source| target("find", source));
        if !real(existing)?.starts_with(real(&self.root)?) {
            return foreign("its directory is a link that leads out of the project");
        }
        fs::create_dir_all(dir).map_err(|source| target("create the directory of", source))?;
        match fs::symlink_metadata(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            Err(source) => Err(target("look at", source)),
            Ok(meta) if !meta.is_file() => foreign("it is no plain file"),
            Ok(meta) if meta.len() == 0 => Ok(()),
            Ok(_) => {
                let text = fs::read(&path).map_err(|source| target("read", source))?;
                if text.starts_with(BEGINNING.as_bytes()) {
                    Ok(())
                } else {
                    foreign("it is no session cache")
                }
            }
        }
    }

    fn built(
        &self,
        text: &str,
        hash: Hash,
        written: bool,
        gathered: Gathered,
        composed: Composed,
        warnings: Vec<String>,
    ) -> Built {
        let (mut sections, mut skipped) = (Vec::new(), Vec::new());
        let document = Document::parse(text).expect("what was composed is a cache");
        for entry in &document.sections {
            match entry.content() {
                Content::Text(text) => sections.push((entry.name.to_owned(), crate::measure::chars(&text))),
                Content::Skipped(why) => skipped.push((entry.name.to_owned(), why)),
            }
        }
        let mut findings = gathered.findings;
        findings.extend(spoofed(&gathered.drafts));
        Built {
            path: self.path(),
            chars: crate::measure::chars(text),
            hash,
            written,
            sections,
            skipped,
            mitigations: composed.mitigations,
            findings,
            sources: gathered.resolved,
            opened: gathered.opened,
            warnings,
        }
    }

    /// One build at a time. The lock goes with its process.
    fn lock(&self, deadline: Option<Instant>) -> Result<Option<File>, CacheError> {
        let path = self.state.ensure(STATE)?.join("lock");
        let io = |source| CacheError::Target { what: "lock", path: path.clone(), source };
        let file = OpenOptions::new().create(true).append(true).mode(0o600).open(&path).map_err(io)?;
        let patience = Instant::now() + PATIENCE;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Some(file)),
                Err(TryLockError::Error(source)) => return Err(io(source)),
                Err(TryLockError::WouldBlock)
                    if deadline.is_some_and(|deadline| Instant::now() >= deadline) =>
                {
                    return Err(CacheError::Late);
                }
                Err(TryLockError::WouldBlock) if Instant::now() >= patience => {
                    return Err(CacheError::Busy { path });
                }
                Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(2)),
            }
        }
    }
}

/// Replaces a file of state in one step. Not synced: a damaged one is read as none.
fn replace(dir: &Path, name: &str, text: &str) -> Result<(), StoreError> {
    use std::io::Write as _;
    let path = dir.join(name);
    let io = |source| StoreError::Io { what: "write", path: path.clone(), source };
    let mut file = tempfile::NamedTempFile::new_in(dir).map_err(io)?;
    file.write_all(text.as_bytes()).map_err(io)?;
    file.persist(&path).map_err(|error| io(error.error))?;
    Ok(())
}
