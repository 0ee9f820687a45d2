//! What Lockstep knows of the files on disk.
//!
//! The [`catalogue`] is a stamp of every file in scope; the [`sweep`] compares it with the disk and finds what no tool
//! event reported; [`accounts`] are what tool events did report, so that it is not found a second time.
//! They read file names and stamps, not contents. The [`index`] knows which words stand in which files and what a parser saw
//! in each. Scope is what git tracks or would track (see [`scope`]).

pub mod accounts;
pub mod catalogue;
mod difference;
pub mod index;
mod refresh;
pub mod scope;
pub mod snapshot;
mod stamp;
pub mod sweep;
mod threads;

use std::io;
use std::path::{Path, PathBuf};

use lockstep_store::StoreError;

/// Why the disk could not be looked at, or the catalogue not be kept.
#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    /// A file or directory could not be used.
    #[error("cannot {what} {}", path.display())]
    Io {
        /// What was attempted, as a verb.
        what: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// The system's answer.
        #[source]
        source: io::Error,
    },
    /// The state directory could not be used.
    #[error(transparent)]
    State(#[from] StoreError),
    /// Another process has held the catalogue for too long.
    #[error("another process has held {} for {seconds} s", path.display())]
    Busy {
        /// The lock file.
        path: PathBuf,
        /// How long it was waited for.
        seconds: u64,
    },
    /// A pattern of the scope cannot be understood.
    #[error("a pattern of [scope] cannot be understood: {why}")]
    Pattern {
        /// What is wrong with it.
        why: String,
    },
}

impl IndexError {
    fn io(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { what, path: path.to_owned(), source }
    }
}
