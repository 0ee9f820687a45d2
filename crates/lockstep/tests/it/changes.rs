//! `lockstep changes`.

use std::fs;
use std::process::Command;

use insta::assert_snapshot;
use jiff::SignedDuration;
use lockstep_testkit::{HookEvent, TestEnv};
use lockstep_wire::claude::samples;

use crate::{active, configured};

/// Two sessions, an hour between their changes: the Lead, two agents of one type, a deletion.
fn told() -> TestEnv {
    let env = active();
    env.write("a.py", "x");
    env.write("b.py", "x");
    env.hook(&HookEvent::session_start()).assert_silent();
    env.hook(&HookEvent::edit("a.py")).assert_silent();
    for agent in ["a1", "a2"] {
        env.hook(&HookEvent::edit("b.py").by_agent(agent, "implementer")).assert_silent();
        env.hook(&HookEvent::subagent_stop(agent, "implementer")).assert_silent();
    }
    env.advance(SignedDuration::from_hours(1));
    env.hook(&HookEvent::session_start().session("s2")).assert_silent();
    env.hook(&HookEvent::from_sample(samples::PRE_TOOL_USE_BASH).session("s2").by_agent("a3", "analyst"))
        .assert_silent();
    fs::remove_file(env.project().join("b.py")).unwrap();
    env.hook(&HookEvent::bash().session("s2").by_agent("a3", "analyst")).assert_silent();
    env
}

/// `file agent` of each change.
fn who(env: &TestEnv, args: &[&str]) -> Vec<String> {
    let tsv = env.lockstep([&["changes", "--tsv"], args].concat()).assert_success();
    tsv.lines()
        .map(|line| {
            let columns: Vec<&str> = line.split('\t').collect();
            format!("{} {}", columns[2].rsplit('/').next().unwrap(), columns[3])
        })
        .collect()
}

