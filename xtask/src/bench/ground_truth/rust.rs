//! Rust: crates from the registry, judged by `cargo check`.
//!
//! The library is checked with all features and with `cfg(test)`, so that its own tests are included. rustc
//! stops after unresolved names, before it checks types. A renamed function or type is an unresolved name
//! everywhere, so nothing is hidden. A renamed member is an unresolved name in implementations and imports,
//! but a type error in uses. Those uses are found in a second pass, in which the member keeps its name and is
//! marked as deprecated.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::process::{Command, Stdio};

use lockstep_refs::facts::Definition;
use serde_json::Value;

use super::cases::Case;
use super::language::{BenchPackage, GroundTruth, LanguageBench, Mutation, PreparedPackage, VerdictSink};
use super::temporary_edit::{TemporaryEdit, lock};
use crate::{XtaskResult, workspace};

mod mutate;

pub(super) struct Rust;

const PACKAGES: &[BenchPackage] = &[
    BenchPackage { name: "clap_builder", version: "4.6.7", held_out: false, small: false },
    BenchPackage { name: "regex-automata", version: "0.4.18", held_out: false, small: false },
    BenchPackage { name: "hyper", version: "1.12.0", held_out: false, small: false },
    BenchPackage { name: "indexmap", version: "2.14.2", held_out: false, small: true },
    BenchPackage { name: "regex-syntax", version: "0.8.11", held_out: false, small: true },
    BenchPackage { name: "num-bigint", version: "0.4.8", held_out: false, small: true },
    BenchPackage { name: "winnow", version: "1.0.4", held_out: false, small: true },
    BenchPackage { name: "toml_edit", version: "0.25.17+spec-1.1.0", held_out: false, small: true },
    // Packages with few dependencies, because builds that take long are impractical.
    BenchPackage { name: "walkdir", version: "2.5.0", held_out: true, small: true },
    BenchPackage { name: "similar", version: "3.2.1", held_out: true, small: true },
];

/// Errors after which rustc does not check types.
const UNRESOLVED: &[&str] = &[
    "E0405", "E0407", "E0412", "E0422", "E0423", "E0424", "E0425", "E0432", "E0433", "E0437", "E0438",
    "E0531", "E0532",
];

impl LanguageBench for Rust {
    fn language(&self) -> &'static str {
        "Rust"
    }

    fn packages(&self) -> &'static [BenchPackage] {
        PACKAGES
    }

    fn prepare(&self, package: &BenchPackage, cache: &Path) -> XtaskResult<PreparedPackage> {
        let root = cache.join("rust").join(format!("{}-{}", package.name, package.version));
        let lock = lock(&root)?;
        if !root.join("Cargo.toml").is_file() {
            fetch(package, &root)?;
        }
        let target = cache.join("rust").join("target").join(package.name);
        let (options, stamp) = (options(package), stamp(package)?);
        let mut prepared = PreparedPackage { root, files: Vec::new(), target, options, stamp, _lock: lock };
        // Dependencies may still have to be fetched: the first check may use the network, those of the cases do not.
        let (messages, _) = check(&prepared, false)?;
        let errors: Vec<&Value> = errors(&messages).collect();
        if let Some(first) = errors.first() {
            return Err(format!("{} does not build here: {}", package.name, first["message"]).into());
        }
        prepared.files = seen(&prepared, &messages)?;
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
    let mut rejected = GroundTruth::new();
    let hidden = {
        let _applied = TemporaryEdit::new(prepared, &case.file, &case.old, &case.new)?;
        let (messages, _) = check(prepared, true)?;
        errors(&messages).for_each(|error| note(error, prepared, &mut rejected));
        errors(&messages).any(|error| UNRESOLVED.contains(&code(error)))
    };
    let vanishes = matches!(case.mutation, Mutation::Rename | Mutation::Remove);
    if hidden
        && vanishes
        && mutate::is_member(&case.symbol)
        && let Some(marked) = mutate::deprecate(&case.old, &case.symbol)
    {
        let _applied = TemporaryEdit::new(prepared, &case.file, &case.old, &marked)?;
        let (messages, _) = check(prepared, true)?;
        let uses = messages.iter().filter(|message| code(message) == "deprecated");
        uses.for_each(|message| note(message, prepared, &mut rejected));
    }
    rejected.remove(&case.file);
    Ok(rejected)
}

/// All features; where some of them need a nightly compiler, those that do not.
fn options(package: &BenchPackage) -> &'static [&'static str] {
    match package.name {
        "hyper" => &["--features", "full"],
        _ => &["--all-features"],
    }
}

/// Everything that the compiler's answers depend on besides the sources.
fn stamp(package: &BenchPackage) -> XtaskResult<String> {
    let mut rustc = workspace::command("rustc");
    rustc.arg("--version");
    let version = workspace::output(rustc)?;
    Ok(format!("{} {} {}", package.name, package.version, String::from_utf8_lossy(&version).trim()))
}

