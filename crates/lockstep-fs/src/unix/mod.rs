//! Unix: Linux and macOS.

mod dir;
mod mode;
mod open;
pub mod process;
pub mod process_tree;
mod stamp;
pub mod terminal;

#[cfg(target_os = "linux")]
pub use dir::make_pipe;
pub use dir::{Dir, list, symlink};
pub(crate) use dir::{exchange, persist, private_dir_builder, sync_names};
pub use mode::{
    has_other_links, is_executable, is_own, is_pipe_or_socket, mode_of, set_file_mode, set_mode,
    temporary_builder,
};
pub use open::{PositionedIo, clear_append, no_follow, non_blocking};
