//! Paths that a project's configuration names: they stay in the project, outside `.git`, and no link is followed.

use std::ffi::OsStr;
use std::fs;
use std::path::{Component, Path, PathBuf};

use lockstep_model::path::absolute_lexical;

/// The reason why a configured path is not used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PathRefusal {
    #[error("it points outside the project")]
    Outside,
    #[error("it lies in a git directory")]
    Git,
    /// The path is a place of another program, or a name that no person types.
    #[error("{0}")]
    Reserved(&'static str),
    /// The path or a directory above it is a link.
    #[error("{} is a symbolic link", .0.display())]
    Link(PathBuf),
}

/// Returns the absolute form of `path` if it stays in the project at `root`. The file need not exist.
pub fn confine(root: &Path, path: &Path) -> Result<PathBuf, PathRefusal> {
    let full = absolute_lexical(root, path);
    if full.components().any(|part| is_git(part.as_os_str())) && !is_git_root(root, &full) {
        return Err(PathRefusal::Git);
    }
    let has_parent = path.components().any(|part| part == Component::ParentDir);
    let inside = full.strip_prefix(root).map_err(|_| PathRefusal::Outside)?;
    if has_parent {
        return Err(PathRefusal::Outside);
    }
    let mut below = root.to_owned();
    for part in inside.components() {
        below.push(part);
        match fs::symlink_metadata(&below) {
            Ok(meta) if meta.is_symlink() => return Err(PathRefusal::Link(below)),
            Ok(_) => {}
            // Nothing below a missing directory can be a link.
            Err(_) => break,
        }
    }
    Ok(full)
}

/// Directories for files that Lockstep writes, among those with hidden names.
const OWN: [&str; 4] = [".lockstep", ".isdlc", ".agent", ".claude/agent-memory"];

/// The longest path, in components. Deeper trees cannot be removed by every tool.
const MAX_COMPONENTS: usize = 32;

/// Returns the reason why nothing is written at a path inside the project without approval. Programs read their settings, hooks and
/// rules from hidden files and directories, so that a new file there may change what they do.
pub fn reserved(root: &Path, path: &Path) -> Option<PathRefusal> {
    let full = absolute_lexical(root, path);
    let inside = full.strip_prefix(root).ok()?;
    let text = inside.to_str().unwrap_or("\u{0}");
    if text.chars().any(lockstep_text::is_unprintable) {
        return Some(PathRefusal::Reserved("it has characters that do not show"));
    }
    if inside.components().count() > MAX_COMPONENTS {
        return Some(PathRefusal::Reserved("it has too many directories"));
    }
    let is_own = OWN.iter().any(|own| inside.starts_with(own));
    let is_hidden = |part: Component<'_>| part.as_os_str().as_encoded_bytes().starts_with(b".");
    (!is_own && inside.components().any(is_hidden))
        .then_some(PathRefusal::Reserved("it is a hidden place, from which other programs read settings"))
}

/// Returns true if the name of the git directory is only part of the project's own root.
fn is_git_root(root: &Path, full: &Path) -> bool {
    full.strip_prefix(root).is_ok_and(|inside| !inside.components().any(|part| is_git(part.as_os_str())))
}

/// Some file systems ignore case.
fn is_git(name: &OsStr) -> bool {
    name.eq_ignore_ascii_case(".git")
}

#[cfg(test)]
mod tests {
    use lockstep_fs::symlink;

    use super::*;

    #[test]
    fn a_path_stays_in_the_project_and_out_of_git() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("project");
        fs::create_dir_all(root.join("real/below")).unwrap();
        symlink(dir.path(), root.join("out")).unwrap();
        symlink("real", root.join("in")).unwrap();
        symlink("nowhere", root.join("real/dangling")).unwrap();
        let refused = |path: &str| confine(&root, Path::new(path)).unwrap_err();
        for path in ["a", "real/below/b", "real/new/c", "./real", ".github/x", "a.git/b"] {
            assert_eq!(
                confine(&root, Path::new(path)).unwrap(),
                absolute_lexical(&root, Path::new(path)),
                "{path}"
            );
        }
        assert!(confine(&root, &root.join("real/x")).is_ok());
        for path in ["/etc/passwd", "../x", "a/../../x", "a/../b"] {
            assert_eq!(refused(path), PathRefusal::Outside, "{path}");
        }
        for path in [".git/config", "sub/.git/hooks/post-commit", ".GIT/x", "/home/u/.git/config"] {
            assert_eq!(refused(path), PathRefusal::Git, "{path}");
        }
        for path in [
            "logs",
            "docs/a.b",
            ".lockstep/x",
            ".claude/agent-memory/a/map.md",
            ".agent/teams/x.md",
            "~root",
            ".",
        ] {
            assert_eq!(reserved(&root, Path::new(path)), None, "{path}");
        }
        let deep = "a/".repeat(40);
        for path in [
            ".claude/settings.local.json",
            ".CLAUDE/x",
            ".claude",
            ".github/workflows/x.yml",
            "sub/.envrc",
            ".g\u{200c}it/config",
            "a\u{1b}[2J",
            "a\nb",
            ".lockstep\u{202e}",
            deep.as_str(),
        ] {
            assert!(reserved(&root, Path::new(path)).is_some(), "{path}");
        }
        for (path, link) in [("out/x", "out"), ("in/x", "in"), ("real/dangling", "real/dangling")] {
            assert_eq!(refused(path), PathRefusal::Link(root.join(link)), "{path}");
        }
    }
}
