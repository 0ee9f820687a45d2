//! Every tool of `lockstep mcp`, with good and with bad arguments, and who may write the task.

use std::collections::BTreeSet;

use lockstep_cache::fixture::{self, FixtureSize};
use lockstep_testkit::TestEnv;
use serde_json::{Value, json};

use crate::mcp_session::{Session, text};
use crate::steps::yes;
use crate::task_pipeline::{gate, l2};
use crate::{configured, inactive, rename_fixtures};

/// A project with something of everything: a change to follow, a step, a task, a framework, and what a phase leaves.
pub(crate) fn workshop() -> TestEnv {
    let env = rename_fixtures::rust(1, 2);
    fixture::write(&env.project(), FixtureSize::SMALL).unwrap();
    env.write("src/auth.rs", "x\n");
    env.write("work/1/L2-summary.md", l2("P1-work"));
    env.write("work/1/gate-record.yaml", gate(1));
    yes(&env, "step new 01-01 --project auth --phases tdd-3");
    env.git(["add", "--all", "--", ":!src/f0.rs"]);
    env.git(["commit", "--quiet", "--message", "more"]);
    yes(&env, "task new --title auth --intent login --skill brainstorming-pipeline");
    env
}

/// Arguments that fit and arguments that do not, for every tool, in an order in which they can be called.
pub(crate) fn calls() -> Vec<(&'static str, Value, Value)> {
    let l2 = "work/1/L2-summary.md";
    vec![
        ("impact", json!({}), json!({"rev": "no..such", "history": true})),
        ("references", json!({"name": "src/f0.rs"}), json!({"name": "no_such_thing_anywhere"})),
        ("dangling_references", json!({}), json!({"surprise": 1})),
        ("map_entry", json!({"path": "src/f0.rs"}), json!({"path": "no/such/file.rs"})),
        ("cascade_status", json!({}), json!({"id": "first"})),
        ("cascade_start", json!({"tier": "TRIVIAL"}), json!({"tier": "HUGE"})),
        ("cascade_next", json!({}), json!({"id": 99})),
        ("cascade_done", json!({"not_needed": "src/r1/m0.rs", "why": "generated"}), json!({"group": "1a"})),
        ("step_show", json!({"step": "01-01"}), json!({"step": "../../etc/passwd"})),
        (
            "step_phase_start",
            json!({"step": "01-01", "phase": "RED", "as": "crafter"}),
            json!({"step": "01-01", "phase": "NO"}),
        ),
        (
            "step_phase_done",
            json!({"step": "01-01", "phase": "RED", "outcome": "PASS", "details": "seen"}),
            json!({"step": "01-01", "phase": "RED", "run": "true"}),
        ),
        (
            "step_phase_skip",
            json!({"step": "01-01", "phase": "GREEN", "blocked_by": "NOT_APPLICABLE: nothing to do"}),
            json!({"step": "01-01", "phase": "GREEN", "blocked_by": "because"}),
        ),
        (
            "prompt_check",
            json!({"prompt": "<!-- DES-VALIDATION: required -->\nDo it."}),
            json!({"prompt": 7}),
        ),
        ("audit_show", json!({"step": "01-01"}), json!({"since": "yesterday"})),
        ("task_show", json!({"section": "user_intent"}), json!({"version": 99})),
        (
            "task_update",
            json!({"base": 1, "section": "constraints", "value": [{"id": "C-1", "constraint": "none", "source": "user"}], "as": "lead"}),
            json!({"base": 1, "document": {}, "section": "constraints", "as": "lead"}),
        ),
        ("phase_enter", json!({"phase": "P1"}), json!({"phase": "P12"})),
        (
            "phase_complete",
            json!({"phase": "P1", "l2": l2, "gate": "work/1/gate-record.yaml", "as": "lead"}),
            json!({"phase": "P1", "l2": "work/9/none.md", "as": "lead"}),
        ),
        ("cache_section", json!({"name": "CONSTITUTION"}), json!({"name": "NO_SUCH"})),
    ]
}

