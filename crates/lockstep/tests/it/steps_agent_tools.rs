//! Every tool that starts or continues an agent passes gate 1, and gate 2 finds the step of each such agent.

use std::fs;
use std::path::PathBuf;

use lockstep_testkit::{HookEvent, ProcessOutput, TestEnv};
use lockstep_wire::claude::samples;
use serde_json::{Value, json};

use crate::configured;
use crate::steps::{with_step, yes};
use crate::steps_hooks::{asked, denied, invoke, prompt, stop, transcript};

fn workflow(input: Value) -> HookEvent {
    HookEvent::from_sample(samples::PRE_TOOL_USE_WORKFLOW).with("tool_input", input)
}

fn message(to: &str, text: &str) -> HookEvent {
    HookEvent::from_sample(samples::PRE_TOOL_USE_SEND_MESSAGE)
        .with("tool_input", json!({"to": to, "summary": "go on", "message": text}))
}

/// A script that gives one agent a prompt.
fn script(prompt: &str) -> String {
    let literal = serde_json::to_string(prompt).unwrap();
    format!(
        "export const meta = {{ name: 'do', description: 'd', phases: [] }};\nawait agent({literal}, {{label: 'x'}});\n"
    )
}

/// The reason with which the user is asked.
#[track_caller]
fn question(output: &ProcessOutput) -> Option<String> {
    let stdout = output.assert_success();
    let reply: Value = if stdout.is_empty() { Value::Null } else { serde_json::from_str(&stdout).unwrap() };
    let reply = &reply["hookSpecificOutput"];
    (reply["permissionDecision"] == "ask")
        .then(|| reply["permissionDecisionReason"].as_str().unwrap().to_owned())
}

fn incomplete(env: &TestEnv) -> String {
    prompt(env).replace("## TASK_CONTEXT", "## CONTEXT")
}

/// Writes a script to the project's saved workflows, so that the client finds it by name.
fn save(env: &TestEnv, name: &str, script: &str) {
    env.write(format!(".claude/workflows/{name}.js"), script);
}

/// Writes the transcript of a workflow's agent to the client's path.
fn workflow_transcript(env: &TestEnv, agent: &str, prompt: &str) -> PathBuf {
    let own = transcript(env, agent, "", 0);
    let indented: String = prompt.lines().map(|line| format!("  {line}\n")).collect();
    let text =
        format!("[Workflow harness \u{2014} computed task] The computed task text follows:\n{indented}");
    let line = json!({"type": "user", "message": {"role": "user", "content": text}});
    let path = own.parent().unwrap().join(format!("workflows/wf_1/agent-{agent}.jsonl"));
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, line.to_string() + "\n").unwrap();
    fs::remove_file(own).unwrap();
    path
}

#[test]
fn incomplete_prompt_is_refused_for_every_agent_tool() {
    let env = with_step();
    let bad = incomplete(&env);
    save(&env, "saved", &script(&bad));
    save(&env, "outer", "export const meta = { name: 'outer' };\nawait workflow('saved');\n");
    env.write("flow.js", script(&bad));
    let home = env.home().join(".claude/projects/x/workflows/scripts/do.js");
    fs::create_dir_all(home.parent().unwrap()).unwrap();
    fs::write(&home, script(&bad)).unwrap();
    for event in [
        invoke(&bad),
        HookEvent::from_sample(samples::PRE_TOOL_USE_AGENT)
            .with("tool_name", "Task")
            .with("tool_input", json!({"prompt": bad})),
        workflow(json!({"script": script(&bad)})),
        workflow(json!({"scriptPath": env.project().join("flow.js")})),
        workflow(json!({"scriptPath": "flow.js"})),
        workflow(json!({"scriptPath": home})),
        workflow(json!({"name": "saved"})),
        workflow(json!({"name": "outer"})),
        // The client takes the file, or the saved workflow, rather than the harmless script.
        workflow(json!({"script": script("nothing"), "scriptPath": "flow.js"})),
        workflow(json!({"script": script("nothing"), "name": "saved"})),
        message("w1", &bad),
        message("a8f2ac80925a7d5f0", &bad),
        message("w1", &bad).by_agent("a1", "implementer"),
    ] {
        let reason = denied(&env.hook(&event)).expect("it is refused");
        assert!(reason.contains("Mandatory section 'TASK_CONTEXT' not found"), "{reason}");
    }
    let good = prompt(&env);
    env.write("flow.js", script(&good));
    for event in [
        workflow(json!({"script": script(&good)})),
        workflow(json!({"scriptPath": "flow.js"})),
        message("w1", &good),
        // Not an agent is continued by these, and nothing is asked for.
        message("main", &bad),
        message("w1", "go on"),
        workflow(json!({"script": script("look at steps/01-01.json")})),
        workflow(json!({"name": "the-clients-own"})),
    ] {
        assert_eq!(denied(&env.hook(&event)), None);
    }
}

