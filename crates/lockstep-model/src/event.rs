//! Events of a client, in Lockstep's terms.
//!
//! A dialect in `lockstep-wire` creates an [`Event`] from bytes; all other code uses only this type.

use std::path::PathBuf;

use crate::change::{ChangeKind, ChangeTool};
use crate::ids::{AgentId, SessionId, SessionIdError, ToolUseId};
use crate::task_list::TaskListCall;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// The session; an invalid or missing id is stored as the reason of its refusal.
    pub session: Result<SessionId, SessionIdError>,
    /// The client's working directory.
    pub cwd: Option<PathBuf>,
    /// The transcript of the actor, if the client names or implies it. It may not exist yet.
    pub transcript: Option<PathBuf>,
    pub actor: Actor,
    pub kind: EventKind,
}

/// The agent that an event is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Actor {
    /// The client's main agent.
    Lead,
    /// An agent the Lead started.
    Subagent {
        /// Unique within the session.
        id: AgentId,
        /// The type (`implementer`), if the client sends it.
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

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EventKind {
    /// A session starts or continues (`startup`, `resume`, `clear`, `compact`, or an unknown source).
    SessionStart {
        source: String,
    },
    SessionEnd {
        reason: String,
    },
    UserPromptSubmit {
        prompt: String,
    },
    /// A tool is about to run.
    PreToolUse(ToolCall),
    PostToolUse {
        call: ToolCall,
        outcome: ToolOutcome,
    },
    /// A tool has failed, such as a shell command with an exit code other than 0. It may nevertheless have
    /// changed files.
    PostToolUseFailure(ToolCall),
    SubagentStart,
    /// A subagent wants to end.
    SubagentStop(StopEvent),
    /// The Lead wants to end its turn.
    Stop(StopEvent),
    /// The client is about to compact the Lead's context.
    PreCompact {
        trigger: String,
    },
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
            Self::PostToolUseFailure(_) => "PostToolUseFailure",
            Self::SubagentStart => "SubagentStart",
            Self::SubagentStop(_) => "SubagentStop",
            Self::Stop(_) => "Stop",
            Self::PreCompact { .. } => "PreCompact",
            Self::Other(name) => name,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolCall {
    pub id: Option<ToolUseId>,
    /// The tool and the relevant part of its input.
    pub tool: ToolUse,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolUse {
    /// A tool that writes one file. The path is as the client gave it, perhaps relative.
    File {
        tool: ChangeTool,
        path: Option<PathBuf>,
        /// The original content, if the client sends it.
        former: Option<OriginalContent>,
        /// The tool's change of the file, from which the original content can be restored.
        undo: Undo,
    },
    /// A shell command.
    Bash {
        command: String,
        edits: CommandEdits,
        /// The id of the background task, if it continues after its call has ended.
        background: Option<String>,
    },
    /// The start of a subagent (`Agent`; `Task` in older clients).
    Agent { agent_type: Option<String>, prompt: String, background: bool },
    /// The start of a workflow: a script that starts agents.
    Workflow(Workflow),
    /// A message to an agent, which starts or continues its work.
    Message { to: String, text: String },
    /// A tool of the client's own task list.
    TaskList(TaskListCall),
    /// A tool of an MCP server whose call holds texts that may be commands, or paths of files that it may write.
    Mcp { name: String, command: Option<String>, writes: Vec<PathBuf> },
    /// Any other tool, by name.
    Other(String),
}

impl ToolUse {
    /// The tool's name, for the log.
    pub fn name(&self) -> &str {
        match self {
            Self::File { tool, .. } => tool.as_str(),
            Self::Bash { .. } => "Bash",
            Self::Agent { .. } => "Agent",
            Self::Workflow(_) => "Workflow",
            Self::Message { .. } => "SendMessage",
            Self::TaskList(call) => call.operation.tool(),
            Self::Mcp { name, .. } | Self::Other(name) => name,
        }
    }

    /// The text of the shell command that the tool runs.
    pub fn command(&self) -> Option<&str> {
        match self {
            Self::Bash { command, .. } => Some(command),
            Self::Mcp { command, .. } => command.as_deref(),
            _ => None,
        }
    }
}

/// The sources of a workflow's script, and its arguments. A call may name several sources.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Workflow {
    pub script: Option<String>,
    /// The script's file, as the client gave it, perhaps relative.
    pub script_path: Option<PathBuf>,
    pub name: Option<String>,
    /// Every text in the arguments.
    pub args: Vec<String>,
}

/// The content of a file before a tool wrote it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OriginalContent {
    /// The file did not exist.
    Absent,
    Text(String),
}

/// A tool's change of one file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Undo {
    /// The difference between the former and the new content.
    pub hunks: Vec<EditHunk>,
    /// Texts that were replaced, in order.
    pub replacements: Vec<Replacement>,
}

impl Undo {
    /// Returns true if the file had text before the change.
    pub fn had_text(&self) -> bool {
        let is_former = |line: &String| line.starts_with('-') || line.starts_with(' ');
        self.replacements.iter().any(|replacement| !replacement.old.is_empty())
            || self.hunks.iter().any(|hunk| hunk.lines.iter().any(is_former))
    }
}

/// A stretch of a unified difference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditHunk {
    /// The first line in the new content, counted from 1.
    pub new_start: usize,
    /// Each begins with `-`, `+` or a blank.
    pub lines: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replacement {
    /// The former text.
    pub old: String,
    pub new: String,
    /// True if every occurrence was replaced.
    pub all: bool,
}

/// The files that a shell command edited, as far as the client lists them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CommandEdits {
    pub files: Vec<EditedFile>,
    /// True if the client lists every file with its difference.
    pub is_complete: bool,
    /// Set if another command ran at the same time, which may have made some of the edits.
    pub is_shared: bool,
}

/// A file that a shell command edited.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditedFile {
    /// As the client gave it; may be relative.
    pub path: PathBuf,
    /// Empty if the client does not show the changes.
    pub hunks: Vec<EditHunk>,
    /// The kind of the edit: `Written`, `Created` or `Deleted`.
    pub kind: ChangeKind,
}

/// The result of a tool call. Clients omit `success` if the call succeeded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolOutcome {
    /// Not reported as failed.
    Succeeded,
    /// Explicitly reported as failed.
    Failed,
}

/// The end of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StopEvent {
    /// A hook already made this agent go on; saying something again would loop.
    pub already_continued: bool,
}
