//! The cascade as a Lead drives it: start, next, done, status, report, abort; and reports from outside that mean no good.

use std::fs;
use std::os::unix::fs::symlink;

use lockstep_testkit::TestEnv;
use serde_json::Value;

use crate::active;
use crate::rename_fixtures::{commit, list, rust, status};

fn json(env: &TestEnv, args: &[&str]) -> Value {
    let text = env.lockstep(args.iter().chain(&["--format", "json"])).assert_success();
    serde_json::from_str(&text).unwrap()
}

/// Makes the change that an agent would make.
fn rename(env: &TestEnv, path: &str) {
    let file = env.project().join(path);
    fs::write(&file, fs::read_to_string(&file).unwrap().replace("_old", "_new")).unwrap();
}

#[test]
fn cascade_converges_from_change_to_report() {
    let env = rust(2, 1);
    let started = json(&env, &["cascade", "start"]);
    assert_eq!(
        (&started["active"], &started["tier"], &started["next"]),
        (&true.into(), &"TRIVIAL".into(), &"continue-cascade".into())
    );
    let next = json(&env, &["cascade", "next"]);
    let group = &next["groups"][0];
    assert_eq!(
        (&group["group"], &group["role"], &group["handed_before"]),
        (&"1a".into(), &"implementer".into(), &false.into())
    );
    let prompt = group["prompt"].as_str().unwrap();
    for part in [
        "## Context",
        "-pub fn f0_old() -> u32 {",
        "+pub fn f0_new() -> u32 {",
        "src/r1/m0.rs:1:use crate::f0::f0_old;",
        "`f0_old`, now `f0_new`",
        "## Delivery",
    ] {
        assert!(prompt.contains(part), "{part} is not in\n{prompt}");
    }
    assert!(group["chars"].as_u64() <= group["budget_chars"].as_u64());
    // A Lead that has lost its context gets the same groups again.
    assert_eq!(json(&env, &["cascade", "next"])["groups"][0]["handed_before"], true);
    rename(&env, "src/r1/m0.rs");
    let done = json(&env, &["cascade", "done", "1a", "--status", "complete"]);
    assert_eq!(
        done["iteration_details"][0]["new_impact_files"],
        serde_json::json!(["src/r2/m0.rs"]),
        "{done:#}"
    );
    assert_eq!(json(&env, &["cascade", "next"])["groups"][0]["group"], "2a");
    rename(&env, "src/r2/m0.rs");
    let analyst = env.lockstep(["cascade", "next", "--analyst"]).assert_success();
    assert!(analyst.contains("a second opinion"), "{analyst}");
    let done = json(&env, &["cascade", "done", "2a", "--status", "complete"]);
    assert_eq!(
        (&done["status"], &done["convergence"], &done["next"]),
        (&"converged".into(), &true.into(), &"execution-review".into())
    );
    let l1 = env.lockstep(["cascade", "report", "--format", "yaml"]).assert_success();
    assert!(l1.starts_with("domain: execution\nskill: cascade\nstatus: converged\niterations: 2\n"), "{l1}");
    assert_eq!(fs::read_to_string(env.state().join("reports/cascade/1/report.yaml")).unwrap(), l1);
    let l2 = env.lockstep(["cascade", "report"]).assert_success();
    assert!(l2.contains("-use crate::f0::f0_old;\n+use crate::f0::f0_new;"), "{l2}");
    let over = env.lockstep(["cascade", "next"]).assert_failure(2);
    assert!(over.contains("no cascade is active") && over.contains("hint: "), "{over}");
}

#[test]
fn unfinished_work_is_found_retried_and_skipped() {
    let env = rust(1, 1);
    env.lockstep(["cascade", "start"]).assert_success();
    for attempt in 1..=2 {
        let next = json(&env, &["cascade", "next"]);
        assert_eq!(next["groups"][0]["attempt"], attempt);
        env.write("said.md", "Done.\n```yaml\nfiles_changed: [src/r1/m0.rs]\nstatus: complete\n```\n");
        let output = env.lockstep(["cascade", "done", "1a", "--status", "complete", "--report", "said.md"]);
        assert_eq!(output.code, Some(if attempt == 1 { 0 } else { 1 }), "{}", output.snapshot());
    }
    let status = status(&env);
    assert_eq!(
        (&status["status"], list(&status, "skipped")),
        (&"partial".into(), vec!["src/r1/m0.rs".to_owned()])
    );
    let warnings = list(&status, "warnings").join("\n");
    assert!(warnings.contains("reports changes in files that did not change: src/r1/m0.rs"), "{warnings}");
}

