//! The changes of a session's agents.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use lockstep_model::change::ChangeKind;
use lockstep_model::event::OriginalContent;
use lockstep_model::ids::SessionId;
use lockstep_refs::impact::{After, Before, Edit};
use lockstep_store::Store;
use lockstep_store::history::{ChangeFilter, RecordedChange};

use crate::error::{CommandError, CommandResult};
use crate::impact::moves;
use crate::impact::original::{Originals, Since};
use crate::workspace::Workspace;
use crate::workspace::edits::{EditSet, text};

impl Workspace {
    /// Returns the changes of a session's agents, or of one of them. A former content that the client did not
    /// report is taken from git, if git has it.
    pub(crate) fn edits_of_session(
        &self,
        session: &SessionId,
        agent: Option<&str>,
    ) -> CommandResult<EditSet> {
        let Some(project) = &self.project else {
            return Err(CommandError::usage(format!(
                "no session is journaled in {}: it has no lockstep.toml",
                self.root.display()
            ))
            .hint("`lockstep init` makes the project active"));
        };
        let mut store = Store::open(&project.state)?;
        project.import_journals(&mut store)?;
        let mut changes =
            store.changes(&ChangeFilter { session: Some(session), ..ChangeFilter::default() })?;
        if changes.is_empty() && !store.has_session(session)? {
            return Err(CommandError::usage(format!("no session {session} was journaled here"))
                .hint("`lockstep changes` lists the sessions that changed something"));
        }
        let all = changes.len();
        changes.retain(|change| agent.is_none_or(|agent| change.is_by(agent)));
        if let Some(agent) = agent.filter(|agent| *agent != "lead" && changes.is_empty() && all > 0) {
            return Err(CommandError::usage(format!(
                "no agent {agent:?} changed anything in session {session}"
            ))
            .hint("`lockstep changes --session ID` names those that did"));
        }
        let originals = Originals::new(project, session, Since::Start);
        let mut edits = edits_of_changes(&self.root, &changes, |path| originals.saved(path));
        self.fill_originals_from_git(&mut edits)?;
        let edits = moves::join(edits, &self.root);
        Ok(EditSet { edits, origin: format!("in session {session}"), ..EditSet::default() })
    }

    fn fill_originals_from_git(&self, edits: &mut [Edit]) -> CommandResult<()> {
        let Some(repository) = &self.repository else { return Ok(()) };
        let Some(head) = repository.head()? else { return Ok(()) };
        let unknown: Vec<usize> =
            (0..edits.len()).filter(|at| matches!(edits[*at].before, Before::Unknown)).collect();
        let paths: Vec<String> = unknown
            .iter()
            .map(|at| edits[*at].former.clone().unwrap_or_else(|| edits[*at].path.clone()))
            .collect();
        for (at, content) in unknown.into_iter().zip(repository.read_blobs(&head, &paths)?) {
            edits[at].before = content.map_or(Before::Unknown, |bytes| Before::Text(text(&bytes)));
        }
        Ok(())
    }
}

/// Returns the edits for journaled changes: one for each file, from its former content to the present one.
pub(crate) fn edits_of_changes(
    root: &Path,
    changes: &[RecordedChange],
    former: impl Fn(&Path) -> Option<OriginalContent>,
) -> Vec<Edit> {
    let mut renamed: BTreeMap<PathBuf, PathBuf> = BTreeMap::new();
    let mut created = BTreeSet::new();
    let mut paths = BTreeSet::new();
    let mut seen = BTreeSet::new();
    for change in changes {
        let path = &change.line.path;
        let is_first = seen.insert(path);
        match &change.kind {
            ChangeKind::RenamedTo(_) => continue,
            ChangeKind::RenamedFrom(from) => {
                // Of several consecutive moves only the first path is kept.
                let origin = renamed.remove(from).unwrap_or_else(|| from.clone());
                paths.remove(from);
                renamed.insert(path.clone(), origin);
            }
            // A file that is created after its deletion had a content before.
            ChangeKind::Created if is_first => drop(created.insert(path.clone())),
            ChangeKind::Created | ChangeKind::Written | ChangeKind::Deleted => {}
        }
        paths.insert(path.clone());
    }
    let relative = |path: &Path| path.strip_prefix(root).ok().and_then(lockstep_text::path_text);
    let edit = |path: &PathBuf| {
        let origin = renamed.get(path);
        let before = match former(origin.unwrap_or(path)) {
            Some(OriginalContent::Absent) => Before::Absent,
            Some(OriginalContent::Text(text)) => Before::Text(text.into()),
            None if created.contains(path) && origin.is_none() => Before::Absent,
            None => Before::Unknown,
        };
        let is_removed = std::fs::symlink_metadata(path).is_err();
        Some(Edit {
            path: relative(path)?,
            former: origin.and_then(|path| relative(path)),
            before,
            after: if is_removed { After::Gone } else { After::Present },
        })
    };
    // Files that were created and deleted again have no effect.
    let passing = |edit: &Edit| matches!((&edit.before, &edit.after), (Before::Absent, After::Gone));
    paths.iter().filter_map(edit).filter(|edit| !passing(edit)).collect()
}
