//! `lockstep impact` and `lockstep refs`, in real repositories.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use lockstep_testkit::{HookEvent, TestEnv};
use serde_json::Value;

use crate::{active, configured, inactive};

/// A repository with a Python package, a user of it, and one behind; committed.
pub(crate) fn repository(env: &TestEnv) {
    env.git(["init", "--quiet", "--initial-branch=main"]);
    env.write("pkg/__init__.py", "");
    env.write("pkg/a.py", "def greet(name):\n    return name\n\n\ndef other():\n    return 1\n");
    env.write("b.py", "from pkg.a import greet\n\n\ndef hello():\n    return greet(\"x\")\n");
    env.write("c.py", "from b import hello\n\nhello()\n");
    commit(env, "first");
}

pub(crate) fn commit(env: &TestEnv, message: &str) {
    env.git(["add", "--all"]);
    env.git(["commit", "--quiet", "--allow-empty", "-m", message]);
}

pub(crate) fn rename(env: &TestEnv) {
    env.write("pkg/a.py", "def welcome(name):\n    return name\n\n\ndef other():\n    return 1\n");
}

/// `type breaks file` of every dependent.
pub(crate) fn impact(env: &TestEnv, args: &[&str]) -> Vec<String> {
    let text = env.lockstep([&["impact", "--format", "json"], args].concat()).assert_success();
    let report: Value = serde_json::from_str(&text).unwrap();
    let files = report["impacts"].as_array().unwrap();
    let dependents = files.iter().flat_map(|file| file["dependents"].as_array().unwrap());
    let root = env.project().display().to_string();
    dependents
        .map(|dependent| {
            let file = dependent["file"].as_str().unwrap().strip_prefix(&root).unwrap();
            format!("{} {} {}", dependent["type"].as_str().unwrap(), dependent["breaks"], &file[1..])
        })
        .collect()
}

pub(crate) const RENAMED: [&str; 2] = ["DIRECT true b.py", "TRANSITIVE false c.py"];

#[test]
fn a_compatible_signature_breaks_nothing() {
    let env = inactive();
    repository(&env);
    env.write(
        "pkg/a.py",
        "def greet(name: str | None, deep=False):\n    return name\n\n\ndef other():\n    return 1\n",
    );
    let text = env.lockstep(["impact"]).assert_success();
    assert!(text.contains("greet changed, callers still fit"), "{text}");
    assert_eq!(impact(&env, &[]), ["DIRECT false b.py", "TRANSITIVE false c.py"]);
    let json = env.lockstep(["impact", "--format", "json"]).assert_success();
    assert!(json.contains("\"change\": \"compatible\""), "{json}");
}

#[test]
fn a_half_written_definition_is_not_analysed() {
    let env = inactive();
    repository(&env);
    env.write("pkg/a.py", "def greet(name\n    return name\n\n\ndef other():\n    return 1\n");
    let text = env.lockstep(["impact"]).assert_success();
    assert!(text.contains("not analysed: pkg/a.py:1 does not parse"), "{text}");
    assert!(impact(&env, &[]).iter().all(|line| !line.contains("true")), "{text}");
    let json = env.lockstep(["impact", "--format", "json"]).assert_success();
    assert!(json.contains("\"unparsed_line\": 1") && json.contains("\"confidence\": \"medium\""), "{json}");
    env.lockstep(["impact", "--fail-on", "breaks"]).assert_success();
}

#[test]
fn a_change_that_its_users_follow_breaks_nothing() {
    let env = inactive();
    repository(&env);
    env.write("a.h", "int add(int a);\n");
    env.write("a.c", "#include \"a.h\"\nint add(int a) { return a; }\n");
    env.write("b.c", "#include \"a.h\"\nint run(void) { return add(1); }\n");
    commit(&env, "second");
    env.write("pkg/a.py", "def greet(name, deep):\n    return deep\n\n\ndef other():\n    return 1\n");
    env.write("b.py", "from pkg.a import greet\n\n\ndef hello():\n    return greet(\"x\", True)\n");
    env.write("a.h", "int add(int a, int b);\n");
    env.write("a.c", "#include \"a.h\"\nint add(int a, int b) { return b; }\n");
    let breaking = |found: Vec<String>| {
        found.into_iter().filter(|candidate| candidate.contains("true")).collect::<Vec<_>>()
    };
    assert_eq!(breaking(impact(&env, &[])), ["DIRECT true b.c"]);
    env.write("b.c", "#include \"a.h\"\nint run(void) { return add(1, 2); }\n");
    assert_eq!(breaking(impact(&env, &[])), [""; 0]);
}

