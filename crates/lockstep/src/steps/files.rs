//! Step files: finding them by a name from outside, and reading them. No name points outside the project, no link is followed.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use lockstep_model::path::absolute_lexical;
use lockstep_steps::problem::StepProblem;
use lockstep_steps::step::{MAX_BYTES, Step};
use lockstep_store::{StateDir, StoreError, append_once};

use super::StepContext;

/// The depth to which the directory of the steps is searched.
const DEPTH: usize = 4;

/// The number of files that are checked to find out whether any is a step.
const LOOKED_AT: usize = 64;

/// The number of project entries that are searched for steps outside the directories of steps.
const MAX_ENTRIES: usize = 200_000;

/// Directories that hold no steps of the project.
const OTHERS: &[&str] =
    &[".git", StateDir::NAME, "node_modules", "target", ".venv", "venv", "vendor", "dist", "build"];

/// A step file that lies in the project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StepFile {
    pub(crate) path: PathBuf,
    /// The path relative to the root, for output and records.
    pub(crate) name: String,
}

impl StepContext<'_> {
    /// The step file a prompt names, relative to the root.
    pub(crate) fn resolve_from_root(&self, name: &str) -> Result<StepFile, StepProblem> {
        self.confine_path(&absolute_lexical(&self.project.root, Path::new(name)), name)
    }

    /// Returns the step file of a name given in `directory`: its path there, its path from the root, or the
    /// step's id.
    pub(crate) fn resolve_from_directory(
        &self,
        directory: &Path,
        name: &str,
    ) -> Result<StepFile, StepProblem> {
        let (root, dir) = (&self.project.root, self.dir());
        let places = [
            absolute_lexical(directory, Path::new(name)),
            absolute_lexical(root, Path::new(name)),
            absolute_lexical(&dir, Path::new(name)),
            absolute_lexical(&dir, Path::new(&format!("{name}.json"))),
        ];
        let there = places.iter().find(|path| fs::symlink_metadata(path).is_ok_and(|meta| !meta.is_dir()));
        if let Some(path) = there {
            return self.confine_path(path, name);
        }
        let mut of_id = self.of_id(name);
        match of_id.len() {
            0 => self.confine_path(&places[0], name),
            1 => Ok(of_id.remove(0)),
            _ => {
                let names: Vec<_> = of_id.into_iter().map(|file| file.name).collect();
                let message = format!("Several steps have the id {name:?}: {}", names.join(", "));
                Err(StepProblem::invalid("step file", message, "Name the step by its path"))
            }
        }
    }

    /// The steps with this id, in subdirectories and other sources too: by the name of the file, else by `task_id`.
    fn of_id(&self, id: &str) -> Vec<StepFile> {
        if id.contains('/') {
            return Vec::new();
        }
        let files = self.list_step_files();
        let stem = |file: &&StepFile| file.path.file_stem().and_then(|stem| stem.to_str()) == Some(id);
        let by_name: Vec<_> = files.iter().filter(stem).cloned().collect();
        if !by_name.is_empty() {
            return by_name;
        }
        let has_id = |file: &StepFile| self.read(file).is_ok_and(|step| step.task_id() == id);
        files.into_iter().filter(has_id).collect()
    }

    /// The directories of step files: `[steps] dir`, and those of `[steps] sources` that exist.
    fn directories(&self) -> Vec<PathBuf> {
        let sources = &self.project.config().steps.sources.0;
        let others = sources.iter().flat_map(|source| expand(&self.project.root, source));
        std::iter::once(self.dir()).chain(others).collect()
    }

    /// The file of a step that may not be there yet.
    pub(crate) fn confine_path(&self, path: &Path, given_name: &str) -> Result<StepFile, StepProblem> {
        let outside = || {
            StepProblem::invalid(
                "step file",
                format!("The step file {given_name:?} lies outside the project"),
                "Name a step file of this project, by its path from the project's root",
            )
        };
        let name = self.relative(path).ok_or_else(outside)?;
        let hidden = |part: &str| part == StateDir::NAME || part == ".git";
        if name.is_empty() || name.split('/').next().is_some_and(hidden) {
            return Err(outside());
        }
        let linked = |what: &str| {
            StepProblem::invalid(
                "step file",
                format!("The step file {given_name:?} {what}, which could lead anywhere"),
                "Put the file itself there",
            )
        };
        if fs::symlink_metadata(path).is_ok_and(|meta| meta.is_symlink()) {
            return Err(linked("is a symbolic link"));
        }
        // A parent directory may be a link; its target counts.
        let root = self.project.root.canonicalize().unwrap_or_else(|_| self.project.root.clone());
        let parent = path.parent().unwrap_or(path);
        match parent.canonicalize() {
            Ok(real) if !real.starts_with(&root) => Err(outside()),
            Ok(real) if real != root.join(parent.strip_prefix(&self.project.root).unwrap_or(parent)) => {
                Err(linked("lies behind a symbolic link"))
            }
            _ => Ok(StepFile { path: path.to_owned(), name }),
        }
    }

    /// Returns the step in a file, or every reason why it cannot be read.
    pub(crate) fn read(&self, file: &StepFile) -> Result<Step, Vec<StepProblem>> {
        let text = read_text(&file.path).map_err(|error| {
            let fix = match error.kind() {
                std::io::ErrorKind::NotFound => "Make it with `lockstep step new`, or name another",
                _ => "Check step file exists and contains valid JSON",
            };
            vec![StepProblem::missing("step file", format!("Step file error: {}: {error}", file.name), fix)]
        })?;
        Step::parse(&text).map_err(|problems| {
            let named = |problem: StepProblem| StepProblem {
                message: problem.message.replacen(
                    "Step file error: ",
                    &format!("Step file error: {}: ", file.name),
                    1,
                ),
                ..problem
            };
            problems.into_iter().map(named).collect()
        })
    }

    /// Every file that may be a step: those in the directory of the steps, and those elsewhere that were recorded.
    pub(crate) fn list_step_files(&self) -> Vec<StepFile> {
        let mut paths = Vec::new();
        self.directories().iter().for_each(|dir| collect(dir, DEPTH, &mut paths));
        paths.extend(
            self.known_steps().iter().map(|name| self.project.root.join(name)).filter(|path| path.is_file()),
        );
        paths.sort();
        paths.dedup();
        paths.iter().filter_map(|path| self.confine_path(path, &path.display().to_string()).ok()).collect()
    }

    /// Returns every file in the project that may be a step: those of [`Self::list_step_files`], and others that have the
    /// log of a step's phases. The boolean is true if the project was too large to search completely.
    pub(crate) fn everywhere(&self) -> (Vec<StepFile>, bool) {
        let mut paths: Vec<PathBuf> = self.list_step_files().into_iter().map(|file| file.path).collect();
        let mut left = MAX_ENTRIES;
        search(&self.project.root, &mut left, &mut paths);
        paths.sort();
        paths.dedup();
        let located =
            paths.iter().filter_map(|path| self.confine_path(path, &path.display().to_string()).ok());
        (located.collect(), left == 0)
    }

    /// Returns true if a directory of steps has a file that looks like a step.
    pub(super) fn has_step_files(&self) -> bool {
        let mut paths = Vec::new();
        self.directories().iter().for_each(|dir| collect(dir, DEPTH, &mut paths));
        paths.iter().take(LOOKED_AT).any(|path| looks_like_step(path))
    }

    /// The names of all steps that were ever recorded.
    pub(crate) fn known_steps(&self) -> Vec<String> {
        let text = lockstep_fs::read_to_string(self.known_path()).unwrap_or_default();
        text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }

    pub(super) fn known_path(&self) -> PathBuf {
        self.project.state.path().join("steps").join("known")
    }

    /// Remembers that a step was recorded.
    pub(crate) fn note_known(&self, name: &str) -> Result<(), StoreError> {
        if self.known_steps().iter().any(|known| known == name) {
            return Ok(());
        }
        self.project.state.ensure_dir("steps")?;
        let line = serde_json::to_string(name).expect("a text is JSON") + "\n";
        append_once(&self.known_path(), line.as_bytes()).map(drop)
    }
}

