//! Reads sources inside the project only, and records every path it checked.
//!
//! The only place where names become paths. A symbolic link out of its base is not followed; only regular
//! files are opened; a file is read once for all sections.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use blake3::Hash;
use lockstep_fs::{FileKind, FileStamp, is_absent, no_follow, non_blocking};

use crate::build_record::{BuildRecord, TrackedInput};
use crate::text_length::one_line;

/// The number of bytes of a file's text that are stored. It exceeds any budget; the rest is only digested.
const KEPT_BYTES: usize = 4 << 20;

/// Larger files are not read at all.
const MAX_BYTES: u64 = 64 << 20;

/// The time that was allowed for reading is over.
#[derive(Debug)]
pub(crate) struct DeadlineExceeded;

/// The result of reading a path.
#[derive(Debug, Clone)]
pub(crate) enum SourceState {
    File(Arc<SourceText>),
    Absent,
    /// Something that cannot be used, and why.
    Unusable(String),
}

#[derive(Debug)]
pub(crate) struct SourceText {
    pub(crate) text: String,
    /// Set if bytes that are not UTF-8 were replaced.
    pub(crate) is_lossy: bool,
    /// True if the file is longer than the stored part.
    pub(crate) is_truncated: bool,
}

/// A directory outside of which nothing is read.
#[derive(Debug, Clone)]
pub(crate) struct Base {
    canonical: PathBuf,
    /// The prefix of its paths in the cache: empty for the project, the absolute path for a plugin.
    prefix: String,
}

impl Base {
    pub(crate) fn project(root: &Path) -> io::Result<Self> {
        Ok(Self { canonical: root.canonicalize()?, prefix: String::new() })
    }

    /// A directory outside of the project that the configuration names.
    pub(crate) fn outside(dir: &Path) -> Option<Self> {
        let name = dir.to_str().filter(|name| !name.chars().any(char::is_control))?;
        Some(Self { canonical: dir.canonicalize().ok()?, prefix: format!("{}/", name.trim_end_matches('/')) })
    }

    pub(crate) fn below(&self, dir: &str) -> Option<Self> {
        let canonical = self.canonical.join(dir).canonicalize().ok()?;
        canonical
            .starts_with(&self.canonical)
            .then(|| Self { canonical, prefix: format!("{}{dir}/", self.prefix) })
    }

    /// Returns the name of a path below this base in the cache.
    pub(crate) fn label(&self, path: &str) -> String {
        format!("{}{path}", self.prefix)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum DirEntryKind {
    Directory,
    Plain,
    /// A link, or a kind that the file system does not report: it may be a directory.
    Perhaps,
    /// Not a directory.
    Other,
}

/// The entries of a directory. Names that do not fit on a line are omitted and counted.
#[derive(Debug)]
pub(crate) struct DirListing {
    /// Names with their kinds, sorted.
    pub(crate) entries: Vec<(String, DirEntryKind)>,
    /// The number of names that are not UTF-8 or have control characters.
    pub(crate) unprintable_names: usize,
}

pub(crate) struct SourceReader<'a> {
    root: PathBuf,
    known: &'a BuildRecord,
    deadline: Option<Instant>,
    now: i64,
    seen: BTreeMap<String, SourceState>,
    /// Directories that were listed or entered, and where they really are.
    real: BTreeMap<String, PathBuf>,
    pub(crate) looks: BTreeMap<String, TrackedInput>,
    /// The number of opened files.
    pub(crate) opened: usize,
}

impl<'a> SourceReader<'a> {
    pub(crate) fn new(root: &Path, known: &'a BuildRecord, deadline: Option<Instant>) -> Self {
        Self {
            root: root.to_path_buf(),
            known,
            deadline,
            now: lockstep_fs::now(),
            seen: BTreeMap::new(),
            real: BTreeMap::new(),
            looks: BTreeMap::new(),
            opened: 0,
        }
    }

    /// Returns a reader of the same sources with only the listings of this one, for another thread.
    pub(crate) fn fork(&self) -> Self {
        Self {
            root: self.root.clone(),
            seen: BTreeMap::new(),
            real: self.real.clone(),
            looks: BTreeMap::new(),
            opened: 0,
            ..*self
        }
    }

    /// Takes over the account of another one.
    pub(crate) fn merge(&mut self, other: Self) {
        self.seen.extend(other.seen);
        self.real.extend(other.real);
        self.looks.extend(other.looks);
        self.opened += other.opened;
    }

    pub(crate) fn file(&mut self, base: &Base, path: &str) -> Result<SourceState, DeadlineExceeded> {
        let label = base.label(path);
        if let Some(seen) = self.seen.get(&label) {
            return Ok(seen.clone());
        }
        self.check_deadline()?;
        let seen = match self.resolve_inside(base, path) {
            Ok(None) => self.absent(&label),
            Ok(Some((at, meta))) if meta.is_file() => self.read(&label, &meta, || open(&at)),
            Ok(Some((_, meta))) => self.unusable(&label, kind(&meta)),
            Err(why) => self.unusable(&label, &why),
        };
        self.seen.insert(label, seen.clone());
        Ok(seen)
    }

