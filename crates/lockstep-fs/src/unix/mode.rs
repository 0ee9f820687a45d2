//! Owners, permissions and kinds of files.

use std::fs::{self, File, Metadata, Permissions};
use std::io;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::Path;

/// Returns true if the file belongs to the user of this process.
pub fn is_own(meta: &Metadata) -> bool {
    meta.uid() == rustix::process::geteuid().as_raw()
}

/// Returns true if the file at `path` has a second name: a hard link.
pub fn has_other_links(_path: &Path, meta: &Metadata) -> bool {
    meta.nlink() > 1
}

/// Returns the permission bits of a file.
pub fn mode_of(meta: &Metadata) -> u32 {
    meta.mode() & 0o7777
}

/// Returns a builder of temporary files with these permission bits.
pub fn temporary_builder(mode: u32) -> tempfile::Builder<'static, 'static> {
    let mut builder = tempfile::Builder::new();
    builder.permissions(Permissions::from_mode(mode));
    builder
}

/// Sets the permission bits of an open file.
pub fn set_file_mode(file: &File, mode: u32) -> io::Result<()> {
    file.set_permissions(Permissions::from_mode(mode))
}

/// Sets the permission bits of a file, which the umask restricts when it is created.
pub fn set_mode(path: &Path, mode: u32) -> io::Result<()> {
    fs::set_permissions(path, Permissions::from_mode(mode))
}

/// Returns true for a regular file that someone may execute.
pub fn is_executable(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|meta| meta.is_file() && meta.mode() & 0o111 != 0)
}

pub fn is_pipe_or_socket(meta: &Metadata) -> bool {
    meta.file_type().is_fifo() || meta.file_type().is_socket()
}
