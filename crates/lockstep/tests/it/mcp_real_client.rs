//! `lockstep mcp` in a real Claude Code session (`--mcp-config`): what a tool says reaches the model's next request, whole. Skipped,
//! and said so, where the client cannot be had.

use std::path::Path;

use lockstep_rehearsal::client::Client;
use lockstep_rehearsal::run::Rehearsal;
use lockstep_rehearsal::scenario::Scenario;
use lockstep_rehearsal::transcript::Agent;
use serde_json::json;

use crate::active;
use crate::steps::yes;

#[test]
fn what_tools_say_reaches_the_model() {
    let Some(client) = Client::obtain_or_skip() else { return };
    let env = active();
    env.git(["init", "--quiet"]);
    env.write("a.py", "def hello():\n    pass\n");
    env.write("b.py", "from a import hello\nhello()\n");
    // As many references as make several pages.
    let uses: String = (0..1_500).map(|n| format!("far()  # number {n:04}\n")).collect();
    env.write("long.py", "def far():\n    pass\n");
    env.write("use.py", format!("from long import far\n{uses}"));
    env.git(["add", "--all"]);
    env.git(["commit", "--quiet", "--message", "first"]);
    env.write("a.py", "def greet():\n    pass\n");
    yes(&env, "task new --title auth --intent login");
    let servers =
        json!({"mcpServers": {"lockstep": {"command": env!("CARGO_BIN_EXE_lockstep"), "args": ["mcp"]}}});
    let config = env.elsewhere().join("mcp.json");
    std::fs::write(&config, servers.to_string()).unwrap();
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
    // The rules apply to whom the caller says it is.
    let refused = "refused, for 1 reason; nothing was written";
    assert_eq!(transcript.who_saw(refused), [Agent::subagent("WRITER")].into(), "{transcript}");
    assert!(yes(&env, "task show").contains("by the lead"));
}
