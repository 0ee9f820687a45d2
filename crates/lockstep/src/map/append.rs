//! Files of the map that grow: what is whole stays, and what a killed process left behind it goes.

use std::fs::OpenOptions;
use std::io::{self, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use rustix::fs::OFlags;

/// Puts bytes behind the first `whole` of a file, which is made private where there is none.
pub(super) fn append(path: &Path, whole: u64, bytes: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .mode(0o600)
        .custom_flags(OFlags::NOFOLLOW.bits().cast_signed())
        .open(path)?;
    file.set_len(whole)?;
    file.seek(SeekFrom::Start(whole))?;
    file.write_all(bytes)
}
