//! The catalogue: a stamp of every file and directory in scope, as one small file that is read whole.
//!
//! Kept outside the database because a sweep reads all of it and must fit into a hook's budget.

use std::ffi::{OsStr, OsString};
use std::io::{ErrorKind, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lockstep_store::StateDir;
use lockstep_text::bytes::ByteReader;

use crate::stamp::CatalogueStamp;
use crate::{IndexError, IndexResult};

/// The first bytes of the file. The last digit is the format version; a file of another version is ignored
/// and rebuilt.
const MAGIC: &[u8; 8] = b"LSCATLG2";

/// Every directory in scope with its files, sorted by path.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Catalogue {
    /// The time of the scan, in nanoseconds since 1970.
    pub(crate) taken_at: i64,
    /// The number of bytes of the accounts that it includes.
    pub(crate) accounts_read: u64,
    pub(crate) directories: Vec<CataloguedDirectory>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CataloguedFile {
    /// Relative to the root.
    pub path: PathBuf,
    /// Size in bytes.
    pub size: u64,
    /// In nanoseconds since 1970.
    pub mtime: i64,
    pub inode: u64,
}

/// One directory and the files directly in it, sorted by name.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct CataloguedDirectory {
    /// Relative to the root; empty for the root itself.
    pub(crate) path: PathBuf,
    /// Zero when the directory must be listed again because its time cannot be trusted.
    pub(crate) mtime: i64,
    /// Two catalogues share the files of an unchanged directory.
    pub(crate) files: Arc<Vec<(OsString, CatalogueStamp)>>,
    /// The names of the links and nested repositories directly in it. Their content is not read.
    pub(crate) unread: Vec<OsString>,
}

impl Catalogue {
    pub fn file(state: &StateDir) -> PathBuf {
        state.index().join("catalogue")
    }

    pub fn len(&self) -> usize {
        self.directories.iter().map(|dir| dir.files.len()).sum()
    }

    /// Returns every file with its stamp, by path relative to the root.
    pub fn files(&self) -> impl Iterator<Item = CataloguedFile> {
        self.directories.iter().flat_map(|dir| {
            dir.files.iter().map(|(name, stamp)| CataloguedFile {
                path: dir.path.join(name),
                size: stamp.size,
                mtime: stamp.mtime,
                inode: stamp.inode,
            })
        })
    }

    /// Returns true if the catalogue has no file.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Loads the saved catalogue. `None` if it is missing, damaged or of another format.
    pub fn load(state: &StateDir) -> IndexResult<Option<Self>> {
        let path = Self::file(state);
        match lockstep_fs::read_up_to(&path, lockstep_fs::MAX_STATE_BYTES) {
            Ok(bytes) => Ok(decode(&bytes)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(IndexError::io("read", &path)(error)),
        }
    }

    /// Saves the catalogue atomically. It is not synced: a file damaged by a power failure fails its checksum
    /// and is rebuilt.
    pub(crate) fn save(&self, state: &StateDir) -> IndexResult {
        state.ensure_dir("index")?;
        Ok(lockstep_fs::replace_unsynced(&Self::file(state), &encode(self))?)
    }

    pub(crate) fn directory(&self, path: &Path) -> Option<&CataloguedDirectory> {
        let at = self.directories.binary_search_by(|dir| dir.path.as_path().cmp(path)).ok()?;
        Some(&self.directories[at])
    }

    pub(crate) fn get(&self, path: &Path) -> Option<CatalogueStamp> {
        let files = &self.directory(path.parent()?)?.files;
        let name = path.file_name()?;
        let at = files.binary_search_by(|(known, _)| known.as_os_str().cmp(name)).ok()?;
        Some(files[at].1)
    }

    /// Returns the links and nested repositories in scope, by path relative to the root.
    pub fn unread_places(&self) -> impl Iterator<Item = PathBuf> {
        self.directories.iter().flat_map(|dir| dir.unread.iter().map(|name| dir.path.join(name)))
    }

    /// Returns true if the catalogue contains the file at `path`, relative to the root.
    pub fn has(&self, path: &Path) -> bool {
        self.get(path).is_some()
    }

    /// Removes a file, as if it had not existed when the catalogue was taken.
    pub(crate) fn remove(&mut self, path: &Path) {
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return };
        if let Ok(at) = self.directories.binary_search_by(|dir| dir.path.as_path().cmp(parent)) {
            Arc::make_mut(&mut self.directories[at].files).retain(|(known, _)| known != name);
        }
    }

