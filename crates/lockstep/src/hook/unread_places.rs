//! Changes outside the scope: in nested repositories, behind links that leave the project, and of tracked files
//! that an ignore rule matches.
//!
//! The sweep does not see them. A stop compares their times with that of the last check. A changed file is
//! journaled and analysed. Of a changed directory the files are not read, so a notice names it.

use std::path::{Path, PathBuf};

use lockstep_git::local::{Blob, LocalRepository};
use lockstep_index::catalogue::Catalogue;
use lockstep_index::listed::reported_files;
use lockstep_index::scope::is_left_out;
use lockstep_index::sweep::{last_write, newest_change};
use lockstep_model::change::{ChangeKind, JournalLine};
use lockstep_model::ids::SessionId;
use lockstep_store::Store;
use lockstep_store::originals::OriginalStore;
use lockstep_text::{printable_path, single_line};

use super::HookRun;
use super::error::HookResult;

/// The subject of the notice.
const SUBJECT: &str = "unread";

/// The maximum number of links and nested repositories that are checked.
const MAX_PLACES: usize = 200;

/// More changed tracked files that an ignore rule matches are not compared with the commit.
const MAX_IGNORED_FILES: usize = 500;

/// A place outside the scope, relative to the root, and the time when it was last written.
struct WrittenPlace {
    path: PathBuf,
    at: i64,
}

/// The places that were written since the last check.
#[derive(Default)]
struct Places {
    files: Vec<WrittenPlace>,
    directories: Vec<WrittenPlace>,
}

impl HookRun {
    /// Journals files outside the scope that were written since the last check or the start of the session, and
    /// sends a notice about directories.
    pub(super) fn report_unread_places(&mut self, store: &mut Store, session: &SessionId) {
        let checked = self.check_unread_places(store, session);
        // The report about the files in scope does not depend on it.
        self.faults.extend(checked.err());
    }

    fn check_unread_places(&self, store: &mut Store, session: &SessionId) -> HookResult {
        let project = &self.project;
        if !project.config().journal.sweep.at_stop() {
            return Ok(());
        }
        let Some(catalogue) = Catalogue::load(&project.state)? else { return Ok(()) };
        let befores = OriginalStore::for_session(&project.state, session);
        let since = befores.unread_checked().unwrap_or_else(|| self.session_start(session));
        let mut places = linked_and_nested(&project.root, &catalogue);
        let commit = befores.base().and_then(|base| base.commit);
        let mut ignored = ignored_files(&project.root, &catalogue, commit.as_deref(), since);
        if !ignored.is_empty() {
            let is_reported = reported_files(&project.root, &project.state)?;
            ignored.retain(|file| !is_reported(&file.path));
        }
        places.files.extend(ignored);
        places.files.retain(|file| file.at > since);
        places.directories.retain(|directory| directory.at > since);
        let written = places.files.iter().chain(&places.directories);
        let Some(newest) = written.map(|place| place.at).max() else { return Ok(()) };
        self.journal_unread(store, session, &places.files)?;
        if !places.directories.is_empty() {
            let notice = notice_of(&project.root, &places.directories);
            store.put_notice(session, SUBJECT, &notice, self.now.timestamp())?;
        }
        Ok(befores.set_unread_checked(newest)?)
    }

    fn journal_unread(&self, store: &mut Store, session: &SessionId, files: &[WrittenPlace]) -> HookResult {
        let mut paths: Vec<PathBuf> = files.iter().map(|file| self.project.root.join(&file.path)).collect();
        self.project.drop_own_files(&mut paths);
        if paths.is_empty() {
            return Ok(());
        }
        let windows = self.windows(session).list();
        let lines: Vec<(JournalLine, ChangeKind)> = paths
            .into_iter()
            .map(|path| {
                let kind = if path.exists() { ChangeKind::Written } else { ChangeKind::Deleted };
                let (agent, attribution) = self.attribute(&path, &windows);
                (self.line(path, agent, attribution), kind)
            })
            .collect();
        Ok(store.record_sweep(&self.project.journal(), session, &lines, &|_| true)?)
    }
}

/// Returns the notice about changed directories.
fn notice_of(root: &Path, directories: &[WrittenPlace]) -> String {
    let (repositories, links): (Vec<_>, Vec<_>) =
        directories.iter().partition(|place| root.join(&place.path).join(".git").exists());
    let names = |places: &[&WrittenPlace]| {
        let names: Vec<String> = places.iter().map(|place| printable_path(&place.path).to_string()).collect();
        names.join(", ")
    };
    let mut text = String::from("SRC: dependents are not analysed for changes in");
    if !repositories.is_empty() {
        let names = names(&repositories);
        text += &format!(" other repositories or worktrees: {names}. Run `lockstep impact` there.");
    }
    if !links.is_empty() {
        let also = if repositories.is_empty() { "" } else { " Also in" };
        text += &format!("{also} directories behind links out of the project: {}.", names(&links));
    }
    single_line(&text)
}

/// Returns the nested repositories, and the links that leave the project.
fn linked_and_nested(root: &Path, catalogue: &Catalogue) -> Places {
    let mut places = Places::default();
    let real_root = root.canonicalize().unwrap_or_else(|_| root.to_owned());
    for path in catalogue.unread_places().take(MAX_PLACES) {
        // A dangling link has no target that could change.
        let Ok(real) = root.join(&path).canonicalize() else { continue };
        let is_nested = real == real_root.join(&path);
        let inside = real.strip_prefix(&real_root).ok().filter(|_| !is_nested);
        let is_in_scope = inside.is_some_and(|inside| real.is_dir() || catalogue.has(inside));
        // A parent directory of the project contains everything.
        if is_in_scope || real_root.starts_with(&real) {
            continue;
        }
        let (of_kind, at) = match real.is_dir() {
            true => (&mut places.directories, newest_change(&real)),
            false => (&mut places.files, last_write(&real)),
        };
        of_kind.extend(at.map(|at| WrittenPlace { path, at }));
    }
    places
}

/// Returns the tracked files that an ignore rule matches and that differ from the commit. A file that was last
/// written before `since` is not read.
fn ignored_files(root: &Path, catalogue: &Catalogue, commit: Option<&str>, since: i64) -> Vec<WrittenPlace> {
    let Some(repository) = LocalRepository::discover(root) else { return Vec::new() };
    let unknown = repository.tracked_besides(|path| catalogue.has(Path::new(path))).unwrap_or_default();
    let written = unknown.into_iter().filter_map(|path| {
        let at = last_write(&root.join(&path)).filter(|at| *at > since)?;
        let is_same = commit.is_some_and(|commit| match repository.file(commit, &path) {
            Blob::Content(content) => lockstep_fs::read(root.join(&path)).is_ok_and(|now| now == content),
            Blob::Absent | Blob::Unreadable => false,
        });
        (!is_same && !is_left_out(root, Path::new(&path))).then(|| WrittenPlace { path: path.into(), at })
    });
    written.take(MAX_IGNORED_FILES).collect()
}