/// Returns true if a file has the log of a step's phases.
pub(super) fn looks_like_step(path: &Path) -> bool {
    read_text(path).is_ok_and(|text| text.contains("\"phase_execution_log\""))
}

/// The directories below `root` that a pattern names; a part of it may have `*` and `?`. Links are not followed.
fn expand(root: &Path, pattern: &str) -> Vec<PathBuf> {
    let is_dir = |path: &PathBuf| fs::symlink_metadata(path).is_ok_and(|meta| meta.is_dir());
    pattern.split('/').fold(vec![root.to_owned()], |directories, part| {
        let below = |directory: &PathBuf| -> Vec<PathBuf> {
            if !part.contains(['*', '?']) {
                return vec![directory.join(part)];
            }
            let entries = fs::read_dir(directory).into_iter().flatten().flatten();
            let fits = entries.filter(|entry| {
                entry.file_name().to_str().is_some_and(|name| lockstep_text::glob::name_matches(part, name))
            });
            fits.map(|entry| entry.path()).collect()
        };
        directories.iter().flat_map(below).filter(is_dir).collect()
    })
}

/// Adds the step files below a directory, until `left` entries were checked. Directories of other programs
/// are left out.
fn search(dir: &Path, left: &mut usize, paths: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        if *left == 0 {
            return;
        }
        *left -= 1;
        let (path, name) = (entry.path(), entry.file_name());
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            if !OTHERS.iter().any(|other| name == *other) {
                search(&path, left, paths);
            }
        } else if path.extension().is_some_and(|extension| extension == "json") && looks_like_step(&path) {
            paths.push(path);
        }
    }
}

fn collect(dir: &Path, depth: usize, paths: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let (path, kind) = (entry.path(), entry.file_type());
        if kind.as_ref().is_ok_and(|kind| kind.is_dir()) && depth > 0 {
            collect(&path, depth - 1, paths);
        } else if path.extension().is_some_and(|extension| extension == "json") {
            paths.push(path);
        }
    }
}

fn read_text(path: &Path) -> std::io::Result<String> {
    let other = |why: String| std::io::Error::new(std::io::ErrorKind::InvalidData, why);
    let file = lockstep_fs::no_follow().read(true).open(path)?;
    let meta = file.metadata()?;
    if !meta.is_file() {
        return Err(other("it is not a plain file".to_owned()));
    }
    if meta.len() > MAX_BYTES {
        return Err(other(format!("it has {} bytes, more than the {MAX_BYTES} that are read", meta.len())));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(meta.len()).unwrap_or_default() + 1);
    file.take(MAX_BYTES).read_to_end(&mut bytes)?;
    String::from_utf8(bytes).map_err(|_| other("it is not UTF-8".to_owned()))
}
