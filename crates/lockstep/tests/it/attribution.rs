//! Attribution of changes to agents whose shell commands overlap.

use std::collections::BTreeMap;
use std::thread::sleep;
use std::time::Duration;

use lockstep_testkit::{HookEvent, TestEnv};
use lockstep_wire::claude::samples;
use serde_json::{Value, json};

use crate::active;

/// Longer than a tick of the file system's clock. A file that is written within the tick in which a command
/// ends may have been written by that command.
const TICK: Duration = Duration::from_millis(20);

fn session() -> TestEnv {
    let env = active();
    for file in ["a.py", "b.py", "c.py"] {
        env.write(file, "x = 1\n");
    }
    sleep(Duration::from_millis(50));
    env.hook(&HookEvent::session_start()).assert_silent();
    env
}

/// An event of an agent, or of the Lead.
fn by(event: HookEvent, agent: &str) -> HookEvent {
    if agent == "lead" { event.by_lead() } else { event.by_agent(agent, "implementer") }
}

fn start(env: &TestEnv, agent: &str, call: &str) {
    env.hook(&by(HookEvent::from_sample(samples::PRE_TOOL_USE_BASH).with("tool_use_id", call), agent))
        .assert_silent();
}

fn end(env: &TestEnv, agent: &str, call: &str) {
    env.hook(&by(HookEvent::bash().with("tool_use_id", call), agent)).assert_silent();
}

/// `(agents, attribution)` by file.
fn attributed(env: &TestEnv) -> BTreeMap<String, (String, String)> {
    let listing: Value =
        serde_json::from_str(&env.lockstep(["changes", "--format", "json"]).assert_success()).unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let changes = listing["changes"].as_array().unwrap().iter().map(|change| {
        let agents: Vec<String> =
            change["agents"].as_array().unwrap().iter().map(|agent| text(&agent["id"])).collect();
        let file = text(&change["path"]).rsplit('/').next().unwrap().to_owned();
        (file, (agents.join(" or "), text(&change["attribution"])))
    });
    changes.collect()
}

#[track_caller]
fn assert_attributed(env: &TestEnv, expected: &[(&str, &str, &str)]) {
    let expected: BTreeMap<_, _> = expected
        .iter()
        .map(|(file, agents, word)| ((*file).to_owned(), ((*agents).to_owned(), (*word).to_owned())))
        .collect();
    assert_eq!(attributed(env), expected);
    assert!(env.log_lines().is_empty(), "{:?}", env.log_lines());
}

#[test]
fn a_change_in_two_windows_belongs_to_both_agents() {
    let env = session();
    start(&env, "a1", "t1");
    start(&env, "a2", "t2");
    env.write("a.py", "x = 2\n");
    end(&env, "a1", "t1");
    sleep(TICK);
    env.write("b.py", "x = 2\n");
    end(&env, "a2", "t2");
    assert_attributed(&env, &[("a.py", "a1 or a2", "shared"), ("b.py", "a2", "exact")]);
    let listed = |agent: &str| env.lockstep(["changes", "--agent", agent]).assert_success();
    assert!(listed("a1").contains("a1 or a2") && !listed("a1").contains("b.py"), "{}", listed("a1"));
    assert!(listed("a2").contains("a.py") && listed("a2").contains("b.py"), "{}", listed("a2"));
    // The contract of the journal: three columns, and the agent whose command ended first.
    let journal = env.journal_text("s1");
    let columns: Vec<Vec<&str>> = journal.lines().map(|line| line.split('\t').collect()).collect();
    assert_eq!((columns[0][1], columns[0][3], columns[0][4]), ("Sweep", "a1", "t1"));
    assert!(columns[0][2].ends_with("/a.py"), "{journal}");
    assert_eq!(columns[1].len(), 5, "{journal}");
}

/// The sweep after the command of `a1` runs between the write of the tool and its event.
#[test]
fn a_file_that_another_agents_tool_is_writing_is_left_to_its_event() {
    let env = session();
    start(&env, "a1", "t1");
    let path = env.project().join("a.py");
    let before = HookEvent::from_sample(samples::PRE_TOOL_USE_EDIT_IN_SUBAGENT)
        .by_agent("a2", "implementer")
        .with("tool_use_id", "t2")
        .with("tool_input", json!({"file_path": path}));
    env.hook(&before).assert_silent();
    env.write("a.py", "x = 2\n");
    env.write("b.py", "x = 2\n");
    end(&env, "a1", "t1");
    assert_attributed(&env, &[("b.py", "a1", "exact")]);
    env.hook(&HookEvent::edit("a.py").by_agent("a2", "implementer").with("tool_use_id", "t2"))
        .assert_silent();
    env.hook(&HookEvent::stop()).assert_success();
    assert_attributed(&env, &[("a.py", "a2", "exact"), ("b.py", "a1", "exact")]);
    assert_eq!(env.journal_text("s1").lines().count(), 2, "{}", env.journal_text("s1"));
}

