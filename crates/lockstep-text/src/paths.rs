//! Paths as bytes: a name need not be UTF-8.

use std::path::{Path, PathBuf};

use bstr::{ByteSlice as _, ByteVec as _};

/// Returns the path with these bytes, as the system has them. Reverses `OsStr::as_encoded_bytes`.
pub fn path_of_bytes(bytes: Vec<u8>) -> PathBuf {
    bytes.into_path_buf_lossy()
}

/// Returns the path in a part of a text.
pub fn path_in_bytes(bytes: &[u8]) -> std::borrow::Cow<'_, Path> {
    bytes.to_path_lossy()
}

/// Returns the path as text with `/` between its parts, as Lockstep stores relative paths. `None` if it is not Unicode.
pub fn path_text(path: &Path) -> Option<String> {
    let text = path.to_str()?;
    Some(if cfg!(windows) { text.replace('\\', "/") } else { text.to_owned() })
}
