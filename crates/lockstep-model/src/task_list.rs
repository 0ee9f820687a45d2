//! A client's own task list: the calls of its tools, and what their replies show.

/// One call of a tool of the task list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListCall {
    /// What it does.
    pub operation: ListOperation,
    /// The tasks that the tool's reply shows; none before the tool has run.
    pub shown: Vec<ListedTask>,
}

/// What a call does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ListOperation {
    /// `TaskCreate`.
    Create { subject: String, description: String },
    /// `TaskUpdate`; `None` stays as it is.
    Update { task_id: String, subject: Option<String>, description: Option<String>, status: Option<String> },
    /// `TaskGet`.
    Get,
    /// `TaskList`.
    List,
}

impl ListOperation {
    /// The tool's name.
    pub fn tool(&self) -> &'static str {
        match self {
            Self::Create { .. } => "TaskCreate",
            Self::Update { .. } => "TaskUpdate",
            Self::Get => "TaskGet",
            Self::List => "TaskList",
        }
    }
}

/// A task as the list shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedTask {
    /// Its id in the list.
    pub id: String,
    /// Its subject.
    pub subject: String,
    /// Its description, where the reply has it: `TaskList` shows subjects only.
    pub description: Option<String>,
}
