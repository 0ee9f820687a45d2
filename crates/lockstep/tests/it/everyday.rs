//! Everyday edits in small repositories: which files `lockstep impact` calls broken.
//!
//! The cases are text files in `tests/everyday`. A case is a repository, the edits made in it, and the files that break:
//!
//! ```text
//! # title
//! --- path            a file of the repository, up to the next marker
//! >>> edit path       replaces the first text by the second
//! old text
//! =======
//! new text
//! <<<
//! >>> move from to    moves a file or a directory without git
//! >>> delete path
//! breaks path path    exactly these files; `nothing` for none
//! admits path         the report says that it does not analyse this file
//! ```

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use lockstep_testkit::TestEnv;
use serde_json::Value;

use crate::inactive;

#[derive(Debug, Default)]
struct Case {
    title: String,
    files: Vec<(String, String)>,
    edits: Vec<Edit>,
    breaks: BTreeSet<String>,
    admits: Vec<String>,
}

#[derive(Debug)]
enum Edit {
    Replace { path: String, old: String, new: String },
    Move { from: String, to: String },
    Delete { path: String },
}

fn parse_cases(text: &str) -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    let mut lines = text.lines().peekable();
    let is_content = |line: &&str| !(line.starts_with("--- ") || line.starts_with(">>> "));
    while let Some(line) = lines.next() {
        if let Some(title) = line.strip_prefix("# ") {
            cases.push(Case { title: title.to_owned(), ..Case::default() });
            continue;
        }
        let Some(case) = cases.last_mut() else { continue };
        if let Some(path) = line.strip_prefix("--- ") {
            let content: String =
                std::iter::from_fn(|| lines.next_if(is_content)).map(|line| format!("{line}\n")).collect();
            case.files.push((path.to_owned(), content));
        } else if let Some(path) = line.strip_prefix(">>> edit ") {
            let old: Vec<&str> = lines.by_ref().take_while(|line| *line != "=======").collect();
            let new: Vec<&str> = lines.by_ref().take_while(|line| *line != "<<<").collect();
            case.edits.push(Edit::Replace {
                path: path.to_owned(),
                old: old.join("\n"),
                new: new.join("\n"),
            });
        } else if let Some(paths) = line.strip_prefix(">>> move ") {
            let (from, to) = paths.split_once(' ').unwrap();
            case.edits.push(Edit::Move { from: from.to_owned(), to: to.to_owned() });
        } else if let Some(path) = line.strip_prefix(">>> delete ") {
            case.edits.push(Edit::Delete { path: path.to_owned() });
        } else if let Some(paths) = line.strip_prefix("breaks ") {
            case.breaks = paths.split(' ').filter(|path| *path != "nothing").map(str::to_owned).collect();
        } else if let Some(paths) = line.strip_prefix("admits ") {
            case.admits = paths.split(' ').map(str::to_owned).collect();
        } else {
            assert!(line.is_empty(), "{}: unexpected line {line:?}", case.title);
        }
    }
    cases
}

impl Case {
    /// Commits the files and makes the edits.
    fn prepare(&self, env: &TestEnv) {
        env.git(["init", "--quiet", "--initial-branch=main"]);
        for (path, content) in &self.files {
            env.write(path, content);
        }
        env.git(["add", "--all"]);
        env.git(["commit", "--quiet", "-m", "first"]);
        self.edits.iter().for_each(|edit| edit.apply(&env.project()));
    }

    /// Returns how the report differs from the expectation.
    fn mismatch(&self) -> Option<String> {
        let env = inactive();
        self.prepare(&env);
        let report = env.lockstep(["impact", "--format", "json"]).assert_success();
        let report: Value = serde_json::from_str(&report).unwrap();
        let root = env.project();
        let broken = broken_files(&report, &root);
        if broken != self.breaks {
            return Some(format!("{}: expected {:?}, reported {broken:?}", self.title, self.breaks));
        }
        let missing = self.admits.iter().find(|path| !is_admitted(&report, path));
        missing.map(|path| format!("{}: the report does not say that {path} is not analysed", self.title))
    }
}

