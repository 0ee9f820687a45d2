//! Coexistence with the frameworks that Lockstep comes from: steps started elsewhere, their spellings, their
//! caches, their hooks.

use std::fs;

use lockstep_testkit::HookEvent;
use serde_json::Value;

use crate::steps::{no, yes};
use crate::task_pipeline::l2;
use crate::{active, configured, inactive, plant_users};

/// A step as another program has left it.
fn begun_elsewhere(status: &str) -> String {
    format!(
        r#"{{"task_id": "01-01", "project_id": "auth", "state": {{"status": "{status}"}}, "tdd_cycle": {{"phase_set": "tdd-3",
        "phase_execution_log": [
        {{"phase_name": "RED", "status": "EXECUTED", "outcome": "PASS", "started_at": "2026-02-14T06:00:00Z"}},
        {{"phase_name": "GREEN", "status": "IN_PROGRESS", "started_at": "2026-02-14T01:00:00Z"}},
        {{"phase_name": "COMMIT", "status": "NOT_EXECUTED"}}]}}}}"#
    )
}

#[test]
fn a_step_started_elsewhere_is_adopted_on_record() {
    let env = active();
    env.write("steps/01-01.json", begun_elsewhere("IN_PROGRESS"));
    assert!(no(&env, "step phase done 01-01 GREEN --run true").contains("step adopt"));
    yes(&env, "step adopt 01-01 --why nWave --as lead");
    yes(&env, "step phase done 01-01 GREEN --run true");
    let output = yes(&env, "audit show --event STEP_ADOPTED --format json");
    let entries: Vec<Value> = serde_json::from_str(&output).unwrap();
    assert_eq!((&entries[0]["by"], &entries[0]["why"]), (&"lead".into(), &"nWave".into()));
    assert!(no(&env, "step adopt 01-01 --why again").contains("recorded here already"));
    // A step that was recorded here and then edited by hand was not started elsewhere.
    let text = fs::read_to_string(env.project().join("steps/01-01.json")).unwrap();
    env.write("steps/01-01.json", text.replace("NOT_EXECUTED", "EXECUTED"));
    assert!(no(&env, "step adopt 01-01 --why again").contains("changed by hand"));
    yes(&env, "audit verify");
}

#[test]
fn completed_is_read_as_done() {
    let env = active();
    env.write("steps/01-01.json", begun_elsewhere("COMPLETED"));
    assert!(yes(&env, "step list").contains("01-01 of auth: DONE"));
}

#[test]
fn a_step_is_found_by_its_id_in_a_subdirectory() {
    let env = active();
    env.write("steps/auth/login/01-01.json", begun_elsewhere("TODO"));
    assert!(yes(&env, "step show 01-01").contains("steps/auth/login/01-01.json"));
    env.write("steps/auth/logout/01-01.json", begun_elsewhere("TODO"));
    let several = no(&env, "step show 01-01");
    assert!(several.contains("steps/auth/login/01-01.json, steps/auth/logout/01-01.json"), "{several}");
    env.write("steps/other/first.json", begun_elsewhere("TODO").replace("01-01", "07-07"));
    assert!(yes(&env, "step show 07-07").contains("steps/other/first.json"));
}

#[test]
fn stale_steps_are_found_outside_the_directory_of_steps() {
    let env = active();
    env.write("docs/feature/auth/steps/01-01.json", begun_elsewhere("IN_PROGRESS"));
    env.write("node_modules/x/01-02.json", begun_elsewhere("IN_PROGRESS"));
    let stale = no(&env, "step stale");
    assert!(
        stale.contains("docs/feature/auth/steps/01-01.json: GREEN is IN_PROGRESS for 330 minutes"),
        "{stale}"
    );
    assert!(!stale.contains("node_modules"), "{stale}");
    assert!(no(&env, "step stale --resolve").contains("step adopt"), "it is recorded nowhere here");
}

#[test]
fn plain_headings_of_a_handoff_are_accepted() {
    let env = active();
    env.write("src/auth.rs", "x");
    let plain: String =
        l2("done").lines().map(|line| line.split(" (").next().unwrap().to_owned() + "\n").collect();
    assert!(plain.contains("### Decisions Made\n") && plain.contains("### Open Questions\n"), "{plain}");
    env.write("L2.md", &plain);
    yes(&env, "handoff check L2.md");
    env.write("L2.md", plain.replace("### Open Questions\n", "### Questions\n"));
    assert!(no(&env, "handoff check L2.md").contains("Open Questions"));
}

