//! The formats of `lockstep impact`: the text, and `gcc` and `sarif` as an editor's parser and the schema read them.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use lockstep_testkit::TestEnv;
use serde_json::Value;

use crate::inactive;

/// A repository in which `greet` was renamed and its user was not.
fn with_break() -> TestEnv {
    let env = inactive();
    env.git(["init", "--quiet", "--initial-branch=main"]);
    env.write("pkg/__init__.py", "");
    env.write("pkg/a.py", "def greet(name):\n    return name\n");
    env.write("b.py", "from pkg.a import greet\n\n\ndef hello():\n    return greet(\"x\")\n");
    env.write("c.py", "from b import hello\n\nhello()\n");
    env.git(["add", "--all"]);
    env.git(["commit", "--quiet", "-m", "first"]);
    env.write("pkg/a.py", "def welcome(name):\n    return name\n");
    env
}

/// The page that shows the settings of the editors.
fn editors_page() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide/editors.md");
    fs::read_to_string(path).unwrap()
}

#[test]
fn gcc_format_lists_breaks_with_columns_from_the_current_directory() {
    let env = with_break();
    let text = env.lockstep(["impact", "--format", "gcc"]).assert_success();
    assert_eq!(text, "b.py:1:19: error: greet is now welcome\nb.py:5:12: error: greet is now welcome\n");
    let below = env.lockstep(["-C", "pkg", "impact", "--format", "gcc", "--fail-on", "breaks"]);
    assert_eq!(below.code, Some(1));
    let below = String::from_utf8(below.stdout).unwrap();
    assert!(below.starts_with("../b.py:1:19: error: "), "{below}");
    let all = env.lockstep(["impact", "--format", "gcc", "--all"]).assert_success();
    assert!(all.contains("c.py:1:15: note: depends on pkg/a.py, via b.py\n"), "{all}");
}

#[test]
fn gcc_format_lists_unanalysed_files_one_line_each() {
    let env = with_break();
    env.write("pkg/a.py", "def greet(name\n    return name\n");
    let text = env.lockstep(["impact", "--format", "gcc"]).assert_success();
    assert_eq!(text, "pkg/a.py:1:1: warning: not analysed: this line does not parse\n");
    let env = with_break();
    env.write("x\nb.py:1:1: error: forged.py", "from pkg.a import greet\n");
    let text = env.lockstep(["impact", "--format", "gcc"]).assert_success();
    assert_eq!(text.lines().filter(|line| line.starts_with("b.py")).count(), 2, "{text}");
    assert_eq!(text.lines().count(), 3, "{text}");
}

#[test]
fn problem_matcher_of_the_guide_matches_every_line() {
    let page = editors_page();
    let (_, rest) = page.split_once("\"regexp\": \"").unwrap();
    let pattern = rest.split_once("\",\n").unwrap().0.replace("\\\\", "\\");
    let env = with_break();
    let text = env.lockstep(["impact", "--format", "gcc", "--all"]).assert_success();
    let mut grep = Command::new("grep")
        .args(["-cP", &pattern])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    grep.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let count = String::from_utf8(grep.wait_with_output().unwrap().stdout).unwrap();
    assert_eq!(count.trim(), text.lines().count().to_string(), "{pattern}\n{text}");
}

#[test]
fn vim_reads_the_lines_with_the_settings_of_the_guide() {
    if Command::new("vim").arg("--version").output().is_err() {
        let _ = writeln!(std::io::stderr(), "SKIPPED vim: it is not on PATH");
        return;
    }
    let page = editors_page();
    let (_, block) = page.split_once("```vim\n").unwrap();
    let settings = block.split_once("```").unwrap().0;
    let env = with_break();
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_lockstep"), env.outside_dir().join("lockstep")).unwrap();
    let script = format!(
        "{settings}\nsilent make!\nlet list = filter(getqflist(), 'v:val.valid')\n\
         call writefile(map(list, 'bufname(v:val.bufnr) . \":\" . v:val.lnum . \":\" . v:val.col . \":\" . v:val.type . \
         \":\" . v:val.text'), 'read.txt')\nqall!\n"
    );
    let file = env.outside_dir().join("script.vim");
    fs::write(&file, script).unwrap();
    let output = Command::new("vim")
        .args(["-u", "NONE", "-es", "-N", "-S"])
        .arg(&file)
        .current_dir(env.project())
        .env("PATH", format!("{}:/usr/bin:/bin", env.outside_dir().display()))
        .env("HOME", env.home())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let read = fs::read_to_string(env.project().join("read.txt")).unwrap_or_else(|_| panic!("{output:?}"));
    assert_eq!(read, "b.py:1:19:e:greet is now welcome\nb.py:5:12:e:greet is now welcome\n");
}

