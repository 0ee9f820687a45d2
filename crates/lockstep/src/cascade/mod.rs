//! Cascades of a project: selecting one, starting it, reading the disk for it, and saving it.
//!
//! `lockstep-cascade` has the transitions; this module uses files, git, the index and the store. The command
//! line, `cascade run` and the MCP server call the same functions.

pub(crate) mod active;
mod analysis;
pub(crate) mod completion;
pub(crate) mod dispatch;
mod inspector;
mod prompts;
mod reports;
pub(crate) mod run;
mod start;
pub(crate) mod status;
pub(crate) mod supervisor;
pub(crate) mod verification;

use std::collections::BTreeMap;
use std::path::Path;

use jiff::Timestamp;
use lockstep_cascade::inspector::{Inspector as _, advance};
use lockstep_cascade::state::FORMAT;
use lockstep_cascade::{Cascade, CascadeEvent, TransitionError};
use lockstep_model::ids::SessionId;
use lockstep_store::Store;
use lockstep_store::cascades::CascadeRecord;

pub(crate) use inspector::DiskInspector;
pub(crate) use prompts::GroupPrompt;
pub(crate) use start::CascadeSource;

use crate::error::{CommandError, CommandResult};
use crate::project::ActiveProject;
use crate::workspace::Workspace;

/// Which cascade a command is about.
#[derive(Debug, Clone, Default)]
pub(crate) struct CascadeSelector {
    /// By its number.
    pub(crate) id: Option<i64>,
    /// The session in which the cascade was started. If this session has none, another one is used.
    pub(crate) session: Option<SessionId>,
}

pub(crate) struct CascadeContext {
    pub(crate) tree: Workspace,
    pub(crate) store: Store,
}

pub(crate) struct LoadedCascade {
    pub(crate) record: CascadeRecord,
    pub(crate) state: Cascade,
}

impl CascadeContext {
    /// Returns the cascades of the project that a command in `directory` is about.
    pub(crate) fn discover(directory: &Path) -> CommandResult<Self> {
        let tree = Workspace::of_active(directory)?;
        let store = Store::open(&project_of(&tree).state)?;
        Ok(Self { tree, store })
    }

    pub(crate) fn project(&self) -> &ActiveProject {
        project_of(&self.tree)
    }

    /// Returns the active cascade. A new session continues with that of an earlier one.
    pub(crate) fn active(&self, which: &CascadeSelector) -> CommandResult<Option<LoadedCascade>> {
        self.select(which)?.map(load).transpose()
    }

    /// Ends the active cascade if its state cannot be read, and returns its number. `None` if it can be read,
    /// so that it can be ended normally.
    pub(crate) fn force_end(&mut self, which: &CascadeSelector, at: Timestamp) -> CommandResult<Option<i64>> {
        let Some(record) = self.select(which)?.filter(|record| read(record).is_err()) else {
            return Ok(None);
        };
        self.store.force_end_cascade(record.id, at)?;
        Ok(Some(record.id))
    }

    fn select(&self, which: &CascadeSelector) -> CommandResult<Option<CascadeRecord>> {
        let mut active = self.store.active_cascades()?;
        if let Some(id) = which.id {
            active.retain(|record| record.id == id);
        }
        let own = |record: &CascadeRecord| {
            which.session.as_ref().is_some_and(|session| record.session.as_deref() == Some(session.as_str()))
        };
        if active.len() > 1 && active.iter().filter(|record| own(record)).count() == 1 {
            active.retain(own);
        }
        if active.len() > 1 {
            let ids: Vec<String> = active.iter().map(|record| record.id.to_string()).collect();
            let message = format!("several cascades are active: {}", ids.join(", "));
            return Err(CommandError::usage(message).hint("name one with `--id`"));
        }
        Ok(active.pop())
    }

    /// Returns the active cascade, or an error if there is none.
    pub(crate) fn require_active(&self, which: &CascadeSelector) -> CommandResult<LoadedCascade> {
        self.active(which)?.ok_or_else(|| {
            let what = match which.id {
                Some(id) => format!("cascade {id} is not active"),
                None => "no cascade is active".to_owned(),
            };
            CommandError::usage(what)
                .hint("`lockstep cascade start` starts one; `lockstep cascade status` shows the last one")
        })
    }

    /// Returns the active cascade, otherwise the newest.
    pub(crate) fn active_or_newest(&self, which: &CascadeSelector) -> CommandResult<Option<LoadedCascade>> {
        if let Some(active) = self.active(which)? {
            return Ok(Some(active));
        }
        self.store.cascade(which.id)?.map(load).transpose()
    }

    /// Returns the disk reader for a cascade that is only planned.
    pub(crate) fn preview(&self, contents: BTreeMap<String, Vec<u8>>) -> CommandResult<DiskInspector<'_>> {
        DiskInspector::for_preview(&self.tree, self.project(), contents)
    }

    pub(crate) fn disk<'a>(
        &'a self,
        opened: &LoadedCascade,
        verify: Option<&'a str>,
    ) -> CommandResult<DiskInspector<'a>> {
        DiskInspector::open(&self.tree, self.project(), opened, verify)
    }
}

/// Gives a group to an agent.
pub(crate) fn dispatch_group(
    state: &mut Cascade,
    disk: &mut DiskInspector<'_>,
    group: &str,
) -> CommandResult<()> {
    let found = state.group(group).cloned();
    let before = found.map_or_else(|| Ok(Default::default()), |group| disk.group_contents(state, &group))?;
    advance(state, CascadeEvent::Dispatched { group: group.to_owned(), before }, disk).map(drop)
}

fn project_of(tree: &Workspace) -> &ActiveProject {
    tree.project.as_ref().expect("cascades are only opened for active projects")
}

fn load(record: CascadeRecord) -> CommandResult<LoadedCascade> {
    let state = read(&record).map_err(|why| {
        CommandError::store(format!("the state of cascade {} cannot be read: {why}", record.id))
            .hint("another version of lockstep wrote it; `lockstep cascade abort --why REASON` gives it up")
    })?;
    Ok(LoadedCascade { record, state })
}

fn read(record: &CascadeRecord) -> Result<Cascade, String> {
    let state: Cascade = serde_json::from_str(&record.state).map_err(|error| error.to_string())?;
    match state.format {
        FORMAT => Ok(state),
        other => Err(format!("its format is {other}, this version knows {FORMAT}")),
    }
}

impl From<TransitionError> for CommandError {
    fn from(refused: TransitionError) -> Self {
        Self::usage(refused.to_string())
    }
}
