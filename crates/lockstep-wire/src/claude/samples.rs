//! Recorded payloads, one of each shape the client sends: what tests replay, and what `doctor` sends to the
//! registered hooks to see that they answer.

macro_rules! samples {
    ($($name:ident = $file:literal),* $(,)?) => {
        $(
            #[doc = concat!("`", $file, "`")]
            pub const $name: &str = include_str!(concat!("samples/", $file));
        )*

        /// Every sample with its file name.
        pub const ALL: &[(&str, &str)] = &[$(($file, $name)),*];
    };
}

samples! {
    OLD_POST_TOOL_USE_EDIT_FAILED = "old_post_tool_use_edit_failed.json",
    OLD_POST_TOOL_USE_TASK = "old_post_tool_use_task.json",
    OLD_SUBAGENT_STOP = "old_subagent_stop.json",
    POST_TOOL_USE_AGENT = "post_tool_use_agent.json",
    POST_TOOL_USE_AGENT_BACKGROUND = "post_tool_use_agent_background.json",
    POST_TOOL_USE_BASH = "post_tool_use_bash.json",
    POST_TOOL_USE_EDIT_IN_SUBAGENT = "post_tool_use_edit_in_subagent.json",
    POST_TOOL_USE_MULTI_EDIT = "post_tool_use_multi_edit.json",
    POST_TOOL_USE_NOTEBOOK_EDIT = "post_tool_use_notebook_edit.json",
    POST_TOOL_USE_READ_IN_SUBAGENT = "post_tool_use_read_in_subagent.json",
    POST_TOOL_USE_TASK_CREATE = "post_tool_use_task_create.json",
    POST_TOOL_USE_TASK_GET = "post_tool_use_task_get.json",
    POST_TOOL_USE_TASK_LIST = "post_tool_use_task_list.json",
    POST_TOOL_USE_TASK_UPDATE = "post_tool_use_task_update.json",
    POST_TOOL_USE_WRITE_IN_SUBAGENT = "post_tool_use_write_in_subagent.json",
    PRE_COMPACT = "pre_compact.json",
    PRE_TOOL_USE_AGENT = "pre_tool_use_agent.json",
    PRE_TOOL_USE_BASH = "pre_tool_use_bash.json",
    PRE_TOOL_USE_EDIT_IN_SUBAGENT = "pre_tool_use_edit_in_subagent.json",
    PRE_TOOL_USE_TASK_CREATE = "pre_tool_use_task_create.json",
    PRE_TOOL_USE_TASK_UPDATE = "pre_tool_use_task_update.json",
    SESSION_END = "session_end.json",
    SESSION_START = "session_start.json",
    STOP = "stop.json",
    SUBAGENT_START = "subagent_start.json",
    SUBAGENT_STOP = "subagent_stop.json",
    TASK_COMPLETED = "task_completed.json",
    TASK_CREATED = "task_created.json",
    USER_PROMPT_SUBMIT = "user_prompt_submit.json",
}
