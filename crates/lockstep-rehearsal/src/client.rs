//! The client that a rehearsal plays, and the versions that are tested.

use std::path::{Path, PathBuf};

/// The versions that rehearsals are measured against, the newest first.
pub const VERSIONS: [&str; 2] = ["2.1.327", "2.1.197"];
pub const NEWEST: &str = VERSIONS[0];

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientBinary {
    program: PathBuf,
}

impl ClientBinary {
    pub fn at(program: impl Into<PathBuf>) -> Self {
        Self { program: program.into() }
    }

    pub fn program(&self) -> &Path {
        &self.program
    }
}