#[test]
fn every_change_and_a_summary() {
    let env = told();
    assert_snapshot!(env.lockstep(["changes"]).snapshot(), @"
    2026-02-14 15:30:42  Edit          lead            a.py
    2026-02-14 15:30:42  Edit          implementer a1  b.py
    2026-02-14 15:30:42  Edit          implementer a2  b.py
    2026-02-14 16:30:42  Sweep         a3              b.py  (deleted)
    4 changes to 2 files in 2 sessions: s2, s1
    exit 0
    ");
    assert_snapshot!(env.lockstep(["changes", "--verbose", "--agent", "a3"]).snapshot(), @"
    2026-02-14 16:30:42  Sweep         a3  b.py  (deleted)  [session s2, call toolu_6bcfda05ffdc41629efe0a6e]
    1 change to 1 file in 1 session: s2
    exit 0
    ");
    let colored = env.lockstep(["changes", "--color", "always", "--agent", "a3"]).snapshot();
    assert_snapshot!(colored.replace('\u{1b}', "ESC"), @"
    ESC[2m2026-02-14 16:30:42ESC[0m  ESC[36mSweep       ESC[0m  a3  b.pyESC[2m  (deleted)ESC[0m
    1 change to 1 file in 1 session: s2
    exit 0
    ");
    assert_snapshot!(env.lockstep(["changes", "--tsv"]).snapshot(), @"
    2026-02-14T15:30:42+09:00	Edit	$ROOT/a.py	-	toolu_272536dcfd7d413a92575f91
    2026-02-14T15:30:42+09:00	Edit	$ROOT/b.py	a1	toolu_272536dcfd7d413a92575f91
    2026-02-14T15:30:42+09:00	Edit	$ROOT/b.py	a2	toolu_272536dcfd7d413a92575f91
    2026-02-14T16:30:42+09:00	Sweep	$ROOT/b.py	a3	toolu_6bcfda05ffdc41629efe0a6e
    exit 0
    ");
}

#[test]
fn json_and_tsv_output_list_every_change() {
    let env = told();
    assert_snapshot!(env.lockstep(["changes", "--agent", "a3", "--format", "json"]).snapshot(), @r#"
    {
      "root": "$ROOT",
      "changes": [
        {
          "session": "s2",
          "at": "2026-02-14T16:30:42+09:00",
          "tool": "Sweep",
          "kind": "deleted",
          "path": "$ROOT/b.py",
          "counterpart": null,
          "agent": {
            "id": "a3",
            "type": null
          },
          "attribution": "exact",
          "agents": [
            {
              "id": "a3",
              "type": null
            }
          ],
          "tool_use": "toolu_6bcfda05ffdc41629efe0a6e"
        }
      ]
    }
    exit 0
    "#);
    assert_snapshot!(env.lockstep(["changes", "--agent", "lead", "--format", "yaml"]).snapshot(), @r#"
    root: $ROOT
    changes:
    - session: s1
      at: "2026-02-14T15:30:42+09:00"
      tool: Edit
      kind: written
      path: $ROOT/a.py
      counterpart: null
      agent: null
      attribution: exact
      agents:
      - id: lead
        type: null
      tool_use: toolu_272536dcfd7d413a92575f91
    exit 0
    "#);
    assert_snapshot!(env.lockstep(["changes", "--agent", "nobody", "--format", "json"]).snapshot(), @r#"
    {
      "root": "$ROOT",
      "changes": []
    }
    exit 0
    "#);
}

#[test]
fn filters() {
    let env = told();
    let all = ["a.py -", "b.py a1", "b.py a2", "b.py a3"];
    assert_eq!(who(&env, &[]), all);
    assert_eq!(who(&env, &["--session", "s1"]), all[..3]);
    assert_eq!(who(&env, &["--session", "s2"]), all[3..]);
    assert_eq!(who(&env, &["--session", "s3"]), [""; 0]);
    assert_eq!(who(&env, &["--agent", "a2"]), all[2..3]);
    assert_eq!(who(&env, &["--agent", "implementer"]), all[1..3]);
    assert_eq!(who(&env, &["--agent", "lead"]), all[..1]);
    assert_eq!(who(&env, &["--agent", "implementer", "--session", "s2"]), [""; 0]);
    assert_snapshot!(env.lockstep(["changes", "--session", "s3"]).snapshot(), @"
    No journaled change matches.
    exit 0
    ");
    let error = env.lockstep(["changes", "--session", "../x"]).assert_failure(2);
    assert!(error.contains("starts with a dot"), "{error}");
}

#[test]
fn since_filters_by_duration_date_and_timestamp() {
    let env = told();
    // Now it is 16:30:42 at +09:00; the first three changes were an hour ago.
    for (since, count) in [
        ("1h", 4),
        ("59m", 1),
        ("3599s", 1),
        ("1h30m", 4),
        ("1d", 4),
        ("1 day", 4),
        ("30 minutes ago", 1),
        ("2026-02-14", 4),
        ("2026-02-15", 0),
        ("2026-02-14T15:30:42", 4),
        ("2026-02-14T15:30:43", 1),
        ("2026-02-14T15:31", 1),
        ("2026-02-14 15:31", 1),
        ("2026-02-14T06:30:42Z", 4),
        ("2026-02-14T06:30:43Z", 1),
        ("2026-02-14T15:30:43+09:00", 1),
        ("2026-02-14T15:30:43+00:00", 0),
    ] {
        assert_eq!(who(&env, &["--since", since]).len(), count, "{since}");
    }
    for bad in ["", "yesterday", "h", "2026-13-01", "15:30", "1", "-"] {
        let error = env.lockstep(["changes", &format!("--since={bad}")]).assert_failure(2);
        assert!(error.contains("is not a time") && error.contains("hint: write `30m`"), "{bad}: {error}");
    }
    assert_snapshot!(env.lockstep(["changes", "--since", "yesterday"]).snapshot(), @r#"
    stderr: error: --since: "yesterday" is not a time
    hint: write `30m`, `2h`, `1d`, `2026-02-14`, `2026-02-14T15:30` or `2026-02-14T15:30:00+09:00`
    exit 2
    "#);
}

#[test]
fn prints_hint_when_no_change_is_journaled() {
    let env = active();
    assert_snapshot!(env.lockstep(["changes"]).snapshot(), @"
    No change has been journaled in $ROOT yet. Sessions with Lockstep's hooks leave their journals in $TMP; `lockstep doctor` shows whether the hooks are in place.
    exit 0
    ");
    env.lockstep(["changes", "--quiet"]).assert_silent();
    env.lockstep(["changes", "--tsv"]).assert_silent();
}

#[test]
fn prune_removes_ended_sessions_or_the_named_one() {
    let env = configured("[journal]\ngrace = \"2h\"\n");
    for session in ["ended", "open", "recent"] {
        env.write("a.py", session);
        env.hook(&HookEvent::session_start().session(session)).assert_silent();
        env.hook(&HookEvent::edit("a.py").session(session)).assert_silent();
    }
    fs::write(env.journal("foreign"), "2026-02-14T15:30:42+09:00\tEdit\t/x\n").unwrap();
    env.hook(&HookEvent::session_end().session("ended")).assert_silent();
    env.advance(SignedDuration::from_hours(1));
    env.hook(&HookEvent::session_end().session("recent")).assert_silent();
    env.advance(SignedDuration::from_mins(59));
    assert_snapshot!(env.lockstep(["changes", "--prune"]).snapshot(), @"
    No journal to remove.
    exit 0
    ");
    env.advance(SignedDuration::from_mins(1));
    assert_snapshot!(env.lockstep(["changes", "--prune", "--format", "json"]).snapshot(), @r#"
    {
      "removed": [
        "$TMP/src-changes-ended.log"
      ]
    }
    exit 0
    "#);
    let there = ["ended", "recent", "open", "foreign"].map(|session| env.journal(session).exists());
    assert_eq!(there, [false, true, true, true]);
    assert_snapshot!(env.lockstep(["changes", "--prune", "--session", "open"]).snapshot(), @"
    removed $TMP/src-changes-open.log
    exit 0
    ");
    env.lockstep(["changes", "--prune", "--session", "open", "--quiet"]).assert_silent();
    assert_eq!(who(&env, &[]).len(), 3, "they stay listed");
    for conflict in [["--prune", "--tsv"], ["--prune", "--agent=x"], ["--prune", "--since=1h"]] {
        env.lockstep([&["changes"][..], &conflict].concat()).assert_failure(2);
    }
}

/// Another program's journal has three columns, and more lines than a pipe holds.
#[test]
fn closed_stdout_is_not_an_error() {
    let env = active();
    let lines: String = (0..20_000)
        .map(|n| format!("2026-02-14T15:30:42+09:00\tEdit\t{}/{n}.py\n", env.project().display()))
        .collect();
    fs::write(env.journal("s1"), lines).unwrap();
    for args in ["changes", "changes --tsv", "changes --format json", "changes --format yaml"] {
        let lockstep = env.command([""; 0]);
        let mut command = Command::new("bash");
        let script = format!("\"$0\" {args} | head -n 1; echo ${{PIPESTATUS[0]}}");
        command.arg("-c").arg(script).arg(lockstep.get_program()).current_dir(env.project()).env_clear();
        command.envs(lockstep.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command.env("PATH", "/usr/bin:/bin");
        command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
        let output = env.run(command, b"").assert_success();
        assert_eq!(output.lines().count(), 2, "{args}: {output}");
        assert!(output.ends_with("\n0\n"), "{args}: {output}");
    }
    let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let mut command = env.command(["changes"]);
    command.stdout(full);
    let complaint = env.run(command, b"").assert_failure(4);
    assert!(complaint.contains("cannot write the answer"), "{complaint}");
}