/// Returns the schema of SARIF 2.1.0, which a package of the lock file contains.
fn sarif_schema() -> Value {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--locked"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    let package = packages.iter().find(|package| package["name"] == "serde-sarif").unwrap();
    let manifest = PathBuf::from(package["manifest_path"].as_str().unwrap());
    let schema = fs::read(manifest.with_file_name("src").join("schema.json")).unwrap();
    let mut schema: Value = serde_json::from_slice(&schema).unwrap();
    // The pattern for a language tag has an unmatched bracket, which is not a valid regular expression. We write no language.
    for part in ["run", "toolComponent"] {
        let language = schema["definitions"][part]["properties"]["language"].as_object_mut().unwrap();
        language.remove("pattern");
    }
    schema
}

#[test]
fn sarif_format_is_valid_and_locates_every_break() {
    let env = with_break();
    env.write("d é#.py", "from pkg.a import greet\nfrom pkg.a import greet\n");
    env.git(["add", "--all"]);
    let schema = jsonschema::validator_for(&sarif_schema()).unwrap();
    let log = |args: &[&str]| -> Value {
        let text = env.lockstep([&["impact", "--format", "sarif"], args].concat()).assert_success();
        let log: Value = serde_json::from_str(&text).unwrap();
        let problems: Vec<String> = schema.iter_errors(&log).map(|error| error.to_string()).collect();
        assert!(problems.is_empty(), "{problems:#?}\n{text}");
        log
    };
    let found = log(&[]);
    let run = &found["runs"][0];
    assert_eq!(run["invocations"][0]["executionSuccessful"], true);
    let results = run["results"].as_array().unwrap();
    let places: Vec<String> = results
        .iter()
        .map(|result| {
            let place = &result["locations"][0]["physicalLocation"];
            let (uri, region) = (&place["artifactLocation"]["uri"], &place["region"]);
            format!("{} {}:{}:{}", result["level"], uri, region["startLine"], region["startColumn"])
        })
        .collect();
    assert!(places.contains(&"\"error\" \"b.py\":1:19".to_owned()), "{places:?}");
    assert!(places.contains(&"\"error\" \"d%20%C3%A9%23.py\":1:19".to_owned()), "{places:?}");
    let mut prints: Vec<&str> = results
        .iter()
        .filter_map(|result| result["partialFingerprints"]["lockstepLine/v1"].as_str())
        .collect();
    prints.sort_unstable();
    prints.dedup();
    assert_eq!(prints.len(), results.len(), "every result has its own fingerprint");
    assert!(log(&["--all"])["runs"][0]["results"].as_array().unwrap().len() > results.len());
    env.git(["commit", "--quiet", "--all", "-m", "second"]);
    env.write("unrelated.txt", "text\n");
    assert_eq!(log(&[])["runs"][0]["results"].as_array().unwrap().len(), 0);
}

#[test]
fn sarif_format_marks_incomplete_answers() {
    let env = with_break();
    let text = env.lockstep(["impact", "--format", "sarif", "--time-limit", "0"]);
    assert_eq!(text.code, Some(5));
    let log: Value = serde_json::from_slice(&text.stdout).unwrap();
    let run = &log["runs"][0];
    assert_eq!(run["invocations"][0]["executionSuccessful"], false, "{log:#}");
    assert_eq!(run["results"][0]["ruleId"], "not-analysed", "{log:#}");
}

#[test]
fn other_commands_refuse_formats_for_findings() {
    let env = inactive();
    for format in ["gcc", "sarif"] {
        let output = env.lockstep(["changes", "--format", format]).assert_failure(2);
        assert!(output.contains("only `impact` has the formats"), "{output}");
    }
}

#[test]
fn function_with_platform_variants_is_named_once() {
    let env = inactive();
    env.git(["init", "--quiet"]);
    let text = "#[cfg(unix)]\npub fn old() {}\n\n#[cfg(windows)]\npub fn old() {}\n";
    env.write("src/lib.rs", text);
    env.git(["add", "--all"]);
    env.git(["commit", "--quiet", "-m", "first"]);
    env.write("src/lib.rs", text.replace("old", "new"));
    let report = env.lockstep(["impact"]).assert_success();
    assert_eq!(report.matches("old → new").count(), 1, "{report}");
}
