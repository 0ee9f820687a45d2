//! Attempts to get past the gates. Each test describes the attack and its result.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use lockstep_testkit::HookEvent;
use lockstep_wire::claude::samples;
use serde_json::{Value, json};

use crate::steps::{by_hand, no, ready, step, with_step, yes};
use crate::steps_hooks::{asked, denied, invoke, prompt, stop, transcript};
use crate::{active, inactive};

fn bash(command: &str) -> HookEvent {
    HookEvent::from_sample(samples::PRE_TOOL_USE_BASH).with("tool_input", json!({"command": command}))
}

/// The session's own transcript talks about the marker before the agent is started. That the words occur somewhere switched validation
/// off elsewhere: here only the prompt of the very invocation is read.
#[test]
fn the_marker_is_mentioned_earlier_in_the_transcript() {
    let env = with_step();
    yes(&env, "step phase start 01-01 RED");
    let main = env.outside_dir().join("transcripts/s1.jsonl");
    fs::create_dir_all(main.parent().unwrap()).unwrap();
    let output = json!({"message": {"role": "user", "content": "<!-- DES-VALIDATION: none --> is what we say to skip it"}});
    fs::write(&main, output.to_string() + "\n").unwrap();
    assert_eq!(denied(&env.hook(&invoke(&prompt(&env)))), None);
    transcript(&env, "a1", &prompt(&env), 1);
    assert!(asked(&env.hook(&stop(&env, "a1", false))).is_some());
    let incomplete = prompt(&env).replace("## TASK_CONTEXT", "");
    assert!(denied(&env.hook(&invoke(&incomplete))).is_some());
}

/// One letter of the marker is wrong, so that the prompt passes for an ad-hoc one.
#[test]
fn rejects_misspelt_validation_marker() {
    let env = with_step();
    for misspelt in [
        "DES-VALIDATOIN: required",
        "DES-VALIDATION: yes",
        "des-validation: required",
        "DES-VALIDATION required",
    ] {
        let bad = prompt(&env).replace("DES-VALIDATION: required", misspelt);
        let reason = denied(&env.hook(&invoke(&bad))).unwrap_or_else(|| panic!("{misspelt} passed"));
        assert!(reason.contains("DES-VALIDATION"), "{reason}");
    }
}

/// `POST_REFACTOR_REVIEW` contains `REVIEW`; a search for the letters finds both.
#[test]
fn rejects_post_refactor_review_in_place_of_review() {
    let env = active();
    yes(&env, "step new 01-01 --project auth");
    let bad = prompt(&env).replace("7. REVIEW\n", "");
    assert!(bad.contains("POST_REFACTOR_REVIEW"));
    let reason = denied(&env.hook(&invoke(&bad))).unwrap();
    assert!(reason.contains("TDD phase 'REVIEW' not mentioned"), "{reason}");
    assert_eq!(reason.matches("not mentioned").count(), 1, "{reason}");
}

/// Sections inside a code fence look right to a search and are an example to a reader.
#[test]
fn sections_stand_inside_a_code_fence() {
    let env = with_step();
    let bad = prompt(&env)
        .replace("## BOUNDARY_RULES", "```\n## BOUNDARY_RULES")
        .replace("## TIMEOUT", "```\n## TIMEOUT");
    let reason = denied(&env.hook(&invoke(&bad))).unwrap();
    assert!(reason.contains("Mandatory section 'BOUNDARY_RULES' not found"), "{reason}");
}

/// All phases are written into the file in reverse order within a second.
#[test]
fn all_phases_are_logged_backwards_within_a_second() {
    let env = with_step();
    for phase in ["COMMIT", "GREEN"] {
        no(&env, &format!("step phase start 01-01 {phase}"));
    }
    assert_eq!(denied(&env.hook(&invoke(&prompt(&env)))), None);
    transcript(&env, "a1", &prompt(&env), 1);
    by_hand(&env, |value| {
        value["state"]["status"] = json!("DONE");
        for at in 0..3 {
            let phase = &mut value["tdd_cycle"]["phase_execution_log"][at];
            phase["status"] = json!("EXECUTED");
            phase["outcome"] = json!("PASS");
            phase["started_at"] = json!(format!("2026-02-14T06:30:42.{}Z", 900 - 300 * at));
            phase["ended_at"] = phase["started_at"].clone();
        }
    });
    let question = asked(&env.hook(&stop(&env, "a1", false))).unwrap();
    assert!(question.contains("Phase GREEN began before RED had ended"), "{question}");
    assert!(question.contains("was changed by hand"), "{question}");
    assert!(denied(&env.hook(&bash("git commit"))).is_some());
}

