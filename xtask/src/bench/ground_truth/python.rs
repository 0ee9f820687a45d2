//! Python: source distributions from the registry, judged by pyright.
//!
//! All other files of a package are checked again after a change. In a large package, only files that contain
//! the changed name or the name of its class are checked, which limits a case to seconds. A file with neither
//! that is rejected only because an inferred type changed is then not in the truth.

use std::fs;
use std::path::{Path, PathBuf};

use lockstep_refs::facts::Definition;
use serde_json::Value;

use super::cases::Case;
use super::checker::{self, Messages};
use super::language::{BenchPackage, GroundTruth, LanguageBench, Mutation, PreparedPackage, VerdictSink};
use super::temporary_edit::{TemporaryEdit, lock};
use crate::{XtaskResult, workspace};

mod mutate;

pub(super) struct Python;

const PYRIGHT: &str = "1.1.390";
/// Raised when the checker is asked, or its answers are understood, in another way.
const WAY: u32 = 3;
/// More files than this are not all checked again for every change.
const MANY: usize = 250;
/// The messages about the unchanged package.
const BASELINE: &str = "baseline-2.json";

const PACKAGES: &[BenchPackage] = &[
    BenchPackage { name: "flask", version: "3.1.0", held_out: false, small: true },
    BenchPackage { name: "networkx", version: "3.4.2", held_out: false, small: false },
    BenchPackage { name: "werkzeug", version: "3.1.3", held_out: true, small: false },
    BenchPackage { name: "jinja2", version: "3.1.5", held_out: true, small: false },
];

impl LanguageBench for Python {
    fn language(&self) -> &'static str {
        "Python"
    }

    fn packages(&self) -> &'static [BenchPackage] {
        PACKAGES
    }

    fn prepare(&self, package: &BenchPackage, cache: &Path) -> XtaskResult<PreparedPackage> {
        let pyright = checker::install(cache, "pyright", PYRIGHT)?;
        let folder = cache.join("python");
        let root = folder.join(format!("{}-{}", package.name, package.version));
        let venv = folder.join("venv");
        if !root.join("pyrightconfig.json").is_file() {
            fetch(package, &folder, &venv, &root)?;
        }
        let files = checker::files(&root, &[".py", ".pyi"], &["docs", ".git"])?;
        let stamp = format!("{} {} pyright {PYRIGHT}, {WAY}", package.name, package.version);
        let target = folder.join("checked").join(format!("{}-{}", package.name, package.version));
        fs::create_dir_all(&target)?;
        let prepared = PreparedPackage { _lock: lock(&root)?, root, files, target, options: &[], stamp };
        checker::baseline(&prepared.target.join(BASELINE), || check(&prepared, &pyright, &prepared.files))?;
        Ok(prepared)
    }

    fn mutate(&self, text: &str, definition: &Definition, mutation: Mutation) -> Option<String> {
        mutate::mutate(text, definition, mutation)
    }

    fn truths(&self, prepared: &PreparedPackage, cases: &[&Case], keep: VerdictSink<'_>) -> XtaskResult {
        for (at, case) in cases.iter().enumerate() {
            keep(at, truth(prepared, case)?)?;
        }
        Ok(())
    }
}

fn truth(prepared: &PreparedPackage, case: &Case) -> XtaskResult<GroundTruth> {
    let cache = prepared.target.ancestors().nth(3).ok_or("the cache holds what was checked")?;
    let pyright = checker::install(cache, "pyright", PYRIGHT)?;
    let before = checker::baseline(&prepared.target.join(BASELINE), || {
        Err("the package was not checked before it was changed".into())
    })?;
    let candidates = candidates(prepared, case)?;
    if candidates.is_empty() {
        return Ok(GroundTruth::new());
    }
    let _applied = TemporaryEdit::new(prepared, &case.file, &case.old, &case.new)?;
    let after = check(prepared, &pyright, &candidates)?;
    let mut rejected = checker::fresh(&before, &after);
    rejected.remove(&case.file);
    Ok(rejected)
}

