//! The writer's identity on the command line.

use lockstep_model::ids::SessionId;
use lockstep_task::access::Principal;

use crate::clock;
use crate::env_vars::CLAUDE_CODE_SESSION_ID;
use crate::error::{CommandError, CommandResult};
use crate::project::ActiveProject;
use crate::task::callers::{Caller, SeenAgent, caller};
use crate::task::writer::TaskWriter;

/// Options for the writer's identity and reason.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct WriterArgs {
    /// Write as this agent, by its type; where absent, as the agent that runs the command, or the Lead
    #[arg(long = "as", value_name = "AGENT")]
    agent: Option<String>,
    /// The skill that is run: its rules apply besides the agent's
    #[arg(long, value_name = "NAME")]
    skill: Option<String>,
    /// Why, for the history
    #[arg(long, value_name = "TEXT")]
    pub(crate) why: Option<String>,
    #[command(flatten)]
    session: SessionArgs,
}

/// Which session of a client.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct SessionArgs {
    /// The client's session; the one that runs the command where absent
    #[arg(long, value_name = "ID")]
    session: Option<SessionId>,
}

impl SessionArgs {
    /// Returns the session, if one is known. An invalid id in the environment counts as absent.
    pub(crate) fn session(&self) -> Option<SessionId> {
        let running = || SessionId::new(CLAUDE_CODE_SESSION_ID.get()?.to_str()?).ok();
        self.session.clone().or_else(running)
    }

    /// The session, for what cannot do without.
    pub(crate) fn require_session(&self) -> CommandResult<SessionId> {
        self.session().ok_or_else(|| {
            CommandError::usage("no session given")
                .hint("pass `--session ID`; inside a client's session it is detected")
        })
    }
}

impl WriterArgs {
    pub(crate) fn session(&self) -> &SessionArgs {
        &self.session
    }

    /// The writer, for a command named as in `task update`. In a client's session it is the agent that the hook saw; the Lead may write
    /// for an agent with `--as`.
    pub(crate) fn writer(&self, command: &str, project: &ActiveProject) -> TaskWriter {
        let claimed = Principal::from_agent_name(self.agent.as_deref());
        let (principal, agent_id) = match caller(&project.state, command, clock::now().timestamp()) {
            Caller::Person => (claimed, None),
            Caller::Seen(SeenAgent { agent_id: None, .. }) => (claimed, None),
            Caller::Seen(SeenAgent { agent_id, agent_type }) => {
                (Principal::of(agent_id.as_deref(), agent_type.as_deref()), agent_id)
            }
            Caller::Unknown if claimed == Principal::Lead => (Principal::Unknown, None),
            Caller::Unknown => (claimed, None),
        };
        TaskWriter {
            principal,
            agent_id,
            skill: self.skill.clone(),
            session: self.session.session().map(|session| session.to_string()),
            tool: format!("lockstep {command}"),
            why: self.why.clone(),
            task_id: None,
        }
    }
}
