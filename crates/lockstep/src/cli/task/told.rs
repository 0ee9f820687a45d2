//! What came of a write, for people and for programs.

use lockstep_task::problem::{Findings, Problem};
use lockstep_task::update::Reason;
use serde::Serialize;

use crate::cli::{Answer, Context};
use crate::task::write::Written;

#[derive(Serialize)]
struct WrittenData<'a> {
    written: bool,
    version: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    subject: Option<&'a str>,
    sections: &'a [String],
    merged: bool,
    warnings: Vec<String>,
}

#[derive(Serialize)]
struct RefusedData<'a> {
    refused: bool,
    /// The present version, if there is a task.
    present: Option<u64>,
    reasons: Vec<ReasonData<'a>>,
}

#[derive(Serialize)]
struct ReasonData<'a> {
    message: String,
    #[serde(flatten)]
    reason: &'a Reason,
}

/// Tells what came of a write.
pub(crate) fn written(context: &Context, written: &Written) -> Answer {
    match written {
        Written::Version { version, subject, next } => {
            let mut warnings: Vec<_> = next.warnings.iter().map(ToString::to_string).collect();
            warnings.extend(
                next.idle_drops.iter().map(|place| format!("--drop {place}: this write does not drop it")),
            );
            let data = WrittenData {
                written: true,
                version: *version,
                subject: Some(subject),
                sections: &next.sections,
                merged: next.merged,
                warnings,
            };
            match context.format.render(&data) {
                Some(text) => context.terminal.say(&text),
                None => {
                    context.terminal.say(&format!("{subject}\n"));
                    if next.merged {
                        context.terminal.note("merged with what others wrote since\n");
                    }
                    context.terminal.note(&format!("changed: {}\n", next.sections.join(", ")));
                    data.warnings
                        .iter()
                        .for_each(|text| context.terminal.note(&format!("warning: {text}\n")));
                }
            }
            Answer::Yes
        }
        Written::Unchanged { version } => {
            let data = WrittenData {
                written: false,
                version: *version,
                subject: None,
                sections: &[],
                merged: false,
                warnings: Vec::new(),
            };
            let text = || format!("PT-v{version} says the same already; nothing was written\n");
            context.terminal.say(&context.format.render(&data).unwrap_or_else(text));
            Answer::Yes
        }
        Written::Refused { present, reasons } => refused(context, *present, reasons),
    }
}

/// Tells all reasons why nothing was written.
pub(crate) fn refused(context: &Context, present: Option<u64>, reasons: &[Reason]) -> Answer {
    no(context, "refused", "; nothing was written", present, reasons)
}

/// Tells all reasons why a phase cannot begin.
pub(crate) fn not_ready(context: &Context, present: u64, problems: Vec<Problem>) -> Answer {
    let reasons: Vec<_> = problems.into_iter().map(Reason::Invalid).collect();
    no(context, "not ready", "", Some(present), &reasons)
}

fn no(context: &Context, verdict: &str, rest: &str, present: Option<u64>, reasons: &[Reason]) -> Answer {
    let data = RefusedData {
        refused: true,
        present,
        reasons: reasons.iter().map(|reason| ReasonData { message: reason.to_string(), reason }).collect(),
    };
    let text = || {
        let count = match reasons.len() {
            1 => "1 reason".to_owned(),
            n => format!("{n} reasons"),
        };
        let lines: String =
            reasons.iter().map(|reason| format!("- {}\n", indented(&reason.to_string()))).collect();
        format!("{verdict}, for {count}{rest}\n{lines}")
    };
    context.terminal.say(&context.format.render(&data).unwrap_or_else(text));
    Answer::No
}

/// Tells what keeps a text from being a document.
pub(crate) fn unreadable(context: &Context, findings: Findings) -> Answer {
    problems(context, None, findings.problems)
}

/// Tells problems as reasons.
pub(crate) fn problems(context: &Context, present: Option<u64>, problems: Vec<Problem>) -> Answer {
    let reasons: Vec<_> = problems.into_iter().map(Reason::Invalid).collect();
    refused(context, present, &reasons)
}

/// There is no task.
pub(crate) fn none(context: &Context) -> Answer {
    problems(context, None, vec![Problem::of("task", "there is none yet", "`lockstep task new` creates it")])
}

fn indented(text: &str) -> String {
    text.trim_end().replace('\n', "\n  ")
}