/// Lets cargo fetch a package, and copies its sources.
fn fetch(package: &BenchPackage, root: &Path) -> XtaskResult {
    let temp = tempfile::tempdir()?;
    let manifest = format!(
        "[package]\nname = \"fetch\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[dependencies]\n{} = \"={}\"\n",
        package.name, package.version
    );
    fs::create_dir(temp.path().join("src"))?;
    fs::write(temp.path().join("src/lib.rs"), "")?;
    fs::write(temp.path().join("Cargo.toml"), manifest)?;
    let mut cargo = workspace::cargo();
    cargo.current_dir(temp.path()).args(["metadata", "--format-version", "1"]);
    let metadata: Value = serde_json::from_slice(&workspace::output(cargo)?)?;
    let packages = metadata["packages"].as_array().into_iter().flatten();
    let manifest = packages
        .filter(|found| found["name"] == package.name && found["version"] == package.version)
        .find_map(|found| found["manifest_path"].as_str())
        .ok_or_else(|| format!("cargo fetched no {} {}", package.name, package.version))?;
    let source = Path::new(manifest).parent().ok_or("a manifest lies in a folder")?;
    copy(source, root)
}

fn copy(from: &Path, to: &Path) -> XtaskResult {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

/// Runs `cargo check`. Returns its messages, and whether it succeeded.
fn check(prepared: &PreparedPackage, offline: bool) -> XtaskResult<(Vec<Value>, bool)> {
    let mut command = Command::new("nice");
    command.args(["-n", "10"]).arg(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(["check", "--lib", "--profile", "test", "--message-format=json", "--quiet"]);
    command.args(prepared.options);
    if offline {
        command.arg("--offline");
    }
    command.current_dir(&prepared.root).env("CARGO_TARGET_DIR", &prepared.target);
    // The wrapper `cargo xtask` sets these for its own package.
    command
        .env_remove("CARGO_MANIFEST_DIR")
        .env_remove("RUSTFLAGS")
        .stdin(Stdio::null())
        .stderr(Stdio::null());
    let output = command.output().map_err(|error| format!("cargo check: {error}"))?;
    let lines = output.stdout.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let messages: Vec<Value> = lines.filter_map(|line| serde_json::from_slice(line).ok()).collect();
    let inner = |message: Value| {
        if message["reason"] == "compiler-message" { message["message"].clone() } else { message }
    };
    Ok((messages.into_iter().map(inner).collect(), output.status.success()))
}

fn errors(messages: &[Value]) -> impl Iterator<Item = &Value> {
    messages.iter().filter(|message| message["level"] == "error")
}

fn code(message: &Value) -> &str {
    message["code"]["code"].as_str().unwrap_or_default()
}

/// Records the files that a message points to, with its text.
fn note(message: &Value, prepared: &PreparedPackage, rejected: &mut GroundTruth) {
    for file in files(message, prepared) {
        let text = || message["message"].as_str().unwrap_or_default().to_owned();
        rejected.entry(file).or_insert_with(text);
    }
}

/// Returns the files of the package that a message points to. A span inside a foreign macro counts for the
/// file that uses the macro.
fn files(message: &Value, prepared: &PreparedPackage) -> Vec<String> {
    let spans = message["spans"].as_array().into_iter().flatten();
    spans.filter(|span| span["is_primary"] == true).filter_map(|span| file(span, prepared)).collect()
}

fn file(span: &Value, prepared: &PreparedPackage) -> Option<String> {
    let mut span = span;
    loop {
        let name = span["file_name"].as_str()?;
        let path = Path::new(name);
        let inside = path.strip_prefix(&prepared.root).unwrap_or(path);
        if inside.is_relative() && prepared.root.join(inside).is_file() {
            return Some(inside.to_string_lossy().into_owned());
        }
        span = &span["expansion"]["span"];
    }
}

/// Returns the sources of the library, from the compiler's dependency list.
fn seen(prepared: &PreparedPackage, messages: &[Value]) -> XtaskResult<Vec<String>> {
    let artifact = messages
        .iter()
        .filter(|message| message["reason"] == "compiler-artifact")
        .filter(|message| {
            let manifest = message["manifest_path"].as_str().map(PathBuf::from);
            manifest.is_some_and(|manifest| manifest.parent() == Some(&prepared.root))
        })
        .filter(|message| message["target"]["kind"][0] != "custom-build")
        .find_map(|message| message["filenames"][0].as_str())
        .ok_or("cargo check names no artifact of the library")?;
    let artifact = Path::new(artifact);
    let name = artifact.file_stem().and_then(|name| name.to_str()).ok_or("an artifact has a name")?;
    let listing = artifact.with_file_name(format!("{}.d", name.trim_start_matches("lib")));
    let text = fs::read_to_string(&listing).map_err(|error| format!("{}: {error}", listing.display()))?;
    let mut files: BTreeSet<String> = ["Cargo.toml".to_owned()].into();
    for word in text.lines().filter_map(|line| line.strip_suffix(':')) {
        let path = Path::new(word);
        let inside = path.strip_prefix(&prepared.root).unwrap_or(path);
        // Paths to parent directories are texts that are included for documentation.
        let upwards = inside.components().any(|part| part == Component::ParentDir);
        if inside.is_relative() && !upwards && inside.extension().is_some_and(|extension| extension == "rs") {
            files.insert(inside.to_string_lossy().into_owned());
        }
    }
    if files.len() < 2 {
        return Err(format!("{} names no sources", listing.display()).into());
    }
    Ok(files.into_iter().collect())
}
