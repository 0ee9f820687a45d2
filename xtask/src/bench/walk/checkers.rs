//! The compilers and checkers: which problems they see in a checkout as it is now.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use lockstep_refs::language::Language;
use lockstep_refs::world::words;
use serde_json::Value;

use super::checkout::Checkout;
use crate::XtaskResult;
use crate::bench::ground_truth::{cache, install};

/// Something that a checker rejects.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Problem {
    pub(super) file: String,
    /// 0 where only the file is known.
    pub(super) line: usize,
    pub(super) message: String,
}

type Check = fn(&Checkout, &Path) -> XtaskResult<Vec<Problem>>;

/// The checker for the language of a checkout, and a directory for its own files.
pub(super) struct Checker {
    check: Check,
    scratch: PathBuf,
}

impl Checker {
    /// `None` if there is none for the language or where it is not installed.
    pub(super) fn find(checkout: &Checkout) -> XtaskResult<Option<Self>> {
        let (program, check): (&str, Check) = match checkout.language {
            Language::Rust => ("cargo", check_rust),
            Language::Go => ("go", check_go),
            Language::Java => ("javac", check_java),
            Language::C => ("gcc", check_c),
            Language::Python => ("npm", check_python),
            Language::TypeScript if checkout.root.join("node_modules").is_dir() => ("npm", check_typescript),
            _ => return Ok(None),
        };
        if Command::new(program)
            .arg("--version")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .is_err()
        {
            eprintln!("  {program} is not installed: edits are judged by their construction");
            return Ok(None);
        }
        let scratch = cache()?.join("walk").join(&checkout.name);
        fs::create_dir_all(&scratch)?;
        Ok(Some(Self { check, scratch }))
    }

    pub(super) fn check(&self, checkout: &Checkout) -> XtaskResult<Vec<Problem>> {
        let mut problems = (self.check)(checkout, &self.scratch)?;
        problems.sort();
        problems.dedup();
        Ok(problems)
    }
}

fn run(checkout: &Checkout, command: &mut Command) -> XtaskResult<(String, String)> {
    let output = command.current_dir(&checkout.root).stdin(Stdio::null()).output()?;
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    Ok((text(output.stdout), text(output.stderr)))
}

fn relative(checkout: &Checkout, path: &str) -> Option<String> {
    let path = path.strip_prefix(checkout.root.to_str()?).map_or(path, |rest| rest.trim_start_matches('/'));
    let path = lockstep_refs::world::join("", path)?;
    checkout.root.join(&path).is_file().then_some(path)
}

/// A line `path:line[:column]: message`.
fn read_line(checkout: &Checkout, line: &str) -> Option<Problem> {
    let (path, rest) = line.split_once(':')?;
    let (number, message) = rest.split_once(':')?;
    Some(Problem {
        file: relative(checkout, path.trim())?,
        line: number.parse().ok()?,
        message: message.trim_start_matches(|c: char| c.is_ascii_digit() || c == ':' || c == ' ').to_owned(),
    })
}

fn check_rust(checkout: &Checkout, scratch: &Path) -> XtaskResult<Vec<Problem>> {
    let mut cargo = Command::new("cargo");
    cargo.args([
        "check",
        "--workspace",
        "--all-targets",
        "--keep-going",
        "--ignore-rust-version",
        "--message-format=json",
        "--quiet",
    ]);
    cargo.env("CARGO_TARGET_DIR", scratch.join("target")).env_remove("CARGO_MANIFEST_DIR");
    cargo.env("CARGO_INCREMENTAL", "1").env("CARGO_PROFILE_DEV_DEBUG", "0");
    let (out, err) = run(checkout, &mut cargo)?;
    let mut problems = Vec::new();
    for message in out.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
        let message = &message["message"];
        if message["level"] != "error" {
            continue;
        }
        let text = message["message"].as_str().unwrap_or_default();
        for span in
            message["spans"].as_array().into_iter().flatten().filter(|span| span["is_primary"] == true)
        {
            let line = span["line_start"].as_u64().and_then(|line| usize::try_from(line).ok());
            let file = span["file_name"].as_str().and_then(|path| relative(checkout, path));
            problems.extend(file.zip(line).map(|(file, line)| Problem {
                file,
                line,
                message: text.to_owned(),
            }));
        }
    }
    if problems.is_empty() && !err.trim().is_empty() {
        return Err(format!("cargo check names no file: {err}").into());
    }
    Ok(problems)
}

