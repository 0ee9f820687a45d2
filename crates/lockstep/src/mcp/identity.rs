//! The identity of a caller. A client shares one server among its Lead and all subagents, and a call does not
//! identify its agent. A writer therefore names itself, unless the server was started for one agent.

use lockstep_model::ids::SessionId;
use lockstep_task::access::Principal;

use crate::env_vars::CLAUDE_CODE_SESSION_ID;
use crate::error::{CommandError, CommandResult};
use crate::task::writer::TaskWriter;

/// The agent that the server was started for, and its permissions.
#[derive(Debug, Clone, Default)]
pub(crate) struct CallerIdentity {
    /// The only one that it acts for.
    pub(crate) bound: Option<String>,
    /// Set if tools may run commands as evidence.
    pub(crate) may_run: bool,
}

/// A caller's claims about a write of the task.
#[derive(Debug, Clone, Default)]
pub(super) struct IdentityClaim {
    pub(super) name: Option<String>,
    pub(super) skill: Option<String>,
    pub(super) why: Option<String>,
}

impl CallerIdentity {
    /// Returns the name of a caller: the one that the server was started for, otherwise the claimed one.
    pub(super) fn name<'a>(&'a self, claimed: Option<&'a str>) -> CommandResult<Option<&'a str>> {
        match (self.bound.as_deref(), claimed) {
            (Some(bound), Some(claimed)) if !bound.eq_ignore_ascii_case(claimed) => Err(CommandError::usage(
                format!("this server acts for {bound}, and not for {claimed}"),
            )
            .hint(format!("leave `as` out, or call the server that was started without `--as {bound}`"))),
            (bound, claimed) => Ok(bound.or(claimed)),
        }
    }

    /// Returns the writer of the task. No caller counts as the Lead by default.
    pub(super) fn writer(&self, claim: IdentityClaim, tool: &str) -> CommandResult<TaskWriter> {
        let name = self.name(claim.name.as_deref())?.ok_or_else(|| {
            CommandError::usage("nobody said who writes the task")
                .hint("name yourself with `as`: \"lead\", or your agent type as the access rules name it")
                .hint(
                    "a client shares one server among its Lead and all subagents, so the server cannot tell; \
                     `lockstep task access` shows who may write what",
                )
        })?;
        Ok(self.as_writer(Some(name), claim.clone(), tool))
    }

    /// Returns the reader of the task, if it names itself.
    pub(super) fn reader(&self, claimed: Option<&str>, tool: &str) -> CommandResult<Option<TaskWriter>> {
        let name = self.name(claimed)?;
        Ok(name.map(|name| self.as_writer(Some(name), IdentityClaim::default(), tool)))
    }

    fn as_writer(&self, name: Option<&str>, claim: IdentityClaim, tool: &str) -> TaskWriter {
        TaskWriter {
            principal: Principal::from_agent_name(name),
            agent_id: None,
            skill: claim.skill,
            session: current_session().map(|session| session.to_string()),
            tool: format!("mcp {tool}"),
            why: claim.why,
            task_id: None,
        }
    }
}

/// The session of the client that started the server.
pub(super) fn current_session() -> Option<SessionId> {
    SessionId::new(CLAUDE_CODE_SESSION_ID.get()?.to_str()?).ok()
}
