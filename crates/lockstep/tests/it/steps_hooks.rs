//! The gates of steps in the client's hooks: denials with their texts, requests that are made once, and cases
//! without cost.

use std::fs;

pub(crate) use lockstep_testkit::step_agent::{invoke, prompt, stop, transcript};
use lockstep_testkit::{HookEvent, ProcessOutput, TestEnv};
use lockstep_wire::claude::samples;
use serde_json::{Value, json};

use crate::steps::{by_hand, no, ready, step, with_step, yes};
use crate::{active, configured};

/// Returns the reason of a denied call. `None` for one that passes, without output.
#[track_caller]
pub(crate) fn denied(output: &ProcessOutput) -> Option<String> {
    let stdout = output.assert_success();
    if stdout.is_empty() {
        return None;
    }
    let reply: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(reply["hookSpecificOutput"]["permissionDecision"], "deny", "{reply}");
    Some(reply["hookSpecificOutput"]["permissionDecisionReason"].as_str().unwrap().to_owned())
}

/// Returns the request to a stopping agent. `None` if it may end.
#[track_caller]
pub(crate) fn asked(output: &ProcessOutput) -> Option<String> {
    let stdout = output.assert_success();
    if stdout.is_empty() {
        return None;
    }
    let reply: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(reply["decision"], "block", "{reply}");
    Some(reply["reason"].as_str().unwrap().to_owned())
}

/// An agent that runs the step: its invocation has passed and its transcript is there.
pub(crate) fn running(env: &TestEnv, agent: &str) {
    let prompt = prompt(env);
    assert_eq!(denied(&env.hook(&invoke(&prompt))), None);
    transcript(env, agent, &prompt, 3);
}

pub(crate) fn edit(env: &TestEnv, agent: &str, path: &str) -> HookEvent {
    let main = env.outside_dir().join("transcripts/s1.jsonl");
    HookEvent::from_sample(samples::PRE_TOOL_USE_EDIT_IN_SUBAGENT)
        .by_agent(agent, "implementer")
        .with("transcript_path", main.to_str().unwrap())
        .with(
            "tool_input",
            json!({"file_path": format!("/repo/{path}"), "old_string": "a", "new_string": "b"}),
        )
}

