//! The audit trail of a directory: `audit-YYYY-MM-DD.log`, one line per event, hash-chained across days.
//!
//! A line is recorded outside the project (see [`ProjectMemory`]) and then appended, under a lock. Lines that
//! are missing at the end and lines that were not recorded are detected. Lines are never removed.

use std::fs;
use std::io::{ErrorKind, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use jiff::tz::TimeZone;
use lockstep_fs::PositionedIo as _;
use lockstep_steps::audit::{
    ACCEPTED, ChainError, GENESIS, KnownEnd, TrailEntry, TrailFileText, TrailRecord, link_of, verify,
    verify_to,
};

use crate::project_memory::{Identity, MemoryLock, ProjectMemory, Remembered, TrailEnd, Unwritten};
use crate::{StoreError, StoreResult, append_to_own};

const PREFIX: &str = "audit-";
const SUFFIX: &str = ".log";

/// The number of bytes at the end of a file that are read first. The wanted entry is nearly always there, and
/// a trail only grows.
const TAIL_BYTES: u64 = 64 * 1024;

#[derive(Debug, Clone)]
pub struct AuditTrail {
    dir: PathBuf,
    memory: ProjectMemory,
}

#[derive(Debug, Clone, PartialEq)]
pub struct CheckedTrail {
    pub entries: Vec<TrailEntry>,
    /// The number of entries, from the first, that were not recorded on this machine.
    pub unverified: usize,
}

/// A record, and the data that is saved together with it.
#[derive(Debug, Clone)]
pub struct Append<'a> {
    pub record: &'a TrailRecord,
    /// The step file that is written after it.
    pub unwritten: Option<(&'a str, Unwritten)>,
    /// The digest of the rules that a step began under; `None` for a step that is over.
    pub rules: Option<(&'a str, Option<&'a str>)>,
}

impl<'a> From<&'a TrailRecord> for Append<'a> {
    fn from(record: &'a TrailRecord) -> Self {
        Self { record, unwritten: None, rules: None }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrailFile {
    pub path: PathBuf,
    /// File name, `audit-YYYY-MM-DD.log`.
    pub name: String,
    /// Bytes that are not UTF-8 are replaced, which makes the hashes wrong.
    pub text: String,
}

impl AuditTrail {
    pub fn new(dir: impl Into<PathBuf>, memory: &ProjectMemory) -> Self {
        Self { dir: dir.into(), memory: memory.clone() }
    }

    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Returns the file for a line: that of its day in UTC, or the newest file if the clock went back. The
    /// order of the files is the order of the chain.
    fn file(&self, line: &str) -> StoreResult<PathBuf> {
        let entry = TrailEntry::parse(line.trim_end()).ok();
        let timestamp = entry.and_then(|entry| entry.text("timestamp").parse::<jiff::Timestamp>().ok());
        let day = timestamp.unwrap_or(jiff::Timestamp::UNIX_EPOCH).to_zoned(TimeZone::UTC).date();
        let name = format!("{PREFIX}{day}{SUFFIX}");
        let newest = self.names()?.pop().filter(|newest| *newest > name);
        Ok(self.dir.join(newest.unwrap_or(name)))
    }

    /// Appends a record and returns its file.
    ///
    /// The line is recorded first: if the process dies before appending, the next append or reader restores
    /// the line from the record. `others` returns the other trails of the project, whose present ends are
    /// accepted as known when the project gets its identity.
    pub fn append<'a>(
        &self,
        append: impl Into<Append<'a>>,
        others: impl FnOnce() -> Vec<AuditTrail>,
    ) -> StoreResult<PathBuf> {
        let append = append.into();
        let lock = self.memory.lock()?;
        let (mut known, is_new) = match self.memory.identity()? {
            Identity::Known(known) => (*known, false),
            Identity::Fresh => (self.begin(others())?, true),
            Identity::Lost(why) => return Err(StoreError::Trail { why }),
        };
        if let Some((trail, line)) = self.interrupted(&known, &lock) {
            trail.append_remembered(&line)?;
        } else if let Some(newest) = self.names()?.pop() {
            blank_torn_line(&self.dir.join(newest))?;
        }
        let before = known.clone();
        known.last = self.key();
        let end = known.trails.entry(known.last.clone()).or_default();
        let (line, head) = append.record.keyed_line(&end.head, &before.key);
        (end.head, end.line) = (head, line.clone());
        if append.record.event == ACCEPTED {
            end.accepted = Some(end.head.hash.clone());
        }
        if let Some((step, unwritten)) = append.unwritten {
            known.unwritten.insert(step.to_owned(), unwritten);
        }
        match append.rules {
            Some((step, Some(digest))) => drop(known.rules.insert(step.to_owned(), digest.to_owned())),
            Some((step, None)) => drop(known.rules.remove(step)),
            None => {}
        }
        let hash = end.head.hash.clone();
        self.memory.write(&known)?;
        let file = self.write_line(&line);
        if file.is_ok() {
            // Without the note, the next append finds that the line is there.
            let _ = lock.note_appended(&hash);
        }
        if file.is_err() && !is_new {
            // Nothing was recorded, so nothing is remembered of it.
            self.memory.write(&before)?;
        }
        file
    }

    /// Accepts all lines of the trail as they are, by a record that follows the last of them. A project without identity gets one.
    pub fn accept(
        &self,
        record: &TrailRecord,
        others: impl FnOnce() -> Vec<AuditTrail>,
    ) -> StoreResult<PathBuf> {
        let lock = self.memory.lock()?;
        let mut known = match self.memory.identity()? {
            Identity::Known(known) => *known,
            Identity::Fresh | Identity::Lost(_) => self.begin(others())?,
        };
        let last = self.last_entry()?.map(|entry| entry.head()).unwrap_or_default();
        let (line, head) = record.keyed_line(&last, &known.key);
        let hash = head.hash.clone();
        let accepted = Some(hash.clone());
        known.last = self.key();
        known.trails.insert(known.last.clone(), TrailEnd { head, line: line.clone(), found: 0, accepted });
        self.memory.write(&known)?;
        let file = self.write_line(&line)?;
        let _ = lock.note_appended(&hash);
        Ok(file)
    }

    /// A new identity of the project. The lines that are there were recorded elsewhere.
    fn begin(&self, others: Vec<AuditTrail>) -> StoreResult<Remembered> {
        let mut known = self.memory.create()?;
        for trail in others.iter().chain([self]) {
            if let Some(head) = trail.last_entry()?.map(|entry| entry.head()) {
                let end = TrailEnd { found: head.seq, head, ..TrailEnd::default() };
                known.trails.insert(trail.key(), end);
            }
        }
        Ok(known)
    }

    /// The line that was remembered last, with its trail, if it may not have been appended.
    fn interrupted(&self, known: &Remembered, lock: &MemoryLock) -> Option<(Self, String)> {
        let end = known.trails.get(&known.last).filter(|end| !end.line.is_empty())?;
        let dir = self.memory.root().join(&known.last);
        (lock.appended() != end.head.hash).then(|| (Self::new(dir, &self.memory), end.line.clone()))
    }

    /// Appends a line that was remembered, if the last line is the one before it.
    fn append_remembered(&self, line: &str) -> StoreResult {
        if let Some(newest) = self.names()?.pop() {
            blank_torn_line(&self.dir.join(newest))?;
        }
        let last = self.last_entry()?.map_or_else(|| GENESIS.to_owned(), |entry| entry.head().hash);
        match link_of(line.trim_end()) {
            Some((_, prev)) if prev == last => self.write_line(line).map(drop),
            _ => Ok(()),
        }
    }

    fn write_line(&self, line: &str) -> StoreResult<PathBuf> {
        fs::create_dir_all(&self.dir).map_err(StoreError::io("create", &self.dir))?;
        let file = self.file(line)?;
        append_to_own(&file, line.as_bytes(), TrailEntry::has_form)?;
        Ok(file)
    }

    /// The name of the trail in the memory.
    fn key(&self) -> String {
        let dir = self.dir.canonicalize().unwrap_or_else(|_| self.dir.clone());
        let inside = dir.strip_prefix(self.memory.root()).unwrap_or(&dir);
        inside.to_string_lossy().into_owned()
    }

    /// The files, in the order of their days.
    pub fn files(&self) -> StoreResult<Vec<TrailFile>> {
        let read = |name: String| {
            let path = self.dir.join(&name);
            let bytes = lockstep_fs::read_up_to(&path, lockstep_fs::MAX_STATE_BYTES)
                .map_err(StoreError::io("read", &path))?;
            Ok(TrailFile { path, name, text: String::from_utf8_lossy(&bytes).into_owned() })
        };
        self.names()?.into_iter().map(read).collect()
    }

    /// Every entry, or the first place at which the trail is not whole.
    pub fn verify(&self) -> StoreResult<Result<Vec<TrailEntry>, ChainError>> {
        Ok(self.check()?.map(|checked| checked.entries))
    }

    /// Every entry, with the number of those that were not recorded here, or the first place at which the trail is not whole.
    pub fn check(&self) -> StoreResult<Result<CheckedTrail, ChainError>> {
        let lock = self.memory.lock_to_read()?;
        let identity = self.memory.identity()?;
        let files = self.files()?;
        let texts: Vec<TrailFileText<'_>> =
            files.iter().map(|file| TrailFileText { name: &file.name, text: &file.text }).collect();
        let (end, key) = match &identity {
            Identity::Known(known) => (self.end(known, &lock), &known.key),
            Identity::Lost(why) if !files.is_empty() => {
                return Ok(Err(ChainError { file: files[0].name.clone(), line: 1, why: why.clone() }));
            }
            Identity::Lost(_) | Identity::Fresh => {
                let all = |entries: Vec<TrailEntry>| CheckedTrail { unverified: entries.len(), entries };
                return Ok(verify(&texts, None).map(all));
            }
        };
        let unverified = usize::try_from(end.found).unwrap_or(usize::MAX);
        let checked =
            |entries: Vec<TrailEntry>| CheckedTrail { unverified: unverified.min(entries.len()), entries };
        let known = KnownEnd {
            head: &end.head,
            line: &end.line,
            accepted: end.accepted.as_deref(),
            is_exact: true,
            key: Some((key, end.found)),
        };
        Ok(verify_to(&texts, Some(known)).map(checked))
    }

    /// The remembered end of the trail. Its line is there only if it may not have been appended.
    fn end(&self, known: &Remembered, lock: &MemoryLock) -> TrailEnd {
        let key = self.key();
        let mut end = known.trails.get(&key).cloned().unwrap_or_default();
        if known.last != key || lock.appended() == end.head.hash {
            end.line.clear();
        }
        end
    }

    /// Passes the entries whose lines contain all `needles` to `pick`, newest first, until it returns a
    /// value.
    ///
    /// Each line must have the hash that the next line or the record names; a broken chain is an error. Lines
    /// from before a person accepted the trail, and those of a project without a record, are not verified.
    /// Edited lines among them are skipped.
    pub fn find_newest<T>(
        &self,
        needles: &[&str],
        mut pick: impl FnMut(&TrailEntry) -> Option<T>,
    ) -> StoreResult<Option<T>> {
        let lock = self.memory.lock_to_read()?;
        let mut chain = match self.memory.identity()? {
            Identity::Known(known) => Chain::new(self.end(&known, &lock)),
            Identity::Fresh => Chain::unchecked(),
            Identity::Lost(why) => return Err(StoreError::Trail { why }),
        };
        let mut pick = |line: &str| {
            let is_wanted = needles.iter().all(|needle| line.contains(needle));
            is_wanted.then(|| TrailEntry::parse(line).ok()).flatten().and_then(|entry| pick(&entry))
        };
        for name in self.names()?.into_iter().rev() {
            let path = self.dir.join(&name);
            let start = chain.clone();
            for length in lengths() {
                let (text, is_all) = tail(&path, length)?;
                chain = start.clone();
                let broken = |why: &str| StoreError::Trail { why: format!("{}: {why}", path.display()) };
                // The first line of a partial read may be incomplete, and a line without a newline does not
                // count.
                let whole = text.rfind('\n').map_or("", |end| &text[..end]);
                let lines = whole.lines().skip(usize::from(!is_all)).collect::<Vec<_>>();
                for line in lines.into_iter().rev().filter(|line| !line.is_empty()) {
                    if let Some(pending) = chain.take_pending(line)
                        && let Some(found) = pick(&pending)
                    {
                        return Ok(Some(found));
                    }
                    chain.follow(line).map_err(broken)?;
                    if let Some(found) = pick(line) {
                        return Ok(Some(found));
                    }
                }
                if is_all {
                    break;
                }
            }
        }
        Ok(chain.line_of_empty_trail().and_then(|line| pick(&line)))
    }

    fn last_entry(&self) -> StoreResult<Option<TrailEntry>> {
        for name in self.names()?.into_iter().rev() {
            for length in lengths() {
                let (text, is_all) = tail(&self.dir.join(&name), length)?;
                if let Some(entry) = text.lines().rev().find_map(|line| TrailEntry::parse(line).ok()) {
                    return Ok(Some(entry));
                }
                if is_all {
                    break;
                }
            }
        }
        Ok(None)
    }

    fn names(&self) -> StoreResult<Vec<String>> {
        let entries = match fs::read_dir(&self.dir) {
            Ok(entries) => entries,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(StoreError::io("list", &self.dir)(error)),
        };
        let mut names: Vec<String> = entries
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .filter(|name| is_trail_file(name))
            .collect();
        names.sort();
        Ok(names)
    }
}

/// A walk from the end of a trail to its beginning.
#[derive(Debug, Clone)]
struct Chain {
    /// The hash that the next line must have; `None` if lines are not checked.
    expected: Option<String>,
    end: TrailEnd,
    is_at_end: bool,
}

impl Chain {
    fn new(end: TrailEnd) -> Self {
        Self { expected: Some(end.head.hash.clone()), end, is_at_end: true }
    }

    fn unchecked() -> Self {
        Self { expected: None, end: TrailEnd::default(), is_at_end: false }
    }

    /// The remembered last line, if `line` is the one before it: a process was killed before it could append it.
    fn take_pending(&mut self, line: &str) -> Option<String> {
        let pending = self.end.line.trim_end();
        if !std::mem::take(&mut self.is_at_end) || pending.is_empty() || line == pending {
            return None;
        }
        let (hash, _) = link_of(line)?;
        let (_, prev) = link_of(pending).filter(|(_, prev)| *prev == hash)?;
        self.expected = Some(prev.to_owned());
        Some(pending.to_owned())
    }

    fn follow(&mut self, line: &str) -> Result<(), &'static str> {
        let Some(expected) = &self.expected else { return Ok(()) };
        match link_of(line) {
            Some((hash, prev)) if hash == expected => {
                let is_accepting = self.end.accepted.as_deref() == Some(hash);
                self.expected = (!is_accepting).then(|| prev.to_owned());
                Ok(())
            }
            _ => Err(
                "its last lines are not those that were recorded; `lockstep audit verify` names the place",
            ),
        }
    }

    /// The first line of all, if it was remembered and not appended.
    fn line_of_empty_trail(&self) -> Option<String> {
        (self.is_at_end && self.end.head.seq == 1 && !self.end.line.is_empty())
            .then(|| self.end.line.trim_end().to_owned())
    }
}

