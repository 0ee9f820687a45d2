//! The file system and the operating system behind it: the only crate that uses `std::os::unix` and `rustix`.
//!
//! A pipe, a device, a socket or an endless file in place of a file would end or hang its reader. Here only regular files are
//! opened, without blocking, and no more than a limit is read. The crate knows nothing of the meaning of files.

mod atomic;
mod dir;
mod error;
mod lock;
mod mode;
mod open;
pub mod process;
mod stamp;
pub mod terminal;

pub use atomic::{
    StagedFile, TEMPORARY_PREFIX, is_temporary, replace_if_unchanged, replace_unsynced, sync_dir,
    write_atomically, write_atomically_from,
};
pub use dir::{Dir, Entry, FileKind, Links, ensure_private_dir, list, make_pipe, symlink};
pub use error::FsError;
pub use lock::FileLock;
pub use mode::{has_other_links, is_executable, is_own, is_pipe_or_socket, mode_of, permissions, set_mode};
pub use open::{
    MAX_BYTES, MAX_STATE_BYTES, PositionedIo, clear_append, create_if_absent, is_absent, is_unreadable,
    no_follow, non_blocking, open, open_to_write, read, read_text, read_to_string, read_up_to,
    remove_if_present,
};
pub use stamp::{FileStamp, RACY_NANOS, now};
