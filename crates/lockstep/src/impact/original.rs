//! Original contents of changed files, from the first available source.
//!
//! The sources are: an event, then the file at the last report, then the file when the session started. The
//! index may have the definitions of a file when it was last read. The last source is the commit that was
//! checked out.

use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lockstep_git::local::{Blob, DiskFile, LocalRepository, LocalStatus};
use lockstep_index::catalogue::Catalogue;
use lockstep_index::index::Index;
use lockstep_index::scope::is_rule_file;
use lockstep_model::event::OriginalContent;
use lockstep_model::ids::{AgentId, SessionId};
use lockstep_refs::impact::{Before, Edit};
use lockstep_refs::language::Language;
use lockstep_store::originals::{OriginalStore, SessionBase};

use crate::project::ActiveProject;
use crate::workspace::edits::{read_text, text};

/// More files that differ from the commit are not saved when a session starts.
const MAX_SAVED_FILES: usize = 500;

/// Nor are more bytes.
const MAX_SAVED_BYTES: u64 = 8 << 20;

/// Nor is a larger file.
const MAX_FILE_BYTES: u64 = 1 << 20;

/// If more files differ from the commit, the contents of the others are unknown too.
const MAX_DIFFERING_FILES: usize = 5_000;

/// The point in time whose contents are requested.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Since<'a> {
    /// The last report of this agent's changes; `None` is the Lead.
    Report(Option<&'a AgentId>),
    Start,
}

/// The original contents of a session's files.
pub(crate) struct Originals<'a> {
    root: &'a Path,
    befores: OriginalStore<'a>,
    since: Since<'a>,
    base: OnceCell<SessionBase>,
    repository: OnceCell<Option<LocalRepository>>,
    /// Directories whose ignore file differs from that at the start of the session.
    changed_rules: RefCell<HashMap<PathBuf, bool>>,
}

impl<'a> Originals<'a> {
    pub(crate) fn new(project: &'a ActiveProject, session: &'a SessionId, since: Since<'a>) -> Self {
        Self {
            root: &project.root,
            befores: OriginalStore::for_session(&project.state, session),
            since,
            base: OnceCell::new(),
            repository: OnceCell::new(),
            changed_rules: RefCell::default(),
        }
    }

    /// Returns the content that an event or a report has saved.
    pub(crate) fn saved(&self, path: &Path) -> Option<OriginalContent> {
        match self.since {
            Since::Report(agent) => self.befores.at_last_report(path, agent),
            // An event may have come after a change without an event. The start is earlier.
            Since::Start => {
                let started = self.relative(path).and_then(|path| self.at_start(&path));
                started.or_else(|| self.befores.at_session_start(path))
            }
        }
    }

    /// Returns the content that is known without an index.
    pub(crate) fn content(&self, path: &Path) -> Option<OriginalContent> {
        let relative = self.relative(path)?;
        self.saved(path).or_else(|| self.at_start(&relative)).or_else(|| self.in_commit(&relative))
    }

    /// Fills in the unknown original contents. Returns the files whose original is only assumed to be that of
    /// the commit: the session was first seen after a change, so they may have differed from it before.
    pub(crate) fn fill(&self, index: &Index, edits: &mut [Edit]) -> Vec<String> {
        let mut assumed = Vec::new();
        for edit in edits.iter_mut().filter(|edit| matches!(edit.before, Before::Unknown)) {
            let path = edit.former.as_deref().unwrap_or(&edit.path);
            let started = self.at_start(path);
            let committed = if started.is_none() { self.in_commit(path) } else { None };
            edit.before = match (started, committed, index.old_facts(path)) {
                (Some(former), ..) => before(former),
                // The index does not have the names by which such a file is used.
                (None, Some(committed), Some(_)) if Language::of(path).is_used_whole() => before(committed),
                (None, _, Some(facts)) => Before::Facts(Arc::new(facts)),
                (None, committed, None) => {
                    assumed.extend((!self.base().is_complete).then(|| edit.path.clone()));
                    committed.map_or(Before::Unknown, before)
                }
            };
        }
        assumed
    }

    /// Returns the file when the session started, if its start was seen and everything about it was saved.
    fn at_start(&self, path: &str) -> Option<OriginalContent> {
        let base = self.base();
        if let Some(text) = base.contents.get(path) {
            return Some(OriginalContent::Text(text.clone()));
        }
        if base.absent.contains(path) {
            return Some(OriginalContent::Absent);
        }
        if !base.is_complete || base.unsaved.contains(path) {
            return None;
        }
        match (&base.commit, self.repository()) {
            (Some(commit), Some(repository)) => match repository.file(commit, path) {
                Blob::Content(bytes) => Some(OriginalContent::Text(text(&bytes).to_string())),
                Blob::Absent if self.was_perhaps_ignored(path) => None,
                Blob::Absent => Some(OriginalContent::Absent),
                Blob::Unreadable => None,
            },
            (Some(_), None) => None,
            (None, _) => Some(OriginalContent::Absent),
        }
    }

    /// Returns true if the ignore rules for a file changed since the session started: the file may have existed
    /// out of scope.
    fn was_perhaps_ignored(&self, path: &str) -> bool {
        let path = Path::new(path);
        !path.file_name().is_some_and(is_rule_file)
            && path.ancestors().skip(1).any(|directory| self.has_other_rules(directory))
    }

