//! A session's scratch, read and written by its rules.

use lockstep_model::ids::SessionId;
use lockstep_task::problem::{Diagnostics, DocumentProblem};
use lockstep_task::scratch::{Scratch, may_write};
use lockstep_task::write_check::RefusalReason;

use super::writer::TaskWriter;
use super::{TaskContext, TaskError};

impl TaskContext<'_> {
    /// The scratch of a session, if it has some.
    pub(crate) fn scratch(&self, session: &SessionId) -> Result<Option<Scratch>, TaskError> {
        match self.store.scratch(session)? {
            None => Ok(None),
            Some(text) => Ok(Some(Scratch::read(text.as_bytes()).map_err(|findings| stored(&findings))?)),
        }
    }

    /// Replaces the scratch by the result of `change`; its refusals are returned.
    pub(crate) fn set_scratch(
        &mut self,
        session: &SessionId,
        mut change: impl FnMut(Scratch) -> Result<Scratch, Diagnostics>,
    ) -> Result<Result<Scratch, Diagnostics>, TaskError> {
        loop {
            let before = self.store.scratch(session)?;
            let next = match change(self.scratch(session)?.unwrap_or_default()) {
                Ok(next) => next,
                Err(findings) => return Ok(Err(findings)),
            };
            if self.store.swap_scratch(session, before.as_deref(), &next.to_yaml(), self.now)? {
                return Ok(Ok(next));
            }
        }
    }

    /// Returns an error if the writer may not write scratch.
    pub(crate) fn may_write_scratch(&self, writer: &TaskWriter) -> Result<(), RefusalReason> {
        may_write(&writer.principal, &self.access).map_err(RefusalReason::Access)
    }
}

fn stored(findings: &Diagnostics) -> TaskError {
    let problem = findings
        .problems
        .first()
        .cloned()
        .unwrap_or_else(|| DocumentProblem::of("scratch", "it cannot be read", "write it anew"));
    TaskError::Scratch(problem)
}
