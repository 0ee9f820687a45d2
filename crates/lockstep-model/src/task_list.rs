//! A client's own task list: the calls of its tools, and their replies.

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskListCall {
    pub operation: TaskListOperation,
    /// The tasks in the tool's reply; none before the tool has run.
    pub listed_tasks: Vec<ListedTask>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TaskListOperation {
    Create {
        subject: String,
        description: String,
    },
    /// `TaskUpdate`; `None` stays as it is.
    Update {
        task_id: String,
        subject: Option<String>,
        description: Option<String>,
        status: Option<String>,
    },
    Get,
    List,
}

impl TaskListOperation {
    pub fn tool(&self) -> &'static str {
        match self {
            Self::Create { .. } => "TaskCreate",
            Self::Update { .. } => "TaskUpdate",
            Self::Get => "TaskGet",
            Self::List => "TaskList",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedTask {
    pub id: String,
    pub subject: String,
    /// The description, if the reply has it: `TaskList` shows subjects only.
    pub description: Option<String>,
}
