//! Steps on the command line: from `new` to `finish`, every refusal, locks and stale phases.

use std::fs;

use jiff::SignedDuration;
use lockstep_testkit::TestEnv;
use serde_json::{Value, json};

use crate::{active, configured};

/// Runs `lockstep ARGS`, words separated by spaces, which must answer yes.
#[track_caller]
pub(crate) fn yes(env: &TestEnv, args: &str) -> String {
    env.lockstep(args.split(' ')).assert_success()
}

/// Runs `lockstep ARGS`, which must answer no. Returns its output.
#[track_caller]
pub(crate) fn no(env: &TestEnv, args: &str) -> String {
    let output = env.lockstep(args.split(' '));
    assert_eq!(output.code, Some(1), "{args}\n{}", output.snapshot());
    String::from_utf8(output.stdout).unwrap()
}

/// A project with the step `01-01`, whose phases are RED, GREEN and COMMIT.
pub(crate) fn with_step() -> TestEnv {
    let env = active();
    yes(&env, "step new 01-01 --project auth --phases tdd-3");
    env
}

/// The step file as it is.
pub(crate) fn step(env: &TestEnv) -> Value {
    serde_json::from_str(&fs::read_to_string(env.project().join("steps/01-01.json")).unwrap()).unwrap()
}

/// Changes the step file behind Lockstep's back.
pub(crate) fn by_hand(env: &TestEnv, edit: impl Fn(&mut Value)) {
    let mut value = step(env);
    edit(&mut value);
    env.write("steps/01-01.json", serde_json::to_string_pretty(&value).unwrap());
}

/// RED and GREEN are over, with evidence.
pub(crate) fn ready(env: &TestEnv) {
    yes(env, "step phase start 01-01 RED");
    yes(env, "step phase done 01-01 RED --run false");
    yes(env, "step phase start 01-01 GREEN");
    yes(env, "step phase done 01-01 GREEN --run true");
}

#[test]
fn a_step_from_new_to_done() {
    let env = with_step();
    ready(&env);
    yes(&env, "step phase start 01-01 COMMIT");
    yes(&env, "step phase done 01-01 COMMIT --outcome PASS --details by-hand");
    assert_eq!(yes(&env, "step finish 01-01 --status DONE"), "steps/01-01.json: DONE\n");
    let value = step(&env);
    assert_eq!(value["state"], json!({"status": "DONE", "failure_reason": null, "recovery_suggestions": []}));
    let log = &value["tdd_cycle"]["phase_execution_log"];
    assert_eq!(
        (&log[0]["evidence"]["exit_code"], &log[1]["evidence"]["command"]),
        (&json!(1), &json!("true"))
    );
    assert_eq!(log[2]["outcome_details"], "by-hand");
    assert_eq!(log[0]["started_at"], "2026-02-14T15:30:42+09:00");
    assert!(yes(&env, "audit verify").contains("steps: whole, 8 entries"));
    let text = yes(&env, "step show 01-01");
    assert!(text.contains("RED                    EXECUTED PASS, with evidence"), "{text}");
}

#[test]
fn every_reason_is_reported_and_nothing_changes() {
    let env = with_step();
    let before = step(&env);
    for (args, reason) in [
        ("step phase start 01-01 GREEN", "The phases before GREEN are not over: RED"),
        ("step phase done 01-01 RED --outcome PASS", "Invalid transition: NOT_EXECUTED -> EXECUTED"),
        ("step phase fail 01-01 RED", "Invalid transition: NOT_EXECUTED -> FAILED"),
        ("step phase start 01-01 BLUE", "The step has no phase \"BLUE\""),
        ("step phase skip 01-01 RED --blocked-by LATER:x", "begins with no known prefix"),
        ("step finish 01-01 --status DONE", "Invalid transition: TODO -> DONE"),
        ("step new 01-01 --project auth", "steps/01-01.json is there already"),
        ("step new 01-02 --project auth --phases tdd-99", "The sets are tdd-14, tdd-8, tdd-5, tdd-3"),
        ("step new ../x --project auth", "cannot be a file's name"),
    ] {
        let output = no(&env, args);
        assert!(output.contains(reason), "{args}: {output}");
    }
    assert_eq!(step(&env), before);
    let data: Value = serde_json::from_str(&no(&env, "step phase start 01-01 GREEN --format json")).unwrap();
    assert_eq!(data["errors"][0]["error_type"], "INVALID");
}

#[test]
fn configured_evidence_is_required() {
    let env = configured("[steps.evidence]\nRED = \"fail\"\nGREEN = \"pass\"\n");
    yes(&env, "step new 01-01 --project auth --phases tdd-3");
    yes(&env, "step phase start 01-01 RED");
    assert!(
        no(&env, "step phase done 01-01 RED --outcome PASS")
            .contains("needs evidence of a command that fails")
    );
    assert!(no(&env, "step phase done 01-01 RED --outcome PASS --run true").contains("claims PASS"));
    yes(&env, "step phase done 01-01 RED --run false");
    yes(&env, "step phase start 01-01 GREEN");
    assert!(
        no(&env, "step phase done 01-01 GREEN --outcome PASS --run false")
            .contains("exit code 1 instead of 0")
    );
    yes(&env, "step phase done 01-01 GREEN --run true");
}