fn is_trail_file(name: &str) -> bool {
    let day = name.strip_prefix(PREFIX).and_then(|rest| rest.strip_suffix(SUFFIX));
    day.is_some_and(|day| day.len() == 10 && day.parse::<jiff::civil::Date>().is_ok())
}

/// Replaces a line without an end, which a killed writer left, by empty lines. The caller holds the lock of the trail.
fn blank_torn_line(path: &Path) -> StoreResult {
    let io = |what| StoreError::io(what, path);
    let file = lockstep_fs::open_to_write(path).map_err(io("open"))?;
    let size = file.metadata().map_err(io("read the size of"))?.len();
    let mut bytes = vec![0; usize::try_from(size.min(TAIL_BYTES)).unwrap_or_default()];
    let start = size - bytes.len() as u64;
    file.read_exact_at(&mut bytes, start).map_err(io("read"))?;
    let end = bytes.iter().rposition(|byte| *byte == b'\n').map(|at| at + 1);
    let Some(end) = end.or((start == 0).then_some(0)).filter(|end| *end < bytes.len()) else { return Ok(()) };
    file.write_all_at(&vec![b'\n'; bytes.len() - end], start + end as u64).map_err(io("write"))
}

fn lengths() -> impl Iterator<Item = u64> {
    std::iter::successors(Some(TAIL_BYTES), |length| length.checked_mul(8))
}

/// The last so many bytes of a file, and whether that is all of it.
fn tail(path: &Path, length: u64) -> StoreResult<(String, bool)> {
    let mut file = lockstep_fs::open(path).map_err(StoreError::io("read", path))?;
    let size = file.metadata().map_err(StoreError::io("look at", path))?.len();
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(size.saturating_sub(length)))
        .and_then(|_| file.read_to_end(&mut bytes))
        .map_err(StoreError::io("read", path))?;
    // Nearly always UTF-8. Other bytes are replaced, which makes the hashes wrong.
    let text = String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
    Ok((text, length >= size))
}

#[cfg(test)]
mod tests;
