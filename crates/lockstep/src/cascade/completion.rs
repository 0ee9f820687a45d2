//! The end of a group's agent, and files that need no change.

use std::path::{Path, PathBuf};

use lockstep_cascade::agent_report;
use lockstep_cascade::event::AgentClaim;
use lockstep_cascade::inspector::{Inspector as _, advance};
use lockstep_cascade::{CascadeEvent, cascade_input};

use super::{CascadeContext, CascadeSelector, LoadedCascade};
use crate::error::CommandResult;

/// The user's or agent's report about a cascade.
#[derive(Debug, Clone, Default)]
pub(crate) struct CompletionReport {
    pub(crate) ended: Option<GroupCompletion>,
    /// A dependent needs no change, and why.
    pub(crate) not_needed: Option<(PathBuf, String)>,
}

/// The end of a group's agent, as it is claimed.
#[derive(Debug, Clone, Default)]
pub(crate) struct GroupCompletion {
    pub(crate) group: String,
    pub(crate) complete: bool,
    /// The agent's output. It can only cause warnings.
    pub(crate) report: Vec<u8>,
}

impl CascadeContext {
    /// Records the report, and checks the files.
    pub(crate) fn done(
        &self,
        which: &CascadeSelector,
        directory: &Path,
        completion: &CompletionReport,
    ) -> CommandResult<LoadedCascade> {
        let mut opened = self.require_active(which)?;
        let mut disk = self.disk(&opened, None)?;
        let state = &mut opened.state;
        if let Some((file, why)) = &completion.not_needed {
            let file = self.resolve_dependent_path(directory, file)?;
            advance(state, CascadeEvent::Dismissed { file, why: why.clone() }, &mut disk)?;
        }
        if let Some(ended) = &completion.ended
            && state.is_active()
        {
            let report = agent_report::parse_agent_report(&ended.report, &self.tree.root.to_string_lossy())
                .unwrap_or_default();
            let claim = AgentClaim { complete: ended.complete, ..report.claim };
            let seen = disk.observe(state)?;
            advance(
                state,
                CascadeEvent::AgentFinished { group: ended.group.clone(), claim, seen },
                &mut disk,
            )?;
        }
        Ok(opened)
    }

    /// A dependent as a person names it: from the present directory, or as the reports do.
    fn resolve_dependent_path(&self, directory: &Path, file: &Path) -> CommandResult<String> {
        let root = &self.tree.root;
        let from_here = self.tree.relative(directory, file)?;
        let as_reported =
            file.to_str().and_then(|text| cascade_input::relative(text, &root.to_string_lossy()).ok());
        let exists = |path: &String| root.join(path).exists();
        Ok(Some(from_here.clone()).filter(exists).or(as_reported).unwrap_or(from_here))
    }
}
