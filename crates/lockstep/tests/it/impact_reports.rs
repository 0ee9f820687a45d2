//! Reports of `lockstep impact`: limits, formats of the text, exit codes, alerts, and files that cannot be analysed.

use std::fs;
use std::path::Path;

use lockstep_testkit::{HookEvent, TestEnv};
use serde_json::Value;

use crate::impact::{RENAMED, commit, impact, rename, repository};
use crate::{active, configured, inactive};

/// Two files that others import, both changed.
fn two_renames(env: &TestEnv) {
    for name in ["a", "b"] {
        env.write(format!("{name}.py"), format!("def {name}_old():\n    pass\n"));
        env.write(format!("use_{name}.py"), format!("from {name} import {name}_old\n"));
    }
    env.git(["init", "--quiet"]);
    commit(env, "first");
    for name in ["a", "b"] {
        env.write(format!("{name}.py"), format!("def {name}_new():\n    pass\n"));
    }
}

#[test]
fn unanalysed_files_are_counted_as_unknown_after_a_timeout() {
    let env = active();
    two_renames(&env);
    let partial = |args: &[&str]| {
        let output = env.lockstep([&["impact", "--time-limit", "0"], args].concat());
        assert_eq!(output.code, Some(5), "{}", output.snapshot());
        output.snapshot()
    };
    let text = partial(&[]);
    assert!(
        text.contains("2 files changed in the working tree; not everything was analysed (time limit 0 s)"),
        "{text}"
    );
    assert!(text.contains("Not analysed:\n  a.py  (not analysed: the time was over)\n"), "{text}");
    assert!(text.contains("hint: `lockstep index` builds the index once"), "{text}");
    let yaml = partial(&["--format", "yaml"]);
    assert!(yaml.contains("status: partial") && yaml.contains("files_changed: 2"), "{yaml}");
    let l2 = partial(&["--format", "md"]);
    assert!(l2.contains("a.py: not analysed, the time was over; its dependents are not known."), "{l2}");
    let json = partial(&["--format", "json"]);
    assert_eq!(json.matches("\"analysed\": false").count(), 2, "{json}");
}

#[test]
fn a_stop_without_time_leaves_its_files_to_the_next_event() {
    let env = configured("[impact]\ntime_limit = \"0s\"\n");
    two_renames(&env);
    env.lockstep(["index", "--quiet"]).assert_success();
    for name in ["a.py", "b.py"] {
        env.hook(&HookEvent::edit(name).by_agent("a1", "implementer")).assert_silent();
    }
    env.hook(&HookEvent::subagent_stop("a1", "implementer")).assert_silent();
    let report =
        |number: u32| fs::read_to_string(env.state().join(format!("reports/s1/{number}.yaml"))).unwrap();
    let first = report(1);
    assert!(first.contains("status: partial") && first.contains("files_changed: 2"), "{first}");
    env.hook(&HookEvent::prompt()).assert_silent();
    let second = report(2);
    assert!(second.contains("status: complete") && second.contains("files_changed: 2"), "{second}");
}

#[test]
fn a_changed_file_outside_the_index_is_analysed() {
    let env = configured("[scope]\nmax_file_bytes = 2000\n");
    let filler = "# filler\n".repeat(400);
    env.write("big.py", format!("def greet():\n    return 1\n\n\ndef other():\n    pass\n{filler}"));
    env.write("use.py", "from big import greet\n\ngreet()\n");
    env.write("gen.py", "def made():\n    pass\n");
    env.write("use_gen.py", "from gen import made\n\nmade()\n");
    env.write(".gitignore", "/gen.py\n");
    env.git(["init", "--quiet"]);
    commit(&env, "first");
    env.write("big.py", format!("def greet():\n    return 2\n\n\ndef other():\n    pass\n{filler}"));
    let body = env.lockstep(["impact"]).assert_success();
    assert!(
        !body.contains("breaks") && body.contains("big.py  greet changed inside"),
        "only its inside: {body}"
    );
    env.write("big.py", format!("def welcome():\n    return 2\n\n\ndef other():\n    pass\n{filler}"));
    let renamed = env.lockstep(["impact"]).assert_success();
    assert!(
        renamed.contains("greet → welcome") && renamed.contains("  use.py:1: greet is now welcome:"),
        "{renamed}"
    );
    let ignored = env.lockstep(["impact", "gen.py"]).assert_success();
    assert!(ignored.contains("use_gen.py"), "{ignored}");
}

