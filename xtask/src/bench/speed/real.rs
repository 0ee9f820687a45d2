//! `cargo xtask bench speed --real`: questions about real packages, by processor time, beside ripgrep.
//!
//! A question is a renamed definition, chosen from a seed. With `--against`, another program answers the same questions, and every
//! answer that differs is listed. Processor time is compared, because wall time depends on what else the machine does.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io::{Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use lockstep_refs::facts::{DefinitionKind, Reach};
use lockstep_refs::language::{self, Language};
use lockstep_testkit::HookEvent;
use serde_json::Value;

use super::super::ground_truth::SplitMix64;
use super::super::programs::Programs;
use super::super::statistics::Times;
use super::super::{environment, results_page};
use super::package::REAL;
use super::{SpeedArgs, ripgrep};
use crate::{XtaskResult, workspace};

/// A repository with its questions.
struct Tree {
    title: String,
    root: PathBuf,
    questions: Vec<Renamed>,
}

/// A definition that gets another name in its whole file.
struct Renamed {
    file: String,
    name: String,
}

/// Costs of one program in one repository.
#[derive(Default)]
struct Costs {
    questions: Vec<Duration>,
    /// The hook at the stop of a subagent that made the edit of the question.
    stops: Vec<Duration>,
    /// Peak memory of a question, in KiB.
    memory: u64,
    /// Other commands by their names.
    others: Vec<(&'static str, Cost)>,
    answers: Vec<Value>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Cost {
    time: Duration,
    /// Peak memory in KiB.
    memory: u64,
}

/// Measures the packages of the list, or only the given directories.
pub(super) fn run(args: &SpeedArgs) -> XtaskResult {
    let mut programs = Programs::build(args.smoke || args.program.is_some())?;
    if let Some(program) = &args.program {
        programs.lockstep = program.canonicalize()?;
    }
    let against = args.against.as_ref().map(|program| program.canonicalize()).transpose()?;
    let ripgrep = ripgrep::find()?;
    let temp = super::temporary()?;
    let mut table = String::from(HEAD);
    let mut commands = String::from(COMMANDS_HEAD);
    let mut differences = String::new();
    for tree in trees(args, temp.path(), &ripgrep)? {
        let mut contestants = vec![("lockstep", programs.lockstep.as_path())];
        contestants.extend(against.as_deref().map(|program| ("against", program)));
        let mut all = Vec::new();
        for (name, program) in contestants {
            let costs = tree.measure(&programs.peak, program)?;
            row(&mut table, &tree, name, &costs.questions, Some(costs.memory));
            row(&mut table, &tree, &format!("{name}, `SubagentStop`"), &costs.stops, None);
            for (command, cost) in &costs.others {
                let _ = writeln!(
                    commands,
                    "| {} | {name} | {command} | {:.2} | {} |",
                    tree.title,
                    cost.time.as_secs_f64(),
                    cost.memory / 1024
                );
            }
            all.push(costs);
        }
        row(&mut table, &tree, "`rg -w`", &tree.search(&programs.peak, &ripgrep)?, None);
        if let [ours, theirs] = all.as_slice() {
            differences.push_str(&tree.differences(ours, theirs));
        }
    }
    let report = format!("{}\n{table}\n{commands}{differences}", environment::describe(&command_line(args)));
    println!("{report}");
    if args.write {
        results_page::write("speed --real", &report)?;
    }
    Ok(())
}

const HEAD: &str = "Processor time of a question in seconds.\n\n\
    | repository | program | questions | p50 | p95 | max | peak memory, MB |\n|---|---|--:|--:|--:|--:|--:|\n";
const COMMANDS_HEAD: &str = "Processor time of other commands in seconds.\n\n\
    | repository | program | command | time | peak memory, MB |\n|---|---|---|--:|--:|\n";

fn row(table: &mut String, tree: &Tree, program: &str, times: &[Duration], memory: Option<u64>) {
    let times = Times::new(times.to_vec());
    let [p50, p95, max] = [50, 95, 100].map(|percent| times.percentile(percent) / 1e3);
    let memory = memory.map_or(String::new(), |kib| (kib / 1024).to_string());
    let count = tree.questions.len();
    let _ = writeln!(
        table,
        "| {} | {program} | {count} | {p50:.2} | {p95:.2} | {max:.2} | {memory} |",
        tree.title
    );
}

fn trees(args: &SpeedArgs, temp: &Path, ripgrep: &Path) -> XtaskResult<Vec<Tree>> {
    let mut trees = Vec::new();
    for package in REAL.iter().filter(|_| args.tree.is_empty()) {
        let root = temp.join(package.name);
        fs::create_dir_all(&root)?;
        package.unpack(&root)?;
        trees.push((format!("{} {}", package.name, package.version), root));
    }
    for given in &args.tree {
        let given = given.canonicalize()?;
        let name = given.file_name().ok_or("a directory has a name")?.to_string_lossy().into_owned();
        let root = temp.join(&name);
        copy_committed(&given, &root)?;
        trees.push((name, root));
    }
    let count = if args.smoke { 2 } else { args.questions };
    trees.into_iter().map(|(title, root)| Tree::new(title, root, args.seed, count, ripgrep)).collect()
}

/// Copies the last commit of a repository.
fn copy_committed(from: &Path, to: &Path) -> XtaskResult {
    let mut clone = workspace::command("git");
    clone.args(["clone", "--quiet", "--depth=1", "--no-local"]).arg(from).arg(to);
    workspace::output(clone).map(drop)
}

impl Tree {
    fn new(title: String, root: PathBuf, seed: u64, count: usize, ripgrep: &Path) -> XtaskResult<Self> {
        fs::write(root.join("lockstep.toml"), "")?;
        let tree = Self { title, root, questions: Vec::new() };
        for arguments in [
            &["init", "--quiet"][..],
            &["add", "--all"],
            &["-c", "user.name=bench", "-c", "user.email=bench@localhost", "commit", "--quiet", "-m", "all"],
        ] {
            let mut git = tree.command(Path::new("git"));
            git.args(arguments);
            workspace::output(git)?;
        }
        let questions = tree.choose(seed, count, ripgrep)?;
        Ok(Self { questions, ..tree })
    }

    fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.root).env_clear().env("HOME", &self.root).stdin(Stdio::null());
        command.envs(std::env::var_os("PATH").map(|path| ("PATH", path)));
        command
    }

