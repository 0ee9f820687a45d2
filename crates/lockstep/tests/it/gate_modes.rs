//! `[gates]`: what each gate does with its verdict, and what no gate concerns itself with.

use lockstep_testkit::{HookEvent, TestEnv};
use lockstep_wire::claude::samples;
use serde_json::json;

use crate::steps::{step, yes};
use crate::steps_hooks::{asked, denied, invoke, prompt, stop, transcript};
use crate::{active, configured};

const MARKDOWN: &str = "## User Intent\nAdd login\n\n## Phase Status\n- P1: COMPLETE\n";

fn with_step(config: &str) -> TestEnv {
    let env = configured(config);
    yes(&env, "step new 01-01 --project auth --phases tdd-3");
    env.hook(&HookEvent::session_start()).assert_silent();
    env
}

fn list_call(tool: &str, input: serde_json::Value) -> HookEvent {
    HookEvent::from_sample(samples::PRE_TOOL_USE_TASK_UPDATE)
        .with("tool_name", tool)
        .with("tool_input", input)
}

fn commit() -> HookEvent {
    HookEvent::from_sample(samples::PRE_TOOL_USE_BASH)
        .with("tool_input", json!({"command": "git commit -m x"}))
}

/// Returns the text that the Lead receives at its next event.
fn told(env: &TestEnv) -> Option<String> {
    env.hook(&HookEvent::prompt()).context().map(|(_, text)| text)
}

fn nwave_prompt() -> String {
    let sections = [
        "DES_METADATA",
        "AGENT_IDENTITY",
        "SKILL_LOADING",
        "TASK_CONTEXT",
        "DESIGN_CONTEXT",
        "TDD_PHASES",
        "QUALITY_GATES",
        "OUTCOME_RECORDING",
        "RECORDING_INTEGRITY",
        "BOUNDARY_RULES",
        "TIMEOUT_INSTRUCTION",
    ];
    let sections: String =
        sections.iter().map(|name| format!("# {name}\nStep: 01-01, in words\n\n")).collect();
    format!(
        "<!-- DES-VALIDATION : required -->\n<!-- DES-PROJECT-ID : auth-upgrade -->\n<!-- DES-STEP-ID : 01-01 -->\n\n{sections}"
    )
}

#[test]
fn the_prompt_gate_warns_or_is_off() {
    let env = with_step("[gates]\nprompt = 'warn'\n");
    let bad = prompt(&env).replace("## AGENT_IDENTITY", "## WHO");
    assert_eq!(denied(&env.hook(&invoke(&bad))), None);
    let text = told(&env).expect("the Lead is told");
    assert!(text.contains("AGENT_IDENTITY") && text.contains("nothing was refused"), "{text}");
    assert_eq!(told(&env), None, "once");
    let env = with_step("[gates]\nprompt = 'off'\n");
    assert_eq!(denied(&env.hook(&invoke(&bad))), None);
    assert_eq!(told(&env), None);
    assert!(denied(&with_step("").hook(&invoke(&bad))).is_some(), "the default blocks");
}

#[test]
fn the_stop_gate_warns_or_is_off() {
    for (mode, warned) in [("warn", true), ("off", false)] {
        let env = with_step(&format!("[gates]\nstop = '{mode}'\n"));
        let prompt = prompt(&env);
        assert_eq!(denied(&env.hook(&invoke(&prompt))), None);
        transcript(&env, "a1", &prompt, 3);
        yes(&env, "step phase start 01-01 RED");
        for again in [false, true] {
            assert_eq!(asked(&env.hook(&stop(&env, "a1", again))), None);
        }
        assert_eq!(step(&env)["state"]["status"], "IN_PROGRESS", "{mode}: the step stays as it is");
        let text = told(&env);
        assert_eq!(text.as_deref().is_some_and(|text| text.contains("left IN_PROGRESS")), warned, "{text:?}");
    }
}

#[test]
fn the_commit_gate_warns_or_is_off() {
    for (mode, warned) in [("warn", true), ("off", false)] {
        let env = with_step(&format!("[gates]\ncommit = '{mode}'\n"));
        yes(&env, "step phase start 01-01 RED");
        assert_eq!(denied(&env.hook(&commit())), None, "{mode}");
        assert_eq!(told(&env).is_some_and(|text| text.contains("GATE_3_PRE_COMMIT")), warned, "{mode}");
        env.git(["init", "-q"]);
        let output = env.lockstep(["gate", "commit", "--git-hook"]);
        assert_eq!(output.code, Some(0), "{mode}: {}", output.snapshot());
        assert_eq!(output.snapshot().contains("does not pass GATE_3_PRE_COMMIT"), warned, "{mode}");
    }
    let env = with_step("");
    yes(&env, "step phase start 01-01 RED");
    assert!(denied(&env.hook(&commit())).is_some(), "the default blocks");
}

