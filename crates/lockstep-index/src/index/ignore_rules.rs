//! Digests of the ignore rules, which determine the scope. They are compared by content, because they are few
//! and small.

use std::path::{Path, PathBuf};

use super::codec::check;
use crate::scope::{IGNORE_FILE, user_excludes};

const FILES: [&str; 2] = [".gitignore", IGNORE_FILE];

/// Returns a digest of the ignore rules in a directory; zero if there are none.
pub(crate) fn of_directory(directory: &Path) -> u64 {
    digest(FILES.iter().map(|name| directory.join(name)))
}

/// Returns a digest of the ignore rules from outside the tree: of parent directories in its repository, of
/// `.git/info/exclude`, and of the user.
pub(crate) fn outside(root: &Path) -> u64 {
    let mut files = Vec::new();
    files.extend(user_excludes().ok().flatten());
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
        if let Ok(content) = lockstep_fs::read(&file) {
            all.extend_from_slice(&(content.len() as u64).to_le_bytes());
            all.extend_from_slice(file.file_name().unwrap_or_default().as_encoded_bytes());
            all.extend_from_slice(&content);
        }
    }
    // Zero stands for "no rules".
    if all.is_empty() { 0 } else { check(&all).max(1) }
}
