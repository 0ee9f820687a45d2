//! Measures queries with graph tools from registries in the same repository. A tool that is not installed is
//! reported as missing.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use super::super::ground_truth::install;
use super::repository::BenchRepository;
use crate::{XtaskResult, workspace};

const MADGE: &str = "8.0.0";
const CODEGRAPH: (&str, &str) = ("@colbymchenry/codegraph", "1.6.1");
const GRIMP: &str = "grimp==3.19";

/// The durations of a tool in milliseconds.
pub(super) struct ToolTimings {
    /// To make what it keeps; `None` if it keeps nothing.
    pub(super) build: Option<f64>,
    /// After one file changed.
    pub(super) update: Option<f64>,
    pub(super) question: f64,
}

/// Every tool by its name, with what it took or why it cannot be measured.
pub(super) fn measure(scene: &BenchRepository<'_>) -> Vec<(&'static str, XtaskResult<ToolTimings>)> {
    let cache = std::env::var_os("HOME").map(PathBuf::from).unwrap_or_default().join(".cache/lockstep/truth");
    vec![
        ("codegraph", codegraph(scene, &cache)),
        ("madge (its TypeScript)", madge(scene, &cache)),
        ("grimp (its Python)", grimp(scene, &cache)),
    ]
}

/// Returns the duration of a command. Its output is ignored.
fn timed(mut command: Command) -> XtaskResult<f64> {
    let start = Instant::now();
    let output = command.output()?;
    let took = start.elapsed().as_secs_f64() * 1e3;
    if output.status.success() { Ok(took) } else { Err(output.status.to_string().into()) }
}

fn codegraph(scene: &BenchRepository<'_>, cache: &Path) -> XtaskResult<ToolTimings> {
    let (name, version) = CODEGRAPH;
    let program = install(cache, name, version)?.join("npm-shim.js");
    let run = |arguments: &[&str]| {
        let mut node = scene.command(Path::new("node"), &[]);
        // Disables its telemetry.
        node.arg(&program).args(arguments).env("CODEGRAPH_TELEMETRY", "0");
        timed(node)
    };
    let build = run(&["init", "."])?;
    let question = run(&["impact", scene.function(), "--file", scene.file(), "--depth", "1", "--json"])?;
    scene.edit("\n# one more line\n")?;
    let update = run(&["sync", "."])?;
    fs::remove_dir_all(scene.root().join(".codegraph"))?;
    Ok(ToolTimings { build: Some(build), update: Some(update), question })
}

fn madge(scene: &BenchRepository<'_>, cache: &Path) -> XtaskResult<ToolTimings> {
    let program = install(cache, "madge", MADGE)?.join("bin/cli.js");
    let mut node = scene.command(Path::new("node"), &[]);
    node.arg(program).args(["--json", "--extensions", "ts", "web"]);
    Ok(ToolTimings { build: None, update: None, question: timed(node)? })
}

fn grimp(scene: &BenchRepository<'_>, cache: &Path) -> XtaskResult<ToolTimings> {
    let python = cache.join("python/venv/bin/python");
    if !python.is_file() {
        fs::create_dir_all(cache.join("python"))?;
        let mut venv = workspace::command("python3");
        venv.args(["-m", "venv"]).arg(cache.join("python/venv"));
        workspace::output(venv)?;
    }
    let mut pip = workspace::command(&python);
    pip.args(["-m", "pip", "-q", "install", GRIMP]);
    workspace::output(pip)?;
    // Under its own name it would import itself.
    let script = scene.home().join("ask_grimp.py");
    fs::write(&script, include_str!("../ground_truth/graph_tools/grimp.py"))?;
    let mut ask = scene.command(&python, &[]);
    ask.arg(script).arg(scene.root());
    Ok(ToolTimings { build: None, update: None, question: timed(ask)? })
}
