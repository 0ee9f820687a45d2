//! Graph tools from registries, installed into the cache and run on the same cases. A tool that is not
//! available is reported as missing.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::cases::Case;
use super::language::PreparedPackage;
use super::score::Answerer;
use super::{checker, verdict_cache};
use crate::{XtaskResult, workspace};

const MADGE: &str = "8.0.0";
const CODEGRAPH: (&str, &str) = ("@colbymchenry/codegraph", "1.6.1");
const GRIMP: &str = "grimp==3.19";
const REVIEW_GRAPH: &str = "code-review-graph==2.3.9";

/// A tool that is ready to be asked about a package.
pub(super) enum GraphTool {
    Files(BTreeMap<String, BTreeSet<String>>),
    /// A process for each query, whose answers are cached.
    Asked {
        by: Asked,
        program: PathBuf,
        answers: PathBuf,
    },
}

/// The tools that are a process for each question.
#[derive(Debug, Clone, Copy)]
pub(super) enum Asked {
    /// Asked about a definition.
    Codegraph,
    /// Asked about a file: it has no such question about a definition.
    ReviewGraph,
}

impl Asked {
    fn ending(self) -> &'static str {
        match self {
            Self::Codegraph => "codegraph",
            Self::ReviewGraph => "code-review-graph",
        }
    }
}

impl GraphTool {
    /// Prepares a tool. The error is the reason why it is not available.
    pub(super) fn ready(which: Answerer, prepared: &PreparedPackage, cache: &Path) -> XtaskResult<Self> {
        match which {
            Answerer::Madge => Ok(Self::Files(madge(prepared, cache)?)),
            Answerer::Grimp => Ok(Self::Files(grimp(prepared, cache)?)),
            Answerer::Codegraph => {
                let (name, version) = CODEGRAPH;
                let program = checker::install(cache, name, version)?.join("npm-shim.js");
                if !prepared.root.join(".codegraph").is_dir() {
                    let mut init = codegraph(&program, prepared, cache);
                    init.arg("init").arg(".");
                    workspace::output(init)?;
                }
                Ok(Self::Asked { by: Asked::Codegraph, program, answers: cache.join("answers") })
            }
            Answerer::ReviewGraph => {
                let program = review_graph(prepared, cache)?;
                Ok(Self::Asked { by: Asked::ReviewGraph, program, answers: cache.join("answers") })
            }
            Answerer::Ours | Answerer::Word | Answerer::Basename => Err("that is not a tool".into()),
        }
    }

    /// Returns the other files that the tool reports for a case.
    pub(super) fn answer(&self, prepared: &PreparedPackage, case: &Case) -> XtaskResult<BTreeSet<String>> {
        let mut files = match self {
            Self::Files(dependents) => dependents.get(&case.file).cloned().unwrap_or_default(),
            Self::Asked { by, program, answers } => {
                let path =
                    answers.join(format!("{}-{}", verdict_cache::key(prepared, case).display(), by.ending()));
                match fs::read_to_string(&path) {
                    Ok(text) => text.lines().map(str::to_owned).collect(),
                    Err(_) => {
                        let files = match by {
                            Asked::Codegraph => impact(program, prepared, case)?,
                            Asked::ReviewGraph => blast_radius(program, prepared, case)?,
                        };
                        let text: String = files.iter().map(|file| format!("{file}\n")).collect();
                        fs::write(&path, text)?;
                        files
                    }
                }
            }
        };
        files.remove(&case.file);
        Ok(files)
    }
}

fn codegraph(program: &Path, prepared: &PreparedPackage, cache: &Path) -> Command {
    let mut command = workspace::command("node");
    // Disables its telemetry, and keeps its data out of the user's home.
    command.env("CODEGRAPH_TELEMETRY", "0").env("HOME", cache.join("node"));
    command.arg(program).current_dir(&prepared.root).stdin(std::process::Stdio::null());
    command
}