#[test]
fn a_change_of_comments_only_is_reported_as_such() {
    let env = inactive();
    repository(&env);
    env.write(
        "pkg/a.py",
        "# Greetings.\ndef greet(name):\n    return name\n\n\ndef other():\n    return 1  # one\n",
    );
    let text = env.lockstep(["impact"]).assert_success();
    assert!(text.contains("pkg/a.py  (only comments changed)"), "{text}");
    assert_eq!(impact(&env, &[]), [""; 0]);
}

#[test]
fn references_left_behind_in_the_changed_file_are_reported() {
    let env = inactive();
    env.git(["init", "--quiet", "--initial-branch=main"]);
    env.write("a.py", "def greet(name):\n    return name\n\n\ndef main():\n    return greet(1)\n");
    commit(&env, "first");
    env.write("a.py", "def salute(name):\n    return name\n\n\ndef main():\n    return greet(1)\n");
    let text = env.lockstep(["impact"]).assert_success();
    assert!(text.contains("1 file breaks") && text.contains("a.py:6"), "{text}");
    assert!(text.contains("in the same file: greet is now salute"), "{text}");
    let l1 = env.lockstep(["impact", "--format", "yaml"]).assert_success();
    assert!(l1.contains("    dependent_count: 0\n    broken_in_file:\n      - line: 6\n"), "{l1}");
    assert!(l1.contains("cascade_recommended: true"), "{l1}");
    let l2 = env.lockstep(["impact", "--format", "md"]).assert_success();
    assert!(l2.contains("**Broken in the same file (1):**"), "{l2}");
    env.write("a.py", "def salute(name):\n    return name\n\n\ndef main():\n    return salute(1)\n");
    let l1 = env.lockstep(["impact", "--format", "yaml"]).assert_success();
    assert!(!l1.contains("broken_in_file") && l1.contains("cascade_recommended: false"), "{l1}");
}

#[test]
fn impact_works_without_configuration_and_leaves_no_trace() {
    let env = inactive();
    repository(&env);
    rename(&env);
    let before = env.dir_snapshot().without("home");
    assert_eq!(impact(&env, &[]), RENAMED);
    assert_eq!(impact(&env, &["pkg/a.py"]), RENAMED);
    assert_eq!(impact(&env, &["pkg"]), RENAMED);
    assert_eq!(env.dir_snapshot().without("home"), before, "nothing is written into the tree");
}

#[test]
fn every_input_gives_the_same_answer() {
    let env = active();
    repository(&env);
    rename(&env);
    let outside = env.outside_dir().join("fix.diff");
    env.shell(&format!("git diff > {}", outside.display()));
    let outside = outside.to_str().unwrap();
    assert_eq!(impact(&env, &["--patch", outside]), RENAMED, "a patch that has been applied");
    env.git(["add", "--all"]);
    assert_eq!(impact(&env, &["--staged"]), RENAMED);
    env.git(["commit", "--quiet", "-m", "second"]);
    assert_eq!(impact(&env, &[]), RENAMED, "where nothing differs, the last commit");
    assert_eq!(impact(&env, &["--rev", "HEAD~1..HEAD"]), RENAMED);
    assert_eq!(impact(&env, &["--rev", "HEAD~1"]), RENAMED);
    env.git(["reset", "--quiet", "--hard", "HEAD~1"]);
    assert_eq!(impact(&env, &["--patch", outside]), RENAMED, "a patch that has not been applied");
}

