//! The ignore rules as far as they can change which files are in scope: compared by content, they are few and small.

use std::fs;
use std::path::{Path, PathBuf};

use super::codec::check;
use crate::scope::IGNORE_FILE;

const FILES: [&str; 2] = [".gitignore", IGNORE_FILE];

/// A digest of the rules in a directory; zero where there are none.
pub(crate) fn of_directory(directory: &Path) -> u64 {
    digest(FILES.iter().map(|name| directory.join(name)))
}

/// A digest of the rules that hold in the tree but do not stand in it: of directories above it in its repository, of
/// `.git/info/exclude`, and the user's own.
pub(crate) fn outside(root: &Path) -> u64 {
    let mut files = Vec::new();
    files.extend(ignore::gitignore::gitconfig_excludes_path());
    for directory in root.ancestors() {
        if directory != root {
            files.extend(FILES.iter().map(|name| directory.join(name)));
        }
        if directory.join(".git").exists() {
            files.push(directory.join(".git/info/exclude"));
            break;
        }
    }
    digest(files.into_iter())
}

fn digest(files: impl Iterator<Item = PathBuf>) -> u64 {
    let mut all = Vec::new();
    for file in files {
        if let Ok(content) = fs::read(&file) {
            all.extend_from_slice(&(content.len() as u64).to_le_bytes());
            all.extend_from_slice(file.file_name().unwrap_or_default().as_encoded_bytes());
            all.extend_from_slice(&content);
        }
    }
    // Zero means "none".
    if all.is_empty() { 0 } else { check(&all).max(1) }
}
