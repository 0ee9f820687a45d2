//! The audit trail of a directory: `audit-YYYY-MM-DD.log`, one line per event, hash-chained across days.
//!
//! A line is appended under a lock with one write. Where the chain ends is remembered in the state directory, so that lines cut off
//! its end are missed. Nothing here takes a line away.

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use jiff::tz::TimeZone;
use lockstep_steps::audit::{Broken, Entry, Head, Record, TrailFile, verify};
use rustix::fs::FlockOperation;

use crate::{StateDir, StoreError, append_once, open_private};

const PREFIX: &str = "audit-";
const SUFFIX: &str = ".log";

/// How much of the end of a file is read at first: what is looked for is nearly always there, and a trail only grows.
const TAIL: u64 = 64 * 1024;

/// The trail of one directory.
#[derive(Debug, Clone)]
pub struct Trail {
    dir: PathBuf,
    state: StateDir,
}

/// One file of a trail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrailText {
    /// Its path.
    pub path: PathBuf,
    /// Its name, `audit-YYYY-MM-DD.log`.
    pub name: String,
    /// Its content; bytes that are no text are replaced, and then its hashes are wrong.
    pub text: String,
}

impl Trail {
    /// The trail in `dir`, of the project with this state directory.
    pub fn new(dir: impl Into<PathBuf>, state: &StateDir) -> Self {
        Self { dir: dir.into(), state: state.clone() }
    }

    /// The directory.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The file for a record: that of its day, in UTC, or the newest there is, where a clock went back. The order of the files is
    /// the order of the chain.
    fn file(&self, record: &Record) -> Result<PathBuf, StoreError> {
        let day = record.timestamp.to_zoned(TimeZone::UTC).date();
        let name = format!("{PREFIX}{day}{SUFFIX}");
        let newest = self.names()?.pop().filter(|newest| *newest > name);
        Ok(self.dir.join(newest.unwrap_or(name)))
    }

    /// Appends a record; gives the file it is in. A crash after the line and before the end is remembered is no harm:
    /// the line itself says where the chain goes on.
    pub fn append(&self, record: &Record) -> Result<PathBuf, StoreError> {
        let memory = self.memory()?;
        rustix::fs::flock(&memory, FlockOperation::LockExclusive)
            .map_err(|error| StoreError::io("lock", &self.memory_path())(error.into()))?;
        let known = read_head(&memory);
        let head = self.end(known.clone())?;
        if known.is_some_and(|known| known.seq <= head.seq)
            && let Some(newest) = self.names()?.pop()
        {
            blank_torn_line(&self.dir.join(newest))?;
        }
        let (line, next) = record.line(&head);
        fs::create_dir_all(&self.dir).map_err(StoreError::io("create", &self.dir))?;
        let file = self.file(record)?;
        append_once(&file, line.as_bytes())?;
        let text = format!("{:020} {}\n", next.seq, next.hash);
        memory.write_all_at(text.as_bytes(), 0).map_err(StoreError::io("write", &self.memory_path()))?;
        Ok(file)
    }

    /// The files, in the order of their days.
    pub fn files(&self) -> Result<Vec<TrailText>, StoreError> {
        let read = |name: String| {
            let path = self.dir.join(&name);
            let bytes = fs::read(&path).map_err(StoreError::io("read", &path))?;
            Ok(TrailText { path, name, text: String::from_utf8_lossy(&bytes).into_owned() })
        };
        self.names()?.into_iter().map(read).collect()
    }

    /// Every entry, or the first place at which the trail is not whole.
    pub fn verify(&self) -> Result<Result<Vec<Entry>, Broken>, StoreError> {
        let files = self.files()?;
        let texts: Vec<TrailFile<'_>> =
            files.iter().map(|file| TrailFile { name: &file.name, text: &file.text }).collect();
        Ok(verify(&texts, self.known()?.as_ref()))
    }

    /// Looks at the entries in whose lines all `needles` stand, the newest first, until `pick` takes one. Entries that were edited are
    /// passed over.
    pub fn newest<T>(
        &self,
        needles: &[&str],
        mut pick: impl FnMut(&Entry) -> Option<T>,
    ) -> Result<Option<T>, StoreError> {
        for name in self.names()?.into_iter().rev() {
            let path = self.dir.join(&name);
            for length in lengths() {
                let (text, is_all) = tail(&path, length)?;
                let lines =
                    text.lines().rev().filter(|line| needles.iter().all(|needle| line.contains(needle)));
                let found = lines.filter_map(|line| Entry::parse(line).ok()).find_map(|entry| pick(&entry));
                if found.is_some() {
                    return Ok(found);
                }
                if is_all {
                    break;
                }
            }
        }
        Ok(None)
    }

    fn names(&self) -> Result<Vec<String>, StoreError> {
        let entries = match fs::read_dir(&self.dir) {
            Ok(entries) => entries,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(StoreError::io("list", &self.dir)(error)),
        };
        let mut names: Vec<String> = entries
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .filter(|name| is_day(name))
            .collect();
        names.sort();
        Ok(names)
    }