fn check_go(checkout: &Checkout, _scratch: &Path) -> XtaskResult<Vec<Problem>> {
    let mut problems = Vec::new();
    for arguments in [&["build", "-gcflags=-e", "./..."][..], &["test", "-gcflags=-e", "-run", "^$", "./..."]]
    {
        let (out, err) = run(checkout, Command::new("go").args(arguments))?;
        // A missing dependency or an unknown package of the standard library: nothing was checked.
        if let Some(failure) =
            err.lines().find(|line| line.starts_with("go: ") && !line.contains("downloading"))
        {
            return Err(format!("go {} checks nothing: {failure}", arguments[0]).into());
        }
        problems.extend(out.lines().chain(err.lines()).filter_map(|line| read_line(checkout, line.trim())));
    }
    Ok(problems)
}

fn check_java(checkout: &Checkout, scratch: &Path) -> XtaskResult<Vec<Problem>> {
    let sources = checkout.root.join(".git").join("walk-sources");
    fs::write(&sources, present(checkout, ".java").join("\n"))?;
    let mut javac = Command::new("javac");
    javac.args(["-proc:none", "-nowarn", "-Xmaxerrs", "100000", "-XDshould-stop.ifError=FLOW", "-d"]);
    let (_, err) = run(checkout, javac.arg(scratch).arg(format!("@{}", sources.display())))?;
    Ok(err
        .lines()
        .filter(|line| line.contains("error:"))
        .filter_map(|line| read_line(checkout, line))
        .collect())
}

/// The source files of now: an edit may have moved some.
fn present(checkout: &Checkout, ending: &str) -> Vec<String> {
    let mut git =
        super::checkout::git(&checkout.root, &["ls-files", "--cached", "--others", "--exclude-standard"]);
    let listed = git.output().map(|output| output.stdout).unwrap_or_default();
    let listed = String::from_utf8_lossy(&listed).into_owned();
    let is_there = |path: &&str| path.ends_with(ending) && checkout.root.join(path).is_file();
    listed.lines().filter(is_there).map(str::to_owned).collect()
}

/// Compiles every file by itself, and compares which symbols are missed with which are there.
fn check_c(checkout: &Checkout, scratch: &Path) -> XtaskResult<Vec<Problem>> {
    let mut includes: Vec<String> =
        present(checkout, ".h").iter().map(|candidate| parent_of(candidate)).collect();
    includes.sort();
    includes.dedup();
    let mut problems = Vec::new();
    let mut missed: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut defined = std::collections::BTreeSet::new();
    for (number, source) in present(checkout, ".c").iter().enumerate() {
        let object = scratch.join(format!("{number}.o"));
        let _ = fs::remove_file(&object);
        let mut gcc = Command::new("gcc");
        gcc.args(["-c", "-O0", "-fmax-errors=0", "-D_GNU_SOURCE", "-Werror=implicit-function-declaration"]);
        gcc.args(["-Werror=int-conversion", "-Werror=incompatible-pointer-types"]);
        gcc.args(includes.iter().map(|directory| format!("-I{directory}")));
        let (_, err) = run(checkout, gcc.arg(source).arg("-o").arg(&object))?;
        let errors = err.lines().filter(|line| line.contains("error:"));
        problems.extend(errors.filter_map(|line| read_line(checkout, line)));
        if !object.is_file() {
            // It may define any name that it contains.
            let text = fs::read(checkout.root.join(source)).unwrap_or_default();
            defined.extend(words(&String::from_utf8_lossy(&text)).map(str::to_owned));
        }
        let (symbols, _) = run(checkout, Command::new("nm").arg(&object))?;
        for symbol in symbols.lines().filter_map(|line| line.get(17..)) {
            match symbol.split_once(' ') {
                Some(("U", name)) if says(checkout, source, name) => {
                    missed.entry(name.to_owned()).or_default().push(source.clone());
                }
                Some(("U", _)) => {}
                Some((_, name)) => drop(defined.insert(name.to_owned())),
                None => {}
            }
        }
    }
    for (name, files) in missed.into_iter().filter(|(name, _)| !defined.contains(name)) {
        let problem = |file| Problem { file, line: 0, message: format!("undefined reference to {name}") };
        problems.extend(files.into_iter().map(problem));
    }
    Ok(problems)
}

/// Returns true if a source contains a name itself: a missing symbol may come from a source that it includes.
fn says(checkout: &Checkout, source: &str, name: &str) -> bool {
    let text = fs::read(checkout.root.join(source)).unwrap_or_default();
    words(&String::from_utf8_lossy(&text)).any(|word| word == name)
}

