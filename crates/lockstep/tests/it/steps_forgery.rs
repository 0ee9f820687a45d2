//! Attempts to forge the audit trail, to roll it back, and to change the rules of a step. Each test describes
//! the attack.

use std::fs;
use std::path::Path;
use std::process::Command;

use lockstep_steps::audit::{TrailEntry, TrailRecord};
use lockstep_testkit::{HookEvent, ProcessOutput, TestEnv};
use lockstep_wire::claude::samples;
use serde_json::json;

use crate::configured;
use crate::steps::{no, ready, step, with_step, yes};
use crate::steps_hooks::denied;

const LOG: &str = "steps/audit-2026-02-14.log";

fn log(env: &TestEnv) -> String {
    fs::read_to_string(env.project().join(LOG)).unwrap()
}

/// A line with a right hash that follows the last one.
fn forge(env: &TestEnv, event: &str, fields: &[(&str, &str)]) -> String {
    let text = log(env);
    let head = TrailEntry::parse(text.lines().last().unwrap()).unwrap().head();
    let mut record =
        TrailRecord::new("2026-02-14T06:30:43Z".parse().unwrap(), event, Some("steps/01-01.json"));
    for (name, value) in fields {
        record = record.with(name, *value);
    }
    text + &record.line(&head).0
}

fn copy(from: &Path, to: &Path) {
    assert!(Command::new("cp").arg("-a").args([from, to]).status().unwrap().success());
}

/// `lockstep ARGS` in another directory, by the same user.
fn there(env: &TestEnv, dir: &Path, args: &str) -> ProcessOutput {
    let mut command = env.command(args.split(' '));
    command.current_dir(dir);
    env.run(command, b"")
}

/// `lockstep ARGS` in the project, with another directory of the user's state.
fn with_state(env: &TestEnv, args: &str) -> ProcessOutput {
    let mut command = env.command(args.split(' '));
    command.env("XDG_STATE_HOME", env.outside_dir().join("state"));
    env.run(command, b"")
}

#[track_caller]
fn assert_refused(env: &TestEnv, words: &str) {
    let output = no(env, "audit verify");
    assert!(output.contains(words), "{output}");
    let output = no(env, "gate commit");
    assert!(output.contains("The audit trail is not whole") && output.contains(words), "{output}");
    let output = env.lockstep(["doctor"]).snapshot();
    assert!(output.contains(words), "{output}");
}

/// One line with a valid hash says that the step was abandoned, or that it is done.
#[test]
fn a_forged_line_is_appended_to_the_trail() {
    for (event, fields) in [
        ("STEP_ABANDONED", vec![("why", "x")]),
        ("STEP_FINISHED", vec![("status", "DONE"), ("before", ""), ("seal", "x")]),
        ("TRAIL_ACCEPTED", vec![("why", "x")]),
    ] {
        let env = with_step();
        yes(&env, "step phase start 01-01 RED");
        env.write(LOG, forge(&env, event, &fields));
        assert_refused(&env, "it is foreign");
        assert!(
            no(&env, "step phase done 01-01 RED --outcome PASS").contains("not those that were recorded")
        );
        // The entry of the gate's refusal does not hide it.
        assert_refused(&env, "it is foreign");
    }
}

/// Lockstep itself writes the lines in a copy of the project, and they are put into the original.
#[test]
fn lines_made_in_a_copy_are_put_into_the_original() {
    let env = with_step();
    yes(&env, "step phase start 01-01 RED");
    let other = env.root().join("copy");
    copy(&env.project(), &other);
    // The copy has no identity of its own.
    let output = there(&env, &other, "step abandon 01-01 --why x").snapshot();
    assert!(output.contains("is a copy of"), "{output}");
    assert_ne!(there(&env, &other, "gate commit").code, Some(0));
    assert_eq!(there(&env, &other, "audit accept --why mine").code, Some(0));
    assert_eq!(there(&env, &other, "step abandon 01-01 --why x").code, Some(0));
    fs::copy(other.join(LOG), env.project().join(LOG)).unwrap();
    assert_refused(&env, "foreign");
}

