//! The file of answers, read when somebody asks for it and not before.

use std::fs;
use std::path::PathBuf;
use std::sync::OnceLock;

use lockstep_map::update::AnswersFile;

/// The file of answers of a record.
pub(super) struct Answers {
    path: Option<PathBuf>,
    bytes: OnceLock<Vec<u8>>,
}

impl Answers {
    /// Of no record.
    pub(super) fn none() -> Self {
        Self { path: None, bytes: OnceLock::new() }
    }

    /// At a path.
    pub(super) fn at(path: PathBuf) -> Self {
        Self { path: Some(path), bytes: OnceLock::new() }
    }
}

impl AnswersFile for Answers {
    /// What cannot be read is empty: then pieces that are asked for are missing, and everything is looked at again.
    fn bytes(&self) -> &[u8] {
        self.bytes.get_or_init(|| self.path.as_ref().and_then(|path| fs::read(path).ok()).unwrap_or_default())
    }
}