    /// Where the chain ends: at its last line, or behind it, where lines that were remembered are gone.
    fn end(&self, known: Option<Head>) -> Result<Head, StoreError> {
        let last = match self.names()?.pop() {
            Some(name) => last_line(&self.dir.join(name))?,
            None => None,
        };
        let last = last.and_then(|line| Entry::parse(&line).ok()).map(|entry| entry.head());
        Ok(match (last, known) {
            (Some(last), Some(known)) if last.seq < known.seq => known,
            (Some(last), _) => last,
            (None, known) => known.unwrap_or_default(),
        })
    }

    /// The end that is remembered.
    fn known(&self) -> Result<Option<Head>, StoreError> {
        match File::open(self.memory_path()) {
            Ok(file) => Ok(read_head(&file)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(StoreError::io("read", &self.memory_path())(error)),
        }
    }

    fn memory_path(&self) -> PathBuf {
        let dir = self.dir.canonicalize().unwrap_or_else(|_| self.dir.clone());
        let key = blake3::hash(dir.as_os_str().as_encoded_bytes()).to_hex();
        self.state.path().join("audit").join(&key[..32])
    }

    /// The file that remembers the end of the chain; its lock is the trail's.
    fn memory(&self) -> Result<File, StoreError> {
        self.state.ensure("audit")?;
        // The directory's real name is the key, so it must be there first.
        fs::create_dir_all(&self.dir).map_err(StoreError::io("create", &self.dir))?;
        let path = self.memory_path();
        open_private(&path).map_err(StoreError::io("open", &path))
    }
}

fn is_day(name: &str) -> bool {
    let day = name.strip_prefix(PREFIX).and_then(|rest| rest.strip_suffix(SUFFIX));
    day.is_some_and(|day| day.len() == 10 && day.parse::<jiff::civil::Date>().is_ok())
}

fn read_head(mut file: &File) -> Option<Head> {
    let mut text = String::new();
    file.seek(SeekFrom::Start(0)).ok()?;
    file.take(256).read_to_string(&mut text).ok()?;
    let (seq, hash) = text.trim_end().split_once(' ')?;
    Some(Head { seq: seq.parse().ok()?, hash: hash.to_owned() })
}

/// Replaces a line without an end, which a killed writer left, by empty lines. The caller holds the lock of the trail.
fn blank_torn_line(path: &Path) -> Result<(), StoreError> {
    let io = |what| StoreError::io(what, path);
    let file = OpenOptions::new().read(true).write(true).open(path).map_err(io("open"))?;
    let size = file.metadata().map_err(io("read the size of"))?.len();
    let mut bytes = vec![0; usize::try_from(size.min(TAIL)).unwrap_or_default()];
    let start = size - bytes.len() as u64;
    file.read_exact_at(&mut bytes, start).map_err(io("read"))?;
    let end = bytes.iter().rposition(|byte| *byte == b'\n').map(|at| at + 1);
    let Some(end) = end.or((start == 0).then_some(0)).filter(|end| *end < bytes.len()) else { return Ok(()) };
    file.write_all_at(&vec![b'\n'; bytes.len() - end], start + end as u64).map_err(io("write"))
}

/// The last whole line of a file.
fn last_line(path: &Path) -> Result<Option<String>, StoreError> {
    for length in lengths() {
        let (text, is_all) = tail(path, length)?;
        let whole = text.rfind('\n').map_or("", |end| text[..end].trim_end_matches('\n'));
        // Without one before it, it may be the end of a longer line.
        match whole.rfind('\n') {
            Some(before) => return Ok(Some(whole[before + 1..].to_owned())),
            None if is_all => return Ok(Some(whole.to_owned()).filter(|line| !line.is_empty())),
            None => {}
        }
    }
    Ok(None)
}

fn lengths() -> impl Iterator<Item = u64> {
    std::iter::successors(Some(TAIL), |length| length.checked_mul(8))
}

/// The last so many bytes of a file, and whether that is all of it.
fn tail(path: &Path, length: u64) -> Result<(String, bool), StoreError> {
    let mut file = File::open(path).map_err(StoreError::io("read", path))?;
    let size = file.metadata().map_err(StoreError::io("look at", path))?.len();
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(size.saturating_sub(length)))
        .and_then(|_| file.read_to_end(&mut bytes))
        .map_err(StoreError::io("read", path))?;
    // Nearly always text: what is none is replaced, and then its hashes are wrong.
    let text = String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
    Ok((text, length >= size))
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    fn record(at: &str) -> Record {
        Record::new(at.parse().unwrap(), "X", Some("steps/01-01.json"))
    }

    fn trail(root: &Path) -> Trail {
        Trail::new(root.join("steps"), &StateDir::of(root))
    }