/// The lines are written with another directory of the user's state, which knows nothing of the project.
#[test]
fn lines_are_written_with_another_state_directory() {
    let env = with_step();
    yes(&env, "step phase start 01-01 RED");
    let output = with_state(&env, "step abandon 01-01 --why x").snapshot();
    assert!(output.contains("the memory of this project on this machine is missing"), "{output}");
    assert_ne!(with_state(&env, "gate commit").code, Some(0));
    fs::remove_file(env.state().join("project")).unwrap();
    assert_eq!(with_state(&env, "step abandon 01-01 --why x").code, Some(0));
    assert_refused(&env, "foreign");
}

/// The last lines are cut off, or all of the project is put back as it was.
#[test]
fn the_trail_is_rolled_back() {
    let env = with_step();
    yes(&env, "step phase start 01-01 RED");
    let saved = env.root().join("saved");
    copy(&env.project(), &saved);
    yes(&env, "step phase done 01-01 RED --outcome FAIL");
    let whole = log(&env);
    let cut: String = whole.lines().take(2).map(|line| format!("{line}\n")).collect();
    env.write(LOG, cut);
    assert_refused(&env, "missing");
    fs::remove_dir_all(env.project()).unwrap();
    copy(&saved, &env.project());
    assert_refused(&env, "missing");
}

/// The step was failed; its former file is put back, in which it is in progress.
#[test]
fn a_former_step_file_is_put_back() {
    let env = with_step();
    ready(&env);
    yes(&env, "gate stop 01-01");
    let former = fs::read(env.project().join("steps/01-01.json")).unwrap();
    yes(&env, "step finish 01-01 --status FAILED --why broken");
    assert!(no(&env, "gate commit").contains("FAILED"));
    env.write("steps/01-01.json", former);
    let output = no(&env, "gate commit");
    assert!(output.contains("was changed by hand: FAILED was recorded"), "{output}");
    assert!(no(&env, "gate stop 01-01").contains("by hand"));
    assert!(no(&env, "step phase start 01-01 COMMIT").contains("by hand"));
}

/// A process was killed after it had recorded a change and before it wrote the file: the change is completed.
#[test]
fn an_interrupted_change_is_completed() {
    let env = with_step();
    yes(&env, "step phase start 01-01 RED");
    let memory = fs::read_dir(env.home().join(".local/state/lockstep/projects")).unwrap();
    let memory =
        memory.map(|entry| entry.unwrap().path()).find(|path| path.extension().unwrap() == "json").unwrap();
    let before = fs::read_to_string(env.project().join("steps/01-01.json")).unwrap();
    let seal = |text: &str| lockstep_steps::step::Step::parse(text).unwrap().seal();
    yes(&env, "step phase done 01-01 RED --outcome FAIL");
    let after = fs::read_to_string(env.project().join("steps/01-01.json")).unwrap();
    let mut value: serde_json::Value = serde_json::from_str(&fs::read_to_string(&memory).unwrap()).unwrap();
    value["unwritten"]["steps/01-01.json"] = json!({"before": seal(&before), "text": after});
    fs::write(&memory, value.to_string()).unwrap();
    env.write("steps/01-01.json", &before);
    assert!(!no(&env, "gate commit").contains("by hand"));
    assert_eq!(fs::read_to_string(env.project().join("steps/01-01.json")).unwrap(), after);
    // Once it is written, the former file is not accepted.
    env.write("steps/01-01.json", &before);
    assert!(no(&env, "gate commit").contains("by hand"));
}

/// The project is renamed: it keeps its identity, and what was recorded is still verified.
#[test]
fn a_renamed_project_keeps_its_identity() {
    let env = with_step();
    yes(&env, "step phase start 01-01 RED");
    let moved = env.root().join("moved");
    fs::rename(env.project(), &moved).unwrap();
    let output = there(&env, &moved, "audit verify");
    assert!(output.code == Some(0) && !output.snapshot().contains("not verified"), "{}", output.snapshot());
    assert_eq!(there(&env, &moved, "step phase done 01-01 RED --outcome FAIL").code, Some(0));
    fs::rename(&moved, env.project()).unwrap();
    assert!(!yes(&env, "audit verify").contains("not verified"));
}