/// GREEN is recorded with outcome FAIL: executed, but not passed.
#[test]
fn rejects_green_phase_with_outcome_fail() {
    let env = with_step();
    yes(&env, "step phase start 01-01 RED");
    yes(&env, "step phase done 01-01 RED --run false");
    yes(&env, "step phase start 01-01 GREEN");
    yes(&env, "step phase done 01-01 GREEN --outcome FAIL");
    assert!(yes(&env, "gate stop 01-01").contains("GREEN EXECUTED with outcome FAIL - blocks commit"));
    assert!(denied(&env.hook(&bash("git commit"))).unwrap().contains("GREEN EXECUTED with outcome FAIL"));
    assert!(no(&env, "step finish 01-01 --status DONE").contains("GREEN EXECUTED with outcome FAIL"));
}

/// A step of another project has the same id and has passed everything; its file is put in place of ours.
#[test]
fn the_step_of_another_project_has_the_same_id() {
    let env = with_step();
    yes(&env, "step phase start 01-01 RED");
    let other = json!({"task_id": "01-01", "project_id": "billing", "state": {"status": "TODO"},
        "tdd_cycle": {"phase_set": "tdd-3", "phase_execution_log": [
            {"phase_name": "RED", "status": "NOT_EXECUTED"}, {"phase_name": "GREEN", "status": "NOT_EXECUTED"},
            {"phase_name": "COMMIT", "status": "NOT_EXECUTED"}]}});
    env.write("steps/other/01-01.json", other.to_string());
    for phase in ["RED", "GREEN"] {
        yes(&env, &format!("step phase start steps/other/01-01.json {phase}"));
        yes(&env, &format!("step phase done steps/other/01-01.json {phase} --outcome PASS"));
    }
    yes(&env, "gate stop steps/other/01-01.json");
    let output = no(&env, "gate commit");
    assert!(output.contains("steps/01-01.json: Phase RED is IN_PROGRESS"), "{output}");
    assert!(!output.contains("steps/other/01-01.json:"), "{output}");
    fs::copy(env.project().join("steps/other/01-01.json"), env.project().join("steps/01-01.json")).unwrap();
    assert!(no(&env, "gate commit").contains("steps/01-01.json was changed by hand"));
}

/// A line of the trail is edited, deleted, or put elsewhere.
#[test]
fn a_line_of_the_audit_is_edited_deleted_or_reordered() {
    type Attack = fn(&mut Vec<String>);
    let attacks: [(&str, Attack); 3] = [
        ("edited", |lines| lines[2] = lines[2].replace("\"phase\":\"RED\"", "\"phase\":\"TED\"")),
        ("deleted", |lines| drop(lines.remove(2))),
        ("reordered", |lines| lines.swap(2, 3)),
    ];
    for (name, attack) in attacks {
        let env = with_step();
        ready(&env);
        assert!(yes(&env, "gate stop 01-01").contains("PASS"));
        assert!(yes(&env, "gate commit").contains("PASS"));
        let file = env.project().join("steps/audit-2026-02-14.log");
        let mut lines: Vec<String> = fs::read_to_string(&file).unwrap().lines().map(str::to_owned).collect();
        attack(&mut lines);
        fs::write(&file, lines.join("\n") + "\n").unwrap();
        let output = no(&env, "audit verify");
        assert!(output.contains("steps/audit-2026-02-14.log, line 3: "), "{name}: {output}");
        let output = no(&env, "gate commit");
        assert!(
            output.contains("The audit trail is not whole: steps/audit-2026-02-14.log, line 3"),
            "{name}: {output}"
        );
    }
}

/// The file says DONE because it was edited.
#[test]
fn rejects_step_file_set_to_done_by_hand() {
    let env = with_step();
    yes(&env, "step phase start 01-01 RED");
    by_hand(&env, |value| {
        value["state"]["status"] = json!("DONE");
        for at in 0..3 {
            value["tdd_cycle"]["phase_execution_log"][at]["status"] = json!("EXECUTED");
            value["tdd_cycle"]["phase_execution_log"][at]["outcome"] = json!("PASS");
        }
    });
    assert!(
        denied(&env.hook(&bash("git commit")))
            .unwrap()
            .contains("was changed by hand: IN_PROGRESS was recorded")
    );
    assert!(no(&env, "gate stop 01-01").contains("by hand"));
    assert!(yes(&env, "step show 01-01").contains("warning: this state was written by hand"));
    // Nor does a verb on top of it make it look recorded.
    by_hand(&env, |value| value["state"]["status"] = json!("IN_PROGRESS"));
    assert!(no(&env, "step finish 01-01 --status DONE").contains("by hand"));
}

