//! `cargo xtask bench speed --real`: questions about real packages, by processor time, beside ripgrep.
//!
//! A question is a change of one definition, chosen from a seed. With `--against`, another program answers the same questions, and every
//! answer that differs is listed. Processor time is compared, because wall time depends on what else the machine does.

mod answers;
mod changes;
mod tree;

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;

use self::answers::difference;
use self::tree::{Costs, Tree};
use super::super::programs::Programs;
use super::super::statistics::Times;
use super::super::{environment, results_page};
use super::package::REAL;
use super::{SpeedArgs, ripgrep};
use crate::{XtaskResult, workspace};

/// Measures the packages of the list and the given directories.
pub(super) fn run(args: &SpeedArgs) -> XtaskResult {
    let mut programs = Programs::build(args.smoke || args.program.is_some())?;
    if let Some(program) = &args.program {
        programs.lockstep = program.canonicalize()?;
    }
    let against = args.against.as_ref().map(|program| program.canonicalize()).transpose()?;
    let ripgrep = ripgrep::find()?;
    let temp = super::temporary()?;
    let mut report = Tables::default();
    let count = if args.smoke { 2 } else { args.questions };
    for (title, root) in sources(args, temp.path())? {
        let tree = Tree::new((title, root), (args.seed, count), &ripgrep)?;
        let mut programs_asked = vec![("lockstep", programs.lockstep.as_path())];
        programs_asked.extend(against.as_deref().map(|program| ("against", program)));
        let mut all = Vec::new();
        for (name, program) in programs_asked {
            let costs = tree.measure(&programs.peak_rss, program)?;
            report.add(&tree, name, &costs);
            all.push(costs);
        }
        report.times(&tree, "`rg -w`", &tree.search(&programs.peak_rss, &ripgrep)?, None);
        if let [ours, theirs] = all.as_slice() {
            report.differences.push_str(&differences(&tree, ours, theirs));
        }
    }
    let report = format!("{}\n{}", environment::describe(&command_line(args)), report.text());
    println!("{report}");
    if args.write {
        results_page::write("speed --real", &report)?;
    }
    Ok(())
}

#[derive(Default)]
struct Tables {
    questions: String,
    work: String,
    commands: String,
    differences: String,
}

const QUESTIONS: &str = "Processor time of a question in seconds.\n\n\
    | repository | program | questions | p50 | p95 | max | peak memory, MB |\n|---|---|--:|--:|--:|--:|--:|\n";
const WORK: &str = "Work of a question, p50 and max.\n\n\
    | repository | program | counter | p50 | max |\n|---|---|---|--:|--:|\n";
const COMMANDS: &str = "Processor time of other commands in seconds.\n\n\
    | repository | program | command | time | peak memory, MB |\n|---|---|---|--:|--:|\n";

impl Tables {
    fn add(&mut self, tree: &Tree, name: &str, costs: &Costs) {
        self.times(tree, name, &costs.questions, Some(costs.memory));
        self.times(tree, &format!("{name}, `SubagentStop`"), &costs.stops, None);
        self.times(tree, &format!("{name}, `refs NAME`"), &costs.refs, None);
        let counters = costs.work.first().and_then(Value::as_object).into_iter().flatten();
        for counter in counters.map(|(counter, _)| counter) {
            let mut counts: Vec<u64> =
                costs.work.iter().filter_map(|candidate| candidate[counter].as_u64()).collect();
            counts.sort_unstable();
            let p50 = counts.get(counts.len().div_ceil(2).saturating_sub(1)).copied().unwrap_or_default();
            let max = counts.last().copied().unwrap_or_default();
            let _ = writeln!(self.work, "| {} | {name} | {counter} | {p50} | {max} |", tree.title);
        }
        for (command, cost) in &costs.others {
            let (time, memory) = (cost.time.as_secs_f64(), cost.memory / 1024);
            let _ = writeln!(self.commands, "| {} | {name} | {command} | {time:.3} | {memory} |", tree.title);
        }
    }

    fn times(&mut self, tree: &Tree, program: &str, times: &[Duration], memory: Option<u64>) {
        let times = Times::new(times.to_vec());
        let [p50, p95, max] = [50, 95, 100].map(|percent| times.percentile(percent) / 1e3);
        let memory = memory.map_or(String::new(), |kib| (kib / 1024).to_string());
        let (title, count) = (&tree.title, tree.questions.len());
        let _ = writeln!(
            self.questions,
            "| {title} | {program} | {count} | {p50:.3} | {p95:.3} | {max:.3} | {memory} |"
        );
    }

    fn text(&self) -> String {
        let Self { questions, work, commands, differences } = self;
        format!("{QUESTIONS}{questions}\n{WORK}{work}\n{COMMANDS}{commands}{differences}")
    }
}

/// The repositories with their titles: packages are unpacked, given ones are cloned.
fn sources(args: &SpeedArgs, temp: &Path) -> XtaskResult<Vec<(String, PathBuf)>> {
    let mut sources = Vec::new();
    for package in REAL
        .iter()
        .filter(|candidate| args.only.is_empty() || args.only.iter().any(|only| only == candidate.name))
    {
        let root = temp.join(package.name);
        fs::create_dir_all(&root)?;
        package.unpack(&root)?;
        sources.push((format!("{} {}", package.name, package.version), root));
    }
    for given in &args.tree {
        let given = given.canonicalize()?;
        let name = given.file_name().ok_or("a directory has a name")?.to_string_lossy().into_owned();
        let root = temp.join(&name);
        let mut clone = workspace::command("git");
        clone.args(["clone", "--quiet", "--shared"]).arg(&given).arg(&root);
        workspace::output(clone)?;
        sources.push((name, root));
    }
    Ok(sources)
}

/// Lists the answers in which two programs differ.
fn differences(tree: &Tree, ours: &Costs, theirs: &Costs) -> String {
    let mut out = String::new();
    let mut count = 0;
    for ((change, our), their) in tree.questions.iter().zip(&ours.answers).zip(&theirs.answers) {
        if our != their {
            count += 1;
            let _ = writeln!(out, "- {} of {} in {}", change.kind.word(), change.name, change.file);
            out.push_str(&difference(our, their));
        }
    }
    format!("\n{}: {count} of {} answers differ.\n\n{out}", tree.title, tree.questions.len())
}

fn command_line(args: &SpeedArgs) -> String {
    let only: String = args.only.iter().map(|name| format!(" --only {name}")).collect();
    let trees: String = args.tree.iter().map(|tree| format!(" --tree {}", tree.display())).collect();
    let against = if args.against.is_some() { " --against PROGRAM" } else { "" };
    format!(
        "cargo xtask bench speed --real --seed {} --questions {}{only}{trees}{against}",
        args.seed, args.questions
    )
}
