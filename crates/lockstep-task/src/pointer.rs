//! A pointer from the task to a file: relative, inside the project, and existing.
//!
//! Nothing is opened here: the caller checks whether a file exists.

use std::fmt;
use std::path::{Component, Path, PathBuf};

/// The keys whose value is a pointer, at any depth of the task.
pub const POINTER_KEYS: [&str; 3] = ["l2_path", "l3_path", "gate_record"];

/// The reason why a pointer is invalid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PointerError {
    Empty,
    Absolute,
    /// The path is outside the project.
    Outside,
    Missing(Vec<PathBuf>),
}

impl PointerError {
    pub fn describe(&self, pointer: &str) -> String {
        match self {
            Self::Empty => "the pointer is empty".to_owned(),
            Self::Absolute => format!("{pointer:?} is absolute"),
            Self::Outside => format!("{pointer:?} points outside the project"),
            Self::Missing(_) => format!("{pointer:?} does not exist"),
        }
    }

    pub fn fix(&self) -> String {
        match self {
            Self::Empty => "name the file, or leave the key out".to_owned(),
            Self::Absolute | Self::Outside => "give the path relative to the project's root".to_owned(),
            Self::Missing(tried) => {
                let tried: Vec<_> = tried.iter().map(|p| p.display().to_string()).collect();
                format!("write the file first, or correct the path (looked at {})", tried.join(", "))
            }
        }
    }
}

/// Resolves pointers to files and checks that they exist.
#[derive(Clone)]
pub struct PointerResolver<'a> {
    exists: &'a dyn Fn(&Path) -> bool,
    bases: Vec<PathBuf>,
}

impl fmt::Debug for PointerResolver<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lookup").field("bases", &self.bases).finish_non_exhaustive()
    }
}

impl<'a> PointerResolver<'a> {
    /// Creates a lookup of pointers relative to the project's root. `exists` gets paths relative to that
    /// root.
    pub fn new(exists: &'a dyn Fn(&Path) -> bool) -> Self {
        Self { exists, bases: vec![PathBuf::new()] }
    }

    /// Also tries pointers relative to `base`, a directory inside the project, after those before it.
    ///
    /// A base that is absolute or climbs out of the project is not tried.
    #[must_use]
    pub fn with_base(mut self, base: &Path) -> Self {
        if let Ok(base) = normalize_inside(base)
            && !self.bases.contains(&base)
        {
            self.bases.push(base);
        }
        self
    }

    /// Resolves `pointer` to a path relative to the project's root.
    pub fn resolve(&self, pointer: &str) -> Result<PathBuf, PointerError> {
        let pointer = pointer.trim();
        if pointer.is_empty() {
            return Err(PointerError::Empty);
        }
        let relative = normalize_inside(Path::new(pointer))?;
        let candidates: Vec<_> = self.bases.iter().map(|base| base.join(&relative)).collect();
        match candidates.iter().find(|path| (self.exists)(path)) {
            Some(path) => Ok(path.clone()),
            None => Err(PointerError::Missing(candidates)),
        }
    }
}

/// `path` with `.` and `..` resolved by name, if it stays inside the project.
fn normalize_inside(path: &Path) -> Result<PathBuf, PointerError> {
    let mut out = PathBuf::new();
    for component in path.components() {
        match component {
            Component::Normal(name) => out.push(name),
            Component::CurDir => {}
            Component::ParentDir if out.pop() => {}
            Component::ParentDir => return Err(PointerError::Outside),
            Component::RootDir | Component::Prefix(_) => return Err(PointerError::Absolute),
        }
    }
    if out.as_os_str().is_empty() { Err(PointerError::Empty) } else { Ok(out) }
}