#[test]
fn the_rules_of_the_task_warn_or_are_off() {
    let document = "user_intent: Add login\nconstraints: []\n";
    for (mode, warned) in [("warn", true), ("off", false)] {
        let env = configured(&format!("[gates]\ntask = '{mode}'\n"));
        env.hook(&HookEvent::session_start()).assert_silent();
        env.write("task.yaml", document);
        env.lockstep(["task", "new", "task.yaml", "--title", "auth"]).assert_success();
        let call = list_call("TaskCreate", json!({"subject": "write tests", "description": "x"}));
        assert_eq!(denied(&env.hook(&call.by_agent("w1", "implementer"))), None, "{mode}");
        assert_eq!(
            told(&env).is_some_and(|text| text.contains("implementer may not create")),
            warned,
            "{mode}"
        );
    }
}

#[test]
fn a_permanent_task_of_another_framework_is_let_alone() {
    let env = active();
    for input in [
        json!({"subject": "[PERMANENT] auth", "description": MARKDOWN}),
        json!({"subject": "[PERMANENT] PT-v1: auth", "description": "# PT\n\n**Goal**: login\n"}),
    ] {
        assert_eq!(denied(&env.hook(&list_call("TaskCreate", input.clone()))), None, "{input}");
        let after = HookEvent::from_sample(samples::POST_TOOL_USE_TASK_UPDATE)
            .with("tool_name", "TaskCreate")
            .with("tool_input", input)
            .with("tool_response", json!({"task": {"id": "1", "subject": "x"}}));
        env.hook(&after).assert_silent();
    }
    for input in [
        json!({"taskId": "1", "subject": "[PERMANENT] PT-v2 auth", "description": MARKDOWN}),
        json!({"taskId": "1", "subject": "[PERMANENT] PT-v3 auth"}),
        json!({"taskId": "1", "status": "completed"}),
    ] {
        assert_eq!(denied(&env.hook(&list_call("TaskUpdate", input.clone()))), None, "{input}");
    }
    assert!(!env.state().join("state.db").exists(), "no store is made for it");
    assert!(env.log_lines().is_empty(), "{:?}", env.log_lines());
    // A document of ours that is wrong is refused, also where no task is open.
    let wrong = json!({"subject": "[PERMANENT] PT-v1 auth", "description": "user_intent: x\nvalidation_verdict: MAYBE\n"});
    assert!(denied(&env.hook(&list_call("TaskCreate", wrong))).is_some());
    // With a task of ours open, the mark means that task.
    env.write("task.yaml", "user_intent: Add login\nconstraints: []\n");
    env.lockstep(["task", "new", "task.yaml", "--title", "auth"]).assert_success();
    let other = json!({"subject": "[PERMANENT] other", "description": MARKDOWN});
    assert!(denied(&env.hook(&list_call("TaskCreate", other))).is_some());
}

#[test]
fn a_prompt_in_nwaves_dialect_is_let_alone_by_default() {
    for env in [active(), with_step("")] {
        env.hook(&HookEvent::session_start()).assert_silent();
        assert_eq!(denied(&env.hook(&invoke(&nwave_prompt()))), None);
        let torn = nwave_prompt().replace("# TASK_CONTEXT", "# CONTEXT");
        assert_eq!(denied(&env.hook(&invoke(&torn))), None);
        let orchestrator = "<!-- DES-VALIDATION : required -->\n<!-- DES-PROJECT-ID : a -->\n<!-- DES-MODE : orchestrator -->";
        assert_eq!(denied(&env.hook(&invoke(orchestrator))), None);
        // Its end is checked by nWave too.
        transcript(&env, "n1", &nwave_prompt(), 2);
        assert_eq!(asked(&env.hook(&stop(&env, "n1", false))), None);
        assert!(env.log_lines().is_empty(), "{:?}", env.log_lines());
    }
}