#[test]
fn commands_one_after_the_other_are_exact() {
    let env = session();
    for (agent, call, file) in [("a1", "t1", "a.py"), ("lead", "t2", "b.py"), ("a2", "t3", "c.py")] {
        start(&env, agent, call);
        env.write(file, "x = 2\n");
        end(&env, agent, call);
    }
    assert_attributed(&env, &[("a.py", "a1", "exact"), ("b.py", "lead", "exact"), ("c.py", "a2", "exact")]);
}

#[test]
fn a_change_while_no_command_ran_is_unknown() {
    let env = session();
    env.write("a.py", "x = 2\n");
    sleep(Duration::from_millis(30));
    start(&env, "a1", "t1");
    end(&env, "a1", "t1");
    assert_attributed(&env, &[("a.py", "a1", "unknown")]);
    assert!(env.lockstep(["changes"]).assert_success().contains("a1?"));
}

#[test]
fn a_stop_does_not_take_the_changes_of_a_running_command() {
    let env = session();
    start(&env, "a2", "t2");
    env.write("a.py", "x = 2\n");
    env.hook(&HookEvent::subagent_stop("a1", "implementer")).assert_silent();
    env.write("b.py", "x = 2\n");
    env.hook(&HookEvent::stop()).assert_silent();
    assert_attributed(&env, &[("a.py", "a2", "exact"), ("b.py", "a2", "exact")]);
}

#[test]
fn a_command_whose_end_was_not_seen_ends_with_its_agent() {
    let env = session();
    start(&env, "a1", "denied elsewhere");
    env.hook(&HookEvent::subagent_stop("a1", "implementer")).assert_silent();
    start(&env, "a2", "t2");
    env.write("a.py", "x = 2\n");
    end(&env, "a2", "t2");
    assert_attributed(&env, &[("a.py", "a2", "exact")]);
}

#[test]
fn a_background_command_runs_until_its_end_is_reported() {
    let env = session();
    start(&env, "a1", "t1");
    let launched = json!({"stdout": "", "backgroundTaskId": "b1"});
    env.hook(&by(HookEvent::bash().with("tool_use_id", "t1").with("tool_response", launched), "a1"))
        .assert_silent();
    env.hook(&HookEvent::subagent_stop("a1", "implementer")).assert_silent();
    start(&env, "a2", "t2");
    env.write("a.py", "x = 2\n");
    end(&env, "a2", "t2");
    let prompt =
        "<task-notification>\n<task-id>b1</task-id>\n<status>completed</status>\n</task-notification>";
    env.hook(&HookEvent::prompt().with("prompt", prompt)).assert_silent();
    start(&env, "a2", "t3");
    env.write("b.py", "x = 2\n");
    end(&env, "a2", "t3");
    assert_attributed(&env, &[("a.py", "a1 or a2", "shared"), ("b.py", "a2", "exact")]);
}

/// The Lead stops while its command runs in the background. No event comes between the change and the notification.
#[test]
fn change_of_a_background_command_is_attributed_when_its_end_is_reported() {
    for agent in ["lead", "a1"] {
        let env = session();
        start(&env, agent, "t1");
        let launched = json!({"stdout": "", "backgroundTaskId": "b1"});
        env.hook(&by(HookEvent::bash().with("tool_use_id", "t1").with("tool_response", launched), agent))
            .assert_silent();
        env.hook(&HookEvent::stop()).assert_silent();
        env.write("a.py", "x = 2\n");
        sleep(TICK);
        let prompt =
            "<task-notification>\n<task-id>b1</task-id>\n<status>completed</status>\n</task-notification>";
        env.hook(&HookEvent::prompt().with("prompt", prompt)).assert_silent();
        env.hook(&HookEvent::stop()).assert_silent();
        assert_attributed(&env, &[("a.py", agent, "exact")]);
    }
}

/// The end of a command that lists its edit of a file, at this line.
fn listed(agent: &str, call: &str, file: &str, line: usize, shared: bool) -> HookEvent {
    let hunks = json!([{"newStart": line, "lines": ["-x = 1", "+x = 2"]}]);
    let path = format!("/repo/{file}");
    let list = json!({"files": [{"filePath": path, "hunks": hunks}], "moreFiles": 0,
        "changedFiles": [path], "shared": shared});
    by(
        HookEvent::bash().with("tool_use_id", call).with("tool_response", json!({"bashEditDiff": list})),
        agent,
    )
}

