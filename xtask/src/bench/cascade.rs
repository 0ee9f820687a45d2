//! `cargo xtask bench cascade`: which files a cascade works on, against those that are planted to need it, beside the old way of
//! searching for basenames.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::results_page;
use crate::metadata::Metadata;
use crate::{XtaskResult, workspace};

/// Measure which files a cascade works on, in projects where that is known
///
/// Everything happens in a temporary directory; nothing of the user's is touched.
#[derive(Debug, clap::Args)]
pub(crate) struct CascadeArgs {
    /// Put the results into docs/benchmarks/cascade.md
    #[arg(long)]
    write: bool,
}

/// The number of iterations of both loops.
const ITERATIONS: usize = 3;

/// Files in each round.
const WIDTH: usize = 3;

/// The agent: every `x_old` in its files becomes `x_new`, its own definitions included.
const AGENT: &str = "cat > /dev/null; for file in $LOCKSTEP_FILES; do sed -i -E 's/\\b([a-z0-9]+)_old\\b/\\1_new/g' $file; done";

pub(crate) fn run(args: &CascadeArgs) -> XtaskResult {
    let mut cargo = workspace::cargo();
    cargo.args(["build", "--quiet", "--locked", "-p", "lockstep-cli", "--bin", "lockstep"]);
    workspace::output(cargo)?;
    let lockstep = Metadata::load(&[])?.target_directory.join("debug/lockstep");
    let mut table = String::from(
        "| language | rounds | files to follow | way | matched | missed | spurious | ended |\n|---|--:|--:|---|--:|--:|--:|---|\n",
    );
    for language in [Language::Rust, Language::TypeScript] {
        for rounds in 1..=4 {
            let planted = language.dependents(rounds);
            let (worked_on, ended) = by_cascade(&lockstep, language, rounds)?;
            row(&mut table, language, rounds, &planted, "cascade", &worked_on, &ended);
            let worked_on = by_basename(language, rounds)?;
            row(&mut table, language, rounds, &planted, "basename search", &worked_on, "");
        }
    }
    println!("{table}");
    if args.write {
        results_page::write("cascade", &table)?;
    }
    Ok(())
}

fn row(
    table: &mut String,
    language: Language,
    rounds: usize,
    planted: &BTreeSet<String>,
    way: &str,
    worked_on: &BTreeSet<String>,
    ended: &str,
) {
    let (matched, missed, spurious) = (
        planted.intersection(worked_on).count(),
        planted.difference(worked_on).count(),
        worked_on.difference(planted).count(),
    );
    let name = language.name();
    let _ = writeln!(
        table,
        "| {name} | {rounds} | {} | {way} | {matched} | {missed} | {spurious} | {ended} |",
        planted.len()
    );
}

#[derive(Debug, Clone, Copy)]
enum Language {
    Rust,
    TypeScript,
}

impl Language {
    fn name(self) -> &'static str {
        match self {
            Self::Rust => "Rust",
            Self::TypeScript => "TypeScript",
        }
    }

    fn path(self, round: usize, at: usize) -> String {
        match (self, round) {
            (Self::Rust, 0) => "src/base.rs".to_owned(),
            (Self::TypeScript, 0) => "src/base.ts".to_owned(),
            (Self::Rust, _) => format!("src/layer{round}/part{at}.rs"),
            (Self::TypeScript, _) => format!("src/layer{round}/part{at}.ts"),
        }
    }

    /// Every file that must follow, in whichever round.
    fn dependents(self, rounds: usize) -> BTreeSet<String> {
        (1..=rounds).flat_map(|round| (0..WIDTH).map(move |at| self.path(round, at))).collect()
    }

    fn text(self, round: usize, at: usize) -> String {
        let symbol =
            |round: usize| if round == 0 { "base_old".to_owned() } else { format!("l{round}p{at}_old") };
        let (own, used) = (symbol(round), symbol(round.saturating_sub(1)));
        match (self, round) {
            (Self::Rust, 0) => "pub fn base_old() -> u32 {\n    1\n}\n".to_owned(),
            (Self::TypeScript, 0) => "export function base_old(): number {\n  return 1;\n}\n".to_owned(),
            (Self::Rust, _) => {
                let module =
                    if round == 1 { "base".to_owned() } else { format!("layer{}::part{at}", round - 1) };
                format!("use crate::{module}::{used};\n\npub fn {own}() -> u32 {{\n    {used}() + 1\n}}\n")
            }
            (Self::TypeScript, _) => {
                let module =
                    if round == 1 { "../base".to_owned() } else { format!("../layer{}/part{at}", round - 1) };
                format!(
                    "import {{ {used} }} from \"{module}\";\n\nexport function {own}(): number {{\n  return {used}() + 1;\n}}\n"
                )
            }
        }
    }

    /// Files that have the same words and need nothing.
    fn unrelated_files(self, rounds: usize) -> Vec<(String, String)> {
        let mut files = vec![
            (
                "README.md".to_owned(),
                "The database holds the baseline of every part1 that was sold.\n".to_owned(),
            ),
            ("src/legacy/part0.txt".to_owned(), "part0 of the base as it was in 2019\n".to_owned()),
            ("lockstep.toml".to_owned(), String::new()),
        ];
        if matches!(self, Self::Rust) {
            let layers: String = (1..=rounds).map(|round| format!("pub mod layer{round};\n")).collect();
            files.push(("src/lib.rs".to_owned(), format!("pub mod base;\n{layers}")));
            let parts: String = (0..WIDTH).map(|at| format!("pub mod part{at};\n")).collect();
            files.extend((1..=rounds).map(|round| (format!("src/layer{round}/mod.rs"), parts.clone())));
        }
        files
    }

    /// A project with a rename in its base that is not committed.
    fn plant(self, rounds: usize) -> XtaskResult<tempfile::TempDir> {
        let dir = tempfile::tempdir()?;
        let mut files = self.unrelated_files(rounds);
        files.push((self.path(0, 0), self.text(0, 0)));
        for round in 1..=rounds {
            files.extend((0..WIDTH).map(|at| (self.path(round, at), self.text(round, at))));
        }
        for (path, text) in files {
            let path = dir.path().join(path);
            fs::create_dir_all(path.parent().unwrap_or(dir.path()))?;
            fs::write(path, text)?;
        }
        for arguments in
            [&["init", "--quiet"][..], &["add", "--all"], &["commit", "--quiet", "--message", "planted"]]
        {
            let mut git = Command::new("git");
            git.args(["-c", "user.name=bench", "-c", "user.email=bench@example.org"]).args(arguments);
            git.current_dir(dir.path());
            workspace::output(git)?;
        }
        let base = dir.path().join(self.path(0, 0));
        fs::write(&base, fs::read_to_string(&base)?.replace("_old", "_new"))?;
        Ok(dir)
    }
}

