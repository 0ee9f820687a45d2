//! `cargo xtask bench walk`: everyday edits in checkouts of real repositories, and the files that break by
//! them.
//!
//! The compiler or checker of the language reports the broken files, if one is installed. Otherwise only
//! edits are made whose effect is known by construction. Nothing is fetched: the checkouts are given.

mod answer;
mod cascades;
mod checkers;
mod checkout;
mod construction;
mod documents;
mod edits;
mod score;
mod source;
mod truth;

use std::path::PathBuf;

use super::{environment, results_page};
use crate::XtaskResult;
use answer::ask;
use checkout::Checkout;
use edits::Edit;
use score::{Judgement, tables};
use truth::Truth;

/// Make everyday edits in real repositories, and count the broken files that are found, missed or made up
///
/// A checkout must have no changes; it has none afterwards. The caller prepares everything that its compiler
/// needs (`npm install`, `./configure`).
#[derive(Debug, clap::Args)]
pub(crate) struct WalkArgs {
    /// The directory that contains the checkouts
    #[arg(long, value_name = "DIR")]
    repos: PathBuf,
    /// The program that is asked
    #[arg(long, value_name = "FILE")]
    program: PathBuf,
    /// A former build of the program, which is asked about the same edits
    #[arg(long, value_name = "FILE")]
    before: Option<PathBuf>,
    /// Only checkouts whose name contains this
    #[arg(long, value_name = "NAME")]
    only: Option<String>,
    /// Seed of the choice of edits
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Number of edits of each kind in each repository
    #[arg(long, default_value_t = 2)]
    cases: usize,
    /// Only kinds of edits whose name contains this
    #[arg(long, value_name = "NAME")]
    kind: Option<String>,
    /// Give each rename to four agents too, and judge the verdicts of their cascades
    #[arg(long)]
    cascade: bool,
    /// Show every wrong answer
    #[arg(long)]
    wrong: bool,
    /// Put the results into docs/benchmarks/walk.md
    #[arg(long)]
    write: bool,
}

pub(crate) fn run(args: &WalkArgs) -> XtaskResult {
    let programs = programs(args)?;
    let mut judgements: Vec<Vec<Judgement>> = programs.iter().map(|_| Vec::new()).collect();
    let mut verdicts = Vec::new();
    let mut unjudged = Vec::new();
    for checkout in Checkout::find(&args.repos, args.only.as_deref())? {
        eprintln!("{}: {}", checkout.name, checkout.describe());
        let walked = walk(&checkout, args, &programs, &mut judgements, &mut verdicts, &mut unjudged);
        if let Err(error) = walked {
            eprintln!("{}: the walk ended early: {error}", checkout.name);
            unjudged.push(format!("{}, from here on: {}", checkout.name, first_line(&error.to_string())));
        }
    }
    let mut report = environment::describe(&command_line(args));
    for (program, judgements) in programs.iter().zip(&judgements) {
        report.push_str(&format!("\n{}:\n\n{}", program.name, tables(judgements)));
    }
    if !unjudged.is_empty() {
        report.push_str(&format!("\nNot judged ({}):\n\n- {}\n", unjudged.len(), unjudged.join("\n- ")));
    }
    report.push_str(&cascades::table(&verdicts));
    println!("{report}");
    if args.write {
        results_page::write("walk", &report)?;
    }
    Ok(())
}

/// A build that is asked.
struct Program {
    name: &'static str,
    path: PathBuf,
}

/// Returns the programs to measure, the former build first if it is given.
fn programs(args: &WalkArgs) -> XtaskResult<Vec<Program>> {
    let named = [("Before", args.before.as_ref()), ("Now", Some(&args.program))];
    let given = named.into_iter().filter_map(|(name, path)| Some((name, path?)));
    given
        .map(|(name, path)| {
            let path = path.canonicalize().map_err(|error| format!("{}: {error}", path.display()))?;
            Ok(Program { name, path })
        })
        .collect()
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

/// Makes the edits of one checkout, one after the other. An edit that the checker cannot judge is noted and left out.
fn walk(
    checkout: &Checkout,
    args: &WalkArgs,
    programs: &[Program],
    judgements: &mut [Vec<Judgement>],
    verdicts: &mut Vec<cascades::Verdict>,
    unjudged: &mut Vec<String>,
) -> XtaskResult {
    let judge = truth::Judge::new(checkout)?;
    let mut ask_all = |edit: &Edit, truth: &dyn Fn() -> XtaskResult<Truth>| -> XtaskResult<Truth> {
        checkout.apply(&edit.changes)?;
        let answers =
            programs.iter().map(|program| ask(&program.path, checkout)).collect::<XtaskResult<Vec<_>>>()?;
        // The truth comes last: to find it changes the files.
        let truth = truth()?;
        for ((program, answer), judged) in programs.iter().zip(answers).zip(judgements.iter_mut()) {
            let judgement = Judgement::new(checkout, edit, answer, &truth);
            if args.wrong {
                eprint!("{} {}", program.name, judgement.describe());
            }
            judged.push(judgement);
        }
        Ok(truth)
    };
    for edit in edits::choose(checkout, &judge, args.seed, args.cases) {
        if args.kind.as_deref().is_some_and(|wanted| !edit.kind.as_str().contains(wanted)) {
            continue;
        }
        if !judge.sees(&edit.file) {
            unjudged.push(format!("{}, {}, {}: not compiled", checkout.name, edit.kind.as_str(), edit.what));
            continue;
        }
        let _restore = checkout.restore_after();
        let truth = match ask_all(&edit, &|| judge.judge(&edit)) {
            Ok(truth) => truth,
            Err(error) => {
                let reason = first_line(&error.to_string()).to_owned();
                unjudged.push(format!("{}, {}, {}: {reason}", checkout.name, edit.kind.as_str(), edit.what));
                continue;
            }
        };
        let Some(complete) = truth.complete else { continue };
        checkout.reset()?;
        ask_all(&Edit::complete(&edit, complete), &|| Ok(judge.harmless()))?;
        if args.cascade {
            checkout.reset()?;
            let program = programs.last().ok_or("there is a program")?;
            verdicts.extend(cascades::run(&program.path, checkout, &edit, &judge, args.wrong)?);
        }
    }
    Ok(())
}

fn command_line(args: &WalkArgs) -> String {
    let only = args.only.as_ref().map(|name| format!(" --only {name}")).unwrap_or_default();
    let kind = args.kind.as_ref().map(|name| format!(" --kind {name}")).unwrap_or_default();
    let cascade = if args.cascade { " --cascade" } else { "" };
    format!(
        "cargo xtask bench walk --repos DIR --seed {} --cases {}{only}{kind}{cascade}",
        args.seed, args.cases
    )
}
