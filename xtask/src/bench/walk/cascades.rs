//! Cascades of the walk's renames with four agents: a cascade must converge exactly if the checker reports no
//! error.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use super::checkout::Checkout;
use super::edits::Edit;
use super::truth::Judge;
use crate::XtaskResult;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Agent {
    WholeWords,
    TooMuch,
    Nothing,
    AnotherFile,
}

impl Agent {
    const ALL: [Self; 4] = [Self::Nothing, Self::WholeWords, Self::TooMuch, Self::AnotherFile];

    fn as_str(self) -> &'static str {
        match self {
            Self::WholeWords => "renames whole words",
            Self::TooMuch => "renames too much",
            Self::Nothing => "does nothing",
            Self::AnotherFile => "edits another file",
        }
    }

    fn script(self, old: &str, new: &str) -> String {
        let rename = |pattern: String| {
            format!(
                "cat > /dev/null; for file in $LOCKSTEP_FILES; do sed -i 's/{pattern}/{new}/g' $file; done"
            )
        };
        match self {
            Self::WholeWords => rename(format!("\\b{old}\\b")),
            Self::TooMuch => rename(old.to_owned()),
            Self::Nothing => "cat > /dev/null".to_owned(),
            Self::AnotherFile => "cat > /dev/null; echo done >> walk-notes.txt".to_owned(),
        }
    }
}

/// The verdict of one cascade, and the truth.
#[derive(Debug)]
pub(super) struct Verdict {
    repository: String,
    agent: Agent,
    says_converged: bool,
    is_content: bool,
}

/// Gives a rename to each agent. Returns nothing if the checker does not reject the rename alone: it may not check
/// the file, so it cannot judge the agents.
pub(super) fn run(
    program: &Path,
    checkout: &Checkout,
    edit: &Edit,
    judge: &Judge<'_>,
    is_verbose: bool,
) -> XtaskResult<Vec<Verdict>> {
    let Some((old, new)) = &edit.rename else { return Ok(Vec::new()) };
    let mut verdicts = Vec::new();
    for agent in Agent::ALL {
        let _settings = Settings::put(checkout)?;
        checkout.apply(&edit.changes)?;
        let mut command = Command::new(program);
        command.args(["cascade", "run", "--format", "json", "--agent", &agent.script(old, new)]);
        let output = command.current_dir(&checkout.root).stdin(Stdio::null()).output()?;
        let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
        let problems = judge.new_problems()?;
        if agent == Agent::Nothing && problems.is_empty() {
            checkout.reset()?;
            return Ok(Vec::new());
        }
        let says_converged = answer["status"] == "converged";
        let verdict = Verdict {
            repository: checkout.name.clone(),
            agent,
            says_converged,
            is_content: problems.is_empty(),
        };
        if is_verbose && says_converged != verdict.is_content {
            eprintln!(
                "{} cascade: {}, an agent that {}: {}",
                checkout.name,
                edit.what,
                agent.as_str(),
                answer["status"]
            );
            problems
                .iter()
                .take(3)
                .for_each(|problem| eprintln!("  {}:{} {}", problem.file, problem.line, problem.message));
            eprintln!("  {} {}", answer["unresolved"], String::from_utf8_lossy(&output.stderr));
        }
        verdicts.push(verdict);
        checkout.reset()?;
    }
    Ok(verdicts)
}

/// A cascade needs a project that is set up; git does not see it.
struct Settings<'c>(&'c Checkout);

impl<'c> Settings<'c> {
    fn put(checkout: &'c Checkout) -> XtaskResult<Self> {
        let exclude = checkout.root.join(".git/info/exclude");
        fs::create_dir_all(checkout.root.join(".git/info"))?;
        fs::write(exclude, "/lockstep.toml\n/.lockstep/\n")?;
        fs::write(checkout.root.join("lockstep.toml"), "")?;
        Ok(Self(checkout))
    }
}

impl Drop for Settings<'_> {
    fn drop(&mut self) {
        let _ = fs::remove_file(self.0.root.join("lockstep.toml"));
        let _ = fs::remove_dir_all(self.0.root.join(".lockstep"));
    }
}

/// The right verdicts by repository and by agent.
pub(super) fn table(verdicts: &[Verdict]) -> String {
    if verdicts.is_empty() {
        return String::new();
    }
    let mut table = String::new();
    let repositories: BTreeSet<&str> = verdicts.iter().map(|verdict| verdict.repository.as_str()).collect();
    let by_repository =
        repositories.iter().map(|name| (*name, of(verdicts, |candidate| candidate.repository == *name)));
    add_rows(&mut table, "repository", by_repository);
    let by_agent =
        Agent::ALL.iter().map(|agent| (agent.as_str(), of(verdicts, |candidate| candidate.agent == *agent)));
    add_rows(&mut table, "agent", by_agent);
    table
}

fn of(verdicts: &[Verdict], is_wanted: impl Fn(&Verdict) -> bool) -> Vec<&Verdict> {
    verdicts.iter().filter(|verdict| is_wanted(verdict)).collect()
}

fn add_rows<'v>(table: &mut String, of_what: &str, rows: impl Iterator<Item = (&'v str, Vec<&'v Verdict>)>) {
    let _ = writeln!(
        table,
        "\n| {of_what} | cascades | right | converged, and something is left | not converged, and nothing is left |\n|---|--:|--:|--:|--:|"
    );
    for (name, verdicts) in rows {
        let early = verdicts.iter().filter(|verdict| verdict.says_converged && !verdict.is_content).count();
        let late = verdicts.iter().filter(|verdict| !verdict.says_converged && verdict.is_content).count();
        let right = verdicts.len() - early - late;
        let _ = writeln!(table, "| {name} | {} | {right} | {early} | {late} |", verdicts.len());
    }
}