#[test]
fn imports_of_deleted_files_dangle_committed_or_not() {
    let env = active();
    env.git(["init", "--quiet"]);
    env.write("Cargo.toml", "[package]\nname = \"p\"\nversion = \"0.1.0\"\nedition = \"2021\"\n");
    env.write("src/lib.rs", "mod gone;\nmod here;\n");
    env.write("src/gone.rs", "pub fn f() {}\n");
    env.write("src/here.rs", "pub fn g() {}\n");
    env.write("web/gone.ts", "export const f = 1;\n");
    env.write("web/moved.ts", "export const g = 1;\n");
    env.write("web/use.ts", "import { f } from \"./gone\";\nimport { g } from \"./moved\";\n");
    env.write("py/__init__.py", "");
    env.write("py/gone.py", "def f():\n    pass\n");
    env.write("py/use.py", "from .gone import f\nfrom .other import x\n");
    commit(&env, "first");
    let clean = env.lockstep(["refs", "--dangling"]).assert_success();
    assert!(
        clean.contains("No link, path or import refers to what no longer exists"),
        "an import that never led anywhere: {clean}"
    );
    env.git(["rm", "--quiet", "src/gone.rs", "web/gone.ts", "py/gone.py"]);
    // An import that resolves to another file now is not dangling.
    env.git(["rm", "--quiet", "web/moved.ts"]);
    env.write("web/moved/index.ts", "export const g = 1;\n");
    let expected = |text: &str| {
        for place in ["src/lib.rs", "web/use.ts", "py/use.py"] {
            assert!(text.contains(place), "{place} is missing:\n{text}");
        }
        assert!(!text.contains("moved") && !text.contains("mod here"), "{text}");
    };
    expected(&env.lockstep(["refs", "--dangling"]).snapshot());
    commit(&env, "second");
    let output = env.lockstep(["refs", "--dangling"]);
    assert_eq!(output.code, Some(1), "{}", output.snapshot());
    expected(&output.snapshot());
}

#[test]
fn an_unknown_session_or_agent_is_an_error() {
    let env = active();
    repository(&env);
    rename(&env);
    env.hook(&HookEvent::edit("pkg/a.py").by_agent("a1", "implementer")).assert_silent();
    let unknown = env.lockstep(["impact", "--session", "nosuch"]).assert_failure(2);
    assert!(unknown.contains("no session nosuch was journaled here"), "{unknown}");
    let unknown = env.lockstep(["impact", "--session", "s1", "--agent", "nobody"]).assert_failure(2);
    assert!(unknown.contains("no agent \"nobody\" changed anything"), "{unknown}");
    assert!(
        env.lockstep(["impact", "--session", "s1", "--agent", "a1"]).assert_success().contains("pkg/a.py")
    );
}

#[test]
fn co_changed_files_are_listed_separately_on_request() {
    let env = active();
    repository(&env);
    env.write("notes/rates.csv", "0\n");
    env.write("often.txt", "0\n");
    for turn in 2..=7 {
        env.write(
            "pkg/a.py",
            format!("def greet(name):\n    return name\n\n\ndef other():\n    return {turn}\n"),
        );
        env.write("notes/rates.csv", format!("{turn}\n"));
        if turn % 2 == 0 {
            env.write("often.txt", format!("{turn}\n"));
        }
        commit(&env, "together");
    }
    rename(&env);
    let report: Value =
        serde_json::from_str(&env.lockstep(["impact", "--history", "--format", "json"]).assert_success())
            .unwrap();
    let history = report["history"].as_array().unwrap();
    let files: Vec<&str> = history.iter().map(|candidate| candidate["file"].as_str().unwrap()).collect();
    assert_eq!(files, ["notes/rates.csv", "often.txt"], "the likelier one first, dependents not at all");
    assert!(
        history
            .iter()
            .all(|candidate| candidate["kind"] == "history" && candidate["changed_file"] == "pkg/a.py")
    );
    assert_eq!(report["impact_candidates"], 2, "they are no dependents");
    let l1 = env.lockstep(["impact", "--history", "--format", "yaml"]).assert_success();
    let root = env.project().display().to_string();
    let first = format!(
        "history:\n  - file: {root}/notes/rates.csv\n    changed_file: {root}/pkg/a.py\n    kind: history\n"
    );
    assert!(l1.contains(&first), "{l1}");
    let text = env.lockstep(["impact", "--history"]).snapshot();
    assert!(text.contains("History: notes/rates.csv changed together with pkg/a.py in 6 commits"), "{text}");
    for plain in [
        &["impact", "--format", "yaml"][..],
        &["impact", "--format", "json"],
        &["impact", "--alert", "--history"],
    ] {
        let answer = env.lockstep(plain).assert_success();
        assert!(!answer.contains("rates.csv"), "{answer}");
    }
}

