//! The results as tables. Nothing passes or fails by a clock: a busy machine is no bug.

use std::fmt::Write as _;

use super::graph_tools::ToolTimings;
use super::repository::RepositoryResult;
use crate::XtaskResult;

const QUESTION_MS: f64 = 50.0;
const TIMES_FASTER: f64 = 10.0;
const TIMES_PASS: f64 = 4.0;
const UPDATE_MS: f64 = 10.0;
const BUILD_MB: f64 = 500.0;

/// The repository that budgets are about.
const FILES: usize = 30_000;

/// Each budget with what was measured, by the medians.
pub(super) fn budgets(all: &[RepositoryResult]) -> String {
    let Some(one) = all.iter().find(|one| one.files == FILES) else { return String::new() };
    let question = one.question.median();
    let faster = one.pass.median() / question;
    let build = one.build_words.median() / one.pass.median();
    let update = one.one_file.median() - one.no_change.median();
    let memory = mb(one.peak_words.max(one.peak_all));
    let rows = [
        (
            format!("a question takes at most {QUESTION_MS} ms"),
            format!("{question:.1} ms"),
            question <= QUESTION_MS,
        ),
        (
            format!("a question is at least {TIMES_FASTER} × faster than ripgrep with the same name"),
            format!("{faster:.1} ×"),
            faster >= TIMES_FASTER,
        ),
        (
            format!("a build of the words takes at most {TIMES_PASS} × a pass of ripgrep"),
            format!("{build:.1} ×"),
            build <= TIMES_PASS,
        ),
        (
            format!("a changed file costs at most {UPDATE_MS} ms more than none"),
            format!("{update:.1} ms"),
            update <= UPDATE_MS,
        ),
        (format!("a build needs at most {BUILD_MB} MB"), format!("{memory:.0} MB"), memory <= BUILD_MB),
    ];
    let mut out = format!("### Budgets, with {FILES} files\n\n| budget | measured | met |\n|---|---|---|\n");
    for (budget, measured, met) in rows {
        let _ = writeln!(out, "| {budget} | {measured} | {} |", if met { "yes" } else { "**no**" });
    }
    out
}

/// Everything, a column for each size.
pub(super) fn growth(all: &[RepositoryResult]) -> String {
    let mut out = String::from("### Growth\n\n| whole processes, medians in ms |");
    out.extend(all.iter().map(|one| format!(" {} |", one.title)));
    out.push_str("\n|---|");
    all.iter().for_each(|_| out.push_str("---|"));
    out.push('\n');
    let mut row = |name: &str, value: &dyn Fn(&RepositoryResult) -> String| {
        let _ = write!(out, "| {name} |");
        out.extend(all.iter().map(|one| format!(" {} |", value(one))));
        out.push('\n');
    };
    row("ripgrep, one name", &|one| format!("{:.1}", one.pass.median()));
    row("ripgrep, several names", &|one| format!("{:.1}", one.search.median()));
    row("build: words", &|one| format!("{:.0}", one.build_words.median()));
    row("build: words and facts (tree-sitter)", &|one| format!("{:.0}", one.build_all.median()));
    row("update, nothing changed", &|one| format!("{:.1}", one.no_change.median()));
    row("update, one file changed", &|one| format!("{:.1}", one.one_file.median()));
    row("question: `lockstep impact FILE`", &|one| format!("{:.1}", one.question.median()));
    row("… p95", &|one| format!("{:.1}", one.question.percentile(95)));
    row("… of which, in ms", &|one| one.parts.clone());
    row("… right after its file was changed", &|one| format!("{:.1}", one.first_question.median()));
    row("… dependents found", &|one| one.dependents.to_string());
    row("peak memory of a build of words, MB", &|one| format!("{:.0}", mb(one.peak_words)));
    row("peak memory of a whole build, MB", &|one| format!("{:.0}", mb(one.peak_all)));
    row("peak memory of a question, MB", &|one| format!("{:.0}", mb(one.peak_question)));
    row("files, MB", &|one| format!("{:.1}", one.bytes as f64 / 1e6));
    row("index on disk, MB: words, facts, file table", &|one| {
        one.index_bytes.map(|bytes| format!("{:.1}", bytes as f64 / 1e6)).join(", ")
    });
    out
}

pub(super) fn beside(ours: &RepositoryResult, tools: &[(&'static str, XtaskResult<ToolTimings>)]) -> String {
    let mut out = format!("\n### Beside graph tools, {}\n\n", ours.title);
    out.push_str(
        "| whole processes, in ms | build | update, one file changed | question |\n|---|--:|--:|--:|\n",
    );
    let (build, update) = (ours.build_all.median(), ours.one_file.median());
    let _ = writeln!(out, "| lockstep | {build:.0} | {update:.0} | {:.0} |", ours.question.median());
    for (name, measured) in tools {
        let _ = match measured {
            Ok(candidate) => {
                let display =
                    |ms: Option<f64>| ms.map_or("keeps nothing".to_owned(), |ms| format!("{ms:.0}"));
                writeln!(
                    out,
                    "| {name} | {} | {} | {:.0} |",
                    display(candidate.build),
                    display(candidate.update),
                    candidate.question
                )
            }
            Err(error) => {
                writeln!(out, "| {name} | not measured: {} | | |", error.to_string().replace('\n', " "))
            }
        };
    }
    out
}

fn mb(kib: u64) -> f64 {
    kib as f64 / 1024.0
}
