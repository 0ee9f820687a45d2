//! The copies of the program on this machine: on PATH, in the hooks of the project and of the user, and in git's hooks.

use std::collections::BTreeSet;
use std::env;
use std::fmt::Write as _;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use lockstep_store::{StateDir, Store};
use lockstep_text::{printable_path, single_line};
use serde::Serialize;

use crate::cli::VERSION;
use crate::command_output::CommandOutput;
use crate::doctor::registered_commands;
use crate::env_vars::PATH;
use crate::executable;
use crate::setup::git_hook_programs;

const NAME: &str = "lockstep";

/// A program file on PATH.
#[derive(Debug, Serialize)]
pub(crate) struct ProgramCopy {
    path: PathBuf,
    /// The version that it prints; absent if it cannot be started.
    version: Option<String>,
    /// Set if it is a script that starts the native program, which makes every call slower.
    is_script: bool,
    is_this_program: bool,
}

/// A command that a client or git runs.
#[derive(Debug, Serialize)]
pub(crate) struct RegisteredProgram {
    file: PathBuf,
    /// The program as the command names it.
    program: String,
    /// Absent if it is not an installed program or cannot be started.
    version: Option<String>,
}

/// Every copy, and the problems among them.
#[derive(Debug, Serialize)]
pub(crate) struct Installed {
    version: &'static str,
    path: Option<PathBuf>,
    on_path: Vec<ProgramCopy>,
    hooks: Vec<RegisteredProgram>,
    /// Sentences, each with its fix.
    problems: Vec<String>,
}

impl Installed {
    /// Finds the copies for a project, or for a directory without one.
    pub(crate) fn find(root: &Path, state: Option<&StateDir>) -> Self {
        let own = env::current_exe().and_then(|path| path.canonicalize()).ok();
        let on_path = copies_on_path(own.as_deref());
        let hooks = hooks(root);
        let mut problems = Vec::new();
        problems.extend(problem_on_path(&on_path));
        problems.extend(hooks.iter().filter_map(problem_of_hook));
        problems.extend(state.and_then(problem_of_state));
        Self { version: VERSION, path: own, on_path, hooks, problems }
    }

    /// Returns true if every copy that is used has this version.
    pub(crate) fn is_consistent(&self) -> bool {
        self.problems.is_empty()
    }
}

fn copies_on_path(own: Option<&Path>) -> Vec<ProgramCopy> {
    let mut seen = BTreeSet::new();
    let directories: Vec<PathBuf> =
        PATH.get().map(|path| env::split_paths(&path).collect()).unwrap_or_default();
    let files = directories.iter().filter(|directory| directory.is_absolute()).map(|dir| dir.join(NAME));
    let files = files.filter(|path| path.to_str().is_some_and(|path| executable::find(path).is_some()));
    files
        .filter(|path| path.canonicalize().is_ok_and(|real| seen.insert(real)))
        .map(|path| ProgramCopy {
            version: version_of(&path),
            is_script: is_script(&path),
            is_this_program: own.is_some() && path.canonicalize().ok().as_deref() == own,
            path,
        })
        .collect()
}

fn version_of(program: &Path) -> Option<String> {
    let output = Command::new(program).arg("--version").output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let version = text.trim().strip_prefix(NAME)?.trim();
    (output.status.success() && !version.is_empty()).then(|| single_line(version))
}

fn is_script(path: &Path) -> bool {
    let mut start = [0; 2];
    File::open(path).and_then(|mut file| file.read_exact(&mut start)).is_ok_and(|()| &start == b"#!")
}

/// The programs of all registered commands, each once for each file.
fn hooks(root: &Path) -> Vec<RegisteredProgram> {
    let mut commands = registered_commands(root);
    commands.extend(git_hook_programs(root));
    let mut seen = BTreeSet::new();
    commands
        .into_iter()
        .filter(|found| seen.insert(found.clone()))
        .map(|(file, command)| {
            // The plugin's command first checks that the program exists.
            let program = command.rsplit("exec ").next().unwrap_or(&command).to_owned();
            let version = registered_version(&program, root);
            RegisteredProgram { file, program, version }
        })
        .collect()
}

/// Returns the version of a program that a file of the repository names. A program inside the project, or a command that is more
/// than a program, is not started: the repository may be hostile.
fn registered_version(program: &str, root: &Path) -> Option<String> {
    let path = executable::find(&executable::unquoted(program)?)?.canonicalize().ok()?;
    (!path.starts_with(root)).then(|| version_of(&path)).flatten()
}

fn problem_on_path(copies: &[ProgramCopy]) -> Option<String> {
    let first = copies.first()?;
    let other = copies.iter().find(|copy| copy.version != first.version);
    if let Some(other) = other {
        return Some(format!(
            "PATH has copies of different versions; {} is used, {} is not. Remove one of them.",
            printable_path(&first.path),
            printable_path(&other.path)
        ));
    }
    (first.version.as_deref() != Some(VERSION)).then(|| {
        format!(
            "PATH finds {}, which is not this program. Remove it, or put this program's directory first.",
            printable_path(&first.path)
        )
    })
}

fn problem_of_hook(hook: &RegisteredProgram) -> Option<String> {
    let file = printable_path(&hook.file);
    let program = single_line(&hook.program);
    match hook.version.as_deref() {
        Some(VERSION) => None,
        Some(version) => Some(format!(
            "{file} starts `{program}`, which is version {version}. Upgrade that copy, or run `lockstep init` with this one."
        )),
        None => Some(format!(
            "{file} starts `{program}`, which is not an installed lockstep. Install it again, or run `lockstep init` with this program."
        )),
    }
}

fn problem_of_state(state: &StateDir) -> Option<String> {
    Store::open_existing(state).err().map(|error| format!("The project's state cannot be used: {error}."))
}

impl CommandOutput for Installed {
    fn text(&self) -> String {
        let mut out = String::new();
        let own = self.path.as_deref().map_or("an unknown file".to_owned(), printable_path);
        let _ = writeln!(out, "lockstep {VERSION}\nthis program: {own}");
        if self.on_path.is_empty() {
            out.push_str("not on PATH: commands and hooks need the path of the program\n");
        }
        for (at, copy) in self.on_path.iter().enumerate() {
            let order = if at == 0 { "first on PATH" } else { "later on PATH" };
            let script = if copy.is_script { ", a script that starts the program" } else { "" };
            let version = copy.version.as_deref().unwrap_or("cannot be started");
            let _ = writeln!(out, "{order}: {} ({version}{script})", printable_path(&copy.path));
        }
        for hook in &self.hooks {
            let version = hook.version.as_deref().unwrap_or("not an installed lockstep");
            let program = single_line(&hook.program);
            let _ = writeln!(out, "hooks: {} starts `{program}` ({version})", printable_path(&hook.file));
        }
        for problem in &self.problems {
            let _ = writeln!(out, "problem: {problem}");
        }
        if self.is_consistent() {
            out.push_str("Every copy that is used has this version.\n");
        }
        out
    }
}