    /// Returns the time when the saved catalogue was taken. Only the header is read. `None` if there is no
    /// catalogue.
    pub(crate) fn read_taken_at(state: &StateDir) -> Option<i64> {
        let mut head = [0; 16];
        lockstep_fs::open(Self::file(state)).ok()?.read_exact(&mut head).ok()?;
        let (magic, taken_at) = head.split_at(MAGIC.len());
        (magic == MAGIC).then(|| u64::from_le_bytes(taken_at.try_into().expect("8 bytes")).cast_signed())
    }

    /// Sets a file's stamp, as if the file had been in this state when the catalogue was taken.
    pub(crate) fn set(&mut self, path: &Path, stamp: CatalogueStamp) {
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return };
        let at =
            self.directories.binary_search_by(|dir| dir.path.as_path().cmp(parent)).unwrap_or_else(|at| {
                self.directories.insert(
                    at,
                    CataloguedDirectory { path: parent.to_owned(), ..CataloguedDirectory::default() },
                );
                at
            });
        let files = Arc::make_mut(&mut self.directories[at].files);
        match files.binary_search_by(|(known, _)| known.as_os_str().cmp(name)) {
            Ok(at) => files[at].1 = stamp,
            Err(at) => files.insert(at, (name.to_owned(), stamp)),
        }
    }
}

fn encode(catalogue: &Catalogue) -> Vec<u8> {
    let mut out = Vec::with_capacity(64 + catalogue.len() * 64);
    out.extend_from_slice(MAGIC);
    put(&mut out, catalogue.taken_at.cast_unsigned());
    put(&mut out, catalogue.accounts_read);
    put(&mut out, catalogue.directories.len() as u64);
    for directory in &catalogue.directories {
        put_name(&mut out, directory.path.as_os_str());
        put(&mut out, directory.mtime.cast_unsigned());
        put(&mut out, directory.files.len() as u64);
        for (name, stamp) in directory.files.iter() {
            put_name(&mut out, name);
            put(&mut out, stamp.size);
            put(&mut out, stamp.mtime.cast_unsigned());
            put(&mut out, stamp.inode);
            put(&mut out, stamp.digest);
        }
        put(&mut out, directory.unread.len() as u64);
        for name in &directory.unread {
            put_name(&mut out, name);
        }
    }
    let checksum = blake3::hash(&out);
    out.extend_from_slice(checksum.as_bytes());
    out
}

fn put(out: &mut Vec<u8>, number: u64) {
    out.extend_from_slice(&number.to_le_bytes());
}

fn put_name(out: &mut Vec<u8>, name: &OsStr) {
    put(out, name.len() as u64);
    out.extend_from_slice(name.as_encoded_bytes());
}

fn read_name(bytes: &mut ByteReader<'_>) -> Option<OsString> {
    let length = usize::try_from(bytes.u64()?).ok()?;
    Some(lockstep_text::path_of_bytes(bytes.take(length)?.to_vec()).into())
}

/// Reads a count of items of at least `each` bytes. Returns `None` if the remaining bytes are too few for
/// it, so that a damaged count allocates nothing.
fn read_count(bytes: &mut ByteReader<'_>, each: usize) -> Option<usize> {
    usize::try_from(bytes.u64()?).ok().filter(|count| *count <= bytes.0.len() / each)
}