#[test]
fn every_tool_with_good_and_with_bad_arguments() {
    let env = workshop();
    let mut session = Session::start(&env);
    let listed = session.request("tools/list", json!({}))["result"]["tools"].clone();
    let tools = listed.as_array().unwrap();
    let names: BTreeSet<&str> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(
        calls().iter().map(|(name, ..)| *name).collect::<BTreeSet<_>>(),
        names,
        "no tool is forgotten"
    );
    for (name, good, bad) in calls() {
        let output = session.fails(name, bad);
        // The problem, and its fix.
        assert!(
            output.starts_with("error: ")
                || output.starts_with("refused, ")
                || output.starts_with("not ready"),
            "{name}: {output}"
        );
        assert!(output.contains("hint: ") || output.contains("\n- "), "{name}: {output}");
        let result = session.call(name, good);
        assert_eq!(result["isError"], false, "{name}: {result:#}");
        assert!(!text(&result).is_empty(), "{name}");
        let tool = tools.iter().find(|tool| tool["name"] == name).unwrap();
        let schema = jsonschema::validator_for(&tool["outputSchema"]).unwrap();
        let problems: Vec<String> =
            schema.iter_errors(&result["structuredContent"]).map(|e| e.to_string()).collect();
        assert!(problems.is_empty(), "{name}: {problems:?}\n{result:#}");
        assert!(result["structuredContent"].get("next_cursor").is_none(), "{name}");
    }
    let (code, stderr, rest) = session.end();
    assert_eq!((code, stderr.as_str(), rest.len()), (Some(0), "", 0));
}