/// The blocking step is deleted.
#[test]
fn the_step_file_is_deleted() {
    let env = with_step();
    yes(&env, "step phase start 01-01 RED");
    fs::remove_file(env.project().join("steps/01-01.json")).unwrap();
    assert!(
        denied(&env.hook(&bash("git commit"))).unwrap().contains("steps/01-01.json was begun and is gone")
    );
    yes(&env, "step abandon steps/01-01.json --why gone");
    env.hook(&bash("git commit")).assert_silent();
    assert!(yes(&env, "audit show --event STEP_ABANDONED").contains("(gone)"));
}

/// The step file's name points outside the project.
#[test]
fn the_step_file_lies_outside_the_project() {
    let env = with_step();
    fs::copy(env.project().join("steps/01-01.json"), env.outside_dir().join("01-01.json")).unwrap();
    let outside = env.outside_dir().join("01-01.json").display().to_string();
    for name in ["../elsewhere/01-01.json", "steps/../../elsewhere/01-01.json", &outside, ".lockstep/x.json"]
    {
        let bad = prompt(&env).replace("DES-STEP-FILE: steps/01-01.json", &format!("DES-STEP-FILE: {name}"));
        let reason = denied(&env.hook(&invoke(&bad))).unwrap();
        assert!(reason.contains("lies outside the project"), "{name}: {reason}");
        assert!(
            no(&env, &format!("step phase start {name} RED")).contains("lies outside the project"),
            "{name}"
        );
    }
}

/// The step file is a link, to a file outside or inside, or lies behind one.
#[test]
fn the_step_file_is_a_symbolic_link() {
    let env = with_step();
    fs::copy(env.project().join("steps/01-01.json"), env.outside_dir().join("01-01.json")).unwrap();
    symlink(env.outside_dir().join("01-01.json"), env.project().join("steps/02-01.json")).unwrap();
    symlink("01-01.json", env.project().join("steps/02-02.json")).unwrap();
    symlink(env.outside_dir(), env.project().join("linked")).unwrap();
    for name in ["steps/02-01.json", "steps/02-02.json"] {
        let bad = prompt(&env).replace("DES-STEP-FILE: steps/01-01.json", &format!("DES-STEP-FILE: {name}"));
        assert!(denied(&env.hook(&invoke(&bad))).unwrap().contains("is a symbolic link"));
    }
    assert!(no(&env, "step phase start linked/01-01.json RED").contains("lies outside the project"));
    assert_eq!(step(&env)["state"]["status"], "TODO");
}

/// The program is missing. A missing program cannot stop a client: the client tells the user that the hook
/// failed, and continues. git's hook refuses; `doctor` of any other copy reports the problem.
#[test]
fn the_binary_is_missing_from_path() {
    let env = inactive();
    env.git(["init", "--quiet"]);
    let own = env.outside_dir().join("lockstep");
    // By another process, so that no descriptor of ours that is open for writing keeps the copy from being started.
    assert!(Command::new("cp").arg(env!("CARGO_BIN_EXE_lockstep")).arg(&own).status().unwrap().success());
    let init = Command::new(&own)
        .args(["init", "--client", "claude", "--git-hook", "--quiet"])
        .current_dir(env.project())
        .env_clear()
        .env("PATH", format!("{}:/usr/bin:/bin", env.outside_dir().display()))
        .env("HOME", env.home())
        .output()
        .unwrap();
    assert!(init.status.success(), "{init:?}");
    fs::remove_file(&own).unwrap();
    let settings: Value =
        serde_json::from_str(&fs::read_to_string(env.project().join(".claude/settings.json")).unwrap())
            .unwrap();
    let command = settings["hooks"]["PreToolUse"][0]["hooks"][0]["command"].as_str().unwrap().to_owned();
    let hook =
        Command::new("sh").args(["-c", &command]).env_clear().env("PATH", "/usr/bin:/bin").output().unwrap();
    assert_eq!(
        hook.status.code(),
        Some(127),
        "neither 0, which would be consent, nor 2, which only a gate says"
    );
    assert!(String::from_utf8_lossy(&hook.stderr).contains("not found"));
    env.write("a.txt", "a");
    env.git(["add", "a.txt"]);
    let commit = env.git_output(["commit", "-m", "x"]);
    assert_eq!(commit.code, Some(1));
    let output = String::from_utf8(commit.stderr).unwrap();
    assert!(
        output.contains("lockstep was not found, so the commit gate cannot run and the commit is refused"),
        "{output}"
    );
    let doctor = env.lockstep(["doctor"]);
    assert_eq!(doctor.code, Some(1), "{}", doctor.snapshot());
    assert!(doctor.snapshot().contains("`lockstep` cannot be started"), "{}", doctor.snapshot());
}

