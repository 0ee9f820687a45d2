//! Recorded payloads, one of each shape the client sends. Tests replay them, and `doctor` sends them to the
//! registered hooks to check that they reply.

macro_rules! samples {
    ($($name:ident = $file:literal),* $(,)?) => {
        $(
            #[doc = concat!("`", $file, "`")]
            pub const $name: &str = include_str!(concat!("samples/", $file));
        )*

        pub const ALL: &[(&str, &str)] = &[$(($file, $name)),*];
    };
}

samples! {
    OLD_POST_TOOL_USE_EDIT_FAILED = "old_post_tool_use_edit_failed.json",
    OLD_POST_TOOL_USE_TASK = "old_post_tool_use_task.json",
    OLD_SUBAGENT_STOP = "old_subagent_stop.json",
    POST_TOOL_USE_AGENT = "post_tool_use_agent.json",
    POST_TOOL_USE_AGENT_ASYNC_LAUNCHED = "post_tool_use_agent_async_launched.json",
    POST_TOOL_USE_AGENT_BACKGROUND = "post_tool_use_agent_background.json",
    POST_TOOL_USE_BASH = "post_tool_use_bash.json",
    POST_TOOL_USE_BASH_EDIT_IN_SUBAGENT = "post_tool_use_bash_edit_in_subagent.json",
    POST_TOOL_USE_BASH_EDIT_SHARED = "post_tool_use_bash_edit_shared.json",
    POST_TOOL_USE_EDIT_IN_SUBAGENT = "post_tool_use_edit_in_subagent.json",
    POST_TOOL_USE_FAILURE_BASH = "post_tool_use_failure_bash.json",
    POST_TOOL_USE_MULTI_EDIT = "post_tool_use_multi_edit.json",
    POST_TOOL_USE_NOTEBOOK_EDIT = "post_tool_use_notebook_edit.json",
    POST_TOOL_USE_READ_IN_SUBAGENT = "post_tool_use_read_in_subagent.json",
    POST_TOOL_USE_SEND_MESSAGE = "post_tool_use_send_message.json",
    POST_TOOL_USE_TASK_CREATE = "post_tool_use_task_create.json",
    POST_TOOL_USE_TASK_GET = "post_tool_use_task_get.json",
    POST_TOOL_USE_TASK_LIST = "post_tool_use_task_list.json",
    POST_TOOL_USE_TASK_UPDATE = "post_tool_use_task_update.json",
    POST_TOOL_USE_WORKFLOW = "post_tool_use_workflow.json",
    POST_TOOL_USE_WRITE_IN_SUBAGENT = "post_tool_use_write_in_subagent.json",
    PRE_COMPACT = "pre_compact.json",
    PRE_TOOL_USE_AGENT = "pre_tool_use_agent.json",
    PRE_TOOL_USE_BASH = "pre_tool_use_bash.json",
    PRE_TOOL_USE_EDIT_IN_SUBAGENT = "pre_tool_use_edit_in_subagent.json",
    PRE_TOOL_USE_SEND_MESSAGE = "pre_tool_use_send_message.json",
    PRE_TOOL_USE_TASK_CREATE = "pre_tool_use_task_create.json",
    PRE_TOOL_USE_TASK_UPDATE = "pre_tool_use_task_update.json",
    PRE_TOOL_USE_WORKFLOW = "pre_tool_use_workflow.json",
    SESSION_END = "session_end.json",
    SESSION_START = "session_start.json",
    STOP = "stop.json",
    STOP_BACKGROUND_RUNNING = "stop_background_running.json",
    SUBAGENT_START = "subagent_start.json",
    SUBAGENT_STOP = "subagent_stop.json",
    SUBAGENT_STOP_WORKFLOW = "subagent_stop_workflow.json",
    TASK_COMPLETED = "task_completed.json",
    TASK_CREATED = "task_created.json",
    USER_PROMPT_SUBMIT = "user_prompt_submit.json",
    USER_PROMPT_SUBMIT_TASK_NOTIFICATION = "user_prompt_submit_task_notification.json",
}