#[test]
fn secrets_in_a_command_are_not_recorded() {
    let env = with_step();
    yes(&env, "step phase start 01-01 RED");
    let run = "echo --token hunter2hunter2; exit 1";
    env.lockstep(["step", "phase", "done", "01-01", "RED", "--run", run]).assert_success();
    for file in ["steps/01-01.json", "steps/audit-2026-02-14.log"] {
        let text = fs::read_to_string(env.project().join(file)).unwrap();
        assert!(text.contains("[redacted]") && !text.contains("hunter2"), "{text}");
    }
}

#[test]
fn a_lock_has_a_holder_and_an_end() {
    let env = with_step();
    yes(&env, "step lock 01-01 --as ada --minutes 30");
    let output = no(&env, "step phase start 01-01 RED");
    assert!(
        output.contains("STEP_LOCKED by ada since 2026-02-14T06:30:42Z, until 2026-02-14T07:00:42Z"),
        "{output}"
    );
    assert!(no(&env, "step unlock 01-01 --as bob").contains("STEP_LOCKED by ada"));
    yes(&env, "step phase start 01-01 RED --as ada");
    env.advance(SignedDuration::from_mins(31));
    yes(&env, "step phase done 01-01 RED --outcome PASS");
    yes(&env, "step lock 01-01 --as ada");
    yes(&env, "step unlock 01-01 --as bob --force");
    yes(&env, "step phase start 01-01 GREEN");
}

#[test]
fn stale_phases_are_found_listed_and_resolved() {
    let env = with_step();
    yes(&env, "step phase start 01-01 RED");
    env.write("steps/broken.json", "{");
    env.advance(SignedDuration::from_mins(29));
    assert!(yes(&env, "step stale").contains("no phase is IN_PROGRESS for 30 minutes"));
    env.advance(SignedDuration::from_hours(72) - SignedDuration::from_mins(29));
    let report: Value = serde_json::from_str(&no(&env, "step stale --format json")).unwrap();
    assert_eq!(report["stale"][0]["age_minutes"], 4320);
    assert_eq!(report["malformed"][0]["step_file"], "steps/broken.json");
    yes(&env, "step stale --minutes 4321");
    assert!(yes(&env, "step stale --resolve").contains("set to FAILED"));
    let value = step(&env);
    assert_eq!(
        (&value["state"]["status"], &value["tdd_cycle"]["phase_execution_log"][0]["status"]),
        (&json!("FAILED"), &json!("FAILED"))
    );
    assert_eq!(value["state"]["recovery_suggestions"].as_array().unwrap().len(), 3);
    yes(&env, "step resume 01-01");
    yes(&env, "step phase start 01-01 RED");
}

#[test]
fn a_projects_own_state_machine_is_used_and_a_broken_one_is_reported() {
    let env = active();
    env.write("steps/step-execution-fsm.yaml", "phase_sets:\n  two: {phases: [DO, COMMIT]}\n");
    yes(&env, "step new 01-01 --project p --phases two");
    yes(&env, "step phase start 01-01 DO");
    env.write("steps/step-execution-fsm.yaml", "phase_sets:\n  two: {phases: [DO, DO]}\n");
    let output = env.lockstep(["step", "phase", "fail", "01-01", "DO"]).assert_failure(3);
    assert!(output.contains("the phase DO occurs twice"), "{output}");
}

#[test]
fn a_prompt_is_made_from_a_step_and_passes_its_check() {
    let env = with_step();
    let prompt =
        env.lockstep(["prompt", "render", "execute_step", "--step", "01-01", "--set", "agent_name=crafter"]);
    assert!(String::from_utf8_lossy(&prompt.stdout).contains("There is no value for {description}"));
    by_hand(&env, |value| value["description"] = json!("Add login"));
    env.write("agent.yaml", "agent_name: crafter\n");
    let prompt = yes(&env, "prompt render execute_step --step 01-01 --agent agent.yaml");
    env.write("prompt.md", &prompt);
    assert_eq!(yes(&env, "prompt check prompt.md"), "the prompt is complete\n");
    assert!(yes(&env, "gate prompt prompt.md").contains("GATE_1_PRE_INVOCATION: PASS"));
    env.write("prompt.md", prompt.replace("- G3", "- H3").replace("## AGENT_IDENTITY", "## WHO"));
    let checked: Value = serde_json::from_str(&no(&env, "prompt check prompt.md --format json")).unwrap();
    let elements: Vec<_> =
        checked["errors"].as_array().unwrap().iter().map(|e| e["element"].as_str().unwrap()).collect();
    assert_eq!(elements, ["AGENT_IDENTITY", "G3"]);
}

#[test]
fn schema_command_lists_and_prints_step_schemas() {
    let env = with_step();
    let names = yes(&env, "schema");
    for name in ["step-file", "gate-result", "audit-entry"] {
        assert!(names.contains(name), "{names}");
        serde_json::from_str::<Value>(&yes(&env, &format!("schema {name}"))).unwrap();
    }
}