#[test]
fn impact_accepts_a_session_as_input() {
    let env = active();
    repository(&env);
    env.hook(&HookEvent::session_start()).assert_silent();
    rename(&env);
    let former = "def greet(name):\n    return name\n\n\ndef other():\n    return 1\n";
    env.hook(&HookEvent::edit("pkg/a.py").by_agent("a1", "implementer").original_content(former))
        .assert_silent();
    assert_eq!(impact(&env, &["--session", "s1"]), RENAMED);
    assert_eq!(impact(&env, &["--session", "s1", "--agent", "lead"]), [""; 0]);
    assert_eq!(impact(&env, &["--session", "s1", "--agent", "a1"]), RENAMED);
}

#[test]
fn dependents_updated_before_stop_are_not_reported() {
    let env = configured("");
    repository(&env);
    env.lockstep(["index", "--quiet"]).assert_success();
    env.hook(&HookEvent::session_start()).assert_silent();
    let a = fs::read_to_string(env.project().join("pkg/a.py")).unwrap();
    let b = fs::read_to_string(env.project().join("b.py")).unwrap();
    rename(&env);
    env.hook(&HookEvent::edit("pkg/a.py").by_agent("a1", "implementer").original_content(&a)).assert_silent();
    env.write("b.py", b.replace("greet", "welcome"));
    env.hook(&HookEvent::edit("b.py").by_agent("a1", "implementer").original_content(&b)).assert_silent();
    env.hook(&HookEvent::subagent_stop("a1", "implementer")).assert_silent();
    // The remaining dependent uses the function whose body follows the new name.
    let (_, alert) = env.hook(&HookEvent::agent_done()).context().expect("c.py uses what changed inside");
    assert!(alert.contains("Dependents: c.py:"), "{alert}");
}