    /// Reads a path that the listing of its directory reported as a regular file: it is opened without a
    /// `stat`.
    pub(crate) fn read_listed_file(
        &mut self,
        base: &Base,
        path: &str,
    ) -> Result<SourceState, DeadlineExceeded> {
        let label = base.label(path);
        self.check_deadline()?;
        match self.open_in_listed_dir(base, &label) {
            Some((_, file, meta)) if meta.is_file() => Ok(self.read(&label, &meta, || Ok(file))),
            _ => self.file(base, path),
        }
    }

    /// The digest of a file that certainly did not change since the last build, without reading it.
    pub(crate) fn known_digest(&mut self, base: &Base, path: &str) -> Option<Hash> {
        let label = base.label(path);
        let look = self.known.looks.get(&label)?;
        let TrackedInput::File(digest, stamp) = look else { return None };
        let (_, meta) = self.resolve_inside(base, path).ok()??;
        if !(meta.is_file() && stamp.is_still(&meta)) {
            return None;
        }
        self.looks.insert(label, look.clone());
        Some(*digest)
    }

    /// Lets go of a file's text, which no other section wants.
    pub(crate) fn forget(&mut self, label: &str) {
        self.seen.remove(label);
    }

    /// The digest of a file that was read.
    pub(crate) fn digest(&self, label: &str) -> Option<Hash> {
        match self.looks.get(label)? {
            TrackedInput::File(digest, _) => Some(*digest),
            _ => None,
        }
    }

    /// Lists a directory. `None` if it does not exist.
    pub(crate) fn list(&mut self, base: &Base, path: &str) -> Result<Option<DirListing>, DeadlineExceeded> {
        self.check_deadline()?;
        let label = base.label(path);
        let (at, dir, meta) = match self.directory(base, path, &label) {
            Ok(Some(found)) => found,
            Ok(None) => {
                self.absent(&label);
                return Ok(None);
            }
            Err(why) => {
                self.unusable(&label, &why);
                return Ok(None);
            }
        };
        let listing = match listed(dir, &at) {
            Ok(listing) => listing,
            Err(error) => {
                self.unusable(&label, &error.to_string());
                return Ok(None);
            }
        };
        // Stamped before it was listed, so that later changes change the stamp.
        self.looks.insert(label.clone(), TrackedInput::Directory(FileStamp::settled(&meta, self.now)));
        self.real.insert(label, at);
        Ok(Some(listing))
    }

    /// Resolves the real path of a directory that the parent's listing reported as a directory, not a link.
    ///
    /// Paths in it are then found without resolving them again.
    pub(crate) fn enter(&mut self, base: &Base, path: &str) -> Option<PathBuf> {
        let label = base.label(path);
        let (above, name) = label.rsplit_once('/')?;
        let real = self.real.get(above)?.join(name);
        self.real.insert(label, real.clone());
        Some(real)
    }

    /// Removes a file from the record, because another entry implies it.
    pub(crate) fn untrack(&mut self, base: &Base, path: &str) {
        let label = base.label(path);
        self.looks.remove(&label);
        self.seen.remove(&label);
    }

    /// The directory at `path`, opened; `None` if there is nothing.
    fn directory(
        &self,
        base: &Base,
        path: &str,
        label: &str,
    ) -> Result<Option<(PathBuf, File, fs::Metadata)>, String> {
        if let Some(found) = self.open_in_listed_dir(base, label).filter(|(_, _, meta)| meta.is_dir()) {
            return Ok(Some(found));
        }
        match self.resolve_inside(base, path)? {
            None => Ok(None),
            Some((_, meta)) if !meta.is_dir() => Err("it is not a directory".into()),
            Some((at, _)) => {
                let dir = non_blocking().read(true).open(&at).map_err(|error| error.to_string())?;
                let meta = dir.metadata().map_err(|error| error.to_string())?;
                Ok(Some((at, dir, meta)))
            }
        }
    }

    /// Opens an entry of a listed directory, unless it is a link: then it is inside, and need not be located.
    fn open_in_listed_dir(&self, base: &Base, label: &str) -> Option<(PathBuf, File, fs::Metadata)> {
        let (dir, name) = label.rsplit_once('/')?;
        let at = self.real.get(dir).filter(|dir| dir.starts_with(&base.canonical))?.join(name);
        let file = no_follow().read(true).open(&at).ok()?;
        let meta = file.metadata().ok()?;
        Some((at, file, meta))
    }