#[test]
fn a_cache_is_built_for_a_framework_without_a_configuration() {
    let env = inactive();
    env.write(".isdlc/state.json", "{}");
    env.write("docs/isdlc/constitution.md", "# Constitution\nBe kind.\n");
    let built = yes(&env, "cache build");
    assert!(built.contains(".isdlc/session-cache.md"), "{built}");
    assert!(yes(&env, "cache show").contains("CONSTITUTION"));
    env.hook(&HookEvent::session_start()).assert_silent();
    let none = inactive().lockstep(["cache", "build"]);
    assert_eq!(none.code, Some(3), "{}", none.snapshot());
}

#[test]
fn an_agent_without_skills_has_an_empty_answer() {
    let env = active();
    yes(&env, "cache build");
    for agent in ["general-purpose", "my-own"] {
        let output = env.lockstep(["cache", "agent", agent]);
        assert_eq!((output.code, output.stdout.as_slice()), (Some(0), &b""[..]), "{}", output.snapshot());
    }
}

#[test]
fn an_external_skill_names_its_source() {
    let env = active();
    env.write(".claude/skills/external/react.md", "# React\n");
    yes(&env, "cache skill add react react.md --source skills.sh");
    yes(&env, "cache skill add --source user mine react.md");
    let manifests = ["docs/isdlc/external-skills-manifest.json", ".claude/skills/external/manifest.json"];
    let text = manifests.iter().find_map(|path| fs::read_to_string(env.project().join(path)).ok());
    let text = text.unwrap_or_else(|| env.lockstep(["cache", "show"]).assert_success());
    assert!(text.contains("skills.sh"), "{text}");
}

#[test]
fn doctor_names_old_hooks_that_do_the_same_work() {
    let env = active();
    let hook = |command: &str| format!(r#"[{{"hooks": [{{"type": "command", "command": "{command}"}}]}}]"#);
    env.write(
        ".claude/settings.json",
        format!(
            r#"{{"hooks": {{"SubagentStop": {}, "SessionStart": {}, "PreToolUse": {}}}}}"#,
            hook("/home/me/.claude/hooks/on-implementer-done.sh"),
            hook("node $CLAUDE_PROJECT_DIR/.claude/hooks/inject-session-cache.cjs"),
            hook("python3 -m des.adapters.drivers.hooks.claude_code_hook_adapter pre-task"),
        ),
    );
    env.write(
        ".claude/agents/implementer.md",
        "---\nname: implementer\nhooks:\n  PostToolUse:\n    - command: .claude/hooks/on-file-change.sh\n---\nWork.\n",
    );
    let output = String::from_utf8(env.lockstep(["doctor"]).stdout).unwrap();
    for part in
        ["on-implementer-done.sh", "on-file-change.sh", "inject-session-cache.cjs", "migrate-isdlc.md"]
    {
        assert!(output.contains(part), "{part}\n{output}");
    }
    assert!(output.contains("Lockstep leaves its prompts to them"), "{output}");
    env.configure("[gates]\nnwave = 'block'\n");
    let output = String::from_utf8(env.lockstep(["doctor"]).stdout).unwrap();
    assert!(output.contains("Lockstep checks the same prompts"), "{output}");
}

#[test]
fn session_report_is_written_to_the_configured_file() {
    let env = configured("[impact]\nfile = 'out/src-impact-{session}.md'\n");
    env.write("out/keep", "");
    plant_users(&env, &["a"]);
    env.hook(&HookEvent::session_start()).assert_silent();
    env.write("a.py", "def bye(): pass\n");
    env.hook(&HookEvent::edit("a.py").by_agent("w1", "implementer")).assert_silent();
    env.hook(&HookEvent::subagent_stop("w1", "implementer")).assert_silent();
    let text = fs::read_to_string(env.project().join("out/src-impact-s1.md")).unwrap();
    assert!(text.contains("a.py"), "{text}");
}