/// The shell of an MCP server commits: the client asks hooks about it as about its own shell, but names tool and fields differently.
#[test]
fn a_commit_is_made_by_the_tool_of_another_server() {
    let env = with_step();
    yes(&env, "step phase start 01-01 RED");
    let call = |tool: &str, input: Value| bash("ls").with("tool_name", tool).with("tool_input", input);
    for (tool, input) in [
        ("mcp__shell__run", json!({"command": "git commit -m x"})),
        ("mcp__desktop-commander__start_process", json!({"text": "cd x && git commit"})),
        ("mcp__x__y", json!({"program": "git", "args": ["commit", "-m", "x"]})),
        ("mcp__x__y", json!({"options": {"cmd": ["git", "commit"]}})),
        ("mcp__git__git_commit", json!({"message": "x"})),
        ("mcp__git__git_merge", json!({"branch": "x"})),
        ("mcp__git__run", json!({"subcommand": "commit"})),
    ] {
        assert!(denied(&env.hook(&call(tool, input.clone()))).is_some(), "{tool} {input}");
    }
    let twice = call("mcp__x__y", json!({"command": "git commit"}))
        .json(&env.project())
        .replace("\"git commit\"", "\"git commit\",\"command\":\"ls\"");
    assert!(denied(&env.hook_bytes(twice.as_bytes())).is_some());
    for (tool, input) in [
        ("mcp__shell__run", json!({"command": "git status"})),
        ("mcp__github__create_issue", json!({"body": "Run git commit."})),
        ("mcp__git__git_log", json!({"repo_path": "."})),
    ] {
        env.hook(&call(tool, input)).assert_silent();
    }
}

/// The words of a commit are hidden from a search: quotes, variables, substitutions, other names, other programs.
#[test]
fn a_commit_is_written_in_other_words() {
    let env = with_step();
    yes(&env, "step phase start 01-01 RED");
    for command in [
        "g'i't commit -m x",
        "$'\\x67it' commit",
        "a=(git commit -m x); \"${a[@]}\"",
        "git${IFS}commit",
        "f() { git \"$@\"; }; f commit",
        "echo Z2l0IGNvbW1pdA== | base64 -d | sh",
        "cat > x.sh <<'EOF'\ngit commit\nEOF\nbash x.sh",
        "echo commit | xargs git",
        "git -c alias.s='!git commit -m x' s",
        "git hash-object -t commit -w --stdin",
        "python3 -c \"import subprocess; subprocess.run(['git', 'commit'])\"",
        "git com\0mit -m x",
        "git\0 commit",
    ] {
        assert!(denied(&env.hook(&bash(command))).is_some(), "{command}");
    }
    for command in ["git log", "echo \"git commit\"", "grep git commit", "python3 -c 'print(\"git commit\")'"]
    {
        env.hook(&bash(command)).assert_silent();
    }
}

/// The agent of a step removes `lockstep.toml`, so that the hooks find no project.
#[test]
fn the_configuration_is_removed_after_a_step_began() {
    let env = with_step();
    yes(&env, "step phase start 01-01 RED");
    assert_eq!(denied(&env.hook(&invoke(&prompt(&env)))), None);
    transcript(&env, "a1", &prompt(&env), 1);
    fs::remove_file(env.project().join("lockstep.toml")).unwrap();
    assert!(denied(&env.hook(&bash("git commit"))).is_some());
    env.hook(&bash("git status")).assert_silent();
    assert!(asked(&env.hook(&stop(&env, "a1", false))).is_some());
}