#[test]
fn the_alert_of_a_question_is_what_the_lead_would_get() {
    let env = active();
    repository(&env);
    commit(&env, "nothing");
    assert_eq!(env.lockstep(["impact", "--alert"]).assert_success(), "SRC: No file changes detected.\n");
    rename(&env);
    let alert = env.lockstep(["impact", "--alert"]).assert_success();
    assert!(alert.starts_with("SRC IMPACT ALERT: ") && alert.contains("b.py"), "{alert}");
    assert!(alert.chars().count() <= 501, "with the end of the line");
}

#[test]
fn dismissal_expires_when_either_file_changes() {
    let env = active();
    repository(&env);
    rename(&env);
    let refused = |env: &TestEnv, args: &[&str]| env.lockstep([&["impact"], args].concat()).assert_failure(2);
    assert!(refused(&env, &["--dismiss", "b.py"]).contains("--why"));
    let stranger = ["--dismiss", "pkg/__init__.py", "--why", "none"];
    assert!(refused(&env, &stranger).contains("is not a dependent"));
    let output = env.lockstep(["impact", "--dismiss", "b.py", "--why", "is generated"]).assert_success();
    assert_eq!(output, "dismissed b.py for pkg/a.py\n");
    assert!(!impact(&env, &[]).contains(&RENAMED[0].to_owned()));
    let text = env.lockstep(["impact"]).assert_success();
    assert!(text.starts_with("1 file changed in the working tree; 1 file depends on what changed, none is known to break, 1 dismissed\n"), "{text}");
    assert!(text.contains("1 finding was dismissed"), "{text}");
    let again = env.lockstep(["impact", "--dismiss", "b.py", "--why", "is generated"]).assert_success();
    assert_eq!(again, "b.py was already dismissed for pkg/a.py\n");
    env.write("c.py", "");
    let text = env.lockstep(["impact", "pkg/a.py"]).assert_success();
    assert!(text.starts_with("1 file changed since the last commit; 1 dependent, dismissed\n"), "{text}");
    env.git(["checkout", "--quiet", "c.py"]);
    env.write("b.py", "from pkg.a import greet\n\n\ndef hello():\n    return greet(\"y\")\n");
    assert!(impact(&env, &["pkg/a.py"]).contains(&RENAMED[0].to_owned()), "it changed, so it is told again");
    let inactive = inactive();
    repository(&inactive);
    rename(&inactive);
    let output = refused(&inactive, &["--dismiss", "b.py", "--why", "x"]);
    assert!(output.contains("only in an active project"), "{output}");
}

