//! `lockstep refs NAME`: what names refer to, and how the answer is printed.

use lockstep_testkit::TestEnv;
use serde_json::Value;

use crate::{active, inactive};

fn commit(env: &TestEnv, message: &str) {
    env.git(["add", "--all"]);
    env.git(["commit", "--quiet", "--allow-empty", "-m", message]);
}

fn refs(env: &TestEnv, args: &[&str]) -> String {
    env.lockstep([&["refs"], args].concat()).assert_success()
}

/// `file:line` of every place.
fn places(env: &TestEnv, args: &[&str]) -> Vec<String> {
    let text = refs(env, &[args, &["--format", "json"]].concat());
    let answer: Value = serde_json::from_str(&text).unwrap();
    let places = answer["references"].as_array().unwrap();
    places.iter().map(|place| format!("{}:{}", place["file"].as_str().unwrap(), place["line"])).collect()
}

#[test]
fn uses_in_the_defining_file_are_listed_and_marked() {
    let env = inactive();
    env.write("a.py", "def greet():\n    pass\n\n\ndef twice():\n    greet()\n    greet()\n");
    env.write("b.py", "from a import greet\n\ngreet()\n");
    assert_eq!(places(&env, &["greet"]), ["a.py:6", "a.py:7", "b.py:1", "b.py:3"]);
    let text = refs(&env, &["greet"]);
    assert!(text.starts_with("greet: 4 places in 2 files\ndefined in a.py:1\n"), "{text}");
    assert!(text.contains("a.py (symbol, same file)\na.py:6:    greet()\n"), "{text}");
}

#[test]
fn a_line_with_two_references_is_listed_once() {
    let env = inactive();
    env.write("a.py", "def greet(name):\n    pass\n\n\ndef name():\n    pass\n");
    env.write("b.py", "from a import greet, name\n\ngreet(name())\n");
    assert_eq!(places(&env, &["a.py"]), ["b.py:1", "b.py:3"]);
}

#[test]
fn old_name_after_a_rename_is_still_found() {
    let env = inactive();
    env.git(["init", "--quiet"]);
    env.write("a.py", "def greet():\n    pass\n");
    env.write("b.py", "from a import greet\n\ngreet()\n");
    env.write("notes.md", "Call `greet` first.\n");
    commit(&env, "first");
    env.write("a.py", "def welcome():\n    pass\n");
    let text = refs(&env, &["greet"]);
    assert!(
        text.starts_with(
            "greet is not defined in this project (it was, in a.py, in the last commit); still used: 3 places in 2 files\n"
        ),
        "{text}"
    );
    assert!(text.contains("b.py:1:from a import greet\n") && text.contains("notes.md:1:"), "{text}");
    commit(&env, "renamed");
    commit(&env, "another");
    let text = refs(&env, &["greet"]);
    assert!(text.contains("(it was, in a.py, until commit "), "{text}");
    assert_eq!(places(&env, &["greet"]), ["b.py:1", "b.py:3", "notes.md:1"]);
}

#[test]
fn skill_with_a_heading_of_its_name_is_found_by_its_name() {
    let env = inactive();
    env.write(
        ".claude/skills/executing-plans/SKILL.md",
        "---\nname: executing-plans\n---\n# Executing Plans\n\nText.\n",
    );
    env.write(
        ".claude/skills/writing-plans/SKILL.md",
        "---\nname: writing-plans\n---\n# Writing\n\nThen use the skill `executing-plans`.\n",
    );
    assert_eq!(places(&env, &["executing-plans"]), [".claude/skills/writing-plans/SKILL.md:6"]);
}

#[test]
fn old_name_of_a_renamed_skill_is_found_behind_its_heading() {
    let env = inactive();
    let skill = "---\nname: plan-execution\n---\n# Executing Plans\n\nText.\n";
    env.write(".claude/skills/plan-execution/SKILL.md", skill);
    env.write(
        ".claude/skills/writing-plans/SKILL.md",
        "---\nname: writing-plans\n---\n# Writing\n\nThen use the skill `executing-plans`.\n",
    );
    assert_eq!(places(&env, &["executing-plans"]), [".claude/skills/writing-plans/SKILL.md:6"]);
}