    /// Chooses definitions of the most frequent language whose names occur in another file too.
    fn choose(&self, seed: u64, count: usize, ripgrep: &Path) -> XtaskResult<Vec<Renamed>> {
        let mut git = self.command(Path::new("git"));
        git.arg("ls-files");
        let listed = String::from_utf8(workspace::output(git)?)?;
        let mut by_language: BTreeMap<Language, Vec<&str>> = BTreeMap::new();
        for path in listed.lines().filter(|path| is_source(path)) {
            by_language.entry(Language::of(path)).or_default().push(path);
        }
        let files = by_language.into_values().max_by_key(Vec::len).unwrap_or_default();
        let mut random = SplitMix64(seed);
        let mut questions = Vec::new();
        for _ in 0..count * 20 {
            if questions.len() == count || files.is_empty() {
                break;
            }
            let file = files[at_most(random.next(), files.len())];
            let Ok(text) = fs::read_to_string(self.root.join(file)) else { continue };
            let mut definitions = language::facts(file, &text).definitions;
            definitions.retain(|it| it.reach > Reach::File && it.kind != DefinitionKind::Module);
            if definitions.is_empty() {
                continue;
            }
            let name = definitions[at_most(random.next(), definitions.len())].name.to_string();
            let mut search = self.command(ripgrep);
            search.args(["--files-with-matches", "--word-regexp", "--fixed-strings", "-e", &name, "."]);
            if search.output()?.stdout.split(|byte| *byte == b'\n').count() > 2 {
                questions.push(Renamed { file: file.to_owned(), name });
            }
        }
        Ok(questions)
    }