/// Returns the other files to check: in a large package, those that contain the name or the name of its
/// class.
fn candidates(prepared: &PreparedPackage, case: &Case) -> XtaskResult<Vec<String>> {
    let others = prepared.files.iter().filter(|path| **path != case.file);
    if prepared.files.len() <= MANY {
        return Ok(others.cloned().collect());
    }
    let class = case.symbol.container.as_deref().and_then(|path| path.rsplit('.').next());
    let names: Vec<&str> = class.into_iter().chain([&*case.symbol.name]).collect();
    let texts = prepared.read()?;
    let named = |text: &str| lockstep_refs::world::words(text).any(|word| names.contains(&word));
    let others = texts.into_iter().filter(|(path, text)| *path != case.file && named(text));
    Ok(others.map(|(path, _)| path).collect())
}

/// Fetches the sources of a package, and installs what it needs, so that types of its dependencies are known.
fn fetch(package: &BenchPackage, folder: &Path, venv: &Path, root: &Path) -> XtaskResult {
    fs::create_dir_all(folder)?;
    let python = venv.join("bin/python");
    let run = |program: &Path, arguments: &[&str]| -> XtaskResult {
        let mut command = workspace::command(program);
        command.current_dir(folder).args(arguments);
        workspace::output(command)?;
        Ok(())
    };
    if !python.is_file() {
        run(Path::new("python3"), &["-m", "venv", &venv.to_string_lossy()])?;
    }
    let wanted = format!("{}=={}", package.name, package.version);
    run(&python, &["-m", "pip", "-q", "install", "pytest", &wanted])?;
    let archive = source(package, &wanted, folder, &run)?;
    fs::create_dir_all(root)?;
    run(Path::new("tar"), &["xzf", &archive, "--strip-components=1", "-C", &root.to_string_lossy()])?;
    // The package's own settings for its checker must not affect the measurement.
    fs::write(root.join("pyrightconfig.json"), "{\"typeCheckingMode\": \"standard\"}\n")?;
    Ok(())
}

/// Downloads the source distribution of a package. Returns its path, which contains the name that the build
/// chose.
fn source(
    package: &BenchPackage,
    wanted: &str,
    folder: &Path,
    run: &dyn Fn(&Path, &[&str]) -> XtaskResult,
) -> XtaskResult<String> {
    let downloaded = folder.join(format!("{}-{}.download", package.name, package.version));
    fs::create_dir_all(&downloaded)?;
    let python = folder.join("venv/bin/python");
    // The build backend must be installed even to get the name, and may be a binary; only the package itself
    // must be source.
    let to = downloaded.to_string_lossy();
    let download =
        ["-m", "pip", "-q", "download", "--no-deps", "--no-binary", package.name, "-d", &*to, wanted];
    run(&python, &download)?;
    let mut found = fs::read_dir(&downloaded)?.filter_map(|entry| Some(entry.ok()?.path()));
    let archive = found.find(|path| path.to_string_lossy().ends_with(".tar.gz"));
    Ok(archive.ok_or("the registry has no source distribution of it")?.to_string_lossy().into_owned())
}

/// The errors that pyright finds in some files.
fn check(prepared: &PreparedPackage, pyright: &Path, files: &[String]) -> XtaskResult<Messages> {
    let venv: PathBuf = prepared.root.with_file_name("venv").join("bin/python");
    let mut command = workspace::command("nice");
    command.args(["-n", "10", "node"]).arg(pyright.join("index.js"));
    command.arg("--outputjson").arg("--pythonpath").arg(venv).args(files).current_dir(&prepared.root);
    // It exits with an error whenever it finds one.
    let output = command.output().map_err(|error| format!("pyright: {error}"))?;
    let answer: Value = serde_json::from_slice(&output.stdout).map_err(|error| {
        format!("pyright said no JSON: {error}: {}", String::from_utf8_lossy(&output.stderr))
    })?;
    let mut messages = Messages::new();
    for diagnostic in answer["generalDiagnostics"].as_array().into_iter().flatten() {
        let (Some(file), Some(message)) = (diagnostic["file"].as_str(), diagnostic["message"].as_str())
        else {
            continue;
        };
        if diagnostic["severity"] == "error"
            && let Ok(file) = Path::new(file).strip_prefix(&prepared.root)
        {
            let start = &diagnostic["range"]["start"];
            let rule = diagnostic["rule"].as_str().unwrap_or("error");
            let first = message.lines().next().unwrap_or_default();
            let description = format!("{rule} {}:{}: {first}", start["line"], start["character"]);
            messages.entry(file.to_string_lossy().into_owned()).or_default().push(description);
        }
    }
    Ok(messages)
}