#[test]
fn a_list_of_one_command_that_explains_the_change_is_exact() {
    for (line, shared, expected) in [
        (1, false, ("a1", "exact")),
        (1, true, ("a1 or a2", "shared")),
        // The list does not fit to the file.
        (2, false, ("a1 or a2", "shared")),
    ] {
        let env = session();
        start(&env, "a1", "t1");
        start(&env, "a2", "t2");
        env.write("a.py", "x = 2\n");
        env.hook(&listed("a1", "t1", "a.py", line, shared)).assert_silent();
        assert_attributed(&env, &[("a.py", expected.0, expected.1)]);
    }
}

#[test]
fn list_shared_with_an_unseen_command_is_unattributed() {
    let env = session();
    start(&env, "a1", "t1");
    env.write("a.py", "x = 2\n");
    env.hook(&listed("a1", "t1", "a.py", 1, true)).assert_silent();
    assert_attributed(&env, &[("a.py", "a1", "unknown")]);
}

/// The command of `a2` has ended when the change is found.
#[test]
fn change_missing_from_a_list_is_not_attributed_to_one_agent() {
    let env = session();
    start(&env, "a1", "t1");
    start(&env, "a2", "t2");
    env.write("a.py", "x = 2\n");
    env.write("c.py", "x = 2\n");
    env.hook(&listed("a2", "t2", "a.py", 1, false)).assert_silent();
    sleep(TICK);
    env.write("b.py", "x = 2\n");
    end(&env, "a1", "t1");
    assert_attributed(
        &env,
        &[("a.py", "a2", "exact"), ("b.py", "a1", "exact"), ("c.py", "a1 or a2", "shared")],
    );
    // Nothing is left of either command.
    assert_eq!(std::fs::read_dir(env.state().join("windows/s1")).unwrap().count(), 0);
}

#[test]
fn reports_and_alerts_name_every_agent_of_a_shared_change() {
    let env = session();
    env.write("user.py", "from a import x\n");
    env.lockstep(["index", "--quiet"]).assert_success();
    env.hook(&HookEvent::stop()).assert_success();
    start(&env, "a1", "t1");
    start(&env, "a2", "t2");
    env.write("a.py", "y = 1\n");
    end(&env, "a1", "t1");
    env.hook(&HookEvent::subagent_stop("a1", "implementer")).assert_silent();
    let output = env.hook(&HookEvent::agent_done()).assert_success();
    assert!(output.contains("a.py (") && output.contains("by implementer a1 or a2)"), "{output}");
    let reports = env.state().join("reports/s1");
    let texts = std::fs::read_dir(reports).unwrap().map(|entry| entry.unwrap().path());
    let found = texts.filter_map(|path| std::fs::read_to_string(path).ok());
    assert!(found.into_iter().any(|text| text.contains("## Attribution") && text.contains("a1 or a2")));
}

/// Two agents whose commands start and end in twenty different orders, each changing files of its own.
#[test]
fn no_change_is_attributed_to_a_wrong_agent_whatever_the_timing() {
    let truth = |file: &str| if file.starts_with("one") { "a1" } else { "a2" };
    for run in 0..20_u32 {
        let env = session();
        // Each agent's steps are in order; the bits of the number interleave them.
        let steps = |agent: &'static str, name: &'static str| {
            [
                (agent, "start", name, 0),
                (agent, "write", name, 1),
                (agent, "write", name, 2),
                (agent, "end", name, 3),
            ]
        };
        let (mut first, mut second) = (steps("a1", "one").into_iter(), steps("a2", "two").into_iter());
        let mut order = Vec::new();
        for bit in 0..8 {
            let takes_first = (run * 37 + 11) >> bit & 1 == 0;
            let next = if takes_first {
                first.next().or_else(|| second.next())
            } else {
                second.next().or_else(|| first.next())
            };
            order.extend(next);
        }
        let mut open: Vec<&str> = Vec::new();
        let mut alone: BTreeMap<String, bool> = BTreeMap::new();
        for (agent, step, name, at) in order {
            sleep(TICK);
            match step {
                "start" => {
                    start(&env, agent, agent);
                    open.push(agent);
                }
                "end" => {
                    end(&env, agent, agent);
                    open.retain(|one| *one != agent);
                }
                _ => {
                    let file = format!("{name}{at}.py");
                    env.write(&file, "x = 2\n");
                    alone.insert(file, open.len() == 1);
                }
            }
        }
        let attributed = attributed(&env);
        assert_eq!(attributed.len(), 4, "run {run}: {attributed:?}");
        for (file, (agents, word)) in attributed {
            assert!(agents.split(" or ").any(|agent| agent == truth(&file)), "run {run}: {file} {agents}");
            assert_eq!(word, if alone[&file] { "exact" } else { "shared" }, "run {run}: {file} {agents}");
        }
    }
}
