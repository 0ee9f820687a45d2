//! The cache file itself: reading it, and making sure that writing it harms nothing else.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read as _};
use std::path::Path;

use lockstep_fs::FileStamp;
use lockstep_store::{PathRefusal, StateDir, confine};

use crate::cache_document::HEADER_PREFIX;
use crate::error::CacheError;
use crate::source_reader::open;

/// A larger file is no cache.
const MAX_BYTES: u64 = 64 << 20;

/// Returns the file's text with its stamp from before the read, or `None` if there is no file.
pub(crate) fn read(path: &Path) -> Result<Option<(String, FileStamp)>, CacheError> {
    match open(path).and_then(whole) {
        Ok(found) => Ok(Some(found)),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(None),
        Err(source) => Err(CacheError::Target { what: "read", path: path.to_path_buf(), source }),
    }
}

fn whole(file: File) -> io::Result<(String, FileStamp)> {
    let now = lockstep_fs::now();
    let meta = file.metadata()?;
    let size = usize::try_from(meta.len().min(MAX_BYTES)).unwrap_or_default();
    let mut text = String::with_capacity(size + 1);
    file.take(MAX_BYTES).read_to_string(&mut text)?;
    Ok((text, FileStamp::settled(&meta, now)))
}

/// Makes sure that the file at `target` below `root` may be written: nothing but a cache is ever overwritten, and nothing is
/// written outside of the project.
pub(crate) fn ensure_writable(root: &Path, target: &str, state: &StateDir) -> Result<(), CacheError> {
    let path = root.join(target);
    let failed = |what, source| CacheError::Target { what, path: path.clone(), source };
    let foreign = |why| Err(CacheError::WouldOverwrite { path: path.clone(), why });
    if Path::new(target).starts_with(StateDir::NAME) {
        state.ensure_dir("")?;
    }
    let dir = path.parent().unwrap_or(root);
    // Checked before anything is created: a link must not make us create directories elsewhere.
    match confine(root, dir) {
        Ok(_) => {}
        Err(PathRefusal::Git) => return foreign("it lies in a git directory"),
        Err(_) => {
            return foreign("its directory is a link that points outside the project, or elsewhere in it");
        }
    }
    fs::create_dir_all(dir).map_err(|source| failed("create the directory of", source))?;
    match fs::symlink_metadata(&path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(source) => Err(failed("look at", source)),
        Ok(meta) if !meta.is_file() => foreign("it is not a regular file"),
        Ok(meta) if meta.len() == 0 => Ok(()),
        Ok(_) if has_cache_header(&path).map_err(|source| failed("read", source))? => Ok(()),
        Ok(_) => foreign("it is not a session cache"),
    }
}

fn has_cache_header(path: &Path) -> io::Result<bool> {
    let mut beginning = Vec::new();
    open(path)?.take(HEADER_PREFIX.len() as u64).read_to_end(&mut beginning)?;
    Ok(beginning == HEADER_PREFIX.as_bytes())
}
