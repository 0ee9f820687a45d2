//! The verification: a command that decides, and the files that its failures name.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use lockstep_cascade::event::VerificationResult;

use super::inspector::DiskInspector;
use super::run::agent::{AgentProcess, AgentSpec};
use crate::error::{CommandError, CommandResult};

/// The number of bytes of the output that are searched.
const MAX_OUTPUT_BYTES: usize = 4 << 20;

/// Runs the command in the project and reads its output.
pub(super) fn run_verification(
    disk: &DiskInspector<'_>,
    command: &str,
    iteration: u8,
) -> CommandResult<VerificationResult> {
    let name = format!("verify-{iteration}");
    let limit = disk.project.config().cascade.time_limit;
    let spec = AgentSpec {
        command: command.to_owned(),
        directory: disk.tree.root.clone(),
        name,
        limit,
        environment: vec![],
    };
    let ended = AgentProcess::start(&disk.reports_dir()?, spec, "")?.wait()?;
    if ended.timed_out {
        let message = format!("the verification {command:?} took longer than {} s", limit.as_secs());
        return Err(CommandError::store(message)
            .hint("`[cascade] time_limit` in lockstep.toml gives it longer; the same command goes on with the cascade"));
    }
    let mut output = ended.output;
    output.truncate(MAX_OUTPUT_BYTES);
    let passed = ended.code == Some(0);
    let failures =
        if passed { Vec::new() } else { failing_files(&String::from_utf8_lossy(&output), &disk.tree.root) };
    Ok(VerificationResult { passed, failures })
}

/// Returns the files of the project that the errors in an output name, each with its first line.
fn failing_files(output: &str, root: &Path) -> Vec<(String, String)> {
    let mut found: BTreeMap<String, String> = BTreeMap::new();
    let mut heading = String::new();
    let mut counts = true;
    for line in output.lines() {
        let line = without_colour(line);
        let lower = line.trim_start().to_ascii_lowercase();
        // Compilers print warnings in separate blocks; the files that those name did not fail.
        if lower.starts_with("error") {
            (counts, heading) = (true, line.trim().to_owned());
        } else if lower.starts_with("warning") {
            counts = false;
        }
        if !counts || (lower.contains("warning") && !lower.contains("error")) {
            continue;
        }
        for path in paths(&line, root) {
            let text = if line.trim_start().starts_with("-->") {
                format!("{heading} {}", line.trim())
            } else {
                line.trim().to_owned()
            };
            found.entry(path).or_insert(text);
        }
    }
    found.into_iter().collect()
}

/// The files of the project that a line names.
fn paths(line: &str, root: &Path) -> Vec<String> {
    let separator = |c: char| {
        c.is_whitespace()
            || matches!(c, '(' | ')' | '[' | ']' | '"' | '\'' | '`' | ',' | ';' | '<' | '>' | '|' | '=')
    };
    let words = line.split(separator).filter(|word| !word.is_empty());
    words.filter_map(|word| file_from_token(word, root)).collect()
}

/// Returns the file that a word names, optionally with `:line:column` after it.
fn file_from_token(word: &str, root: &Path) -> Option<String> {
    let word = word.trim_end_matches(['.', ':']);
    let bare = word.split(':').next()?;
    let text = root.to_str()?;
    [word, bare].into_iter().find_map(|candidate| {
        let path = lockstep_cascade::cascade_input::relative(candidate, text).ok()?;
        let is_file = fs::symlink_metadata(root.join(&path)).is_ok_and(|meta| meta.is_file());
        // A bare word is a file only if it looks like one.
        (is_file && path.contains(['.', '/'])).then_some(path)
    })
}

fn without_colour(line: &str) -> String {
    let mut out = String::new();
    let mut rest = line;
    while let Some((before, after)) = rest.split_once("\u{1b}[") {
        out.push_str(before);
        rest = after.find(|c: char| c.is_ascii_alphabetic()).map_or("", |end| &after[end + 1..]);
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn project() -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("src")).unwrap();
        for file in ["src/a.rs", "src/b.rs", "src/c.ts", "tests.py", "Makefile"] {
            fs::write(dir.path().join(file), "").unwrap();
        }
        dir
    }

    fn names(output: &str) -> Vec<String> {
        failing_files(output, project().path()).into_iter().map(|(path, _)| path).collect()
    }

    #[test]
    fn files_in_compiler_output_are_found() {
        let cargo = "warning: unused import\n --> src/a.rs:1:5\n\nerror[E0425]: cannot find function `x`\n  --> src/b.rs:3:5\n";
        assert_eq!(names(cargo), ["src/b.rs"]);
        let (_, line) = failing_files(cargo, project().path()).remove(0);
        assert_eq!(line, "error[E0425]: cannot find function `x` --> src/b.rs:3:5");
        assert_eq!(names("src/c.ts(3,10): error TS2305: no exported member 'x'.\n"), ["src/c.ts"]);
        assert_eq!(names("  File \"tests.py\", line 3, in f\nAssertionError\n"), ["tests.py"]);
        assert_eq!(names("\u{1b}[31msrc/a.rs\u{1b}[0m:1: error: x\n"), ["src/a.rs"]);
        assert_eq!(names("src/a.rs:1:2: warning: x\nsrc/b.rs:1:2: error: y\n"), ["src/b.rs"]);
    }

    #[test]
    fn paths_outside_the_project_are_ignored() {
        for output in [
            "error: /etc/passwd:1",
            "error: ../src/a.rs",
            "error in src",
            "error: no/such.rs",
            "make: Makefile failed",
        ] {
            assert_eq!(names(output), [] as [String; 0], "{output}");
        }
        let dir = project();
        let absolute = format!("error: {}/src/a.rs:3", dir.path().display());
        assert_eq!(failing_files(&absolute, dir.path())[0].0, "src/a.rs");
    }
}