#[test]
fn tool_output_equals_command_output() {
    let env = workshop();
    // With all facts, so that no answer makes the next one's index another.
    yes(&env, "index --quiet");
    let mut session = Session::start(&env);
    let cli = |args: &[&str]| -> Value {
        let output = env.lockstep(args.iter().chain(&["--format", "json"]));
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let mut impact = (session.data("impact", json!({})), cli(&["impact"]));
    for report in [&mut impact.0, &mut impact.1] {
        // The only thing that differs from run to run.
        report.as_object_mut().unwrap().remove("timings_ms").unwrap();
    }
    assert_eq!(impact.0, impact.1);
    assert_eq!(impact.0["impact_candidates"], 2);
    assert_eq!(session.data("references", json!({"name": "r1m0_old"})), cli(&["refs", "r1m0_old"]));
    assert_eq!(
        session.data("references", json!({"name": "src/r1/m0.rs", "out": true})),
        cli(&["refs", "--out", "src/r1/m0.rs"])
    );
    assert_eq!(session.data("dangling_references", json!({})), cli(&["refs", "--dangling"]));
    let mut entry = session.data("map_entry", json!({"path": "src/r1/m0.rs"}));
    assert_eq!(entry.as_object_mut().unwrap().remove("unseen_files"), Some(0.into()));
    assert_eq!(entry, cli(&["map", "show", "src/r1/m0.rs"]));
    assert_eq!(session.data("cascade_status", json!({})), json!({"cascade": null}));
    session.data("cascade_start", json!({}));
    assert_eq!(session.data("cascade_status", json!({}))["cascade"], cli(&["cascade", "status"]));
    session.data("cascade_next", json!({}));
    assert_eq!(session.data("cascade_next", json!({})), cli(&["cascade", "next"]));
    assert_eq!(
        session.data("step_show", json!({"step": "01-01"}))["document"],
        cli(&["step", "show", "01-01"])
    );
    assert_eq!(session.data("audit_show", json!({}))["entries"], cli(&["audit", "show"]));
    assert_eq!(session.data("task_show", json!({})), cli(&["task", "show"]));
    assert_eq!(session.data("phase_enter", json!({"phase": "P1"})), cli(&["phase", "enter", "P1"]));
    assert_eq!(
        session.data("cache_section", json!({"name": "CONSTITUTION"})),
        cli(&["cache", "section", "CONSTITUTION"])
    );
    let prompt = "<!-- DES-VALIDATION: required -->\nDo it.";
    env.write("prompt.md", prompt);
    assert_eq!(
        session.data("prompt_check", json!({"prompt": prompt})),
        cli(&["prompt", "check", "prompt.md"])
    );
    assert_eq!(session.end().0, Some(0));
}

#[test]
fn cascade_converges_through_tools() {
    let env = rename_fixtures::rust(1, 1);
    let mut session = Session::start(&env);
    let started = session.data("cascade_start", json!({}));
    assert_eq!(started["cascade"]["active"], true, "{started:#}");
    let next = session.data("cascade_next", json!({}));
    assert_eq!(next["groups"][0]["files"], json!(["src/r1/m0.rs"]));
    assert!(next["groups"][0]["prompt"].as_str().unwrap().contains("f0_new"));
    // A claim alone counts for nothing.
    let claimed = session.data("cascade_done", json!({"group": "1a", "status": "complete"}));
    assert_eq!(claimed["cascade"]["active"], true, "{claimed:#}");
    session.data("cascade_next", json!({}));
    let file = env.project().join("src/r1/m0.rs");
    std::fs::write(&file, std::fs::read_to_string(&file).unwrap().replace("f0_old", "f0_new")).unwrap();
    let done = session.data("cascade_done", json!({"group": "1a", "status": "complete", "report": "done"}));
    assert_eq!(
        (&done["cascade"]["status"], &done["cascade"]["convergence"]),
        (&"converged".into(), &true.into())
    );
    let report = session.request("resources/read", json!({"uri": "lockstep://cascades/1/report.md"}));
    assert!(report["result"]["contents"][0]["text"].as_str().unwrap().contains("converged"), "{report:#}");
}

/// A value of a section as one agent would write it.
fn update(base: u64, who: Option<&str>) -> Value {
    let mut input =
        json!({"base": base, "section": "user_intent", "value": format!("by {who:?} from {base}")});
    if let Some(who) = who {
        input["as"] = who.into();
    }
    input
}

#[test]
fn task_update_checks_access_and_base_version() {
    let env = workshop();
    let mut session = Session::start(&env);
    // A caller without an identity is not treated as the Lead.
    let output = session.fails("task_update", update(1, None));
    assert!(output.contains("nobody said who writes the task") && output.contains("\"lead\""), "{output}");
    let output = session.fails("phase_complete", json!({"phase": "P1", "l2": "work/1/L2-summary.md"}));
    assert!(output.contains("nobody said who writes the task"), "{output}");
    // The rules are those of the command line.
    let output = session.fails("task_update", update(1, Some("analyst")));
    assert!(output.contains("analyst"), "{output}");
    env.write("intent.yaml", "x\n");
    let cli = env.lockstep([
        "task",
        "update",
        "intent.yaml",
        "--section",
        "user_intent",
        "--base",
        "1",
        "--as",
        "analyst",
    ]);
    assert_eq!(String::from_utf8(cli.stdout).unwrap(), output);
    assert_eq!(cli.code, Some(1));
    // Compare and swap.
    assert_eq!(session.data("task_update", update(1, Some("lead")))["version"], 2);
    let output = session.fails("task_update", update(1, Some("lead")));
    assert!(output.contains("PT-v2"), "{output}");
    assert_eq!(session.data("task_show", json!({}))["document"]["user_intent"], "by Some(\"lead\") from 1");
    // Both verdicts are in the audit, with the tool.
    let events = std::fs::read_to_string(env.state().join("events.jsonl")).unwrap();
    let of = |verdict: &str| {
        let lines = events.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        lines.filter(|entry| entry["tool"] == "mcp task_update" && entry["verdict"] == verdict).count()
    };
    assert_eq!((of("granted"), of("refused")), (1, 2), "{events}");
}

#[test]
fn a_server_for_one_agent_acts_for_no_other() {
    let env = workshop();
    let mut session = Session::silent(env.command(["mcp", "--as", "rsil-agent"]));
    session.greet();
    // It may write phase_status only, regardless of the identity it claims.
    let output = session.fails("task_update", update(1, None));
    assert!(output.contains("rsil-agent"), "{output}");
    let output = session.fails("task_update", update(1, Some("lead")));
    assert!(output.contains("this server acts for rsil-agent, and not for lead"), "{output}");
    let status = json!({"P1": {"status": "IN_PROGRESS"}});
    let written = session.data("task_update", json!({"base": 1, "section": "phase_status", "value": status}));
    assert_eq!(written["version"], 2);
}

#[test]
fn commands_are_run_only_where_the_server_was_started_so() {
    let env = workshop();
    let mut session = Session::start(&env);
    session.data("step_phase_start", json!({"step": "01-01", "phase": "RED"}));
    let marker = env.project().join("ran");
    let done = json!({"step": "01-01", "phase": "RED", "run": format!("touch {}; false", marker.display())});
    let output = session.fails("step_phase_done", done.clone());
    assert!(
        output.contains("runs no commands") && output.contains("--allow-run") && !marker.exists(),
        "{output}"
    );
    let mut session = Session::silent(env.command(["mcp", "--allow-run"]));
    session.greet();
    let written = session.data("step_phase_done", done);
    assert_eq!((&written["phase"]["outcome"], marker.exists()), (&"PASS".into(), true), "{written:#}");
}

#[test]
fn tools_without_a_project_answer_or_name_what_is_missing() {
    let env = inactive();
    env.git(["init", "--quiet"]);
    env.write("a.py", "def hello():\n    pass\n");
    env.write("b.py", "from a import hello\nhello()\n");
    env.git(["add", "--all"]);
    env.git(["commit", "--quiet", "--message", "first"]);
    env.write("a.py", "def greet():\n    pass\n");
    let before = env.dir_snapshot().without("home");
    let mut session = Session::start(&env);
    assert_eq!(session.data("impact", json!({}))["impacts"][0]["dependents"][0]["breaks"], true);
    assert_eq!(session.data("references", json!({"name": "a.py"}))["references"][0]["file"], "b.py");
    session.data("dangling_references", json!({}));
    assert_eq!(session.data("map_entry", json!({"path": "a.py"}))["refd_by"], json!(["b.py"]));
    for (name, good, _) in calls() {
        if !["impact", "references", "dangling_references", "map_entry"].contains(&name) {
            let output = session.fails(name, good);
            assert!(
                output.contains("no lockstep.toml") && output.contains("lockstep init"),
                "{name}: {output}"
            );
        }
    }
    assert_eq!(session.request("resources/list", json!({}))["result"]["resources"], json!([]));
    let refused = session.request("resources/read", json!({"uri": "lockstep://task"}));
    assert!(refused["error"]["message"].as_str().unwrap().contains("lockstep init"), "{refused}");
    assert_eq!(session.end().0, Some(0));
    assert_eq!(env.dir_snapshot().without("home"), before, "nothing is written into the tree");
}

#[test]
fn running_server_reports_and_rereads_an_invalid_configuration() {
    let env = configured("[task]\nmax_bites = 3\n");
    let mut session = Session::start(&env);
    let output = session.fails("task_show", json!({}));
    assert!(output.contains("max_bites"), "{output}");
    env.configure("");
    assert!(session.fails("task_show", json!({})).contains("lockstep task new"));
}

#[test]
fn resources_are_listed_and_read_and_names_do_not_lead_elsewhere() {
    let env = workshop();
    yes(&env, "cache build --quiet");
    env.write(".lockstep/reports/s1/3.md", "# Report\n");
    env.write(".lockstep/reports/s1/3.yaml", "domain: execution\n");
    env.write(".lockstep/reports/s1/3.exe", "no\n");
    env.write("secret.md", "secret\n");
    std::os::unix::fs::symlink(env.project().join("secret.md"), env.state().join("reports/s1/4.md")).unwrap();
    let mut session = Session::start(&env);
    let listed = session.request("resources/list", json!({}))["result"]["resources"].clone();
    let uris: Vec<&str> = listed.as_array().unwrap().iter().map(|one| one["uri"].as_str().unwrap()).collect();
    for uri in [
        "lockstep://task",
        "lockstep://map",
        "lockstep://cache/CONSTITUTION",
        "lockstep://reports/s1/3.md",
        "lockstep://reports/s1/3.yaml",
    ] {
        assert!(uris.contains(&uri), "{uri} is not in {uris:?}");
    }
    assert!(!uris.iter().any(|uri| uri.contains("exe") || uri.contains("4.md")), "{uris:?}");
    for uri in &uris {
        let read = session.request("resources/read", json!({"uri": uri}));
        assert_eq!(read["result"]["contents"][0]["uri"], *uri, "{read:#}");
    }
    let read = |session: &mut Session, uri: &str| session.request("resources/read", json!({"uri": uri}));
    let section = yes(&env, "cache section CONSTITUTION --quiet");
    assert_eq!(read(&mut session, "lockstep://cache/CONSTITUTION")["result"]["contents"][0]["text"], section);
    assert_eq!(
        read(&mut session, "lockstep://task/1")["result"]["contents"][0]["text"],
        yes(&env, "task show")
    );
    let templates =
        session.request("resources/templates/list", json!({}))["result"]["resourceTemplates"].clone();
    assert!(templates.as_array().unwrap().len() >= 6, "{templates:#}");
    for uri in [
        "lockstep://task/99",
        "lockstep://task/x",
        "lockstep://tasks",
        "lockstep://reports/s1/4.md",
        "lockstep://reports/s1/3.exe",
        "lockstep://reports/../3.md",
        "lockstep://reports/s1/../../../secret.md",
        "lockstep://cascades/../report.md",
        "lockstep://cache/NO_SUCH",
        "file:///etc/passwd",
        "",
    ] {
        let refused = read(&mut session, uri);
        assert!(refused["error"]["message"].is_string(), "{uri}: {refused}");
    }
}
