//! The whole context of a fork agent in one text: arguments, session, task.
//!
//! For clients where such an agent cannot read the Lead's list. Stated as facts, because a model reads it.

use crate::access::{AccessTable, Principal};
use crate::markdown::fenced;
use crate::place::Place;
use crate::scratch::Scratch;
use crate::version::swap::Held;

/// What a fork agent is given.
#[derive(Debug, Clone, Copy)]
pub struct ForkContext<'a> {
    /// The agent, by type.
    pub agent: &'a str,
    /// The arguments it was started with.
    pub arguments: &'a [String],
    /// The state of the session, as names and values.
    pub session: &'a [(String, String)],
    /// The session's scratch.
    pub scratch: Option<&'a Scratch>,
    /// The title of the task.
    pub title: &'a str,
    /// The present version; `None` when there is no task.
    pub held: Option<Held<'a>>,
    /// The rules, for what the agent may write.
    pub access: &'a AccessTable,
}

/// The text.
pub fn render(context: &ForkContext<'_>) -> String {
    let mut text = format!("# Context for {}\n", context.agent);
    text.push_str("\n## Arguments\n\n");
    if context.arguments.is_empty() {
        text.push_str("none\n");
    }
    context.arguments.iter().for_each(|argument| text.push_str(&fenced("", argument)));
    text.push_str("\n## Session\n\n");
    if context.session.is_empty() && context.scratch.is_none() {
        text.push_str("nothing is recorded\n");
    }
    context.session.iter().for_each(|(name, value)| text.push_str(&format!("- {name}: {value}\n")));
    if let Some(scratch) = context.scratch {
        text.push_str(&fenced("yaml", &scratch.to_yaml()));
    }
    text.push_str("\n## Task\n\n");
    text.push_str(&task(context));
    text
}

fn task(context: &ForkContext<'_>) -> String {
    let Some(held) = context.held else { return "there is no task\n".to_owned() };
    let state = if held.delivered { "DELIVERED" } else { "open" };
    let title = if context.title.is_empty() { String::new() } else { format!(" {}", context.title) };
    let rule = context.access.rule(&Principal::named(Some(context.agent)));
    let grants: Vec<_> = rule
        .update
        .iter()
        .map(|g| if g.place == Place::top() { "every section".to_owned() } else { g.to_string() })
        .collect();
    let may = if grants.is_empty() {
        "reads the task and does not update it".to_owned()
    } else {
        format!("may update {}", grants.join(", "))
    };
    format!(
        "PT-v{}{title}, {state}. {} {may}. The next version is PT-v{}, made from PT-v{}.\n{}",
        held.version,
        context.agent,
        held.version + 1,
        held.version,
        fenced("yaml", &held.document.to_yaml())
    )
}