#[test]
fn a_prompt_assembled_at_run_time_needs_confirmation_if_it_names_a_step() {
    let env = with_step();
    let good = serde_json::to_string(&prompt(&env)).unwrap();
    let unreadable = [
        json!({"script": format!("const p = {good}; await agent(p + extra)")}),
        json!({"script": "await agent(`Do steps/${id}.json`)"}),
        json!({"script": "await agent('<!-- DES-VALIDATION' + ': required -->')"}),
        json!({"script": "await agent(args.prompt)", "args": {"prompt": prompt(&env)}}),
        json!({"script": "await agent('x' + args[0])", "args": ["steps/01-01.json"]}),
        json!({"scriptPath": "/etc/hostname"}),
        json!({"scriptPath": "missing.js"}),
        json!({"scriptPath": "link.js"}),
        json!({"scriptPath": "large.js"}),
    ];
    fs::write(env.outside_dir().join("flow.js"), script("x")).unwrap();
    std::os::unix::fs::symlink(env.outside_dir().join("flow.js"), env.project().join("link.js")).unwrap();
    env.write("large.js", " ".repeat((1 << 20) + 1));
    for input in &unreadable {
        let question = question(&env.hook(&workflow(input.clone())));
        assert!(question.is_some_and(|text| text.contains("cannot read")), "{input}");
    }
    env.write("lockstep.toml", "[gates]\nunreadable = \"deny\"\n");
    for input in &unreadable {
        assert!(denied(&env.hook(&workflow(input.clone()))).is_some(), "{input}");
    }
    env.write("lockstep.toml", "[gates]\nprompt = \"off\"\n");
    for input in &unreadable {
        assert_eq!(env.hook(&workflow(input.clone())).assert_success(), "", "{input}");
    }
}

#[test]
fn workflows_are_left_alone_where_nothing_names_a_step() {
    let env = configured("");
    for input in [
        json!({"script": "await agent('review ' + file + ' in steps/' + n)", "args": ["nodes-1 includes the rest"]}),
        json!({"scriptPath": "/etc/hostname"}),
        json!({"name": "deep-research"}),
        json!({}),
    ] {
        assert_eq!(env.hook(&workflow(input.clone())).assert_success(), "", "{input}");
    }
    // A marker shows itself that it concerns a step.
    let named = json!({"script": "await agent('<!-- DES-VALIDATION: required -->' + rest)"});
    assert!(question(&env.hook(&workflow(named))).is_some());
}

#[test]
fn gate_2_finds_the_step_of_a_workflows_agent() {
    let env = with_step();
    yes(&env, "step phase start 01-01 RED");
    assert_eq!(denied(&env.hook(&workflow(json!({"script": script(&prompt(&env))})))), None);
    let own = workflow_transcript(&env, "a1", &prompt(&env));
    let stop = HookEvent::from_sample(samples::SUBAGENT_STOP_WORKFLOW)
        .by_agent("a1", "workflow-subagent")
        .with("agent_transcript_path", own.to_str().unwrap());
    assert!(asked(&env.hook(&stop)).is_some_and(|text| text.contains("RED left IN_PROGRESS")));
}