#[test]
fn terminal_report_lists_every_break_first_and_cuts_the_rest() {
    let env = inactive();
    repository(&env);
    for number in 0..8 {
        env.write(format!("uses_{number}.py"), "from pkg.a import other\n\nother()\n");
        env.write(format!("behind_{number}.py"), "from b import hello\n\nhello()\n");
    }
    env.write(
        "notes.md",
        "`greet` in `pkg/a.py` says hello, in a line that is much longer than eighty columns are.\n",
    );
    commit(&env, "more");
    env.write("pkg/a.py", "def welcome(name):\n    return name\n\n\ndef other():\n    return 2\n");
    insta::assert_snapshot!(env.lockstep(["impact"]).assert_success(), @r#"
1 file changed in the working tree; 1 file breaks, 18 more depend on it

breaks: 1 file no longer fits the change
  b.py:1: greet is now welcome: from pkg.a import greet
  b.py:5: greet is now welcome: return greet("x")

uses: 8 files use what changed and still fit
  uses_0.py:1: from pkg.a import other  (and 1 more)
  uses_1.py:1: from pkg.a import other  (and 1 more)
  uses_2.py:1: from pkg.a import other  (and 1 more)
  uses_3.py:1: from pkg.a import other  (and 1 more)
  uses_4.py:1: from pkg.a import other  (and 1 more)
  uses_5.py:1: from pkg.a import other  (and 1 more)
  uses_6.py:1: from pkg.a import other  (and 1 more)
  uses_7.py:1: from pkg.a import other  (and 1 more)

mentions: 1 file names it in prose, a comment or a string
  notes.md:1: `greet` in `pkg/a.py` says hello, in a line that is much longer t…

behind: 9 files depend on these, not on the change
  behind_0.py:1: via b.py: from b import hello  (and 1 more)
  behind_1.py:1: via b.py: from b import hello  (and 1 more)
  behind_2.py:1: via b.py: from b import hello  (and 1 more)
  … and 6 more files

Changed:
  pkg/a.py  greet → welcome, other changed inside

`--all` lists everything.
"#);
    let all = env.lockstep(["impact", "--all"]).assert_success();
    assert!(all.contains("behind_7.py:3: via b.py: hello()") && !all.contains("--all"), "{all}");
    assert!(all.lines().all(|line| line.chars().count() <= 80), "{all}");
}

#[test]
fn only_certain_breaks_are_called_breaks() {
    let env = inactive();
    env.git(["init", "--quiet"]);
    env.write("a.py", "class Door:\n    def unbolt(self):\n        pass\n");
    env.write("b.py", "def f(thing):\n    thing.unbolt()\n");
    commit(&env, "first");
    env.write("a.py", "class Door:\n    def unlock(self):\n        pass\n");
    let text = env.lockstep(["impact"]).assert_success();
    assert!(text.starts_with("1 file changed in the working tree; 1 file"), "{text}");
    assert!(!text.contains("\nbreaks:"), "{text}");
    assert!(text.contains("only types or a run can tell\n  b.py:2: "), "{text}");
    assert_eq!(env.lockstep(["impact", "--fail-on", "breaks"]).code, Some(0));
    assert_eq!(env.lockstep(["impact", "--fail-on", "any"]).code, Some(1));
}

#[test]
fn fail_on_decides_the_exit_code() {
    let env = inactive();
    repository(&env);
    let code = |args: &[&str]| env.lockstep([&["impact"], args].concat()).code;
    env.write("pkg/a.py", "def greet(name):\n    return name + name\n\n\ndef other():\n    return 1\n");
    assert_eq!(code(&[]), Some(0));
    assert_eq!(code(&["--fail-on", "breaks"]), Some(0), "it only changed inside");
    assert_eq!(code(&["--fail-on", "any"]), Some(1));
    rename(&env);
    assert_eq!(code(&[]), Some(0));
    for format in ["text", "json", "yaml", "md"] {
        assert_eq!(code(&["--fail-on", "breaks", "--format", format]), Some(1), "{format}");
    }
    assert_eq!(code(&["--fail-on", "breaks", "--time-limit", "0"]), Some(5), "unknown is not none");
}

#[test]
fn unchanged_file_is_not_treated_as_changed() {
    let env = inactive();
    repository(&env);
    let text = env.lockstep(["impact", "pkg/a.py"]).assert_success();
    assert_eq!(
        text,
        "pkg/a.py has not changed since the last commit; `lockstep refs pkg/a.py` shows what references it.\n"
    );
    assert_eq!(impact(&env, &["pkg/a.py"]), [""; 0]);
    assert!(
        env.lockstep(["impact", "."]).assert_success().starts_with(". has not changed since the last commit")
    );
    rename(&env);
    assert_eq!(impact(&env, &["pkg/a.py", "c.py"]), RENAMED);
    let text = env.lockstep(["impact", "pkg/a.py", "c.py"]).assert_success();
    assert!(text.starts_with("1 file changed since the last commit; 1 file breaks"), "{text}");
    assert!(text.contains("note: c.py has not changed since the last commit."), "{text}");
}

#[test]
fn revisions_are_named_as_in_the_arguments() {
    let env = inactive();
    repository(&env);
    rename(&env);
    commit(&env, "second");
    let headline = |args: &[&str]| {
        let text = env.lockstep([&["impact"], args].concat()).assert_success();
        text.split(';').next().unwrap().to_owned()
    };
    assert_eq!(headline(&["--rev", "HEAD~1"]), "1 file changed since HEAD~1");
    assert_eq!(headline(&["--rev", "HEAD~1..HEAD"]), "1 file changed in HEAD~1..HEAD");
    assert_eq!(env.lockstep(["impact", "--rev", "HEAD"]).assert_success(), "No file changed since HEAD.\n");
    for revision in ["HEAD~1", "HEAD~1..HEAD", "main"] {
        let output = env.lockstep(["impact", revision]).assert_failure(2);
        assert!(output.contains(&format!("`lockstep impact --rev {revision}`")), "{output}");
    }
}

#[test]
fn json_names_the_root_of_its_relative_paths() {
    let env = inactive();
    repository(&env);
    rename(&env);
    let report: Value =
        serde_json::from_str(&env.lockstep(["impact", "--format", "json"]).assert_success()).unwrap();
    let root = report["root"].as_str().unwrap();
    assert_eq!(Path::new(root), env.project());
    let file = &report["impacts"][0]["dependents"][0]["file"];
    let ranked = report["ranked"][0]["file"].as_str().unwrap();
    assert_eq!(file.as_str().unwrap(), format!("{root}/{ranked}"));
}

#[test]
fn verbose_names_the_files_that_could_not_be_read() {
    let env = inactive();
    repository(&env);
    env.write("image.bin", b"\0\0\0");
    commit(&env, "binary");
    rename(&env);
    let text = env.lockstep(["impact"]).assert_success();
    assert!(text.contains("1 file could not be read") && !text.contains("image.bin"), "{text}");
    assert!(env.lockstep(["impact", "-v"]).assert_success().contains("not read: image.bin (binary)\n"));
}

#[test]
fn change_of_comments_only_is_named_as_such() {
    let env = inactive();
    repository(&env);
    env.write(
        "pkg/a.py",
        "# A greeting.\ndef greet(name):\n    return name\n\n\ndef other():\n    return 1\n",
    );
    let text = env.lockstep(["impact"]).assert_success();
    assert!(text.starts_with("1 file changed in the working tree; only comments changed\n"), "{text}");
    assert!(text.contains("Only comments changed:\n  pkg/a.py"), "{text}");
}

#[test]
fn a_sha256_repository_with_one_commit_is_compared_with_nothing() {
    let env = active();
    if env.git_output(["init", "--quiet", "--object-format=sha256"]).code != Some(0) {
        eprintln!("skipped: this git has no SHA-256 repositories");
        return;
    }
    env.write("a.py", "def a():\n    pass\n");
    env.git(["add", "."]);
    env.git(["commit", "--quiet", "--message", "one"]);
    let output = env.lockstep(["impact"]).assert_success();
    assert!(output.contains("a.py"), "{output}");
}

/// Git names a submodule or nested repository as one path. The files in it are not read.
#[test]
fn changed_submodules_and_nested_repositories_are_not_analysed() {
    let env = inactive();
    env.git_script(
        "set -e; mkdir ../lib && cd ../lib && git init -q && printf 'def greet():\\n    return 1\\n' > core.py && git add -A && \
         git commit -qm lib && cd ../project && git init -q && \
         git -c protocol.file.allow=always submodule --quiet add ../lib lib && \
         printf 'from lib.core import greet\\n' > use.py && git add use.py .gitmodules lib && git commit -qm first && \
         sed -i s/greet/salute/ lib/core.py && git clone -q ../lib nested",
    )
    .assert_success();
    let text = env.lockstep(["impact"]).assert_success();
    let (_, listed) = text.split_once("Not analysed:\n").unwrap_or_else(|| panic!("{text}"));
    assert!(!text.contains("No dependents"), "{text}");
    for line in ["lib  (the content of lib is not analysed)", "(the content of nested is not analysed)"] {
        assert!(listed.contains(line), "{line} is not in\n{text}");
    }
}