#[test]
fn a_dependent_that_needs_no_change_is_a_first_class_outcome() {
    let env = rust(1, 1);
    env.lockstep(["cascade", "start"]).assert_success();
    let wrong =
        env.lockstep(["cascade", "done", "--not-needed", "src/lib.rs", "--why", "x"]).assert_failure(2);
    assert!(wrong.contains("is not an open dependent of this cascade; those are src/r1/m0.rs"), "{wrong}");
    let done = json(&env, &["cascade", "done", "--not-needed", "src/r1/m0.rs", "--why", "is generated"]);
    assert_eq!(
        (&done["status"], &done["dismissed"][0]["why"]),
        (&"converged".into(), &"is generated".into())
    );
}

#[test]
fn cascade_continues_in_new_session_and_can_be_aborted() {
    let env = rust(1, 1);
    let mut start = env.command(["cascade", "start"]);
    start.env("CLAUDE_CODE_SESSION_ID", "first");
    env.run(start, b"").assert_success();
    let mut again = env.command(["cascade", "start"]);
    again.env("CLAUDE_CODE_SESSION_ID", "first");
    let refused = env.run(again, b"").assert_failure(2);
    assert!(refused.contains("cascade 1 is active already"), "{refused}");
    let mut next = env.command(["cascade", "next", "--format", "json"]);
    next.env("CLAUDE_CODE_SESSION_ID", "second");
    let next: Value = serde_json::from_str(&env.run(next, b"").assert_success()).unwrap();
    assert_eq!(next["groups"][0]["group"], "1a");
    env.lockstep(["cascade", "abort", "--why", "the rename is taken back"]).assert_success();
    let status = status(&env);
    assert_eq!(
        (&status["session"], &status["status"], list(&status, "unresolved")),
        (&"first".into(), &"partial".into(), vec!["src/r1/m0.rs".to_owned()])
    );
    assert!(list(&status, "warnings").contains(&"Aborted: the rename is taken back.".to_owned()));
}

#[test]
fn a_report_from_elsewhere_is_taken_and_its_evidence_decides() {
    let env = active();
    env.write("a.txt", "x\n");
    env.write("b.txt", "see old-name here\n");
    env.write("c.txt", "see old-name here\n");
    let root = env.project();
    let l1 = format!(
        "impacts:\n  - changed_file: {0}/a.txt\n    dependents:\n      - {{file: {0}/b.txt, type: DIRECT, hop_count: 1, reference_pattern: old-name, evidence: 'b.txt:1:see old-name here'}}\n      - {{file: c.txt, type: DIRECT, hop_count: 1, reference_pattern: old-name, evidence: 'c.txt:1:see old-name here'}}\n",
        root.display()
    );
    let mut start = env.command(["cascade", "start", "--from", "-"]);
    start.stdin(std::process::Stdio::piped());
    env.run(start, l1.as_bytes()).assert_success();
    env.lockstep(["cascade", "next"]).assert_success();
    env.write("b.txt", "see new-name here\n");
    env.write("c.txt", "see old-name here\nmore\n");
    env.lockstep(["cascade", "done", "1a", "--status", "complete"]).assert_success();
    env.lockstep(["cascade", "next"]).assert_success();
    let output = env.lockstep(["cascade", "done", "1a", "--status", "complete"]);
    assert_eq!(output.code, Some(1), "{}", output.snapshot());
    let status = status(&env);
    assert_eq!(
        (list(&status, "updated"), list(&status, "skipped")),
        (vec!["b.txt".to_owned()], vec!["c.txt".to_owned()])
    );
    assert!(
        status["skipped"][0]["why"]
            .as_str()
            .unwrap()
            .contains("it changed, but is still stale: c.txt:1:see old-name here"),
        "{status:#}"
    );
}