pub(crate) fn events(env: &TestEnv) -> Vec<String> {
    let entries: Vec<Value> = serde_json::from_str(&yes(env, "audit show --format json")).unwrap();
    entries.iter().map(|entry| entry["event"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn an_incomplete_prompt_is_denied_with_every_error_and_suggestion() {
    let env = with_step();
    let bad = prompt(&env)
        .replace("- G3", "- H3")
        .replace("## AGENT_IDENTITY", "## WHO")
        .replace("2. GREEN", "2. GREENISH");
    let reason = denied(&env.hook(&invoke(&bad))).unwrap();
    for expected in [
        "GATE_1_PRE_INVOCATION",
        "MISSING: Mandatory section 'AGENT_IDENTITY' not found. Suggestion: Add ## AGENT_IDENTITY section to prompt template.",
        "INCOMPLETE: TDD phase 'GREEN' not mentioned. Suggestion: Add GREEN to TDD_14_PHASES section.",
        "INCOMPLETE: 'G3' not mentioned in section QUALITY_GATES. Suggestion: Add G3 to QUALITY_GATES section.",
    ] {
        assert!(reason.contains(expected), "{expected}\n{reason}");
    }
    assert_eq!(denied(&env.hook(&invoke(&prompt(&env)))), None);
    assert_eq!(events(&env), ["STEP_CREATED", "TASK_INVOCATION_REJECTED", "TASK_INVOCATION_VALIDATED"]);
    assert!(env.log_lines().is_empty(), "{:?}", env.log_lines());
}

#[test]
fn second_refused_stop_fails_the_step_and_notifies_the_lead() {
    let env = with_step();
    env.hook(&HookEvent::session_start()).assert_silent();
    running(&env, "a1");
    yes(&env, "step phase start 01-01 RED");
    let question = asked(&env.hook(&stop(&env, "a1", false))).unwrap();
    assert!(
        question.contains("Phase RED left IN_PROGRESS (abandoned)") && question.contains("Suggestion: "),
        "{question}"
    );
    assert_eq!(step(&env)["state"]["status"], "IN_PROGRESS", "nothing is failed while it can be mended");
    assert_eq!(asked(&env.hook(&stop(&env, "a1", true))), None, "never a loop");
    let state = &step(&env)["state"];
    assert_eq!(state["status"], "FAILED");
    assert_eq!(state["failure_reason"], "Phase RED left IN_PROGRESS (abandoned)");
    assert_eq!(state["recovery_suggestions"].as_array().unwrap().len(), 1);
    let (_, output) = env.hook(&HookEvent::agent_done()).context().unwrap();
    assert!(
        output.contains("The step steps/01-01.json was set to FAILED when implementer a1 ended"),
        "{output}"
    );
    assert!(output.contains("left IN_PROGRESS (abandoned). Suggestion: "), "{output}");
    env.hook(&HookEvent::agent_done()).assert_silent();
    let recorded = events(&env);
    assert_eq!(
        recorded[3..],
        ["SUBAGENT_STOP_VALIDATION", "SUBAGENT_STOP_VALIDATION", "STEP_FAILED_BY_GATE"]
    );
    assert!(yes(&env, "audit verify").contains("whole"));
    yes(&env, "step resume 01-01");
    assert!(env.log_lines().is_empty(), "{:?}", env.log_lines());
}

#[test]
fn a_client_that_omits_the_continuation_is_not_blocked_twice() {
    let env = with_step();
    running(&env, "a1");
    yes(&env, "step phase start 01-01 RED");
    assert!(asked(&env.hook(&stop(&env, "a1", false))).is_some());
    assert_eq!(asked(&env.hook(&stop(&env, "a1", false))), None);
    assert_eq!(step(&env)["state"]["status"], "FAILED");
}

#[test]
fn an_agent_that_mends_its_step_may_end() {
    let env = with_step();
    running(&env, "a1");
    yes(&env, "step phase start 01-01 RED");
    assert!(asked(&env.hook(&stop(&env, "a1", false))).is_some());
    yes(&env, "step phase done 01-01 RED --run false");
    env.hook(&stop(&env, "a1", true)).assert_silent();
    assert_eq!(step(&env)["state"]["status"], "IN_PROGRESS");
    let entries: Vec<Value> =
        serde_json::from_str(&yes(&env, "audit show --event SUBAGENT_STOP_VALIDATION --format json"))
            .unwrap();
    assert_eq!((&entries[1]["result"], &entries[1]["turns"]), (&json!("PASS"), &json!(3)));
    assert_eq!((&entries[1]["input_tokens"], &entries[1]["output_tokens"]), (&json!(300), &json!(60)));
}

#[test]
fn of_two_agents_each_has_its_own_step() {
    let env = with_step();
    yes(&env, "step new 01-02 --project auth --phases tdd-3");
    running(&env, "a1");
    let other = prompt(&env).replace("01-01", "01-02");
    assert_eq!(denied(&env.hook(&invoke(&other))), None);
    transcript(&env, "a2", &other, 1);
    transcript(&env, "a3", "Just look around. <!-- a note -->", 1);
    yes(&env, "step phase start 01-01 RED");
    env.hook(&stop(&env, "a2", false)).assert_silent();
    env.hook(&stop(&env, "a3", false)).assert_silent();
    assert!(asked(&env.hook(&stop(&env, "a1", false))).unwrap().contains("steps/01-01.json"));
}

#[test]
fn an_unseen_invocation_is_judged_by_its_own_prompt() {
    let env = with_step();
    yes(&env, "step phase start 01-01 RED");
    transcript(
        &env,
        "a9",
        "<!-- DES-VALIDATION: required -->\n<!-- DES-STEP-FILE: steps/01-01.json -->\n",
        1,
    );
    assert!(asked(&env.hook(&stop(&env, "a9", false))).unwrap().contains("left IN_PROGRESS"));
    transcript(&env, "a8", "<!-- DES-VALIDATION: required -->\nno step", 1);
    assert!(asked(&env.hook(&stop(&env, "a8", false))).unwrap().contains("DES-STEP-FILE marker missing"));
    assert_eq!(asked(&env.hook(&stop(&env, "a8", true))), None);
}

#[test]
fn an_old_client_without_agent_ids_is_blocked_once_too() {
    let env = with_step();
    assert_eq!(denied(&env.hook(&invoke(&prompt(&env)))), None);
    yes(&env, "step phase start 01-01 RED");
    let old = HookEvent::from_sample(samples::OLD_SUBAGENT_STOP);
    assert!(asked(&env.hook(&old)).unwrap().contains("left IN_PROGRESS"));
    assert_eq!(asked(&env.hook(&old)), None);
    assert_eq!(step(&env)["state"]["status"], "FAILED");
}

#[test]
fn turns_over_the_budget_warn_or_block() {
    for (config, blocks) in [("", false), ("[steps]\nover_budget = \"block\"\n", true)] {
        let env = configured(config);
        yes(&env, "step new 01-01 --project auth --phases tdd-3 --max-turns 2");
        running(&env, "a1");
        let question = asked(&env.hook(&stop(&env, "a1", false)));
        assert_eq!(question.is_some(), blocks, "{question:?}");
    }
}

#[test]
fn a_commit_is_refused_in_whatever_words_and_other_commands_pass() {
    let env = with_step();
    yes(&env, "step phase start 01-01 RED");
    let bash = |command: &str| {
        HookEvent::from_sample(samples::PRE_TOOL_USE_BASH).with("tool_input", json!({"command": command}))
    };
    for command in [
        "git commit -m x",
        "git -C . commit --no-verify",
        "git ci",
        "git commit-tree HEAD^{tree}",
        "sh -c 'git commit'",
    ] {
        let reason = denied(&env.hook(&bash(command))).unwrap();
        assert!(reason.contains("Phase RED is IN_PROGRESS"), "{command}: {reason}");
    }
    for command in ["git status", "cargo test", "git add -A && git diff"] {
        env.hook(&bash(command)).assert_silent();
    }
    yes(&env, "step phase fail 01-01 RED");
    yes(&env, "step abandon 01-01 --why superseded");
    env.hook(&bash("git commit -m x")).assert_silent();
}

#[test]
fn undecided_gates_block_with_a_reason_unless_configured() {
    let cannot = "[steps]\nphase = \"x\"\n";
    for (config, blocks) in
        [(cannot.to_owned(), true), (format!("[hooks]\non_failure = \"allow\"\n{cannot}"), false)]
    {
        let env = with_step();
        running(&env, "a1");
        yes(&env, "step phase start 01-01 RED");
        env.configure(&config);
        let good = invoke(&{
            env.configure("");
            let prompt = prompt(&env);
            env.configure(&config);
            prompt
        });
        let commit = HookEvent::from_sample(samples::PRE_TOOL_USE_BASH)
            .with("tool_input", json!({"command": "git commit"}));
        for event in [good, commit, edit(&env, "a1", "docs/x.md")] {
            let reason = denied(&env.hook(&event));
            assert_eq!(reason.is_some(), blocks, "{reason:?}");
            assert!(reason.is_none_or(|reason| reason.contains("unknown key `phase`")));
        }
        assert_eq!(asked(&env.hook(&stop(&env, "a1", false))).is_some(), blocks);
        assert_eq!(asked(&env.hook(&stop(&env, "a1", true))), None, "never a loop");
        assert!(!env.log_lines().is_empty());
    }
}

#[test]
fn a_project_without_steps_pays_nothing() {
    let env = active();
    // Only the name is the same.
    env.write("steps/login.json", "{\"given\": \"a user\"}");
    env.write("steps/login.py", "def step(): pass\n");
    let before = env.dir_snapshot();
    env.hook(&invoke("Look around, DES-VALIDATION is a marker.")).assert_silent();
    env.hook(&edit(&env, "a1", "src/a.rs")).assert_silent();
    let commit = HookEvent::from_sample(samples::PRE_TOOL_USE_BASH)
        .with("tool_input", json!({"command": "git commit -m x"}));
    env.hook(&commit).assert_silent();
    assert_eq!(env.dir_snapshot(), before, "not even the state directory is made");
    env.git(["init", "--quiet"]);
    yes(&env, "init --git-hook --quiet");
    env.git(["add", "-A"]);
    env.git(["commit", "--quiet", "-m", "x"]);
    let files = fs::read_dir(env.project().join("steps")).unwrap().count();
    assert_eq!(files, 2, "no trail is begun in somebody else's directory");
}

#[test]
fn a_file_over_the_size_limit_passes_in_a_project_without_steps() {
    let huge = "x".repeat(9 << 20);
    let write = HookEvent::from_sample(samples::PRE_TOOL_USE_EDIT_IN_SUBAGENT)
        .with("tool_name", "Write")
        .with("tool_input", json!({"file_path": "/repo/data.txt", "content": huge}));
    let env = active();
    env.hook(&write).assert_silent();
    yes(&env, "step new 01-01 --project auth --phases tdd-3");
    let output = env.hook(&write);
    assert!(output.snapshot().contains("could not decide"), "{}", output.snapshot());
}

#[test]
fn a_fresh_clone_has_its_gates() {
    let env = with_step();
    yes(&env, "step phase start 01-01 RED");
    fs::remove_dir_all(env.state()).unwrap();
    let commit = HookEvent::from_sample(samples::PRE_TOOL_USE_BASH)
        .with("tool_input", json!({"command": "git commit -m x"}));
    assert!(denied(&env.hook(&commit)).unwrap().contains("Phase RED is IN_PROGRESS"));
}

#[test]
fn a_command_that_needs_no_step_is_not_judged_at_its_end() {
    let env = with_step();
    let research = "<!-- DES-VALIDATION: required -->\n<!-- DES-COMMAND: /nw:research -->\nLook around.";
    env.hook(&invoke(research)).assert_silent();
    transcript(&env, "a1", research, 1);
    env.hook(&stop(&env, "a1", false)).assert_silent();
}

#[test]
fn a_session_that_ends_is_forgotten() {
    let env = with_step();
    running(&env, "a1");
    assert!(env.state().join("steps/sessions/s1").is_dir());
    env.hook(&HookEvent::session_end()).assert_silent();
    assert!(!env.state().join("steps/sessions/s1").exists());
}

#[test]
fn hand_edited_step_stays_unrecorded_after_the_gate_fails_it() {
    let env = with_step();
    running(&env, "a1");
    by_hand(&env, |value| {
        value["state"]["status"] = json!("IN_PROGRESS");
        value["tdd_cycle"]["phase_execution_log"][0]["status"] = json!("EXECUTED");
        value["tdd_cycle"]["phase_execution_log"][0]["outcome"] = json!("PASS");
    });
    assert!(asked(&env.hook(&stop(&env, "a1", false))).unwrap().contains("by hand"));
    assert_eq!(asked(&env.hook(&stop(&env, "a1", true))), None);
    assert_eq!(step(&env)["state"]["status"], "FAILED");
    assert!(no(&env, "step resume 01-01").contains("by hand"), "failing it does not make it look recorded");
}

#[test]
fn own_writes_are_not_reported_as_changes() {
    let env = with_step();
    env.hook(&HookEvent::session_start()).assert_silent();
    running(&env, "a1");
    ready(&env);
    env.hook(&HookEvent::bash().by_agent("a1", "implementer")).assert_silent();
    env.hook(&stop(&env, "a1", false)).assert_silent();
    env.hook(&HookEvent::agent_done()).assert_silent();
    assert_eq!(env.journal_text("s1"), "");
}

#[test]
fn a_step_that_is_ready_ends_in_silence() {
    let env = with_step();
    running(&env, "a1");
    ready(&env);
    env.hook(&stop(&env, "a1", false)).assert_silent();
    assert!(yes(&env, "gate commit").contains("PASS"));
}
