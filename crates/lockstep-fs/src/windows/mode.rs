//! Owners, permissions and kinds of files.

use std::fs::{self, File, Metadata};
use std::io;
use std::path::Path;

/// The endings of programs.
const PROGRAMS: [&str; 4] = ["exe", "com", "bat", "cmd"];

/// Returns true: the access control of the directory decides which users can write here.
pub fn is_own(_meta: &Metadata) -> bool {
    true
}

/// Returns true if the file at `path` has a second name: a hard link. A file that cannot be opened counts as one.
pub fn has_other_links(path: &Path, _meta: &Metadata) -> bool {
    let information = winapi_util::Handle::from_path_any(path).and_then(winapi_util::file::information);
    information.map_or(true, |information| information.number_of_links() > 1)
}

/// Returns the permission bits that Windows knows: a file can be read, and perhaps written, by its owner.
pub fn mode_of(meta: &Metadata) -> u32 {
    let write = if meta.permissions().readonly() { 0 } else { 0o200 };
    0o400 | write | if meta.is_dir() { 0o100 } else { 0 }
}

/// Returns a builder of temporary files. They inherit the access control of their directory.
pub fn temporary_builder(_mode: u32) -> tempfile::Builder<'static, 'static> {
    tempfile::Builder::new()
}

/// Does nothing: a file keeps the access control that it inherited.
pub fn set_file_mode(_file: &File, _mode: u32) -> io::Result<()> {
    Ok(())
}

/// Does nothing but report a missing file: a file keeps the access control that it inherited.
pub fn set_mode(path: &Path, _mode: u32) -> io::Result<()> {
    fs::metadata(path).map(drop)
}

/// Returns true for a regular file that Windows starts by its ending.
pub fn is_executable(path: &Path) -> bool {
    let ending = path.extension().unwrap_or_default();
    PROGRAMS.iter().any(|known| ending.eq_ignore_ascii_case(known)) && path.is_file()
}

/// Returns false: pipes and sockets have no paths among files.
pub fn is_pipe_or_socket(_meta: &Metadata) -> bool {
    false
}
