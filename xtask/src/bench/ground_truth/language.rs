//! A language in the benchmark: its packages, its mutations, and its compiler as the source of truth.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use lockstep_refs::facts::Definition;

use super::cases::Case;
use crate::XtaskResult;

#[derive(Debug)]
pub(super) struct BenchPackage {
    pub(super) name: &'static str,
    pub(super) version: &'static str,
    /// Set if its wrong answers were not inspected while the rules were made.
    pub(super) held_out: bool,
    /// Set if its compiler is fast enough for a smoke run.
    pub(super) small: bool,
}

/// A package on disk that its compiler accepts.
#[derive(Debug)]
pub(super) struct PreparedPackage {
    pub(super) root: PathBuf,
    /// The files that the compiler reads, and manifests. Other files cannot be judged.
    pub(super) files: Vec<String>,
    /// The compiler's build directory.
    pub(super) target: PathBuf,
    /// The compiler's options for this package.
    pub(super) options: &'static [&'static str],
    /// Everything that the compiler's answers depend on besides the sources.
    pub(super) stamp: String,
    /// Held as long as the package may be changed: two runs at once would measure each other's changes.
    pub(super) _lock: fs::File,
}

impl PreparedPackage {
    /// Returns path and text of every file that is UTF-8.
    pub(super) fn read(&self) -> XtaskResult<Vec<(String, String)>> {
        let mut texts = Vec::new();
        for path in &self.files {
            let full = self.root.join(path);
            match fs::read_to_string(&full) {
                Ok(text) => texts.push((path.clone(), text)),
                Err(error) if error.kind() == std::io::ErrorKind::InvalidData => {}
                Err(error) => return Err(format!("{}: {error}", full.display()).into()),
            }
        }
        Ok(texts)
    }
}

/// A change of a definition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Mutation {
    /// The definition gets another name.
    Rename,
    /// The definition is deleted.
    Remove,
    ChangeSignature,
    /// Only the body changes: nothing may be reported as broken.
    ChangeBody,
}

impl Mutation {
    pub(super) const ALL: [Self; 4] = [Self::Rename, Self::Remove, Self::ChangeSignature, Self::ChangeBody];

    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Rename => "rename",
            Self::Remove => "removal",
            Self::ChangeSignature => "signature",
            Self::ChangeBody => "body only",
        }
    }
}

/// The files that a compiler rejects, with the first message about each.
pub(super) type GroundTruth = BTreeMap<String, String>;

/// Takes the truth about the case at a position.
pub(super) type VerdictSink<'k> = &'k mut dyn FnMut(usize, GroundTruth) -> XtaskResult;

pub(super) trait LanguageBench {
    fn language(&self) -> &'static str;

    fn packages(&self) -> &'static [BenchPackage];

    /// Fetches a package into the cache, if it is not there, and lets the compiler accept it once.
    fn prepare(&self, package: &BenchPackage, cache: &Path) -> XtaskResult<PreparedPackage>;

    /// The text with one definition changed; `None` if that cannot be done to it.
    fn mutate(&self, text: &str, definition: &Definition, mutation: Mutation) -> Option<String>;

    /// The files other than the changed one that the compiler rejects when a case is applied, for each of some cases, given
    /// to `keep` as soon as it is known. Leaves the package as it was.
    fn truths(&self, prepared: &PreparedPackage, cases: &[&Case], keep: VerdictSink<'_>) -> XtaskResult;
}
