//! The memory of a project outside of it, in the user's directory: its identity, its key, and the ends of its audit trails.
//!
//! The memory is found by the path of the project. A project that was moved is recognised by the id in `.lockstep/project` and by the
//! inode of its directory; a copy has another inode, and so no identity of its own.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};

use lockstep_fs::{FileLock, FileStamp, PositionedIo as _};
use lockstep_steps::audit::ChainHead;
use serde::{Deserialize, Serialize};

use crate::{StateDir, StoreError, StoreResult, UserDir};

/// The directory of all memories below the user's.
const PROJECTS: &str = "projects";

/// The file in the state directory that holds the project's id.
const MARKER: &str = "project";

#[derive(Debug, Clone)]
pub struct ProjectMemory {
    user: Option<UserDir>,
    root: PathBuf,
    state: StateDir,
}

/// A project's memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Remembered {
    /// The random name of the project.
    pub id: String,
    /// The secret that marks the project's entries.
    pub key: String,
    root: PathBuf,
    inode: u64,
    /// The directory of the trail that was appended to last.
    #[serde(default)]
    pub last: String,
    #[serde(default)]
    pub trails: BTreeMap<String, TrailEnd>,
    /// Steps whose change is recorded and not yet written, by name.
    #[serde(default)]
    pub unwritten: BTreeMap<String, Unwritten>,
    /// The digests of the rules that open steps began under, by the names of the steps.
    #[serde(default)]
    pub rules: BTreeMap<String, String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct TrailEnd {
    /// The last entry.
    pub head: ChainHead,
    /// The line. It is recorded before it is appended, so a process that dies in between leaves it only here.
    pub line: String,
    /// The number of entries that were there before this memory.
    #[serde(default)]
    pub found: u64,
    /// The hash of the entry by which a person accepted all lines before it.
    pub accepted: Option<String>,
}

/// A step file that is still to be written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unwritten {
    /// The seal of the state before it.
    pub before: String,
    pub text: String,
}

/// The identity of a project on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Identity {
    /// The project has a record.
    Known(Box<Remembered>),
    /// The project has no record: this user has recorded nothing here.
    Fresh,
    /// The project had a record, or is a copy of a project that has one; the text explains it.
    Lost(String),
}

/// The lock of a memory, which ends with the value.
#[derive(Debug)]
pub(crate) struct MemoryLock {
    lock: Option<FileLock>,
}

impl MemoryLock {
    /// The hash of the last line that was appended. A line that is remembered and not appended has another one.
    pub(crate) fn appended(&self) -> String {
        let mut bytes = [0; 64];
        match &self.lock {
            Some(lock) if lock.file().read_exact_at(&mut bytes, 0).is_ok() => {
                String::from_utf8_lossy(&bytes).into_owned()
            }
            _ => String::new(),
        }
    }

    pub(crate) fn note_appended(&self, hash: &str) -> std::io::Result<()> {
        self.lock.as_ref().map_or(Ok(()), |lock| lock.file().write_all_at(hash.as_bytes(), 0))
    }
}

impl ProjectMemory {
    /// Returns the record of the project at `root`. There is none without a user directory.
    pub fn new(user: Option<UserDir>, root: &Path, state: &StateDir) -> Self {
        let root = root.canonicalize().unwrap_or_else(|_| root.to_owned());
        Self { user, root, state: state.clone() }
    }

    /// Returns true if anything of the project is remembered.
    pub fn exists(&self) -> bool {
        self.path().is_some_and(|path| path.exists())
    }

    pub fn path(&self) -> Option<PathBuf> {
        Some(self.user.as_ref()?.path().join(self.file()))
    }

