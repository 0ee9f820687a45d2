//! The complete context of a fork agent as one text: arguments, session, task.
//!
//! For clients whose fork agents cannot read the Lead's list. The text states facts, because a model reads
//! it.

use lockstep_text::{fenced, push_line, single_line};

use crate::access::{AccessTable, Principal};
use crate::key_path::KeyPath;
use crate::scratch::Scratch;
use crate::version::compare_and_swap::CurrentVersion;

/// The inputs of a fork agent's context.
#[derive(Debug, Clone, Copy)]
pub struct ForkContext<'a> {
    pub agent: &'a str,
    pub arguments: &'a [String],
    /// The state of the session, as names and values.
    pub session: &'a [(String, String)],
    pub scratch: Option<&'a Scratch>,
    pub title: &'a str,
    /// The present version; `None` when there is no task.
    pub held: Option<CurrentVersion<'a>>,
    /// The rules that determine what the agent may write.
    pub access: &'a AccessTable,
}

pub fn render(context: &ForkContext<'_>) -> String {
    let mut text = format!("# Context for {}\n", single_line(context.agent));
    text.push_str("\n## Arguments\n\n");
    if context.arguments.is_empty() {
        text.push_str("none\n");
    }
    context.arguments.iter().for_each(|argument| text.push_str(&fenced("", argument)));
    text.push_str("\n## Session\n\n");
    if context.session.is_empty() && context.scratch.is_none() {
        text.push_str("nothing is recorded\n");
    }
    context.session.iter().for_each(|(name, value)| push_line(&mut text, format_args!("- {name}: {value}")));
    if let Some(scratch) = context.scratch {
        text.push_str(&fenced("yaml", &scratch.to_yaml()));
    }
    text.push_str("\n## Task\n\n");
    text.push_str(&task(context));
    text
}

fn task(context: &ForkContext<'_>) -> String {
    let Some(current) = context.held else { return "there is no task\n".to_owned() };
    let state = if current.delivered { "DELIVERED" } else { "open" };
    let title =
        if context.title.is_empty() { String::new() } else { format!(" {}", single_line(context.title)) };
    let rule = context.access.rule(&Principal::from_agent_name(Some(context.agent)));
    let grants: Vec<_> = rule
        .update
        .iter()
        .map(|g| if g.place == KeyPath::root() { "every section".to_owned() } else { g.to_string() })
        .collect();
    let may = if grants.is_empty() {
        "reads the task and does not update it".to_owned()
    } else {
        format!("may update {}", grants.join(", "))
    };
    format!(
        "PT-v{}{title}, {state}. {} {may}. The next version is PT-v{}, made from PT-v{}.\n{}",
        current.version,
        single_line(context.agent),
        current.version + 1,
        current.version,
        fenced("yaml", &current.document.to_yaml())
    )
}
