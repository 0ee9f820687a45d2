//! The error of file operations.

use std::io;
use std::path::{Path, PathBuf};

#[derive(Debug, thiserror::Error)]
#[error("cannot {what} {}", path.display())]
pub struct FsError {
    /// The attempted action, as a verb: `read`, `append to`.
    pub what: &'static str,
    pub path: PathBuf,
    /// The system's answer.
    pub source: io::Error,
}

impl FsError {
    /// Returns a function that adds the action and the path to the system's answer.
    pub fn at(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self { what, path: path.to_owned(), source }
    }
}