#[test]
fn nwave_prompt_is_checked_by_nwave_rules_if_configured() {
    let env = with_step("[gates]\nnwave = 'block'\n");
    env.write("docs/feature/auth-upgrade/deliver/execution-log.json", "{\"events\": []}");
    assert_eq!(denied(&env.hook(&invoke(&nwave_prompt()))), None);
    transcript(&env, "n1", &nwave_prompt(), 2);
    assert_eq!(asked(&env.hook(&stop(&env, "n1", false))), None);
    let torn = nwave_prompt()
        .replace("# RECORDING_INTEGRITY", "# INTEGRITY")
        .replace("<!-- DES-STEP-ID : 01-01 -->", "");
    let reason = denied(&env.hook(&invoke(&torn))).unwrap();
    assert!(reason.contains("RECORDING_INTEGRITY") && reason.contains("DES-STEP-ID missing"), "{reason}");
    let orchestrator =
        "<!-- DES-VALIDATION : required -->\n<!-- DES-PROJECT-ID : a -->\n<!-- DES-MODE : orchestrator -->";
    assert_eq!(denied(&env.hook(&invoke(orchestrator))), None);
    env.write("prompt.md", nwave_prompt());
    yes(&env, "prompt check prompt.md");
}

#[test]
fn an_unknown_marker_is_a_warning_and_no_denial() {
    let env = with_step("");
    let prompt = format!("<!-- DES-REVIEWER: me -->\n{}", prompt(&env));
    assert_eq!(denied(&env.hook(&invoke(&prompt))), None);
    assert_eq!(denied(&env.hook(&invoke("<!-- DES-FLAVOUR: mild -->\nLook around."))), None);
    env.write("prompt.md", &prompt);
    let output = yes(&env, "gate prompt prompt.md");
    assert!(output.contains("WARNING") && output.contains("DES-REVIEWER"), "{output}");
}

#[test]
fn a_project_may_name_its_markers_and_sources() {
    let env = configured(
        "[steps]\nmarkers = { validation = 'QA-CHECK', step_file = 'QA-STEP' }\nsources = ['features/*/steps']\n",
    );
    yes(&env, "step new 01-01 --project auth --phases tdd-3");
    let theirs = prompt(&env);
    assert!(theirs.contains("<!-- QA-CHECK"), "{theirs}");
    assert_eq!(denied(&env.hook(&invoke(&theirs))), None);
    let bad = theirs.replace("## AGENT_IDENTITY", "## WHO");
    assert!(denied(&env.hook(&invoke(&bad))).is_some());
    assert_eq!(
        denied(&env.hook(&invoke(&bad.replace("QA-CHECK", "DES-VALIDATION")))),
        None,
        "not a marker here"
    );
    let text = std::fs::read_to_string(env.project().join("steps/01-01.json")).unwrap();
    env.write("features/login/steps/02-01.json", text.replace("01-01", "02-01"));
    assert!(yes(&env, "step list").contains("features/login/steps/02-01.json"));
}

#[test]
fn a_gate_does_not_open_because_it_broke() {
    // A wrong word in [gates] is a broken configuration: what asks to be checked is not let through.
    let env = with_step("");
    let prompt = prompt(&env);
    env.configure("[gates]\nprompt = 'of'\n");
    assert!(denied(&env.hook(&invoke(&prompt))).unwrap().contains("could not decide"));
    env.configure("[gates]\nprompt = 'off'\n[alert]\nlead = 'x'\n");
    assert_eq!(denied(&env.hook(&invoke(&prompt))), None, "what is off does not decide");
    assert_eq!(denied(&env.hook(&invoke("<!-- note: x --> Look around."))), None);
}

#[test]
fn a_command_that_cannot_be_read_is_answered_as_configured() {
    for (value, expected) in [("ask", Some("ask")), ("deny", Some("deny")), ("allow", None)] {
        let env = with_step(&format!("[gates]\nunreadable = '{value}'\n"));
        let command = json!({"command": "git $VERB -m x"});
        let unreadable = HookEvent::from_sample(samples::PRE_TOOL_USE_BASH).with("tool_input", command);
        env.hook(&unreadable).assert_silent();
        yes(&env, "step phase start 01-01 RED");
        let reply = env.hook(&unreadable).assert_success();
        let reply: Option<serde_json::Value> =
            (!reply.is_empty()).then(|| serde_json::from_str(&reply).unwrap());
        let decision = reply.as_ref().map(|reply| &reply["hookSpecificOutput"]["permissionDecision"]);
        assert_eq!(decision.and_then(|decision| decision.as_str()), expected, "{reply:?}");
    }
}