    /// Returns the real path and metadata of `path` if it is inside `base`.
    pub(crate) fn resolve_inside(
        &self,
        base: &Base,
        path: &str,
    ) -> Result<Option<(PathBuf, fs::Metadata)>, String> {
        let label = base.label(path);
        // Below a directory that is known to be inside, only a link can point outside. Most entries are not
        // links, and resolving a real path costs ten times as much.
        if let Some((dir, name)) = label.rsplit_once('/')
            && let Some(dir) = self.real.get(dir).filter(|dir| dir.starts_with(&base.canonical))
            && let Ok(meta) = fs::symlink_metadata(dir.join(name))
            && !meta.is_symlink()
        {
            return Ok(Some((dir.join(name), meta)));
        }
        let at = self.root.join(label);
        match at.canonicalize() {
            Ok(real) if !real.starts_with(&base.canonical) => Err("it is a link that points outside".into()),
            Ok(real) => {
                let meta = fs::metadata(&real).map_err(|error| error.to_string())?;
                Ok(Some((real, meta)))
            }
            Err(error) if is_absent(&error) => {
                if fs::symlink_metadata(&at).is_ok() {
                    Err("it is a link without a target".into())
                } else {
                    Ok(None)
                }
            }
            Err(error) => Err(error.to_string()),
        }
    }

    fn absent(&mut self, label: &str) -> SourceState {
        self.looks.insert(label.to_owned(), TrackedInput::Absent);
        SourceState::Absent
    }

    /// Records that a path could not be used: it is checked again each time.
    pub(crate) fn unusable(&mut self, label: &str, why: &str) -> SourceState {
        let why = one_line(why);
        self.looks.insert(label.to_owned(), TrackedInput::Unusable(why.clone()));
        SourceState::Unusable(why)
    }

    fn read(
        &mut self,
        label: &str,
        meta: &fs::Metadata,
        open: impl FnOnce() -> io::Result<File>,
    ) -> SourceState {
        if meta.len() > MAX_BYTES {
            return self.unusable(label, &format!("it has {} bytes, more than {MAX_BYTES}", meta.len()));
        }
        self.opened += 1;
        match open().and_then(|file| content(file, meta.len())) {
            Ok((content, digest, longer)) => {
                self.looks
                    .insert(label.to_owned(), TrackedInput::File(digest, FileStamp::settled(meta, self.now)));
                SourceState::File(Arc::new(text(content, longer)))
            }
            Err(error) => self.unusable(label, &error.to_string()),
        }
    }

    fn check_deadline(&self) -> Result<(), DeadlineExceeded> {
        match self.deadline {
            Some(deadline) if Instant::now() >= deadline => Err(DeadlineExceeded),
            _ => Ok(()),
        }
    }
}

/// The beginning of a file of `size` bytes, the digest of all of it, and whether there is more.
fn content(mut file: File, size: u64) -> io::Result<(Vec<u8>, Hash, bool)> {
    // With room for one more byte, one read finds the end; growing step by step takes ten.
    let size = usize::try_from(size).unwrap_or(KEPT_BYTES).min(KEPT_BYTES);
    let mut buffer = vec![0; size + 1];
    let read = file.read(&mut buffer)?;
    buffer.truncate(read.min(KEPT_BYTES));
    if read != size || size == KEPT_BYTES {
        // The file is large, or changed since its `stat`.
        file.seek(SeekFrom::Start(buffer.len() as u64))?;
        (&mut file).take((KEPT_BYTES - buffer.len()) as u64).read_to_end(&mut buffer)?;
    }
    let mut hasher = blake3::Hasher::new();
    hasher.update(&buffer);
    let mut longer = false;
    if buffer.len() == KEPT_BYTES {
        let mut chunk = vec![0; 64 << 10];
        // Bounded, because a file may grow while it is read.
        let mut rest = file.take(MAX_BYTES);
        loop {
            let read = rest.read(&mut chunk)?;
            if read == 0 {
                break;
            }
            longer = true;
            hasher.update(&chunk[..read]);
        }
    }
    Ok((buffer, hasher.finalize(), longer))
}

pub(crate) fn open(path: &Path) -> io::Result<File> {
    let file = non_blocking().read(true).open(path)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(io::Error::other("it is not a regular file")) }
}

fn text(bytes: Vec<u8>, longer: bool) -> SourceText {
    match String::from_utf8(bytes) {
        Ok(text) => SourceText { text, is_lossy: false, is_truncated: longer },
        Err(error) => {
            let cut_inside = longer && error.utf8_error().error_len().is_none();
            let mut text = String::from_utf8_lossy(error.as_bytes()).into_owned();
            if cut_inside {
                // The last character was cut by us, not by the file.
                text.pop();
            }
            SourceText { text, is_lossy: !cut_inside, is_truncated: longer }
        }
    }
}

fn listed(dir: File, path: &Path) -> io::Result<DirListing> {
    let mut listing = DirListing { entries: Vec::new(), unprintable_names: 0 };
    for (name, kind) in lockstep_fs::list(dir, path)? {
        let sort = match kind {
            FileKind::Directory => DirEntryKind::Directory,
            FileKind::Regular => DirEntryKind::Plain,
            FileKind::Link | FileKind::Unknown => DirEntryKind::Perhaps,
            FileKind::Special => DirEntryKind::Other,
        };
        match name.to_str() {
            Ok(name) if !name.chars().any(char::is_control) => listing.entries.push((name.to_owned(), sort)),
            _ => listing.unprintable_names += 1,
        }
    }
    listing.entries.sort_unstable();
    Ok(listing)
}

fn kind(meta: &fs::Metadata) -> &'static str {
    if meta.is_dir() { "it is a directory, not a file" } else { "it is not a regular file" }
}