#[test]
fn refs_accepts_the_name_of_a_module() {
    let env = active();
    let write = |path: &str, text: &str| {
        let path = env.project().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    write("pkg/__init__.py", "");
    write("pkg/mod.py", "def greet(): pass\n");
    write("app.py", "from pkg.mod import greet\n");
    write("Cargo.toml", "[package]\nname = \"one\"\n");
    write("src/lib.rs", "mod a;\nuse crate::a::b::go;\n");
    write("src/a.rs", "pub mod b;\n");
    write("src/a/b.rs", "pub fn go() {}\n");
    write("web/x.ts", "export const x = 1;\n");
    write("web/y.ts", "import { x } from './x';\n");
    for (name, defined, user) in [
        ("pkg.mod", "pkg/mod.py:1", "app.py"),
        ("crate::a::b", "src/a/b.rs:1", "src/lib.rs"),
        ("./web/x", "web/x.ts:1", "web/y.ts"),
    ] {
        let text = env.lockstep(["refs", name, "--format", "json"]).assert_success();
        let answer: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(answer["defined"], serde_json::json!([defined]), "{answer}");
        let places = answer["references"].as_array().unwrap();
        assert!(places.iter().any(|place| place["file"] == user), "{name}: {answer}");
    }
}

#[test]
fn answers_follow_renames_deletions_stashes_and_checkouts() {
    let env = active();
    repository(&env);
    let refs = |name: &str| -> Vec<String> {
        let text = env.lockstep(["refs", name, "--format", "json"]).assert_success();
        let answer: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(answer["fresh"], true, "{answer}");
        let places = answer["references"].as_array().unwrap();
        let mut files: Vec<String> =
            places.iter().map(|place| place["file"].as_str().unwrap().to_owned()).collect();
        files.dedup();
        files
    };
    assert_eq!(refs("greet"), ["b.py"]);
    env.git(["mv", "b.py", "bb.py"]);
    assert_eq!(refs("greet"), ["bb.py"]);
    env.git(["stash", "--quiet"]);
    assert_eq!(refs("greet"), ["b.py"]);
    env.git(["stash", "pop", "--quiet"]);
    commit(&env, "moved");
    env.git(["checkout", "--quiet", "-b", "other", "HEAD~1"]);
    assert_eq!(refs("greet"), ["b.py"]);
    env.git(["checkout", "--quiet", "main"]);
    assert_eq!(refs("greet"), ["bb.py"]);
    fs::remove_file(env.project().join("bb.py")).unwrap();
    assert_eq!(refs("greet"), [""; 0]);
}

#[test]
fn imports_of_names_that_their_module_does_not_define_are_dangling() {
    let env = inactive();
    env.git(["init", "--quiet", "--initial-branch=main"]);
    env.write("a.py", "def kept():\n    pass\n");
    env.write("b.py", "from a import gone, kept\nimport os\nfrom os import nowhere\n");
    env.write("src/a.ts", "export const kept = 1;\n");
    env.write("src/b.ts", "import { gone, kept } from './a';\nimport { x } from 'package';\n");
    env.write("p/A.java", "package p;\npublic class A {}\n");
    env.write("q/B.java", "package q;\nimport p.A;\nimport p.Gone;\nclass B {}\n");
    env.git(["add", "--all"]);
    env.git(["commit", "--quiet", "-m", "first"]);
    let output = env.lockstep(["refs", "--dangling"]);
    let text = output.snapshot();
    for place in ["b.py:1:", "src/b.ts:1:", "q/B.java:3:"] {
        assert!(text.contains(place), "{place} is not in {text}");
    }
    assert!(text.contains("3 places in 3 files"), "{text}");
}

#[test]
fn removed_but_referenced_files_are_dangling() {
    let env = active();
    repository(&env);
    env.write("README.md", "See [the package](pkg/a.py).\n");
    commit(&env, "readme");
    env.lockstep(["refs", "--dangling"]).assert_success();
    env.git(["mv", "pkg/a.py", "pkg/z.py"]);
    commit(&env, "moved");
    let output = env.lockstep(["refs", "--dangling"]);
    let text = output.snapshot();
    assert!(
        text.contains("README.md:1:See [the package](pkg/a.py).") && text.ends_with("exit 1\n"),
        "{text}"
    );
}

#[test]
fn invalid_arguments_are_answered_with_a_hint() {
    let env = inactive();
    repository(&env);
    let fails = |args: &[&str], code: i32, says: &str| {
        let output = env.lockstep(args);
        output.assert_failure(code);
        assert!(output.snapshot().contains(says), "{args:?} {output:?}");
    };
    fails(&["impact", "nowhere.py"], 4, "there is no file nowhere.py");
    fails(&["impact", "/etc/passwd"], 2, "is not inside");
    fails(&["impact", "--rev", "nobody..HEAD"], 2, "nobody");
    fails(&["impact", "HEAD~99"], 2, "--rev");
    fails(&["impact", "--time-limit", "-1"], 2, "");
    fails(&["impact", "--session", "s1"], 2, "lockstep.toml");
    fails(&["refs", "no_such_thing_anywhere"], 2, "nothing in this tree is called");
    env.write("broken.diff", "@@ -1 +1 @@\n");
    fails(&["impact", "--patch", "broken.diff"], 2, "line 1");
    env.write("empty.diff", "hello\n");
    fails(&["impact", "--patch", "empty.diff"], 2, "changes no file");
    env.write("out.diff", "--- a/../../x\n+++ b/../../x\n@@ -1 +1 @@\n-root\n+r\n");
    fails(&["impact", "--patch", "out.diff"], 2, "fits no content");
}

#[test]
fn impact_of_files_works_outside_of_git() {
    let env = inactive();
    env.write("a.py", "def greet():\n    pass\n");
    env.write("b.py", "import a\na.greet()\n");
    assert_eq!(impact(&env, &["a.py"]), ["DIRECT false b.py"]);
    let output = env.lockstep(["impact"]);
    output.assert_failure(2);
    assert!(output.snapshot().contains("is not in a git repository"), "{output:?}");
}

/// The project around it leaves it out.
#[test]
fn question_in_a_nested_repository_is_about_that_repository() {
    let env = configured("");
    env.git(["init", "--quiet"]);
    env.write("lib/src/core.py", "def greet():\n    pass\n");
    env.write("lib/src/use.py", "from core import greet\n");
    env.git_script("cd lib && git init -q && git add -A && git commit -qm first").assert_success();
    env.write("lib/src/core.py", "def salute():\n    pass\n");
    for directory in ["lib", "lib/src"] {
        let output = env.lockstep(["-C", directory, "impact"]).assert_success();
        assert!(output.contains("use.py:1: greet is now salute"), "{directory}: {output}");
        let output = env.lockstep(["-C", directory, "refs", "salute"]).assert_success();
        assert!(output.contains("core.py:1"), "{directory}: {output}");
    }
    assert!(!env.project().join("lib/.lockstep").exists());
}

/// Git refuses a repository that another user owns.
#[test]
fn refused_repository_is_reported_with_gits_reason() {
    let env = inactive();
    env.write("sub/a.py", "def greet():\n    pass\n");
    env.git(["init", "--quiet"]);
    for (directory, verb) in [(".", "impact"), ("sub", "impact"), ("sub", "doctor")] {
        let mut command = env.command(["-C", directory, verb]);
        // A variable for git's own tests.
        command.env("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1");
        let output = env.run(command, b"");
        assert_ne!(output.code, Some(0), "{output:?}");
        let text = output.snapshot();
        assert!(text.contains("dubious ownership") && text.contains("safe.directory"), "{text}");
        assert!(text.lines().count() < 12, "{text}");
    }
    let mut command = env.command(["-C", "sub", "refs", "greet"]);
    command.env("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1");
    env.run(command, b"").assert_success();
}

#[test]
fn examples_of_the_impact_guide_work() {
    let env = inactive();
    env.git(["init", "--quiet"]);
    env.write(
        "README.md",
        "# Shop\n\nPrices are added up by `total` in `shop/price.py`.\n\nSee [the report](shop/report.py).\n",
    );
    env.write("shop/__init__.py", "");
    env.write(
        "shop/price.py",
        "def total(items):\n    return sum(items)\n\n\ndef tax(amount):\n    return amount / 5\n",
    );
    env.write(
        "shop/cart.py",
        "from shop.price import total\n\n\ndef checkout():\n    return total([1, 2])\n",
    );
    env.write(
        "shop/report.py",
        "from shop import price\n\n\ndef sums():\n    return price.total([3])\n\n\ndef taxes():\n    return price.tax(10)\n",
    );
    env.write("main.py", "from shop.cart import checkout\n\ncheckout()\n");
    commit(&env, "first");
    symlink(env!("CARGO_BIN_EXE_lockstep"), env.outside_dir().join("lockstep")).unwrap();
    let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide/impact.md");
    let guide = fs::read_to_string(guide).unwrap();
    let mut commands = 0;
    for block in guide.split("```console\n").skip(1) {
        let block = block.split("```\n").next().unwrap();
        for part in format!("\n{block}").split("\n$ ").skip(1) {
            let (command, text) = part.split_once('\n').unwrap_or((part, ""));
            let output = Command::new("sh")
                .args(["-c", command])
                .current_dir(env.project())
                .env_clear()
                .env("PATH", format!("{}:/usr/bin:/bin:/usr/local/bin", env.outside_dir().display()))
                .env("HOME", env.home())
                .envs([("GIT_AUTHOR_NAME", "T"), ("GIT_AUTHOR_EMAIL", "t@t")])
                .envs([("GIT_COMMITTER_NAME", "T"), ("GIT_COMMITTER_EMAIL", "t@t")])
                .output()
                .unwrap();
            let message = env.redact_paths(&String::from_utf8(output.stdout).unwrap());
            assert_eq!(steady(&message).trim_end(), steady(text).trim_end(), "$ {command}");
            commands += 1;
        }
    }
    assert!(commands > 8, "{commands}");
}

/// The revision differs from run to run.
fn steady(text: &str) -> String {
    text.lines()
        .map(|line| match line.split_once("revision: \"") {
            Some((before, after)) => {
                format!("{before}revision: \"…\"{}\n", after.split_once('"').map_or("", |(_, rest)| rest))
            }
            None => format!("{line}\n"),
        })
        .collect()
}