    /// The project's root, without links.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    pub fn identity(&self) -> StoreResult<Identity> {
        let Some(user) = &self.user else { return Ok(Identity::Fresh) };
        let marker = self.marker();
        if let Some(known) = self.read(user, &self.file())? {
            // Another directory has replaced the project, and has none of its data.
            let is_replaced = known.inode != self.inode() && marker.is_none();
            return Ok(if is_replaced { Identity::Fresh } else { Identity::Known(Box::new(known)) });
        }
        let Some(id) = marker else { return Ok(Identity::Fresh) };
        let Some((file, known)) = self.find(user, &id)? else {
            let why = "the memory of this project on this machine is missing".to_owned();
            return Ok(Identity::Lost(why));
        };
        if known.inode != self.inode() {
            let why = format!(
                "this directory is a copy of {}, and has no identity of its own",
                known.root.display()
            );
            return Ok(Identity::Lost(why));
        }
        let moved = Remembered { root: self.root.clone(), ..known };
        self.write(&moved)?;
        user.remove(&file)?;
        Ok(Identity::Known(Box::new(moved)))
    }

    /// A new identity, which is not yet remembered.
    pub(crate) fn create(&self) -> StoreResult<Remembered> {
        Ok(Remembered {
            id: random_hex(16)?,
            key: random_hex(32)?,
            root: self.root.clone(),
            inode: self.inode(),
            last: String::new(),
            trails: BTreeMap::new(),
            unwritten: BTreeMap::new(),
            rules: BTreeMap::new(),
        })
    }

    /// Replaces the record by `known`.
    pub(crate) fn write(&self, known: &Remembered) -> StoreResult {
        let user = self.needed()?;
        if self.marker().as_deref() != Some(&known.id) {
            let dir = self.state.ensure_dir("")?;
            lockstep_fs::write_atomically(&dir.join(MARKER), format!("{}\n", known.id).as_bytes(), 0o600)?;
        }
        let text = serde_json::to_string(known).expect("a memory has only text keys");
        user.write(&self.file(), &text)
    }

    /// Keeps other processes from changing the memory and its trails.
    pub(crate) fn lock(&self) -> StoreResult<MemoryLock> {
        let user = self.needed()?;
        user.ensure(PROJECTS)?;
        let path = user.path().join(self.lock_file());
        let lock = FileLock::wait(&path).map_err(StoreError::io("lock", &path))?;
        Ok(MemoryLock { lock: Some(lock) })
    }

    /// Keeps other processes from changing the memory and its trails while they are read. Before the first change there is no lock.
    pub(crate) fn lock_to_read(&self) -> StoreResult<MemoryLock> {
        let Some(user) = &self.user else { return Ok(MemoryLock { lock: None }) };
        let path = user.path().join(self.lock_file());
        let Ok(file) = lockstep_fs::open(&path) else { return Ok(MemoryLock { lock: None }) };
        let lock = FileLock::wait_shared(file).map_err(StoreError::io("lock", &path))?;
        Ok(MemoryLock { lock: Some(lock) })
    }

    /// Changes the record, if there is one.
    pub fn change(&self, change: impl FnOnce(&mut Remembered)) -> StoreResult {
        let _lock = self.lock()?;
        let Identity::Known(mut known) = self.identity()? else { return Ok(()) };
        let before = known.clone();
        change(&mut known);
        if known == before { Ok(()) } else { self.write(&known) }
    }

    fn needed(&self) -> StoreResult<&UserDir> {
        self.user.as_ref().ok_or_else(|| StoreError::Trail {
            why: "there is no directory for its memory: set HOME or XDG_STATE_HOME".to_owned(),
        })
    }

    fn name(&self) -> String {
        blake3::hash(self.root.as_os_str().as_encoded_bytes()).to_hex()[..32].to_owned()
    }

    fn file(&self) -> String {
        format!("{PROJECTS}/{}.json", self.name())
    }

    fn lock_file(&self) -> String {
        format!("{PROJECTS}/{}.lock", self.name())
    }

    fn inode(&self) -> u64 {
        fs::metadata(&self.root).map_or(0, |meta| FileStamp::from(&meta).inode)
    }

    fn marker(&self) -> Option<String> {
        let file = lockstep_fs::open(self.state.path().join(MARKER)).ok()?;
        let mut text = String::with_capacity(256);
        file.take(256).read_to_string(&mut text).ok()?;
        Some(text.trim_end().to_owned())
    }

    fn read(&self, user: &UserDir, file: &str) -> StoreResult<Option<Remembered>> {
        let Some(text) = user.read(file)? else { return Ok(None) };
        let damaged =
            |error| StoreError::io("understand", &user.path().join(file))(std::io::Error::other(error));
        serde_json::from_str(&text).map(Some).map_err(|error: serde_json::Error| damaged(error))
    }

    /// The memory with this id, with its file.
    fn find(&self, user: &UserDir, id: &str) -> StoreResult<Option<(String, Remembered)>> {
        for entry in fs::read_dir(user.path().join(PROJECTS)).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if !name.ends_with(".json") {
                continue;
            }
            let file = format!("{PROJECTS}/{name}");
            // A damaged memory of another project is not this one's.
            if let Some(known) = self.read(user, &file).ok().flatten().filter(|known| known.id == id) {
                return Ok(Some((file, known)));
            }
        }
        Ok(None)
    }
}

fn random_hex(bytes: usize) -> StoreResult<String> {
    let path = Path::new("/dev/urandom");
    let mut random = vec![0; bytes];
    File::open(path)
        .and_then(|mut file| file.read_exact(&mut random))
        .map_err(StoreError::io("read", path))?;
    Ok(random.iter().map(|byte| format!("{byte:02x}")).collect())
}