#[test]
fn agent_without_a_transcript_does_not_get_the_step_of_another() {
    let env = with_step();
    yes(&env, "step phase start 01-01 RED");
    assert_eq!(denied(&env.hook(&invoke(&prompt(&env)))), None);
    transcript(&env, "a1", &prompt(&env), 1);
    assert!(asked(&env.hook(&stop(&env, "a1", false))).is_some());
    // The client reports the end of an agent before it writes the agent's transcript, or when it has written nothing into it.
    let missing = transcript(&env, "a2", "", 0);
    assert_eq!(asked(&env.hook(&stop(&env, "a2", false))), None);
    fs::remove_file(missing).unwrap();
    assert_eq!(asked(&env.hook(&stop(&env, "a2", false))), None);
    // A second invocation of the step belongs to an agent that was not seen yet.
    assert_eq!(denied(&env.hook(&invoke(&prompt(&env)))), None);
    assert!(asked(&env.hook(&stop(&env, "a3", false))).is_some_and(|text| text.contains("RED left")));
}

#[test]
fn the_boundary_holds_for_a_workflows_agent() {
    let env = with_step();
    yes(&env, "step boundary 01-01 --allow src/** --why planned");
    assert_eq!(denied(&env.hook(&workflow(json!({"script": script(&prompt(&env))})))), None);
    workflow_transcript(&env, "a1", &prompt(&env));
    let main = env.outside_dir().join("transcripts/s1.jsonl");
    let edit = |path: &str| {
        HookEvent::from_sample(samples::PRE_TOOL_USE_EDIT_IN_SUBAGENT)
            .by_agent("a1", "workflow-subagent")
            .with("transcript_path", main.to_str().unwrap())
            .with("tool_input", json!({"file_path": env.project().join(path)}))
    };
    assert!(denied(&env.hook(&edit("other.py"))).is_some_and(|why| why.contains("outside the boundary")));
    assert_eq!(denied(&env.hook(&edit("src/a.py"))), None);
}

#[test]
fn gate_2_finds_the_step_that_a_message_gave_an_agent() {
    let env = with_step();
    yes(&env, "step phase start 01-01 RED");
    let own = transcript(&env, "a1", "look around", 1);
    // It had no step when it ended first.
    assert_eq!(asked(&env.hook(&stop(&env, "a1", false))), None);
    assert_eq!(denied(&env.hook(&message("a1", &prompt(&env)))), None);
    let text =
        format!("The coordinator sent a message while you were working:\n{}\n\nAddress this.", prompt(&env));
    let line = json!({"type": "user", "isMeta": true, "message": {"role": "user", "content": text}});
    let before = fs::read_to_string(&own).unwrap();
    fs::write(&own, format!("{before}{line}\n")).unwrap();
    assert!(
        asked(&env.hook(&stop(&env, "a1", false))).is_some_and(|text| text.contains("RED left IN_PROGRESS"))
    );
}

#[test]
fn a_message_with_another_step_does_not_free_an_agent_of_its_first() {
    let env = with_step();
    yes(&env, "step new 01-02 --project auth --phases tdd-3");
    yes(&env, "step phase start 01-01 RED");
    let second = prompt(&env).replace("01-01", "01-02");
    assert_eq!(denied(&env.hook(&message("a1", &second))), None);
    let own = transcript(&env, "a1", &prompt(&env), 1);
    let line = json!({"type": "user", "message": {"role": "user", "content": second}});
    fs::write(&own, fs::read_to_string(&own).unwrap() + &line.to_string() + "\n").unwrap();
    let question = asked(&env.hook(&stop(&env, "a1", false))).unwrap();
    assert!(question.contains("steps/01-01.json") && question.contains("RED left IN_PROGRESS"), "{question}");
}