    fn has_other_rules(&self, directory: &Path) -> bool {
        if let Some(known) = self.changed_rules.borrow().get(directory) {
            return *known;
        }
        let rules = directory.join(".gitignore");
        let started = match rules.to_str().and_then(|rules| self.at_start(rules)) {
            Some(OriginalContent::Text(text)) => text,
            Some(OriginalContent::Absent) | None => String::new(),
        };
        let now = lockstep_fs::read_text(self.root.join(&rules)).unwrap_or_default();
        // Git may convert line ends at the checkout.
        let is_other = !now.lines().eq(started.lines());
        self.changed_rules.borrow_mut().insert(directory.to_owned(), is_other);
        is_other
    }

    /// Returns the file in the commit that was checked out when the session was first seen. A file that is
    /// not in the commit may nevertheless have existed.
    fn in_commit(&self, path: &str) -> Option<OriginalContent> {
        let repository = self.repository()?;
        let commit = self.base().commit.clone().or_else(|| repository.head())?;
        match repository.file(&commit, path) {
            Blob::Content(bytes) => Some(OriginalContent::Text(text(&bytes).to_string())),
            Blob::Absent | Blob::Unreadable => None,
        }
    }

    fn base(&self) -> &SessionBase {
        self.base.get_or_init(|| self.befores.base().unwrap_or_default())
    }

    fn repository(&self) -> Option<&LocalRepository> {
        self.repository.get_or_init(|| LocalRepository::discover(self.root)).as_ref()
    }

    /// Returns the path of a file of the project relative to its root.
    pub(crate) fn relative(&self, path: &Path) -> Option<String> {
        path.strip_prefix(self.root).ok().and_then(lockstep_text::path_text)
    }
}

fn before(former: OriginalContent) -> Before {
    match former {
        OriginalContent::Absent => Before::Absent,
        OriginalContent::Text(text) => Before::Text(text.into()),
    }
}

impl ActiveProject {
    /// Returns the files as they are: the commit that is checked out, and the contents that differ from it.
    pub(crate) fn session_base(&self, catalogue: &Catalogue) -> SessionBase {
        let files = disk_files(catalogue);
        let repository = LocalRepository::discover(&self.root);
        let status = repository.as_ref().and_then(|repository| repository.status(&self.root, &files));
        let commit = repository.as_ref().and_then(LocalRepository::head);
        let commit = commit.filter(|_| status.is_some());
        let mut base = SessionBase { commit, ..SessionBase::default() };
        let (differing, deleted) = differing_files(&files, status);
        if differing.len() + deleted.len() > MAX_DIFFERING_FILES {
            return base;
        }
        let (mut count, mut bytes) = (0, 0);
        for file in differing {
            let is_small = file.size <= MAX_FILE_BYTES;
            let fits = is_small && count < MAX_SAVED_FILES && bytes + file.size <= MAX_SAVED_BYTES;
            let text = fits.then(|| read_text(&self.root.join(&file.path))).flatten();
            if text.is_some() {
                (count, bytes) = (count + 1, bytes + file.size);
            }
            base.set(&file.path, text.map(OriginalContent::Text));
        }
        base.absent = deleted;
        base.is_complete = true;
        base
    }

    /// Returns the differences of the files from a commit. `None` if git cannot determine them.
    pub(crate) fn changes_since_commit(
        &self,
        commit: &str,
        catalogue: &Catalogue,
    ) -> Option<Vec<(PathBuf, LocalStatus)>> {
        let repository = LocalRepository::discover(&self.root)?;
        let status = repository.status_since(commit, &self.root, &disk_files(catalogue))?;
        Some(status.into_iter().map(|(path, status)| (PathBuf::from(path), status)).collect())
    }
}

/// Returns the files that differ from the commit, those that the commit has first, and the paths of deleted ones. Without a status
/// every file differs. `files` are sorted by path.
fn differing_files(
    files: &[DiskFile],
    status: Option<Vec<(String, LocalStatus)>>,
) -> (Vec<&DiskFile>, BTreeSet<String>) {
    let Some(status) = status else { return (files.iter().collect(), BTreeSet::new()) };
    let on_disk =
        |path: &str| files.binary_search_by(|file| (*file.path).cmp(path)).ok().map(|at| &files[at]);
    let of_kind = |kind: LocalStatus| {
        status.iter().filter(move |(_, candidate)| *candidate == kind).map(|(path, _)| path)
    };
    let present = of_kind(LocalStatus::Modified).chain(of_kind(LocalStatus::Added));
    let deleted = of_kind(LocalStatus::Deleted).cloned().collect();
    (present.filter_map(|path| on_disk(path)).collect(), deleted)
}

/// The files of a catalogue, sorted by path. Paths that are not UTF-8 are left out.
fn disk_files(catalogue: &Catalogue) -> Vec<DiskFile> {
    let file = |file: lockstep_index::catalogue::CataloguedFile| {
        let path = lockstep_text::path_text(&file.path)?;
        Some(DiskFile { path, size: file.size, mtime: file.mtime, inode: file.inode })
    };
    let mut files: Vec<DiskFile> = catalogue.files().filter_map(file).collect();
    files.sort_by(|a, b| a.path.cmp(&b.path));
    files
}