fn parent_of(path: &str) -> String {
    path.rsplit_once('/').map_or_else(|| ".".to_owned(), |(directory, _)| directory.to_owned())
}

fn check_python(checkout: &Checkout, _scratch: &Path) -> XtaskResult<Vec<Problem>> {
    let package = install(&cache()?, "pyright", "1.1.407")?;
    // The project's own settings may exclude its tests, or report more than errors. Only these settings exist
    // during the check.
    let settings = checkout.root.join("pyrightconfig.json");
    fs::write(
        &settings,
        r#"{"include": ["."], "extraPaths": ["src"], "typeCheckingMode": "standard", "reportUnsupportedDunderAll": "error"}"#,
    )?;
    let checked = run(checkout, Command::new("node").arg(package.join("index.js")).arg("--outputjson"));
    fs::remove_file(&settings)?;
    let (out, err) = checked?;
    let report: Value = serde_json::from_str(&out).map_err(|error| format!("pyright: {error}: {err}"))?;
    let mut problems = Vec::new();
    for item in report["generalDiagnostics"]
        .as_array()
        .into_iter()
        .flatten()
        .filter(|candidate| candidate["severity"] == "error")
    {
        let file = item["file"].as_str().and_then(|path| relative(checkout, path));
        let line = item["range"]["start"]["line"].as_u64().and_then(|line| usize::try_from(line).ok());
        let message = item["message"].as_str().unwrap_or_default().to_owned();
        problems.extend(file.zip(line).map(|(file, line)| Problem { file, line: line + 1, message }));
    }
    Ok(problems)
}

fn check_typescript(checkout: &Checkout, scratch: &Path) -> XtaskResult<Vec<Problem>> {
    let package = install(&cache()?, "typescript", "5.9.3")?;
    let mut node = Command::new("node");
    node.arg(package.join("bin/tsc")).args([
        "--noEmit",
        "--pretty",
        "false",
        "--incremental",
        "--tsBuildInfoFile",
    ]);
    let (out, _) = run(checkout, node.arg(scratch.join("buildinfo")))?;
    let read = |line: &str| {
        let (path, rest) = line.split_once('(')?;
        let (place, message) = rest.split_once("): ")?;
        let line = place.split(',').next()?.parse().ok()?;
        Some(Problem { file: relative(checkout, path)?, line, message: message.to_owned() })
    };
    Ok(out.lines().filter_map(read).collect())
}

/// The source files of Rust that the last check did not read, by the files that the compiler lists as read.
fn uncompiled_files(checkout: &Checkout) -> XtaskResult<Vec<String>> {
    let lists = cache()?.join("walk").join(&checkout.name).join("target/debug/deps");
    let mut read = std::collections::BTreeSet::new();
    for entry in fs::read_dir(lists)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "d") {
            let list = fs::read_to_string(path)?;
            let names = list.lines().filter_map(|line| line.strip_suffix(':'));
            read.extend(names.filter_map(|path| relative(checkout, path)));
        }
    }
    let sources = checkout.texts.keys().filter(|path| checkout.is_source(path));
    Ok(sources.filter(|path| !read.contains(*path)).cloned().collect())
}

/// The source files that the settings of the project, another platform or a disabled feature leave out: they are not checked.
pub(super) fn unchecked_files(checkout: &Checkout) -> XtaskResult<Vec<String>> {
    match checkout.language {
        Language::Go => {
            let ignored = "{{$d := .Dir}}{{range .IgnoredGoFiles}}{{$d}}/{{.}}\n{{end}}";
            let (out, _) = run(checkout, Command::new("go").args(["list", "-e", "-f", ignored, "./..."]))?;
            return Ok(out.lines().filter_map(|path| relative(checkout, path)).collect());
        }
        Language::Rust => return uncompiled_files(checkout),
        Language::TypeScript => {}
        _ => return Ok(Vec::new()),
    }
    let package = install(&cache()?, "typescript", "5.9.3")?;
    let (out, _) = run(checkout, Command::new("node").arg(package.join("bin/tsc")).arg("--listFilesOnly"))?;
    let listed: Vec<String> = out.lines().filter_map(|path| relative(checkout, path)).collect();
    let sources = checkout.texts.keys().filter(|path| checkout.is_source(path));
    Ok(sources.filter(|path| !listed.contains(path)).cloned().collect())
}
