//! `lockstep cascade status`.

use std::fmt::Write as _;

use lockstep_cascade::report::Data;
use serde::Serialize;

use super::WhichArgs;
use crate::cascade::{Cascades, Opened};
use crate::cli::{Answer, Context};
use crate::error::CommandError;

/// Show where the cascade stands
///
/// The one that is active, or else the last one. Whichever session started it.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lockstep cascade status
  lockstep cascade status --format json")]
pub(crate) struct StatusArgs {
    #[command(flatten)]
    which: WhichArgs,
}

#[derive(Serialize)]
struct Shown {
    id: i64,
    session: Option<String>,
    #[serde(flatten)]
    data: Data,
}

pub(crate) fn run(args: &StatusArgs, context: &Context, cascades: &Cascades) -> Result<Answer, CommandError> {
    match cascades.newest(&args.which.which())? {
        Some(opened) => show(context, &opened),
        None => {
            let none = context.format.render(&serde_json::Value::Null);
            context.terminal.say(&none.unwrap_or_else(|| "There was no cascade yet.\n".to_owned()));
        }
    }
    Ok(Answer::Yes)
}

/// Shows a cascade.
pub(super) fn show(context: &Context, opened: &Opened) {
    let data = opened.state.data();
    let shown = Shown { id: opened.record.id, session: opened.record.session.clone(), data };
    context.terminal.say(&context.format.render(&shown).unwrap_or_else(|| text(&shown)));
}

fn text(shown: &Shown) -> String {
    let data = &shown.data;
    let mut out = format!("Cascade {}: ", shown.id);
    match &data.why {
        Some(why) => {
            let _ = writeln!(out, "{}, {why}", data.status);
        }
        None => {
            let _ = writeln!(
                out,
                "active, iteration {} of at most {}, {}",
                data.iterations, data.max_iterations, data.tier
            );
        }
    }
    if !data.causes.is_empty() {
        let _ = writeln!(out, "  changed: {}", data.causes.join(", "));
    }
    for group in &data.groups {
        let attempt = if group.attempt > 1 { ", second attempt" } else { "" };
        let stage = match group.stage {
            "handed" => "in an agent's hands",
            stage => stage,
        };
        let _ = writeln!(out, "  {} {}: {stage}{attempt}", group.id, group.role);
        for file in &group.open {
            let _ = writeln!(out, "    {file}");
        }
    }
    let mut list = |title: &str, lines: Vec<String>| {
        if !lines.is_empty() {
            let _ = writeln!(out, "  {title}: {}", lines.join(", "));
        }
    };
    list("updated", data.updated.clone());
    list("skipped", data.skipped.iter().map(|named| named.path.clone()).collect());
    list("dismissed", data.dismissed.iter().map(|named| named.path.clone()).collect());
    if !data.active {
        list("unresolved", data.unresolved.clone());
    }
    for warning in data.warnings.iter().filter(|warning| *warning != "The cascade is not over.") {
        let _ = writeln!(out, "warning: {warning}");
    }
    out
}