/// The files that a cascade gave to agents, and how it ended.
fn by_cascade(lockstep: &Path, language: Language, rounds: usize) -> XtaskResult<(BTreeSet<String>, String)> {
    let dir = language.plant(rounds)?;
    let mut command = Command::new(lockstep);
    command.args(["cascade", "run", "--format", "json", "--agent", AGENT]).current_dir(dir.path());
    let answer: serde_json::Value = serde_json::from_slice(&command.output()?.stdout)?;
    let mut worked_on = BTreeSet::new();
    for iteration in answer["iteration_details"].as_array().into_iter().flatten() {
        let files = iteration["changed_files"].as_array().into_iter().flatten();
        worked_on.extend(files.filter_map(|file| Some(file["path"].as_str()?.to_owned())));
    }
    Ok((worked_on, answer["status"].as_str().unwrap_or("?").to_owned()))
}

/// The files that the same loop gives to agents when it searches for the basenames of what changed.
fn by_basename(language: Language, rounds: usize) -> XtaskResult<BTreeSet<String>> {
    let dir = language.plant(rounds)?;
    let mut changed = BTreeSet::from([language.path(0, 0)]);
    let mut worked_on = BTreeSet::new();
    for _ in 0..ITERATIONS {
        let mut found = BTreeSet::new();
        for path in &changed {
            let name = Path::new(path).file_stem().and_then(|name| name.to_str()).unwrap_or_default();
            found.extend(containing(dir.path(), name)?.into_iter().filter(|file| file != path));
        }
        found.retain(|file| !worked_on.contains(file) && *file != language.path(0, 0));
        changed.clear();
        for file in found {
            let path = dir.path().join(&file);
            let before = fs::read_to_string(&path)?;
            let after = before.replace("_old", "_new");
            if before != after {
                fs::write(&path, after)?;
                changed.insert(file.clone());
            }
            worked_on.insert(file);
        }
        if changed.is_empty() {
            break;
        }
    }
    Ok(worked_on)
}

/// The files that hold a text, relative to the root.
fn containing(root: &Path, text: &str) -> XtaskResult<BTreeSet<String>> {
    let mut found = BTreeSet::new();
    let mut open: Vec<PathBuf> = vec![root.to_owned()];
    while let Some(dir) = open.pop() {
        for entry in fs::read_dir(dir)? {
            let entry = entry?;
            let hidden = entry.file_name().to_string_lossy().starts_with('.');
            if entry.file_type()?.is_dir() {
                open.extend((!hidden).then(|| entry.path()));
            } else if fs::read_to_string(entry.path()).is_ok_and(|content| content.contains(text)) {
                let path = entry.path();
                found.insert(path.strip_prefix(root)?.to_string_lossy().into_owned());
            }
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_planted_project_has_its_followers_and_bystanders() {
        let dir = Language::Rust.plant(2).unwrap();
        assert!(Language::Rust.dependents(2).iter().all(|path| dir.path().join(path).is_file()));
        assert!(containing(dir.path(), "base").unwrap().contains("README.md"));
        assert!(!containing(dir.path(), "base_old").unwrap().contains("src/base.rs"), "it was renamed");
    }
}