/// Returns the files that a change of a definition affects directly, according to codegraph.
fn impact(program: &Path, prepared: &PreparedPackage, case: &Case) -> XtaskResult<BTreeSet<String>> {
    let cache = program.ancestors().nth(7).ok_or("the program lies in the cache")?;
    let mut command = codegraph(program, prepared, cache);
    command.args(["impact", &case.symbol.name, "--file", &case.file, "--depth", "1", "--json"]);
    let output = command.output().map_err(|error| format!("codegraph: {error}"))?;
    // For an unknown definition it prints a text instead of JSON.
    let Ok(answer) = serde_json::from_slice::<Value>(&output.stdout) else { return Ok(BTreeSet::new()) };
    let definitions: Vec<&Value> = answer["definitions"].as_array().into_iter().flatten().collect();
    let here = |value: &&&Value| value["definition"]["filePath"] == case.file.as_str();
    let exact = |value: &&&Value| here(value) && value["definition"]["startLine"] == case.symbol.line;
    let mut meant: Vec<&&Value> = definitions.iter().filter(exact).collect();
    if meant.is_empty() {
        meant = definitions.iter().filter(here).collect();
    }
    let affected =
        meant.into_iter().flat_map(|candidate| candidate["affected"].as_array().into_iter().flatten());
    Ok(affected.filter_map(|candidate| candidate["filePath"].as_str().map(str::to_owned)).collect())
}

/// Installs code-review-graph and lets it look through a package.
fn review_graph(prepared: &PreparedPackage, cache: &Path) -> XtaskResult<PathBuf> {
    let venv = cache.join("python").join("code-review-graph");
    let program = venv.join("bin/code-review-graph");
    if !program.is_file() {
        let mut make = workspace::command("python3");
        make.args(["-m", "venv"]).arg(&venv);
        workspace::output(make)?;
        let mut install = workspace::command(venv.join("bin/python"));
        install.args(["-m", "pip", "-q", "install", REVIEW_GRAPH]);
        workspace::output(install)?;
    }
    // It stores its data in a folder of this name, by which it also recognises the project.
    let graph = prepared.root.join(".code-review-graph");
    if !graph.join("graph.db").is_file() {
        fs::create_dir_all(&graph)?;
        let mut build = review_graph_command(&program, prepared);
        build.args(["build", "-q", "--skip-postprocess", "--repo"]).arg(&prepared.root);
        workspace::output(build)?;
    }
    Ok(program)
}

fn review_graph_command(program: &Path, prepared: &PreparedPackage) -> Command {
    let mut command = workspace::command(program);
    // Keeps its list of projects out of the user's home.
    command.env("HOME", program.parent().unwrap_or(program)).current_dir(&prepared.root);
    // It logs every step on stderr.
    command.stderr(std::process::Stdio::null());
    command
}

/// Returns the files that a change of a file affects directly, according to code-review-graph.
fn blast_radius(program: &Path, prepared: &PreparedPackage, case: &Case) -> XtaskResult<BTreeSet<String>> {
    let mut command = review_graph_command(program, prepared);
    command.args(["impact", "--files", &case.file, "--depth", "1", "--max-results", "100000", "--repo"]);
    command.arg(&prepared.root);
    let answer: Value = serde_json::from_slice(&workspace::output(command)?)?;
    let files = answer["impacted_files"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let relative = |file: &str| Some(Path::new(file).strip_prefix(&prepared.root).ok()?.to_str()?.to_owned());
    Ok(files.filter_map(relative).collect())
}

/// `{"core/a.ts": ["internal.ts"]}`: what each file below `src` depends on.
fn madge(prepared: &PreparedPackage, cache: &Path) -> XtaskResult<BTreeMap<String, BTreeSet<String>>> {
    let program = checker::install(cache, "madge", MADGE)?.join("bin/cli.js");
    let mut command = workspace::command("node");
    command.arg(program).args(["--json", "--extensions", "ts,tsx", "--ts-config", "tsconfig.json", "src"]);
    command.current_dir(&prepared.root).stdin(std::process::Stdio::null());
    let stdout: BTreeMap<String, Vec<String>> = serde_json::from_slice(&workspace::output(command)?)?;
    let mut dependents: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (file, needs) in stdout {
        for needed in needs {
            dependents.entry(format!("src/{needed}")).or_default().insert(format!("src/{file}"));
        }
    }
    Ok(dependents)
}

fn grimp(prepared: &PreparedPackage, cache: &Path) -> XtaskResult<BTreeMap<String, BTreeSet<String>>> {
    let python = cache.join("python/venv/bin/python");
    let run = |arguments: &[&str]| {
        let mut command = workspace::command(&python);
        command.current_dir(&prepared.root).args(arguments);
        workspace::output(command)
    };
    run(&["-m", "pip", "-q", "install", GRIMP])?;
    let script = prepared.target.join("ask_grimp.py");
    fs::write(&script, include_str!("graph_tools/grimp.py"))?;
    let answer = run(&[&script.to_string_lossy(), &prepared.root.to_string_lossy()])?;
    Ok(serde_json::from_slice(&answer)?)
}