impl Edit {
    fn apply(&self, root: &Path) {
        match self {
            Self::Replace { path, old, new } => {
                let file = root.join(path);
                let text = fs::read_to_string(&file).unwrap();
                assert!(text.contains(old.as_str()), "{path} does not contain {old:?}");
                fs::write(&file, text.replacen(old.as_str(), new, 1)).unwrap();
            }
            Self::Move { from, to } => {
                fs::create_dir_all(root.join(to).parent().unwrap()).unwrap();
                fs::rename(root.join(from), root.join(to)).unwrap();
            }
            Self::Delete { path } => fs::remove_file(root.join(path)).unwrap(),
        }
    }
}

/// The files that the report calls broken: dependents, and changed files with broken references of their own.
fn broken_files(report: &Value, root: &Path) -> BTreeSet<String> {
    let relative = |path: &Value| {
        let path = Path::new(path.as_str().unwrap());
        path.strip_prefix(root).unwrap().to_str().unwrap().to_owned()
    };
    let mut broken = BTreeSet::new();
    for file in report["impacts"].as_array().unwrap() {
        let dependents = file["dependents"].as_array().unwrap();
        broken.extend(
            dependents
                .iter()
                .filter(|dependent| dependent["breaks"] == true)
                .map(|dependent| relative(&dependent["file"])),
        );
        if file["broken_in_file"].as_array().is_some_and(|places| !places.is_empty()) {
            broken.insert(relative(&file["changed_file"]));
        }
    }
    broken
}

fn is_admitted(report: &Value, path: &str) -> bool {
    let notes = report["notes"].as_array().unwrap();
    notes.iter().filter_map(Value::as_str).any(|note| note.contains("not analysed") && note.contains(path))
}

fn check(text: &str) {
    let cases = parse_cases(text);
    assert!(!cases.is_empty());
    let mismatches: Vec<String> = cases.iter().filter_map(Case::mismatch).collect();
    assert!(mismatches.is_empty(), "{} of {}:\n{}", mismatches.len(), cases.len(), mismatches.join("\n"));
}

#[test]
fn edits_in_c_break_what_the_compiler_rejects() {
    check(include_str!("../everyday/c.txt"));
}

#[test]
fn edits_in_go_break_what_the_compiler_rejects() {
    check(include_str!("../everyday/go.txt"));
}

#[test]
fn edits_in_java_break_what_the_compiler_rejects() {
    check(include_str!("../everyday/java.txt"));
}

#[test]
fn edits_in_csharp_break_what_the_compiler_rejects() {
    check(include_str!("../everyday/csharp.txt"));
}

#[test]
fn edits_in_kotlin_break_what_the_compiler_rejects() {
    check(include_str!("../everyday/kotlin.txt"));
}

#[test]
fn edits_in_swift_break_what_the_compiler_rejects() {
    check(include_str!("../everyday/swift.txt"));
}

#[test]
fn edits_in_php_ruby_and_bash_break_what_fails_at_run_time() {
    check(include_str!("../everyday/scripts.txt"));
}

#[test]
fn edits_in_python_break_what_fails_at_import_or_call() {
    check(include_str!("../everyday/python.txt"));
}

#[test]
fn edits_in_rust_break_what_the_compiler_rejects() {
    check(include_str!("../everyday/rust.txt"));
}

#[test]
fn edits_in_typescript_break_what_the_compiler_rejects() {
    check(include_str!("../everyday/typescript.txt"));
}

#[test]
fn edits_in_other_languages_break_their_users() {
    check(include_str!("../everyday/others.txt"));
}

#[test]
fn edits_of_documents_and_agent_files_break_their_links_and_names() {
    check(include_str!("../everyday/text.txt"));
}
