//! A repository and the cost of one program in it.

use std::fs;
use std::io::{Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use lockstep_testkit::HookEvent;
use serde_json::Value;

use super::answers::normal_form;
use super::changes::{Change, choose};
use crate::{XtaskResult, workspace};

/// A repository with its questions. Its user's directories are beside it.
pub(super) struct Tree {
    pub(super) title: String,
    root: PathBuf,
    home: PathBuf,
    pub(super) questions: Vec<Change>,
}

/// Costs of one program in one repository.
#[derive(Default)]
pub(super) struct Costs {
    pub(super) questions: Vec<Duration>,
    /// The hook at the stop of a subagent that made the edit of the question.
    pub(super) stops: Vec<Duration>,
    /// References to the name of each question.
    pub(super) refs: Vec<Duration>,
    /// Peak memory of a question, in KiB.
    pub(super) memory: u64,
    /// Other commands by their names.
    pub(super) others: Vec<(&'static str, Cost)>,
    pub(super) answers: Vec<Value>,
    /// The work counters of each question.
    pub(super) work: Vec<Value>,
}

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Cost {
    pub(super) time: Duration,
    /// Peak memory in KiB.
    pub(super) memory: u64,
}

const QUESTION: [&str; 6] = ["impact", "--quiet", "--format", "json", "--time-limit", "600"];

impl Tree {
    /// Commits the files below `root` and chooses questions about them.
    pub(super) fn new(
        (title, root): (String, PathBuf),
        (seed, count): (u64, usize),
        ripgrep: &Path,
    ) -> XtaskResult<Self> {
        fs::write(root.join("lockstep.toml"), "")?;
        let home = root.with_extension("home");
        fs::create_dir_all(&home)?;
        let tree = Self { title, root, home, questions: Vec::new() };
        for arguments in [
            &["init", "--quiet"][..],
            &["add", "--all"],
            &["-c", "user.name=bench", "-c", "user.email=bench@localhost", "commit", "--quiet", "-m", "all"],
        ] {
            let mut git = tree.command(Path::new("git"));
            git.args(arguments);
            workspace::output(git)?;
        }
        let mut git = tree.command(Path::new("git"));
        git.arg("ls-files");
        let listed = String::from_utf8(workspace::output(git)?)?;
        let is_elsewhere = |name: &str| {
            let mut search = tree.command(ripgrep);
            search.args(["--files-with-matches", "--word-regexp", "--fixed-strings", "-e", name, "."]);
            search.output().is_ok_and(|output| output.stdout.split(|byte| *byte == b'\n').count() > 2)
        };
        let questions = choose(&tree.root, &listed, (seed, count), &is_elsewhere);
        Ok(Self { questions, ..tree })
    }

    fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.root).env_clear().env("HOME", &self.home).stdin(Stdio::null());
        command.envs(std::env::var_os("PATH").map(|path| ("PATH", path)));
        command
    }

    pub(super) fn measure(&self, peak: &Path, program: &Path) -> XtaskResult<Costs> {
        let mut costs = Costs::default();
        let build = self.cost(peak, program, &["index", "--rebuild", "--quiet"])?;
        costs.others.push(("index --rebuild", build));
        for (at, change) in self.questions.iter().enumerate() {
            self.ask(peak, program, change, &format!("bench{at}"), &mut costs)?;
        }
        for change in &self.questions {
            let refs = ["refs", &change.name, "--quiet", "--format", "json", "--time-limit", "600"];
            costs.refs.push(self.cost(peak, program, &refs)?.time);
        }
        for (name, arguments) in [
            ("index, nothing changed", &["index", "--quiet"][..]),
            ("index --stats", &["index", "--stats", "--quiet"]),
            ("map build", &["map", "build", "--quiet"]),
            ("map update, nothing changed", &["map", "update", "--quiet"]),
        ] {
            costs.others.push((name, self.cost(peak, program, arguments)?));
        }
        if let Some(change) = self.questions.first() {
            let path = self.root.join(&change.file);
            fs::write(&path, &change.new)?;
            let update = ["map", "update", "--quiet", &change.file];
            costs.others.push(("map update FILE, a definition changed", self.cost(peak, program, &update)?));
            fs::write(&path, &change.old)?;
            self.cost(peak, program, &update)?;
            self.compare_without_setup(peak, program, change, &mut costs)?;
        }
        Ok(costs)
    }

    /// Asks one question, once before and once after the index is updated, and lets a subagent stop.
    fn ask(
        &self,
        peak: &Path,
        program: &Path,
        change: &Change,
        session: &str,
        costs: &mut Costs,
    ) -> XtaskResult {
        let path = self.root.join(&change.file);
        self.hook(peak, program, &HookEvent::session_start().session(session))?;
        fs::write(&path, &change.new)?;
        let cost = self.cost(peak, program, &QUESTION)?;
        let mut again = self.command(program);
        let answer = again.args(QUESTION).output()?.stdout;
        costs.work.push(serde_json::from_slice::<Value>(&answer)?["work"].take());
        costs.answers.push(normal_form(&answer)?);
        let edited = HookEvent::edit(&path).by_agent("a1", "general-purpose").session(session);
        self.hook(peak, program, &edited)?;
        let stop = HookEvent::subagent_stop("a1", "general-purpose").session(session);
        costs.stops.push(self.hook(peak, program, &stop)?.time);
        fs::write(&path, &change.old)?;
        self.cost(peak, program, &["index", "--quiet"])?;
        costs.questions.push(cost.time);
        costs.memory = costs.memory.max(cost.memory);
        Ok(())
    }

    /// Asks the second question of a repository with and without `lockstep.toml`.
    fn compare_without_setup(
        &self,
        peak: &Path,
        program: &Path,
        change: &Change,
        costs: &mut Costs,
    ) -> XtaskResult {
        let (path, config) = (self.root.join(&change.file), self.root.join("lockstep.toml"));
        let named = [&QUESTION[..], &[change.file.as_str()]].concat();
        for (name, is_set_up) in
            [("question with set-up, the second", true), ("question without set-up, the second", false)]
        {
            if !is_set_up {
                fs::remove_file(&config)?;
            }
            self.cost(peak, program, &["index", "--quiet"])?;
            fs::write(&path, &change.new)?;
            self.cost(peak, program, &named)?;
            costs.others.push((name, self.cost(peak, program, &named)?));
            fs::write(&path, &change.old)?;
        }
        fs::write(&config, "")?;
        self.cost(peak, program, &["index", "--quiet"]).map(drop)
    }

    /// Runs a program and returns its cost. Its exit code is not judged: a question that found nothing is one too.
    fn cost(&self, peak: &Path, program: &Path, arguments: &[&str]) -> XtaskResult<Cost> {
        let mut command = self.command(peak);
        let output = command.arg("--time").arg(program).args(arguments).stderr(Stdio::null()).output()?;
        parse_cost(String::from_utf8(output.stdout)?.trim())
    }

    fn hook(&self, peak: &Path, program: &Path, event: &HookEvent) -> XtaskResult<Cost> {
        let mut input = tempfile::tempfile()?;
        input.write_all(event.json(&self.root).as_bytes())?;
        input.rewind()?;
        let mut command = self.command(peak);
        command.arg("--time").arg(program).args(["hook", "claude"]).stdin(input).stderr(Stdio::null());
        let output = command.env("CLAUDE_PROJECT_DIR", &self.root).output()?;
        parse_cost(String::from_utf8(output.stdout)?.trim())
    }

    pub(super) fn search(&self, peak: &Path, ripgrep: &Path) -> XtaskResult<Vec<Duration>> {
        let one = |change: &Change| {
            self.cost(peak, ripgrep, &["--word-regexp", "--line-number", "-e", &change.name, "."])
                .map(|cost| cost.time)
        };
        self.questions.iter().map(one).collect()
    }
}

/// Reads what `peak --time` prints.
fn parse_cost(text: &str) -> XtaskResult<Cost> {
    let (memory, micros) = text.split_once(' ').ok_or("two numbers were expected")?;
    Ok(Cost { time: Duration::from_micros(micros.parse()?), memory: memory.parse()? })
}