#[test]
fn several_definitions_are_listed_apart_with_a_way_to_narrow() {
    let env = inactive();
    env.write("a.py", "def run():\n    pass\n");
    env.write("b.py", "def run():\n    pass\n");
    env.write("use_a.py", "from a import run\n\nrun()\n");
    env.write("use_b.py", "from b import run\n\nrun()\n");
    insta::assert_snapshot!(refs(&env, &["run"]), @r"
run is defined 2 times: 4 places in 2 files

== a.py:1: 2 places in 1 file
use_a.py (import)
use_a.py:1:from a import run
use_a.py (symbol)
use_a.py:3:run()

== b.py:1: 2 places in 1 file
use_b.py (import)
use_b.py:1:from b import run
use_b.py (symbol)
use_b.py:3:run()

To ask about one of them: `lockstep refs a.py:run`, `lockstep refs b.py:run`
");
    assert_eq!(places(&env, &["a.py:run"]), ["use_a.py:1", "use_a.py:3"]);
    assert_eq!(places(&env, &["b.py::run"]), ["use_b.py:1", "use_b.py:3"]);
    assert_eq!(places(&env, &["b.py:1"]), ["use_b.py:1", "use_b.py:3"]);
}

#[test]
fn printed_places_can_be_pasted() {
    let env = inactive();
    env.write("docs/guide.md", "# Guide\n\n## First steps\n\nText.\n");
    env.write("README.md", "See [steps](docs/guide.md#first-steps).\n");
    env.write("src/a.py", "class Door:\n    def unbolt(self):\n        pass\n\n\ndef other():\n    pass\n");
    env.write("src/b.py", "from a import Door, other\n\nDoor().unbolt()\nother()\n");
    assert_eq!(places(&env, &["docs/guide.md#first-steps"]), ["README.md:1"]);
    assert_eq!(places(&env, &["guide.md#first-steps"]), ["README.md:1"]);
    for name in ["src/a.py:3", "src/a.py:3:9", "src/a.py:2:", "a.py:Door.unbolt", "a.py::Door::unbolt"] {
        assert_eq!(places(&env, &[name]), ["src/b.py:3"], "{name}");
    }
}

#[test]
fn directory_means_the_files_in_it() {
    let env = inactive();
    env.write("lib/a.py", "from lib import b\n\n\ndef one():\n    pass\n");
    env.write("lib/b.py", "def two():\n    pass\n");
    env.write("lib/__init__.py", "");
    env.write("main.py", "from lib.a import one\nfrom lib.b import two\n\none()\ntwo()\n");
    for name in ["lib/", "./lib"] {
        let text = refs(&env, &[name]);
        assert!(text.contains("main.py:1:") && text.contains("main.py:2:"), "{text}");
        assert!(!text.contains("lib/a.py:1:") && text.contains("inside the directory"), "{text}");
    }
}

#[test]
fn packages_of_the_project_are_targets() {
    let env = inactive();
    env.write("packages/core/package.json", "{\"name\": \"@acme/core\", \"main\": \"index.js\"}\n");
    env.write("packages/core/index.js", "export const x = 1;\n");
    env.write(
        "packages/app/package.json",
        "{\"name\": \"@acme/app\",\n \"dependencies\": {\"@acme/core\": \"*\"}}\n",
    );
    env.write(
        "packages/app/main.js",
        "import { x } from \"@acme/core\";\nimport y from \"@acme/core-extra\";\n",
    );
    env.write("Cargo.toml", "[workspace]\nmembers = [\"crates/*\"]\n");
    env.write("crates/my-lib/Cargo.toml", "[package]\nname = \"my-lib\"\n");
    env.write("crates/my-lib/src/lib.rs", "pub fn go() {}\n");
    env.write(
        "crates/tool/Cargo.toml",
        "[package]\nname = \"tool\"\n\n[dependencies]\nmy-lib = { path = \"../my-lib\" }\n",
    );
    env.write("crates/tool/src/main.rs", "use my_lib::go;\n\nfn main() {\n    my_lib::go();\n    go();\n}\n");
    env.write("srv/go.mod", "module example.com/srv\n");
    env.write("srv/util/util.go", "package util\n\nfunc Go() {}\n");
    env.write("cli/go.mod", "module example.com/cli\n\nrequire example.com/srv v0.0.0\n");
    env.write(
        "cli/main.go",
        "package main\n\nimport \"example.com/srv/util\"\n\nfunc main() { util.Go() }\n",
    );
    env.write("py/pyproject.toml", "[project]\nname = \"My.Dist\"\n");
    env.write("py/src/mydist/__init__.py", "X = 1\n");
    env.write("tests/test_dist.py", "from mydist import X\n");
    assert_eq!(places(&env, &["@acme/core"]), ["packages/app/main.js:1", "packages/app/package.json:2"]);
    let expected = ["crates/tool/Cargo.toml:5", "crates/tool/src/main.rs:1", "crates/tool/src/main.rs:4"];
    assert_eq!(places(&env, &["my-lib"]), expected);
    assert_eq!(places(&env, &["my_lib"]), expected);
    assert_eq!(places(&env, &["example.com/srv"]), ["cli/go.mod:3", "cli/main.go:3"]);
    assert_eq!(places(&env, &["my-dist"]), ["tests/test_dist.py:1"]);
}

#[test]
fn ambiguous_file_name_lists_its_candidates() {
    let env = inactive();
    env.write("a/utils.py", "def one():\n    pass\n");
    env.write("b/utils.py", "def two():\n    pass\n");
    env.write("main.py", "from a.utils import one\n");
    let text = refs(&env, &["utils.py"]);
    assert!(text.contains("defined 2 times") && text.contains("== a/utils.py: 1 place"), "{text}");
    assert!(text.contains("`lockstep refs b/utils.py`"), "{text}");
}

#[test]
fn typing_error_gets_a_suggestion() {
    let env = inactive();
    env.write("a.py", "def parse_line():\n    pass\n");
    env.write("settings.py", "");
    let output = env.lockstep(["refs", "prase_line"]).assert_failure(2);
    assert!(output.contains("a similar name: `parse_line`"), "{output}");
    let output = env.lockstep(["refs", "setings.py"]).assert_failure(4);
    assert!(output.contains("`settings.py`"), "{output}");
}

#[test]
fn mistyped_former_name_of_a_renamed_definition_gets_a_suggestion() {
    let env = inactive();
    env.write("core.py", "def greet():\n    return 1\n");
    env.git_script("git init -q && git add -A && git commit -qm first").assert_success();
    env.write("core.py", "def salute():\n    return 1\n");
    let output = env.lockstep(["refs", "gret"]).assert_failure(2);
    assert!(output.contains("a similar name: `greet`"), "{output}");
}

#[test]
fn uncertain_places_are_behind_a_count_and_long_lists_are_cut() {
    let env = inactive();
    env.write("a.py", "class Door:\n    def unbolt(self):\n        pass\n");
    env.write("b.py", "from a import Door\n\nDoor().unbolt()\n");
    env.write("c.py", "def f(thing):\n    thing.unbolt()\n");
    let text = refs(&env, &["unbolt"]);
    assert!(text.contains("b.py:3:Door().unbolt()") && !text.contains("c.py:2"), "{text}");
    assert!(
        text.contains("Perhaps 1 more place in 1 file (only types or a run can tell); `--all` lists them."),
        "{text}"
    );
    assert!(refs(&env, &["unbolt", "--all"]).contains("c.py:2:    thing.unbolt()  (perhaps)"));
    env.write("many.py", format!("from a import Door\n\n{}", "Door()\n".repeat(80)));
    let text = refs(&env, &["Door"]);
    assert!(text.contains("`--all` lists everything.") && text.lines().count() < 80, "{text}");
    assert!(refs(&env, &["Door", "--all"]).contains("many.py:82:"));
}

#[test]
fn no_place_is_listed_twice() {
    let env = inactive();
    env.write("a.ts", "export const x = 1;\nexport type Y = number;\n");
    env.write("b.ts", "import { x, Y } from './a';\n\nexport const z: Y = x;\n");
    let out: Value =
        serde_json::from_str(&env.lockstep(["refs", "--out", "b.ts", "--format", "json"]).assert_success())
            .unwrap();
    let lines: Vec<u64> = out["references"]
        .as_array()
        .unwrap()
        .iter()
        .map(|candidate| candidate["line"].as_u64().unwrap())
        .collect();
    assert_eq!(lines, [1, 3], "each line once for the one target: {out:#}");
    let text = refs(&env, &["a.ts"]);
    assert_eq!(text.matches("b.ts:1:").count(), 1, "{text}");
    assert_eq!(text.matches("b.ts:3:").count(), 1, "{text}");
}

#[test]
fn outgoing_references_of_a_symbol_are_those_of_its_lines() {
    let env = inactive();
    env.write("a.py", "def one():\n    pass\n\n\ndef two():\n    pass\n");
    env.write("b.py", "import a\n\n\ndef first():\n    a.one()\n\n\ndef second():\n    a.two()\n");
    assert_eq!(places(&env, &["--out", "first"]), ["b.py:5"]);
    assert_eq!(places(&env, &["--out", "b.py:second"]), ["b.py:9"]);
    assert!(places(&env, &["--out", "b.py"]).len() >= 3);
}

#[test]
fn incomplete_answer_is_labelled_and_has_its_own_exit_code() {
    let env = active();
    env.write("a.py", "def greet():\n    pass\n");
    env.write("b.py", "from a import greet\n");
    let output = env.lockstep(["refs", "greet", "--time-limit", "0"]);
    assert_eq!(output.code, Some(5), "{}", output.snapshot());
    assert!(output.snapshot().contains("Not everything was searched"), "{}", output.snapshot());
    let json = env.lockstep(["refs", "greet", "--time-limit", "0", "--format", "json"]);
    assert!(json.snapshot().contains("\"truncated\": true"), "{}", json.snapshot());
}

#[test]
fn outgoing_references_of_a_symbol_include_those_in_its_file() {
    let env = inactive();
    env.write(
        "a.py",
        "def one():\n    pass\n\n\ndef two():\n    return one()\n\n\ndef three():\n    one()\n",
    );
    let text = refs(&env, &["--out", "two"]);
    assert!(text.contains("a.py:6:    return one()") && !text.contains("a.py:10"), "{text}");
}

#[test]
fn call_of_a_removed_function_is_a_use_and_no_mention() {
    let env = inactive();
    env.write("a.py", "def other():\n    return greet(1)\n");
    let text = refs(&env, &["greet"]);
    assert!(text.contains("a.py (symbol)") && !text.contains("mention"), "{text}");
}

#[test]
fn line_that_a_file_does_not_have_is_an_error() {
    let env = inactive();
    env.write("a.py", "def one():\n    pass\n");
    env.write("b.py", "import a\n");
    assert!(refs(&env, &["a.py:2"]).contains("a.py:1"));
    let error = env.lockstep(["refs", "a.py:9"]).assert_failure(4);
    assert!(error.contains("a.py:9"), "{error}");
}
