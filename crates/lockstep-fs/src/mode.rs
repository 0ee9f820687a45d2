//! Owners, permissions and kinds of files.

use std::fs::{self, Metadata, Permissions};
use std::io;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::Path;

/// Returns true if the file belongs to the user of this process.
pub fn is_own(meta: &Metadata) -> bool {
    meta.uid() == rustix::process::geteuid().as_raw()
}

/// Returns true if the file has a second name: a hard link.
pub fn has_other_links(meta: &Metadata) -> bool {
    meta.nlink() > 1
}

/// Returns the permission bits of a file.
pub fn mode_of(meta: &Metadata) -> u32 {
    meta.mode() & 0o7777
}

/// Returns the permissions with these bits.
pub fn permissions(mode: u32) -> Permissions {
    Permissions::from_mode(mode)
}

/// Sets the permission bits of a file, which the umask restricts when it is created.
pub fn set_mode(path: &Path, mode: u32) -> io::Result<()> {
    fs::set_permissions(path, permissions(mode))
}

/// Returns true for a regular file that someone may execute.
pub fn is_executable(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|meta| meta.is_file() && meta.mode() & 0o111 != 0)
}

pub fn is_pipe_or_socket(meta: &Metadata) -> bool {
    meta.file_type().is_fifo() || meta.file_type().is_socket()
}