/// All of these reports are malicious. Nothing is started, nothing outside the project is read or written,
/// and the reason is reported.
#[test]
fn hostile_reports_are_skipped_with_their_reason() {
    let env = active();
    env.write("a.rs", "pub fn a() {}\n");
    env.write("locked.rs", "use crate::a;\n");
    fs::write(env.outside_dir().join("victim.rs"), "use crate::a;\n").unwrap();
    symlink(env.outside_dir().join("victim.rs"), env.project().join("link.rs")).unwrap();
    symlink(env.outside_dir(), env.project().join("door")).unwrap();
    commit(&env);
    let one = |file: &str| {
        format!(
            "impacts:\n  - changed_file: a.rs\n    dependents:\n      - {{file: {file:?}, type: DIRECT, hop_count: 1}}\n"
        )
    };
    let mut bomb = "a0: &a0 [x]\n".to_owned();
    for n in 1..40 {
        bomb += &format!("a{n}: &a{n} [*a{0}, *a{0}, *a{0}, *a{0}, *a{0}, *a{0}]\n", n - 1);
    }
    let elsewhere = env.outside_dir().join("victim.rs").display().to_string();
    for (report, why) in [
        (String::new(), "the impact report is empty"),
        ("impacts".to_owned(), "malformed"),
        ("{".repeat(10_000), "malformed"),
        (bomb + "impacts: []\n", "anchors, aliases and merge keys are not accepted"),
        ("x".repeat(17 << 20), "more than the 16777216 that are read"),
        ("\u{0}\u{1}\u{2}".to_owned(), "malformed"),
        ("domain: execution\nskill: cascade\nimpacts: []\n".to_owned(), "not of execution/impact"),
        ("status: skipped\nimpacts: []\n".to_owned(), "nothing was analysed"),
        ("impacts: []\n".to_owned(), "No file depends directly on what changed"),
        (one(&elsewhere), "it is outside the project"),
        (one("../elsewhere/victim.rs"), "it is outside the project"),
        (one("x/../../elsewhere/victim.rs"), "it is outside the project"),
        (one("link.rs"), "it is a link"),
        (one("door/victim.rs"), "behind a link"),
        (one(".lockstep/state.db"), "it is not a file of the project's own"),
        (one(".git/config"), "it is not a file of the project's own"),
        (one("no/such.rs"), "it does not exist"),
        (one("/etc/passwd"), "it is outside the project"),
        (one("a\nb"), "it is not a path"),
        (one("a.rs"), "dependent of itself"),
    ] {
        fs::write(env.tmp().join("l1.yaml"), &report).unwrap();
        let file = env.tmp().join("l1.yaml").display().to_string();
        let output = env.lockstep(["cascade", "start", "--from", &file]);
        let message = output.snapshot();
        assert!(message.contains(why) && message.contains("skipped"), "{why}\n{message}");
        assert!(matches!(output.code, Some(0 | 1)) && output.stderr.is_empty(), "{message}");
        assert!(!message.contains("active"), "{message}");
    }
    let missing = env.lockstep(["cascade", "start", "--from", "no-such-file.yaml"]);
    assert_eq!(missing.code, Some(1));
    assert!(missing.snapshot().contains("the impact report cannot be read"), "{}", missing.snapshot());
    assert_eq!(fs::read_dir(env.outside_dir()).unwrap().count(), 1);
    assert_eq!(fs::read_to_string(env.outside_dir().join("victim.rs")).unwrap(), "use crate::a;\n");
    assert_eq!(
        env.run(
            env.command(["cascade", "run", "--agent", "touch started", "--from", "no-such-file.yaml"]),
            b""
        )
        .code,
        Some(1)
    );
    assert!(!env.project().join("started").exists(), "no agent was started");
}

#[test]
fn the_projects_template_is_used_and_a_broken_one_is_reported() {
    let env = rust(1, 1);
    env.lockstep(["cascade", "start"]).assert_success();
    env.write(".lockstep/templates/cascade-implementer.md", "{{ nothing }}");
    let output = env.lockstep(["cascade", "next"]).assert_failure(3);
    assert!(
        output.contains("cascade-implementer.md cannot be rendered") && output.contains("hint: "),
        "{output}"
    );
    assert_eq!(status(&env)["groups"][0]["stage"], "waiting", "it was not handed out");
    env.write(".lockstep/templates/cascade-implementer.md", "Fix {{ files[0].path }} for {{ group }}.");
    let next = env.lockstep(["cascade", "next"]).assert_success();
    assert!(next.ends_with("Fix src/r1/m0.rs for 1a.\n"), "{next}");
}

#[test]
fn a_cascade_that_another_version_wrote_can_be_given_up() {
    let env = rust(1, 1);
    env.lockstep(["cascade", "start"]).assert_success();
    let db = rusqlite::Connection::open(env.state().join("state.db")).unwrap();
    db.execute("UPDATE cascade SET state = json_set(state, '$.format', 99)", []).unwrap();
    let refused = env.lockstep(["cascade", "next"]).assert_failure(4);
    assert!(refused.contains("its format is 99") && refused.contains("lockstep cascade abort"), "{refused}");
    let ended = env.lockstep(["cascade", "abort", "--why", "it was of another version"]).assert_success();
    assert!(ended.contains("Cascade 1: its state cannot be read"), "{ended}");
    env.lockstep(["cascade", "start"]).assert_success();
    assert_eq!(json(&env, &["cascade", "status"])["active"], true);
}

#[test]
fn a_report_path_is_relative_to_the_working_directory() {
    let env = rust(1, 1);
    env.lockstep(["cascade", "start"]).assert_success();
    env.lockstep(["cascade", "next"]).assert_success();
    rename(&env, "src/r1/m0.rs");
    env.write("out/said.md", "```yaml\nfiles_changed: [src/r1/m0.rs]\nstatus: complete\n```\n");
    let mut command =
        env.command(["-C", "out", "cascade", "done", "1a", "--status", "complete", "--report", "said.md"]);
    command.current_dir(env.project());
    env.run(command, b"").assert_success();
    assert_eq!(json(&env, &["cascade", "status"])["status"], "converged");
}