    #[test]
    fn a_line_that_a_killed_writer_left_unfinished_is_no_entry() {
        let root = tempfile::tempdir().unwrap();
        let trail = trail(root.path());
        let file = trail.append(&record("2026-02-14T10:00:00Z")).unwrap();
        let complete = fs::read_to_string(&file).unwrap();
        fs::write(&file, format!("{complete}{}", &complete[..complete.len() / 2])).unwrap();
        assert_eq!(trail.verify().unwrap().unwrap().len(), 1);
        trail.append(&record("2026-02-14T10:00:01Z")).unwrap();
        assert_eq!(trail.verify().unwrap().unwrap().len(), 2);
        // A recorded line that was cut is still missed.
        let text = fs::read_to_string(&file).unwrap();
        fs::write(&file, &text[..text.len() - 5]).unwrap();
        assert!(trail.verify().unwrap().is_err());
    }

    #[test]
    fn a_chain_goes_on_across_days_and_processes() {
        let root = tempfile::tempdir().unwrap();
        for at in ["2026-02-14T23:59:59Z", "2026-02-15T00:00:00Z", "2026-02-15T00:00:01Z"] {
            trail(root.path()).append(&record(at)).unwrap();
        }
        let names: Vec<_> = trail(root.path()).files().unwrap().into_iter().map(|file| file.name).collect();
        assert_eq!(names, ["audit-2026-02-14.log", "audit-2026-02-15.log"]);
        assert_eq!(trail(root.path()).verify().unwrap().unwrap().len(), 3);
    }

    #[test]
    fn a_line_longer_than_what_is_read_at_first_is_found() {
        let root = tempfile::tempdir().unwrap();
        let at = "2026-02-14T10:00:00Z";
        let long = "x".repeat(usize::try_from(TAIL).unwrap() * 2);
        let trail = trail(root.path());
        for text in ["short", &long, &long] {
            trail.append(&record(at).with("text", text)).unwrap();
        }
        assert_eq!(trail.verify().unwrap().unwrap().len(), 3);
        let text = |entry: &Entry| Some(entry.text("text").to_owned()).filter(|text| text.len() < 9);
        assert_eq!(trail.newest(&["short"], text).unwrap().as_deref(), Some("short"));
    }

    #[test]
    fn a_clock_that_goes_back_breaks_no_chain() {
        let root = tempfile::tempdir().unwrap();
        for at in ["2026-02-15T00:00:01Z", "2026-02-14T23:59:59Z", "2026-02-16T00:00:00Z"] {
            trail(root.path()).append(&record(at)).unwrap();
        }
        assert_eq!(trail(root.path()).verify().unwrap().unwrap().len(), 3);
    }

    #[test]
    fn lines_cut_off_the_end_are_missed_before_and_after_the_next() {
        let root = tempfile::tempdir().unwrap();
        let trail = trail(root.path());
        for second in 0..3 {
            trail.append(&record(&format!("2026-02-14T10:00:0{second}Z"))).unwrap();
        }
        let file = root.path().join("steps/audit-2026-02-14.log");
        let text = fs::read_to_string(&file).unwrap();
        fs::write(&file, text.lines().next().unwrap().to_owned() + "\n").unwrap();
        assert!(trail.verify().unwrap().unwrap_err().why.contains("the last 2 entries"));
        trail.append(&record("2026-02-14T10:00:09Z")).unwrap();
        let broken = trail.verify().unwrap().unwrap_err();
        assert_eq!((broken.line, broken.why.contains("2 entries are missing")), (2, true), "{broken}");
    }

    #[test]
    fn without_the_state_directory_the_lines_say_where_they_end() {
        let root = tempfile::tempdir().unwrap();
        trail(root.path()).append(&record("2026-02-14T10:00:00Z")).unwrap();
        fs::remove_dir_all(root.path().join(".lockstep")).unwrap();
        trail(root.path()).append(&record("2026-02-14T10:00:01Z")).unwrap();
        assert_eq!(trail(root.path()).verify().unwrap().unwrap().len(), 2);
    }

    #[test]
    fn many_at_once_are_one_chain() {
        let root = tempfile::tempdir().unwrap();
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..50 {
                        trail(root.path()).append(&record("2026-02-14T10:00:00Z")).unwrap();
                    }
                });
            }
        });
        assert_eq!(trail(root.path()).verify().unwrap().unwrap().len(), 200);
    }

    #[test]
    fn the_newest_entry_about_a_step_is_found() {
        let root = tempfile::tempdir().unwrap();
        let trail = trail(root.path());
        for (at, status) in [("2026-02-14T10:00:00Z", "TODO"), ("2026-02-15T10:00:00Z", "DONE")] {
            trail.append(&record(at).with("status", status)).unwrap();
        }
        let status = |entry: &Entry| Some(entry.text("status").to_owned());
        assert_eq!(trail.newest(&["\"steps/01-01.json\""], status).unwrap().as_deref(), Some("DONE"));
        assert_eq!(trail.newest(&["\"steps/02-01.json\""], status).unwrap(), None);
    }
}
