//! A query for impact: its subject, its depth and its time limit.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use lockstep_git::patch::{self, FilePatch};
use lockstep_index::index::{Index, IndexProgress};
use lockstep_model::ids::SessionId;
use lockstep_refs::impact::Edit;
use lockstep_refs::report::Timings;

use super::analysis::{ImpactAnalysis, elapsed_ms};
use super::deadline::Deadline;
use super::lazy_join::LazyJoin;
use crate::error::{CommandError, CommandResult};
use crate::workspace::Workspace;
use crate::workspace::edits::EditSet;

#[derive(Debug, Clone, Default)]
pub(crate) enum ChangeSource {
    /// The differences from the last commit; if there are none, the changes of the last commit.
    #[default]
    Tree,
    /// These files or directories, as they differ from the last commit.
    Files(Vec<PathBuf>),
    /// From one commit to another.
    Range(String),
    Staged,
    /// The changes of a unified diff, and its name.
    Patch {
        text: String,
        name: String,
    },
    /// The changes of a session's agents, or of one of them.
    Session {
        session: SessionId,
        agent: Option<String>,
    },
}

/// A question about impact.
#[derive(Debug, Clone)]
pub(crate) struct ImpactQuery {
    pub(crate) changed: ChangeSource,
    /// Set if files that changed together in git are wanted too.
    pub(crate) history: bool,
    /// The time limit of the whole command.
    pub(crate) limit: Duration,
}

/// The answer, with the tree it is about.
pub(crate) struct ImpactResult {
    pub(crate) tree: Workspace,
    pub(crate) analysis: ImpactAnalysis,
    /// The source of the changes with its preposition: `in the working tree`, `since v1.0`.
    pub(crate) origin: String,
    /// Paths that were named and have not changed since the last commit.
    pub(crate) unchanged: Vec<String>,
}

impl ImpactQuery {
    /// Runs the query in `directory`. The receiver of the progress can also cancel it.
    pub(crate) fn run(&self, directory: &Path, progress: &dyn IndexProgress) -> CommandResult<ImpactResult> {
        let started = Instant::now();
        let progress: &dyn IndexProgress = &Deadline::within(self.limit, progress);
        let tree = Workspace::discover(directory)?;
        // Git determines the changes while the index is opened, and the index is queried while the disk is
        // checked.
        let (asked, (edits, changes)) = std::thread::scope(|scope| {
            let git = LazyJoin::new(scope.spawn(|| (self.edits(&tree, directory), elapsed_ms(started))));
            let edits = || git.get().0.as_ref().map_or(&[][..], |changed| &changed.edits);
            // A file that the index has in another version will be found changed anyway.
            let is_worth_it = |index: &Index| edits().iter().all(|edit| index.is_current(&edit.path));
            let asked = tree.query_index(progress, is_worth_it, |index| {
                let opened = elapsed_ms(started);
                (opened, analyse(&tree, index, edits(), progress))
            });
            (asked, git.into_inner())
        });
        let EditSet { origin, unchanged, .. } = edits?;
        let (mut index, (opened, mut analysis)) = asked?;
        analysis.notes.extend(
            unchanged
                .iter()
                .map(|path| format!("{} has not changed since the last commit.", shown_path(path))),
        );
        analysis.unread = index.unread_files();
        if let Some(store) = tree.store()? {
            analysis.drop_dismissed(&store)?;
        }
        // Facts that could not be saved are parsed again the next time, which is no reason to fail.
        let _ = index.persist_facts();
        if self.history {
            analysis.add_history(tree.repository()?)?;
        }
        let Timings { impact, .. } = analysis.timings;
        analysis.timings = Timings { index: opened, changes, impact, total: elapsed_ms(started) };
        Ok(ImpactResult { tree, analysis, origin, unchanged })
    }

    fn edits(&self, tree: &Workspace, directory: &Path) -> CommandResult<EditSet> {
        match &self.changed {
            ChangeSource::Tree => tree.edits_by_default(),
            ChangeSource::Files(files) => {
                let relative = |file: &PathBuf| tree.relative(directory, file);
                let paths: Vec<String> = files.iter().map(relative).collect::<Result<_, _>>()?;
                tree.edits_of_files(&paths)
            }
            ChangeSource::Range(range) => {
                let between = tree.repository()?.parse_range(range).map_err(|error| {
                    CommandError::from(error)
                        .hint("commits are named as git names them: A..B, A...B, or A alone")
                })?;
                tree.edits_between(&between, origin_of_range(range))
            }
            ChangeSource::Staged => {
                tree.edits_between(&lockstep_git::DiffRange::HeadToIndex, "in what is staged".to_owned())
            }
            ChangeSource::Patch { text, name } => tree.edits_of_patch(&patches(text, name)?, name),
            ChangeSource::Session { session, agent } => tree.edits_of_session(session, agent.as_deref()),
        }
    }
}

impl ImpactResult {
    /// Returns true if a cascade is active. Then it continues, whatever the report says.
    pub(crate) fn in_cascade(&self) -> CommandResult<bool> {
        let store = self.tree.store()?;
        Ok(store.map(|store| store.active_cascades()).transpose()?.is_some_and(|active| !active.is_empty()))
    }
}

fn analyse(tree: &Workspace, index: &Index, edits: &[Edit], progress: &dyn IndexProgress) -> ImpactAnalysis {
    // An answer that will be discarded need not be finished.
    let is_over = || progress.is_out_of_time() || progress.is_cancelled() || index.is_outdated();
    ImpactAnalysis::of(&tree.root, index, &tree.aliases(), edits, &is_over)
}

/// Describes a range: a single revision means the changes since it, a range those in it.
fn origin_of_range(range: &str) -> String {
    if range.contains("..") { format!("in {range}") } else { format!("since {range}") }
}

/// The path as it is printed; the root is the empty path.
pub(crate) fn shown_path(path: &str) -> &str {
    if path.is_empty() { "." } else { path }
}

fn patches(text: &str, name: &str) -> CommandResult<Vec<FilePatch>> {
    let patches = patch::parse(text).map_err(|error| {
        CommandError::usage(format!("{name} is not a patch: {error}"))
            .hint("write one with `git diff > fix.diff`")
    })?;
    if patches.is_empty() {
        return Err(CommandError::usage(format!("{name} changes no file"))
            .hint("write a patch with `git diff > fix.diff`"));
    }
    Ok(patches)
}
