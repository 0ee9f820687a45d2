//! What a client told us happened, in our own words.
//!
//! A dialect in `lockstep-wire` makes an [`Event`] from bytes; everything behind it sees only this.

use std::path::PathBuf;

use crate::change::ChangeTool;
use crate::ids::{AgentId, InvalidSessionId, SessionId, ToolUseId};
use crate::task_list::ListCall;

/// One event of a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// The session; a hostile or missing id is kept as the reason it was refused.
    pub session: Result<SessionId, InvalidSessionId>,
    /// The client's working directory.
    pub cwd: Option<PathBuf>,
    /// The transcript of whoever acts, where the client names or implies it. It need not be there yet.
    pub transcript: Option<PathBuf>,
    /// Who acts: the Lead or a subagent.
    pub actor: Actor,
    /// What happened.
    pub kind: EventKind,
}

/// Who an event is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Actor {
    /// The client's main agent.
    Lead,
    /// An agent the Lead started.
    Subagent {
        /// Its id within the session.
        id: AgentId,
        /// Its type (`implementer`), where the client says so.
        agent_type: Option<String>,
    },
}

impl Actor {
    /// The subagent's id; `None` is the Lead.
    pub fn agent_id(&self) -> Option<&AgentId> {
        match self {
            Self::Lead => None,
            Self::Subagent { id, .. } => Some(id),
        }
    }
}

/// The kinds of events Lockstep knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EventKind {
    /// A session begins or goes on (`startup`, `resume`, `clear`, `compact`, or a source we do not know).
    SessionStart { source: String },
    /// A session ends.
    SessionEnd { reason: String },
    /// The user sent a prompt.
    UserPromptSubmit { prompt: String },
    /// A tool is about to run.
    PreToolUse(ToolCall),
    /// A tool has run.
    PostToolUse { call: ToolCall, outcome: Outcome },
    /// A subagent begins.
    SubagentStart,
    /// A subagent wants to end.
    SubagentStop(Stop),
    /// The Lead wants to end its turn.
    Stop(Stop),
    /// The client is about to compact the Lead's context.
    PreCompact { trigger: String },
    /// An event of the client's that Lockstep has no use for.
    Other(String),
}

impl EventKind {
    /// The event's name in the routing table and in the log.
    pub fn name(&self) -> &str {
        match self {
            Self::SessionStart { .. } => "SessionStart",
            Self::SessionEnd { .. } => "SessionEnd",
            Self::UserPromptSubmit { .. } => "UserPromptSubmit",
            Self::PreToolUse(_) => "PreToolUse",
            Self::PostToolUse { .. } => "PostToolUse",
            Self::SubagentStart => "SubagentStart",
            Self::SubagentStop(_) => "SubagentStop",
            Self::Stop(_) => "Stop",
            Self::PreCompact { .. } => "PreCompact",
            Self::Other(name) => name,
        }
    }
}

/// One call of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolCall {
    /// The call's id.
    pub id: Option<ToolUseId>,
    /// The tool and what we use of its input.
    pub tool: Tool,
}

/// The tools Lockstep looks at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Tool {
    /// A tool that writes one file. The path is as the client gave it, perhaps relative.
    File {
        tool: ChangeTool,
        path: Option<PathBuf>,
        /// What the file was before, where the client says so.
        former: Option<Former>,
        /// What the tool changed in the file, by which the former content can be restored.
        undo: Undo,
    },
    /// A shell command, and the files that it edited where the client lists them.
    Bash { command: String, edited: Vec<EditedFile> },
    /// The start of a subagent (`Agent`; older clients say `Task`).
    Agent { agent_type: Option<String>, prompt: String, background: bool },
    /// A tool of the client's own task list.
    TaskList(ListCall),
    /// Any other tool, by name.
    Other(String),
}

impl Tool {
    /// The tool's name, for the log.
    pub fn name(&self) -> &str {
        match self {
            Self::File { tool, .. } => tool.as_str(),
            Self::Bash { .. } => "Bash",
            Self::Agent { .. } => "Agent",
            Self::TaskList(call) => call.operation.tool(),
            Self::Other(name) => name,
        }
    }
}

/// What a file was before a tool wrote it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Former {
    /// It did not exist.
    Absent,
    /// This text.
    Text(String),
}

/// What a tool changed in a file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Undo {
    /// The difference between the former and the new content.
    pub hunks: Vec<EditHunk>,
    /// Texts that were replaced, in order.
    pub replacements: Vec<Replacement>,
}

/// A stretch of a unified difference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditHunk {
    /// The first line in the new content, counted from 1.
    pub new_start: usize,
    /// Each begins with `-`, `+` or a blank.
    pub lines: Vec<String>,
}

/// A text that was replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replacement {
    /// The former text.
    pub old: String,
    /// The new text.
    pub new: String,
    /// Whether every occurrence was replaced.
    pub all: bool,
}

/// A file that a shell command edited.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditedFile {
    /// As the client gave it, perhaps relative.
    pub path: PathBuf,
    /// Empty where the client does not show what was changed.
    pub hunks: Vec<EditHunk>,
}

/// How a tool call ended. Clients leave `success` out when all went well.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Not reported as failed.
    Succeeded,
    /// Explicitly reported as failed.
    Failed,
}

/// The end of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stop {
    /// A hook already made this agent go on; saying something again would loop.
    pub already_continued: bool,
}
