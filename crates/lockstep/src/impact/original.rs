//! Original contents: what changed files were before, from the first source that knows.
//!
//! An event that told it comes first, then the file at the last report, then the file when the session started. The index may know
//! what was defined in a file when it was last read. The last source is the commit that was checked out.

use std::cell::OnceCell;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lockstep_git::local::{Blob, DiskFile, LocalRepository, LocalStatus};
use lockstep_index::catalogue::Catalogue;
use lockstep_index::index::Index;
use lockstep_model::event::Former;
use lockstep_model::ids::{AgentId, SessionId};
use lockstep_refs::impact::{Before, Edit};
use lockstep_store::befores::{Befores, SessionBase};

use super::edits::text;
use crate::project::ActiveProject;

/// More files that differ from the commit are not saved when a session starts.
const MAX_SAVED_FILES: usize = 500;

/// Nor are more bytes.
const MAX_SAVED_BYTES: u64 = 8 << 20;

/// Nor is a larger file.
const MAX_FILE_BYTES: u64 = 1 << 20;

/// The moment whose contents are wanted.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Since<'a> {
    /// The last report of this agent's changes; `None` is the Lead.
    Report(Option<&'a AgentId>),
    /// The start of the session.
    Start,
}

/// The original contents of a session's files.
pub(crate) struct Originals<'a> {
    root: &'a Path,
    befores: Befores<'a>,
    since: Since<'a>,
    base: OnceCell<SessionBase>,
    repository: OnceCell<Option<LocalRepository>>,
}

impl<'a> Originals<'a> {
    pub(crate) fn new(project: &'a ActiveProject, session: &'a SessionId, since: Since<'a>) -> Self {
        Self {
            root: &project.root,
            befores: Befores::of(&project.state, session),
            since,
            base: OnceCell::new(),
            repository: OnceCell::new(),
        }
    }

    /// Returns the content that an event or a report has saved.
    pub(crate) fn saved(&self, path: &Path) -> Option<Former> {
        match self.since {
            Since::Report(agent) => self.befores.since_report(path, agent),
            // An event may have come after a change that no event told of. The start is earlier.
            Since::Start => {
                let started = self.relative(path).and_then(|path| self.at_start(&path));
                started.or_else(|| self.befores.since_start(path))
            }
        }
    }

    /// Returns the content that is known without an index.
    pub(crate) fn content(&self, path: &Path) -> Option<Former> {
        let relative = self.relative(path)?;
        self.saved(path).or_else(|| self.at_start(&relative)).or_else(|| self.in_commit(&relative))
    }

    /// Fills in the original contents that are not known yet.
    pub(crate) fn fill(&self, index: &Index, edits: &mut [Edit]) {
        for edit in edits.iter_mut().filter(|edit| matches!(edit.before, Before::Unknown)) {
            let path = edit.former.as_deref().unwrap_or(&edit.path);
            edit.before = match self.at_start(path) {
                Some(former) => before(former),
                None => match index.former_facts(path) {
                    Some(facts) => Before::Facts(Arc::new(facts)),
                    None => self.in_commit(path).map_or(Before::Unknown, before),
                },
            };
        }
    }

    /// Returns the file when the session started, if its start was seen and everything about it was saved.
    fn at_start(&self, path: &str) -> Option<Former> {
        let base = self.base();
        if let Some(text) = base.contents.get(path) {
            return Some(Former::Text(text.clone()));
        }
        if !base.is_complete || base.unsaved.contains(path) {
            return None;
        }
        match (&base.commit, self.repository()) {
            (Some(commit), Some(repository)) => match repository.file(commit, path) {
                Blob::Content(bytes) => Some(Former::Text(text(&bytes).to_string())),
                Blob::Absent => Some(Former::Absent),
                Blob::Unreadable => None,
            },
            (Some(_), None) => None,
            (None, _) => Some(Former::Absent),
        }
    }

    /// Returns the file in the commit that was checked out when the session was first seen. A file that the commit does not have may
    /// have existed all the same.
    fn in_commit(&self, path: &str) -> Option<Former> {
        let repository = self.repository()?;
        let commit = self.base().commit.clone().or_else(|| repository.head())?;
        match repository.file(&commit, path) {
            Blob::Content(bytes) => Some(Former::Text(text(&bytes).to_string())),
            Blob::Absent | Blob::Unreadable => None,
        }
    }

    fn base(&self) -> &SessionBase {
        self.base.get_or_init(|| self.befores.base().unwrap_or_default())
    }

    fn repository(&self) -> Option<&LocalRepository> {
        self.repository.get_or_init(|| LocalRepository::discover(self.root)).as_ref()
    }

    fn relative(&self, path: &Path) -> Option<String> {
        path.strip_prefix(self.root).ok().and_then(Path::to_str).map(str::to_owned)
    }
}

fn before(former: Former) -> Before {
    match former {
        Former::Absent => Before::Absent,
        Former::Text(text) => Before::Text(text.into()),
    }
}

impl ActiveProject {
    /// Returns the files as they are: the commit that is checked out, and the contents that differ from it.
    pub(crate) fn session_base(&self, catalogue: &Catalogue) -> SessionBase {
        let files = disk_files(catalogue);
        let repository = LocalRepository::discover(&self.root);
        let status = repository.as_ref().and_then(|repository| repository.status(&self.root, &files));
        let commit = repository.as_ref().and_then(LocalRepository::head);
        let differing: Vec<&DiskFile> = match &status {
            Some(status) => {
                let by_path = |path: &String| files.binary_search_by(|file| file.path.cmp(path)).ok();
                let present = status.iter().filter(|(_, status)| *status != LocalStatus::Deleted);
                present.filter_map(|(path, _)| by_path(path).map(|at| &files[at])).collect()
            }
            None => files.iter().collect(),
        };
        let commit = commit.filter(|_| status.is_some());
        let bytes: u64 = differing.iter().map(|file| file.size.min(MAX_FILE_BYTES)).sum();
        let mut base = SessionBase { commit, ..SessionBase::default() };
        if differing.len() > MAX_SAVED_FILES || bytes > MAX_SAVED_BYTES {
            return base;
        }
        for file in differing {
            let is_small = file.size <= MAX_FILE_BYTES;
            match std::fs::read_to_string(self.root.join(&file.path)).ok().filter(|_| is_small) {
                Some(text) => drop(base.contents.insert(file.path.clone(), text)),
                None => drop(base.unsaved.insert(file.path.clone())),
            }
        }
        base.is_complete = true;
        base
    }

    /// Returns how the files differ from the checked-out commit; `None` where git cannot tell.
    pub(crate) fn changes_since_commit(&self, catalogue: &Catalogue) -> Option<Vec<(PathBuf, LocalStatus)>> {
        let status = LocalRepository::discover(&self.root)?.status(&self.root, &disk_files(catalogue))?;
        Some(status.into_iter().map(|(path, status)| (PathBuf::from(path), status)).collect())
    }
}

/// The files of a catalogue, sorted by path. Paths that are not UTF-8 are left out.
fn disk_files(catalogue: &Catalogue) -> Vec<DiskFile> {
    let file = |file: lockstep_index::catalogue::CataloguedFile| {
        let path = file.path.to_str()?.to_owned();
        Some(DiskFile { path, size: file.size, mtime: file.mtime, inode: file.inode })
    };
    let mut files: Vec<DiskFile> = catalogue.files().filter_map(file).collect();
    files.sort_by(|a, b| a.path.cmp(&b.path));
    files
}
