//! `lockstep mcp` in a real Claude Code session (`--mcp-config`): a tool's result reaches the model's next
//! request completely. Skipped with a message if the client is not available.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use lockstep_rehearsal::run::Rehearsal;
use lockstep_rehearsal::scenario::{Scenario, Turn};
use lockstep_rehearsal::transcript::RequestAgent;
use lockstep_testkit::TestEnv;
use lockstep_testkit::client::find_client_or_skip;
use serde_json::{Value, json};

use crate::active;
use crate::mcp_tools::{calls, workshop};
use crate::steps::yes;

/// A file for `--mcp-config` that names the server.
fn mcp_config(env: &TestEnv) -> PathBuf {
    let servers =
        json!({"mcpServers": {"lockstep": {"command": env!("CARGO_BIN_EXE_lockstep"), "args": ["mcp"]}}});
    let config = env.outside_dir().join("mcp.json");
    fs::write(&config, servers.to_string()).unwrap();
    config
}

fn every_tool_answers_a_real_session_and_says_which_arguments_are_wrong() {
    let Some(client) = find_client_or_skip() else { return };
    let env = workshop();
    let mut scenario = Scenario::new("Call every tool");
    for (name, good, bad) in calls() {
        for arguments in [bad, good] {
            scenario.lead.push(Turn::call(format!("mcp__lockstep__{name}"), arguments));
        }
    }
    scenario.lead.push(Turn::text("That is all."));
    let rehearsal = Rehearsal::new(client, scenario, env.project()).limit(Duration::from_secs(240));
    let rehearsal = rehearsal.home(env.home()).env("TMPDIR", env.tmp()).env("LOCKSTEP_NOW", env.now());
    let outcome = rehearsal.arg("--mcp-config").arg(mcp_config(&env)).run().unwrap();
    assert!(outcome.success() && outcome.unplayed.is_empty(), "{outcome:?}");
    let last = outcome.transcript.lead().requests().last().unwrap().body["messages"].clone();
    let blocks = last.as_array().unwrap().iter().flat_map(|message| message["content"].as_array().cloned());
    let results: Vec<Value> = blocks.flatten().filter(|block| block["type"] == "tool_result").collect();
    let expected = calls().into_iter().flat_map(|(name, ..)| [(name, true), (name, false)]);
    assert_eq!(results.len(), 2 * calls().len());
    for (result, (name, wrong)) in results.iter().zip(expected) {
        assert_eq!(result["is_error"] == true, wrong, "{name}: {result:#}");
    }
}

fn tool_results_reach_the_model() {
    let Some(client) = find_client_or_skip() else { return };
    let env = active();
    env.git(["init", "--quiet"]);
    env.write("a.py", "def hello():\n    pass\n");
    env.write("b.py", "from a import hello\nhello()\n");
    // Enough references for several pages.
    let uses: String = (0..1_500).map(|n| format!("far()  # number {n:04}\n")).collect();
    env.write("long.py", "def far():\n    pass\n");
    env.write("use.py", format!("from long import far\n{uses}"));
    env.git(["add", "--all"]);
    env.git(["commit", "--quiet", "--message", "first"]);
    env.write("a.py", "def greet():\n    pass\n");
    yes(&env, "task new --title auth --intent login");
    let config = mcp_config(&env);
    let scenario = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scenarios/mcp.toml");
    let rehearsal = Rehearsal::new(client, Scenario::read(&scenario).unwrap(), env.project());
    let outcome = rehearsal.env("TMPDIR", env.tmp()).arg("--mcp-config").arg(&config).run().unwrap();
    let transcript = &outcome.transcript;
    assert!(outcome.success() && outcome.unplayed.is_empty(), "{outcome:?}");
    // The result of each call is in the request that follows it.
    let lead = transcript.lead();
    assert_eq!(lead.first_with("\"impact_candidates\":1"), Some(1), "{transcript}");
    assert_eq!(lead.first_with("hint: it takes name (required), out"), Some(2), "{transcript}");
    assert_eq!(lead.first_with("\"written\":true,\"version\":2"), Some(4), "{transcript}");
    // A page is given whole, never as the start of a file that the client wrote, and leads on to the next.
    assert_eq!(lead.first_with("\"next_cursor\":"), Some(5), "{transcript}");
    assert_eq!(lead.count("persisted-output"), 0, "{transcript}");
    // The rules apply to the identity that the caller gives.
    let refused = "refused, for 1 reason; nothing was written";
    assert_eq!(transcript.recipients_of(refused), [RequestAgent::subagent("WRITER")].into(), "{transcript}");
    assert!(yes(&env, "task show").contains("by the lead"));
}

on_each_client!(
    every_tool_answers_a_real_session_and_says_which_arguments_are_wrong,
    tool_results_reach_the_model,
);