    fn measure(&self, peak: &Path, program: &Path) -> XtaskResult<Costs> {
        let mut costs = Costs::default();
        let build = self.cost(peak, program, &["index", "--rebuild", "--quiet"])?;
        costs.others.push(("index --rebuild", build));
        for (at, renamed) in self.questions.iter().enumerate() {
            let path = self.root.join(&renamed.file);
            let text = fs::read_to_string(&path)?;
            let session = format!("bench{at}");
            self.hook(peak, program, &HookEvent::session_start().session(&session))?;
            fs::write(&path, replace_words(&text, &renamed.name, &format!("{}Renamed", renamed.name)))?;
            let question = ["impact", "--quiet", "--format", "json", "--time-limit", "600"];
            let cost = self.cost(peak, program, &question)?;
            let mut again = self.command(program);
            again.args(question);
            costs.answers.push(normal_form(&again.output()?.stdout)?);
            let edited = HookEvent::edit(&path).by_agent("a1", "general-purpose").session(&session);
            self.hook(peak, program, &edited)?;
            let stop = HookEvent::subagent_stop("a1", "general-purpose").session(&session);
            costs.stops.push(self.hook(peak, program, &stop)?.time);
            fs::write(&path, text)?;
            self.cost(peak, program, &["index", "--quiet"])?;
            costs.questions.push(cost.time);
            costs.memory = costs.memory.max(cost.memory);
        }
        if let Some(first) = self.questions.first() {
            let name = first.name.as_str();
            let refs = ["refs", name, "--quiet", "--format", "json", "--time-limit", "600"];
            costs.others.push(("refs NAME", self.cost(peak, program, &refs)?));
        }
        costs.others.push(("map build", self.cost(peak, program, &["map", "build", "--quiet"])?));
        costs.others.push(("map update", self.cost(peak, program, &["map", "update", "--quiet"])?));
        Ok(costs)
    }

    /// Runs a program and returns its cost. Its exit code is not judged: a question that found nothing is one too.
    fn cost(&self, peak: &Path, program: &Path, arguments: &[&str]) -> XtaskResult<Cost> {
        let mut command = self.command(peak);
        let output = command.arg("--time").arg(program).args(arguments).stderr(Stdio::null()).output()?;
        parse_cost(String::from_utf8(output.stdout)?.trim())
    }

    /// Sends an event to the hook and returns its cost.
    fn hook(&self, peak: &Path, program: &Path, event: &HookEvent) -> XtaskResult<Cost> {
        let mut input = tempfile::tempfile()?;
        input.write_all(event.json(&self.root).as_bytes())?;
        input.rewind()?;
        let mut command = self.command(peak);
        command.arg("--time").arg(program).args(["hook", "claude"]).stdin(input).stderr(Stdio::null());
        let output = command.env("CLAUDE_PROJECT_DIR", &self.root).output()?;
        parse_cost(String::from_utf8(output.stdout)?.trim())
    }

    fn search(&self, peak: &Path, ripgrep: &Path) -> XtaskResult<Vec<Duration>> {
        let one = |it: &Renamed| {
            self.cost(peak, ripgrep, &["--word-regexp", "--line-number", "-e", &it.name, "."])
                .map(|cost| cost.time)
        };
        self.questions.iter().map(one).collect()
    }

    /// Lists the answers in which two programs differ.
    fn differences(&self, ours: &Costs, theirs: &Costs) -> String {
        let mut out = String::new();
        let mut count = 0;
        for ((question, our), their) in self.questions.iter().zip(&ours.answers).zip(&theirs.answers) {
            if our != their {
                count += 1;
                let _ = writeln!(out, "- {} in {}", question.name, question.file);
                out.push_str(&difference(our, their));
            }
        }
        format!("\n{}: {count} of {} answers differ.\n\n{out}", self.title, self.questions.len())
    }
}

