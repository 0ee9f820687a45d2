//! Appends to files of the map: complete data stays, incomplete data of a killed process is overwritten.

use std::io::{self, Seek as _, SeekFrom, Write as _};
use std::path::Path;

/// Writes bytes behind the first `whole` bytes of a file. A new file is private.
pub(super) fn append(path: &Path, whole: u64, bytes: &[u8]) -> io::Result<()> {
    let mut file = lockstep_fs::open_to_write(path)?;
    file.set_len(whole)?;
    file.seek(SeekFrom::Start(whole))?;
    file.write_all(bytes)
}
