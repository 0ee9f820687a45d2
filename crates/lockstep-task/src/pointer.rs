//! A pointer from the task to a file: relative, inside the project, and there.
//!
//! Nothing is opened here: whether a file exists is asked of the caller.

use std::fmt;
use std::path::{Component, Path, PathBuf};

/// The keys whose value is a pointer, wherever they stand in the task.
pub const POINTER_KEYS: [&str; 3] = ["l2_path", "l3_path", "gate_record"];

/// Why a pointer leads nowhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PointerFault {
    /// Nothing is said.
    Empty,
    /// It starts at the root of the file system.
    Absolute,
    /// It climbs out of the project.
    Outside,
    /// Nothing is there.
    Missing(Vec<PathBuf>),
}

impl PointerFault {
    /// What is the matter with `pointer`.
    pub fn what(&self, pointer: &str) -> String {
        match self {
            Self::Empty => "the pointer is empty".to_owned(),
            Self::Absolute => format!("{pointer:?} is absolute"),
            Self::Outside => format!("{pointer:?} leads out of the project"),
            Self::Missing(_) => format!("{pointer:?} does not exist"),
        }
    }

    /// How to mend it.
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

/// Where pointers lead, and whether something is there.
#[derive(Clone)]
pub struct Lookup<'a> {
    exists: &'a dyn Fn(&Path) -> bool,
    bases: Vec<PathBuf>,
}

impl fmt::Debug for Lookup<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lookup").field("bases", &self.bases).finish_non_exhaustive()
    }
}

impl<'a> Lookup<'a> {
    /// Pointers relative to the project's root. `exists` is given paths relative to that root.
    pub fn new(exists: &'a dyn Fn(&Path) -> bool) -> Self {
        Self { exists, bases: vec![PathBuf::new()] }
    }

    /// Also tries pointers relative to `base`, a directory inside the project, after those before it.
    ///
    /// A base that is absolute or climbs out of the project is not tried.
    #[must_use]
    pub fn also(mut self, base: &Path) -> Self {
        if let Ok(base) = inside(base)
            && !self.bases.contains(&base)
        {
            self.bases.push(base);
        }
        self
    }

    /// Where `pointer` leads, relative to the project's root.
    pub fn resolve(&self, pointer: &str) -> Result<PathBuf, PointerFault> {
        let pointer = pointer.trim();
        if pointer.is_empty() {
            return Err(PointerFault::Empty);
        }
        let relative = inside(Path::new(pointer))?;
        let candidates: Vec<_> = self.bases.iter().map(|base| base.join(&relative)).collect();
        match candidates.iter().find(|path| (self.exists)(path)) {
            Some(path) => Ok(path.clone()),
            None => Err(PointerFault::Missing(candidates)),
        }
    }
}

/// `path` with `.` and `..` resolved by name, if it stays inside the project.
fn inside(path: &Path) -> Result<PathBuf, PointerFault> {
    let mut out = PathBuf::new();
    for component in path.components() {
        match component {
            Component::Normal(name) => out.push(name),
            Component::CurDir => {}
            Component::ParentDir if out.pop() => {}
            Component::ParentDir => return Err(PointerFault::Outside),
            Component::RootDir | Component::Prefix(_) => return Err(PointerFault::Absolute),
        }
    }
    if out.as_os_str().is_empty() { Err(PointerFault::Empty) } else { Ok(out) }
}
