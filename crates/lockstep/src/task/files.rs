//! Files of the project that the task points to. Paths outside the project are never read, also not through
//! links.

use std::io::Read as _;
use std::path::{Path, PathBuf};

/// The largest file that is read.
const MAX_BYTES: u64 = 4 << 20;

/// The project's files, by paths relative to its root.
#[derive(Debug, Clone)]
pub(crate) struct ProjectFiles {
    root: PathBuf,
}

impl ProjectFiles {
    pub(crate) fn of(root: &Path) -> Self {
        Self { root: root.canonicalize().unwrap_or_else(|_| root.to_owned()) }
    }

    pub(crate) fn exists(&self, path: &Path) -> bool {
        self.real(path).is_ok()
    }

    /// The content of a file.
    pub(crate) fn read(&self, path: &Path) -> Result<Vec<u8>, String> {
        read(&self.real(path)?)
    }

    /// Converts `path`, given relative to `directory`, to a path relative to the root.
    pub(crate) fn relative(&self, directory: &Path, path: &Path) -> Result<String, String> {
        let real = directory.join(path).canonicalize().map_err(|error| error.to_string())?;
        let inside = real.strip_prefix(&self.root).map_err(|_| "it lies outside the project".to_owned())?;
        lockstep_text::path_text(inside).ok_or_else(|| "its name is not UTF-8".to_owned())
    }

    fn real(&self, path: &Path) -> Result<PathBuf, String> {
        let real = self.root.join(path).canonicalize().map_err(|error| error.to_string())?;
        if real.starts_with(&self.root) { Ok(real) } else { Err("it lies outside the project".to_owned()) }
    }
}

/// Returns a file's content, or the reason why it cannot be read.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>, String> {
    let meta = path.metadata().map_err(|error| error.to_string())?;
    if !meta.is_file() {
        return Err("it is not a file".to_owned());
    }
    if meta.len() > MAX_BYTES {
        return Err(format!("it has {} bytes, more than {MAX_BYTES}", meta.len()));
    }
    let mut bytes = Vec::new();
    let file = lockstep_fs::open(path).map_err(|error| error.to_string())?;
    file.take(MAX_BYTES).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use lockstep_fs::symlink;
    use std::fs;

    use super::*;

    #[test]
    fn a_link_does_not_lead_out_of_the_project() {
        let (project, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fs::write(elsewhere.path().join("secret"), "x").unwrap();
        fs::write(project.path().join("own"), "y").unwrap();
        symlink(elsewhere.path(), project.path().join("out")).unwrap();
        symlink("own", project.path().join("in")).unwrap();
        let files = ProjectFiles::of(project.path());
        assert!(files.exists(Path::new("in")) && !files.exists(Path::new("out/secret")));
        assert_eq!(files.read(Path::new("in")).unwrap(), b"y");
        assert!(files.read(Path::new("out/secret")).unwrap_err().contains("outside"));
        assert_eq!(files.relative(project.path(), Path::new("./own")).unwrap(), "own");
        assert!(files.relative(project.path(), Path::new("out/secret")).is_err());
    }
}
