//! The tools of Claude Code's task list: `TaskCreate`, `TaskUpdate`, `TaskGet`, `TaskList`.

use lockstep_model::task_list::{ListedTask, TaskListCall, TaskListOperation};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::event::{text, value};

#[derive(Deserialize, Default)]
struct RawTaskInput<'a> {
    #[serde(borrow, default, rename = "taskId")]
    task_id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    subject: Option<&'a RawValue>,
    #[serde(borrow, default)]
    description: Option<&'a RawValue>,
    #[serde(borrow, default)]
    status: Option<&'a RawValue>,
}

#[derive(Deserialize, Default)]
struct RawTaskResponse<'a> {
    #[serde(borrow, default)]
    task: Option<&'a RawValue>,
    #[serde(borrow, default)]
    tasks: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct RawTask {
    id: serde_json::Value,
    #[serde(default)]
    subject: String,
    description: Option<String>,
}

/// The call of a tool of this name; `None` for any other tool.
pub(super) fn parse_task_list_call(
    name: &str,
    input: Option<&RawValue>,
    response: Option<&RawValue>,
) -> Option<TaskListCall> {
    let read =
        || input.and_then(|raw| serde_json::from_str::<RawTaskInput<'_>>(raw.get()).ok()).unwrap_or_default();
    let operation = match name {
        "TaskCreate" => {
            let input = read();
            TaskListOperation::Create {
                subject: text(input.subject).unwrap_or_default(),
                description: text(input.description).unwrap_or_default(),
            }
        }
        "TaskUpdate" => {
            let input = read();
            TaskListOperation::Update {
                task_id: value(input.task_id).as_ref().map(id).unwrap_or_default(),
                subject: text(input.subject),
                description: text(input.description),
                status: text(input.status),
            }
        }
        "TaskGet" => TaskListOperation::Get,
        "TaskList" => TaskListOperation::List,
        _ => return None,
    };
    Some(TaskListCall { operation, listed_tasks: response.map(listed_tasks).unwrap_or_default() })
}

fn listed_tasks(response: &RawValue) -> Vec<ListedTask> {
    let response: RawTaskResponse<'_> = serde_json::from_str(response.get()).unwrap_or_default();
    let one = value::<RawTask>(response.task).into_iter();
    let many = value::<Vec<RawTask>>(response.tasks).unwrap_or_default();
    one.chain(many)
        .map(|task| ListedTask { id: id(&task.id), subject: task.subject, description: task.description })
        .collect()
}

/// An id is text; a model may write it as a number.
fn id(value: &serde_json::Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use lockstep_model::event::{EventKind, ToolUse};

    use super::*;
    use crate::claude::{parse, samples};

    fn of(sample: &str) -> TaskListCall {
        match parse(sample.as_bytes()).unwrap().kind {
            EventKind::PreToolUse(call) | EventKind::PostToolUse { call, .. } => match call.tool {
                ToolUse::TaskList(call) => call,
                other => panic!("{other:?}"),
            },
            other => panic!("{other:?}"),
        }
    }

    fn listed(subject: &str, description: Option<&str>) -> Vec<ListedTask> {
        let description = description.map(str::to_owned);
        vec![ListedTask { id: "1".to_owned(), subject: subject.to_owned(), description }]
    }

    #[test]
    fn parses_operation_and_listed_tasks() {
        let before = of(samples::PRE_TOOL_USE_TASK_CREATE);
        let (subject, description) =
            ("[PERMANENT] PT-v1 auth".to_owned(), "user_intent: add login".to_owned());
        assert_eq!(before.operation, TaskListOperation::Create { subject, description });
        assert_eq!(before.listed_tasks, []);
        assert_eq!(
            of(samples::POST_TOOL_USE_TASK_CREATE).listed_tasks,
            listed("[PERMANENT] PT-v1 auth", None)
        );
        assert_eq!(
            of(samples::PRE_TOOL_USE_TASK_UPDATE).operation,
            TaskListOperation::Update {
                task_id: "1".to_owned(),
                subject: None,
                description: None,
                status: Some("completed".to_owned())
            }
        );
        let get = of(samples::POST_TOOL_USE_TASK_GET);
        assert_eq!(get.listed_tasks, listed("[PERMANENT] PT-v2 auth", Some("user_intent: y")));
        assert_eq!(of(samples::POST_TOOL_USE_TASK_LIST).listed_tasks, listed("[PERMANENT] PT-v1 auth", None));
    }

    #[test]
    fn strange_input_is_an_update_of_nothing_and_never_another_tool() {
        for input in ["3", "[]", "{}", r#"{"taskId":null,"subject":7}"#] {
            let json = format!(
                r#"{{"hook_event_name":"PreToolUse","tool_name":"TaskUpdate","tool_input":{input}}}"#
            );
            assert!(
                matches!(of(&json).operation, TaskListOperation::Update { subject: None, .. }),
                "{input}"
            );
        }
        let number = r#"{"hook_event_name":"PreToolUse","tool_name":"TaskUpdate","tool_input":{"taskId":1}}"#;
        assert!(matches!(of(number).operation, TaskListOperation::Update { task_id, .. } if task_id == "1"));
    }
}
