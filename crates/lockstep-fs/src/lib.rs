//! The file system and the operating system behind it: the only crate that uses `std::os` and `rustix`.
//!
//! A pipe, a device, a socket or an endless file in place of a file would end or hang its reader. Here only regular files are
//! opened, without blocking, and no more than a limit is read. The crate knows nothing of the meaning of files.
//!
//! The modules `unix` and `windows` have the same items: one of them is compiled as `platform`.

mod atomic;
mod dir;
mod error;
mod lock;
mod open;
#[cfg(unix)]
#[path = "unix/mod.rs"]
mod platform;
#[cfg(windows)]
#[path = "windows/mod.rs"]
mod platform;
mod stamp;

pub use atomic::{
    StagedFile, TEMPORARY_PREFIX, is_temporary, replace_if_unchanged, replace_unsynced, sync_dir,
    write_atomically, write_atomically_from,
};
pub use dir::{Entry, FileKind, Links, ensure_private_dir};
pub use error::FsError;
pub use lock::FileLock;
pub use open::{
    MAX_BYTES, MAX_STATE_BYTES, create_if_absent, is_absent, is_unreadable, open, open_to_write, read,
    read_prefix, read_text, read_to_string, read_up_to, remove_if_present,
};
#[cfg(target_os = "linux")]
pub use platform::make_pipe;
#[cfg(unix)]
pub use platform::symlink;
pub use platform::{
    Dir, PositionedIo, clear_append, has_other_links, is_executable, is_own, is_pipe_or_socket, list,
    mode_of, no_follow, non_blocking, process, process_tree, set_file_mode, set_mode, temporary_builder,
    terminal,
};
pub use stamp::{FileStamp, RACY_NANOS, now};