fn read_directory(bytes: &mut ByteReader<'_>) -> Option<CataloguedDirectory> {
    let path = PathBuf::from(read_name(bytes)?);
    let mtime = bytes.i64()?;
    let files = Arc::new((0..read_count(bytes, 40)?).map(|_| read_file(bytes)).collect::<Option<_>>()?);
    let unread = (0..read_count(bytes, 8)?).map(|_| read_name(bytes)).collect::<Option<_>>()?;
    Some(CataloguedDirectory { path, mtime, files, unread })
}

fn read_file(bytes: &mut ByteReader<'_>) -> Option<(OsString, CatalogueStamp)> {
    let name = read_name(bytes)?;
    let stamp =
        CatalogueStamp { size: bytes.u64()?, mtime: bytes.i64()?, inode: bytes.u64()?, digest: bytes.u64()? };
    Some((name, stamp))
}

fn decode(bytes: &[u8]) -> Option<Catalogue> {
    let (body, checksum) = bytes.split_last_chunk::<32>()?;
    if blake3::hash(body).as_bytes() != checksum {
        return None;
    }
    let mut bytes = ByteReader(body.strip_prefix(MAGIC)?);
    let (taken_at, accounts_read) = (bytes.i64()?, bytes.u64()?);
    let directories =
        (0..read_count(&mut bytes, 32)?).map(|_| read_directory(&mut bytes)).collect::<Option<_>>()?;
    Some(Catalogue { taken_at, accounts_read, directories })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn stamp() -> impl Strategy<Value = CatalogueStamp> {
        (any::<u64>(), any::<i64>(), any::<u64>(), any::<u64>())
            .prop_map(|(size, mtime, inode, digest)| CatalogueStamp { size, mtime, inode, digest })
    }

    fn name() -> impl Strategy<Value = OsString> {
        proptest::collection::vec(1_u8.., 1..20).prop_map(|bytes| lockstep_text::path_of_bytes(bytes).into())
    }

    fn catalogue() -> impl Strategy<Value = Catalogue> {
        let files = proptest::collection::vec((name(), stamp()), 0..6);
        let directory = (name(), any::<i64>(), files, proptest::collection::vec(name(), 0..3)).prop_map(
            |(path, mtime, files, unread)| CataloguedDirectory {
                path: path.into(),
                mtime,
                files: files.into(),
                unread,
            },
        );
        (any::<i64>(), any::<u64>(), proptest::collection::vec(directory, 0..6)).prop_map(
            |(taken_at, accounts_read, directories)| Catalogue { taken_at, accounts_read, directories },
        )
    }

    proptest! {
        #[test]
        fn catalogue_round_trips(catalogue in catalogue()) {
            prop_assert_eq!(decode(&encode(&catalogue)), Some(catalogue));
        }

        #[test]
        fn damage_is_noticed(catalogue in catalogue(), at in any::<prop::sample::Index>(), bit in 0..8_u32) {
            let mut bytes = encode(&catalogue);
            let at = at.index(bytes.len());
            bytes[at] ^= 1_u8 << bit;
            prop_assert_eq!(decode(&bytes), None);
            bytes.truncate(at);
            prop_assert_eq!(decode(&bytes), None);
        }
    }

    #[test]
    fn single_files_are_set() {
        let mut catalogue = Catalogue::default();
        let [one, two] = [1, 2].map(|size| CatalogueStamp { size, ..CatalogueStamp::default() });
        catalogue.set(Path::new("b/x"), one);
        catalogue.set(Path::new("a"), one);
        catalogue.set(Path::new("b/w"), one);
        catalogue.set(Path::new("b/x"), two);
        assert_eq!(catalogue.len(), 3);
        assert_eq!(
            **catalogue.directory(Path::new("b")).unwrap().files,
            [("w".into(), one), ("x".into(), two)]
        );
        assert!(
            catalogue.has(Path::new("a"))
                && !catalogue.has(Path::new("b/y"))
                && !catalogue.has(Path::new("c/a"))
        );
    }
}