/// A clone on another machine: nothing is called a forgery, work goes on, and a person can accept the trail.
#[test]
fn clone_is_usable_and_labelled_unverified() {
    let env = with_step();
    ready(&env);
    env.git(["init", "--quiet"]);
    env.git(["add", "--all"]);
    env.git(["commit", "--quiet", "--message", "all"]);
    let clone = env.root().join("clone");
    env.git(["clone", "--quiet", ".", clone.to_str().unwrap()]);
    let in_clone = |args: &str| there(&env, &clone, args);
    let output = in_clone("audit verify");
    assert!(
        output.code == Some(0) && output.snapshot().contains("not verified on this machine"),
        "{}",
        output.snapshot()
    );
    let gate = in_clone("gate stop 01-01");
    assert_eq!(gate.code, Some(0), "{}", gate.snapshot());
    let gate = in_clone("gate commit");
    assert!(
        gate.code == Some(0) && gate.snapshot().contains("not verified on this machine"),
        "{}",
        gate.snapshot()
    );
    assert_eq!(in_clone("step phase start 01-01 COMMIT").code, Some(0));
    let output = in_clone("audit verify").snapshot();
    assert!(output.contains("not verified on this machine"), "{output}");
    let mut in_session = env.command(["audit", "accept", "--why", "x"]);
    in_session.current_dir(&clone).env("CLAUDECODE", "1");
    assert_eq!(env.run(in_session, b"").code, Some(2));
    assert!(in_clone("audit accept --why cloned").snapshot().contains("accepted: steps"));
    assert!(!in_clone("audit verify").snapshot().contains("not verified"));
    assert!(in_clone("audit show --event TRAIL_ACCEPTED").snapshot().contains("TRAIL_ACCEPTED"));
}

/// A trail that cannot be restored is accepted on record; from there on it is verified again.
#[test]
fn a_broken_trail_is_accepted_on_record() {
    let env = with_step();
    ready(&env);
    yes(&env, "gate stop 01-01");
    env.write(LOG, log(&env).replace("\"RED\"", "\"TED\""));
    assert_refused(&env, "edited");
    yes(&env, "audit accept --why restored-from-nowhere");
    yes(&env, "audit verify");
    yes(&env, "gate commit");
    env.write(LOG, forge(&env, "STEP_ABANDONED", &[]));
    assert_refused(&env, "foreign");
}

/// The configuration is changed after the step began: gates are switched off, the trail is moved, a table is put in.
#[test]
fn the_rules_of_a_step_are_changed_after_it_began() {
    type Attack = fn(&TestEnv);
    let attacks: [(&str, Attack); 5] = [
        ("gates off", |env| env.configure("[gates]\ncommit = 'off'\nstop = 'off'\nprompt = 'off'\n")),
        ("gates warn", |env| env.configure("[gates]\ncommit = 'warn'\n")),
        ("moved trail", |env| env.configure("[audit]\ndir = 'logs'\n")),
        ("on_failure", |env| env.configure("[hooks]\non_failure = 'allow'\n")),
        ("machine", |env| {
            env.write(
                "steps/step-execution-fsm.yaml",
                "phase_sets:\n  tdd-3: {phases: [RED, GREEN, COMMIT], ordered: false}\n",
            );
        }),
    ];
    for (name, attack) in attacks {
        let env = with_step();
        ready(&env);
        yes(&env, "gate stop 01-01");
        yes(&env, "gate commit");
        attack(&env);
        let output = no(&env, "gate commit");
        assert!(output.contains("The rules of steps/01-01.json changed after it began"), "{name}: {output}");
        let commit = HookEvent::from_sample(samples::PRE_TOOL_USE_BASH)
            .with("tool_input", json!({"command": "git commit -m x"}));
        let reason = denied(&env.hook(&commit)).unwrap_or_else(|| panic!("{name}: the commit passed"));
        assert!(reason.contains("changed after it began"), "{name}: {reason}");
        let mut command = env.command(["gate", "commit", "--git-hook"]);
        command.env("GIT_DIR", env.project().join(".git"));
        env.git(["init", "--quiet"]);
        assert_eq!(env.run(command, b"").code, Some(1), "{name}");
        if name != "moved trail" {
            yes(&env, "step accept 01-01 --why on-purpose");
            assert!(
                !env.lockstep(["gate", "commit"]).snapshot().contains("changed after it began"),
                "{name}"
            );
            assert!(yes(&env, "audit show --event STEP_RULES_ACCEPTED").contains("STEP_RULES_ACCEPTED"));
        }
    }
    // Keys that are no rules change nothing.
    let env = with_step();
    ready(&env);
    yes(&env, "gate stop 01-01");
    env.configure("[alert]\nlead = 'off'\n[map]\nmax_lines = 10\n");
    yes(&env, "gate commit");
}