/// Reads what `peak --time` prints.
fn parse_cost(text: &str) -> XtaskResult<Cost> {
    let (memory, micros) = text.split_once(' ').ok_or("two numbers were expected")?;
    Ok(Cost { time: Duration::from_micros(micros.parse()?), memory: memory.parse()? })
}

fn at_most(random: u64, len: usize) -> usize {
    usize::try_from(random % len.max(1) as u64).unwrap_or(0)
}

fn is_source(path: &str) -> bool {
    use Language::{Html, Json, Markdown, Text, Toml, Yaml};
    !matches!(Language::of(path), Html | Json | Markdown | Text | Toml | Yaml)
        && !path.ends_with(".d.ts")
        && !path.contains("vendor/")
}

fn replace_words(text: &str, word: &str, new: &str) -> String {
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$');
    let mut result = String::with_capacity(text.len() + 64);
    let mut end = 0;
    for (at, _) in text.match_indices(word) {
        let before = text[..at].chars().next_back();
        let after = text[at + word.len()..].chars().next();
        if at >= end && !before.is_some_and(is_word) && !after.is_some_and(is_word) {
            result.push_str(&text[end..at]);
            result.push_str(new);
            end = at + word.len();
        }
    }
    result.push_str(&text[end..]);
    result
}

/// An answer without what depends on the time.
fn normal_form(answer: &[u8]) -> XtaskResult<Value> {
    let mut value: Value = serde_json::from_slice(answer)?;
    if let Some(fields) = value.as_object_mut() {
        fields.retain(|name, _| !name.starts_with("timings") && name != "generated_at" && name != "date");
    }
    Ok(value)
}

/// Lists the dependents that only one of two answers has, or in which they differ.
fn difference(ours: &Value, theirs: &Value) -> String {
    let dependents = |answer: &Value| -> BTreeMap<String, Value> {
        let impacts = answer["impacts"].as_array().cloned().unwrap_or_default();
        let all = impacts.iter().flat_map(|it| it["dependents"].as_array().cloned().unwrap_or_default());
        all.map(|it| (it["file"].as_str().unwrap_or_default().to_owned(), it)).collect()
    };
    let (ours, theirs) = (dependents(ours), dependents(theirs));
    let mut out = String::new();
    for (file, our) in &ours {
        match theirs.get(file) {
            None => drop(writeln!(out, "  - only here: {file}")),
            Some(their) if their != our => drop(writeln!(out, "  - otherwise: {file}")),
            Some(_) => {}
        }
    }
    for file in theirs.keys().filter(|file| !ours.contains_key(*file)) {
        let _ = writeln!(out, "  - only there: {file}");
    }
    out
}

fn command_line(args: &SpeedArgs) -> String {
    let trees: String = args.tree.iter().map(|tree| format!(" --tree {}", tree.display())).collect();
    let against = if args.against.is_some() { " --against PROGRAM" } else { "" };
    format!(
        "cargo xtask bench speed --real --seed {} --questions {}{trees}{against}",
        args.seed, args.questions
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_words_are_renamed() {
        assert_eq!(replace_words("ab abc ab$ (ab) ab", "ab", "x"), "x abc ab$ (x) x");
        assert_eq!(replace_words("a.b", "c", "x"), "a.b");
    }

    #[test]
    fn answers_that_differ_in_time_only_are_equal() {
        let of = |text: &str| normal_form(text.as_bytes()).unwrap();
        assert_eq!(of(r#"{"impacts":[],"timings_ms":{"total":1}}"#), of(r#"{"impacts":[],"timings_ms":2}"#));
        assert_ne!(of(r#"{"impacts":[1]}"#), of(r#"{"impacts":[]}"#));
        let (one, none) =
            (of(r#"{"impacts":[{"dependents":[{"file":"a"}]}]}"#), of(r#"{"impacts":[{"dependents":[]}]}"#));
        assert_eq!(difference(&one, &none), "  - only here: a\n");
        assert_eq!(difference(&none, &one), "  - only there: a\n");
    }
}
