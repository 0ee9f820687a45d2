//! Changes a package temporarily: one run at a time, and without leaving it changed, even if the run is
//! killed.
//!
//! The original content of a file is saved next to the package before the file is changed. The next run finds
//! it there and restores it.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::language::PreparedPackage;
use crate::XtaskResult;

/// The content of a file before it was changed.
#[derive(Debug, Serialize, Deserialize)]
struct SavedFile {
    path: PathBuf,
    text: String,
}

/// Takes a package for this run alone, waiting for a run that has it; and puts back what a killed run left changed.
pub(super) fn lock(root: &Path) -> XtaskResult<fs::File> {
    let path = beside(root, ".lock");
    let show = |error: std::io::Error| format!("{}: {error}", path.display());
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(show)?;
    }
    let file = fs::File::create(&path).map_err(show)?;
    file.lock().map_err(show)?;
    put_back(root)?;
    Ok(file)
}

fn put_back(root: &Path) -> XtaskResult {
    let note = beside(root, ".changed");
    let Ok(text) = fs::read_to_string(&note) else { return Ok(()) };
    let former: SavedFile = serde_json::from_str(&text)?;
    fs::write(&former.path, &former.text).map_err(|error| format!("{}: {error}", former.path.display()))?;
    fs::remove_file(&note)?;
    Ok(())
}

/// A file beside the package. Not by its extension: a version has dots.
fn beside(root: &Path, ending: &str) -> PathBuf {
    let mut path = root.as_os_str().to_owned();
    path.push(ending);
    path.into()
}

/// Replaces a file's content for as long as it lives.
pub(super) struct TemporaryEdit {
    root: PathBuf,
}

impl TemporaryEdit {
    pub(super) fn new(prepared: &PreparedPackage, file: &str, old: &str, new: &str) -> XtaskResult<Self> {
        Self::below(&prepared.root, file, old, new)
    }

    fn below(root: &Path, file: &str, old: &str, new: &str) -> XtaskResult<Self> {
        let former = SavedFile { path: root.join(file), text: old.to_owned() };
        let folder = root.parent().ok_or("a package lies in a folder")?;
        let note = tempfile::NamedTempFile::new_in(folder)?;
        fs::write(note.path(), serde_json::to_string(&former)?)?;
        note.persist(beside(root, ".changed"))?;
        fs::write(&former.path, new).map_err(|error| format!("{}: {error}", former.path.display()))?;
        Ok(Self { root: root.to_owned() })
    }
}

impl Drop for TemporaryEdit {
    fn drop(&mut self) {
        if let Err(error) = put_back(&self.root) {
            eprintln!("{}: {error}; the next run tries again", self.root.display());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_of_a_killed_run_are_reverted() {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().join("p-1.0");
        fs::create_dir(&root).unwrap();
        fs::write(root.join("a"), "old").unwrap();
        drop(TemporaryEdit::below(&root, "a", "old", "new").unwrap());
        assert_eq!(fs::read_to_string(root.join("a")).unwrap(), "old");
        std::mem::forget(TemporaryEdit::below(&root, "a", "old", "new").unwrap());
        assert_eq!(fs::read_to_string(root.join("a")).unwrap(), "new");
        let _lock = lock(&root).unwrap();
        assert_eq!(fs::read_to_string(root.join("a")).unwrap(), "old");
        assert!(!temp.path().join("p-1.0.changed").exists());
    }
}