/// An agent accepts the rules, or the trail, itself.
#[test]
fn an_agents_session_accepts_nothing() {
    let env = configured("");
    yes(&env, "step new 01-01 --project auth --phases tdd-3");
    ready(&env);
    env.configure("[gates]\ncommit = 'warn'\n");
    for args in [vec!["step", "accept", "01-01", "--why", "x"], vec!["audit", "accept", "--why", "x"]] {
        let mut command = env.command(&args);
        command.env("CLAUDECODE", "1");
        assert_eq!(env.run(command, b"").code, Some(2), "{args:?}");
    }
    assert_eq!(step(&env)["state"]["status"], "IN_PROGRESS");
}

/// The commands themselves recognise a session by a variable, which an agent can unset.
#[test]
fn the_hook_refuses_approvals_in_any_environment() {
    let env = configured("");
    let before = |command: &str| {
        let event = HookEvent::from_sample(samples::PRE_TOOL_USE_BASH);
        denied(&env.hook(&event.with("tool_input", json!({"command": command})).by_lead()))
    };
    assert_eq!(before("lockstep uninstall"), None, "no gate would open");
    yes(&env, "step new 01-01 --project auth --phases tdd-3");
    for command in [
        "env -u CLAUDECODE lockstep audit accept --why x",
        "unset CLAUDECODE; lockstep -C . step accept 01-01 --why x",
        "CLAUDECODE= sh -c '/usr/local/bin/lockstep uninstall --purge'",
        "env -i \"$(command -v lockstep)\" trust || env -i lockstep trust .",
    ] {
        let reason = before(command).unwrap_or_else(|| panic!("{command} passed"));
        assert!(reason.contains("ask a person"), "{reason}");
    }
    for command in ["lockstep uninstall --dry-run", "lockstep audit verify", "echo 'lockstep trust'"] {
        assert_eq!(before(command), None, "{command}");
    }
}

#[test]
fn an_agents_session_does_not_uninstall_a_project_with_steps() {
    let env = configured("");
    let uninstall = |options: &[&str]| {
        let mut command = env.command([&["uninstall"], options].concat());
        command.env("CLAUDECODE", "1");
        env.run(command, b"")
    };
    yes(&env, "step new 01-01 --project auth --phases tdd-3");
    for options in [&[][..], &["--purge"]] {
        let output = uninstall(options);
        assert_eq!(output.code, Some(2), "{}", output.snapshot());
        assert!(output.snapshot().contains("your own terminal"), "{}", output.snapshot());
    }
    assert_eq!(uninstall(&["--dry-run"]).code, Some(0));
    assert!(env.project().join("lockstep.toml").exists());
}

#[test]
fn an_agents_session_uninstalls_a_project_without_steps() {
    let env = configured("");
    let mut command = env.command(["uninstall"]);
    command.env("CLAUDECODE", "1");
    assert_eq!(env.run(command, b"").code, Some(0));
}
