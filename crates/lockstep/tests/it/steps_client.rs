//! The gates in a real Claude Code session, with the hooks that `lockstep init` registers. The client's
//! requests to the model are the evidence. Skipped with a message if the client is not available.

use std::path::Path;

use lockstep_rehearsal::run::Rehearsal;
use lockstep_rehearsal::scenario::Scenario;
use lockstep_rehearsal::transcript::{RequestAgent, TextSource};
use lockstep_testkit::TestEnv;
use lockstep_testkit::client::find_client_or_skip;
use serde_json::Value;

use crate::inactive;
use crate::steps::yes;

/// A prompt of the step as JSON text without its quotes, with a tag by which the script knows the agent.
fn prompt(env: &TestEnv, step: &str, tag: &str) -> String {
    let args = ["prompt", "render", "execute_step", "--step", step, "--set", "agent_name=crafter"];
    let description = format!("description={tag}: do the step");
    let prompt = env.lockstep(args.into_iter().chain(["--set", &description])).assert_success();
    let quoted = serde_json::to_string(&prompt).unwrap();
    quoted.trim_matches('"').to_owned()
}

fn a_session_with_every_gate() {
    let env = inactive();
    let Some(client) = find_client_or_skip() else { return };
    env.git(["init", "--quiet"]);
    for (key, value) in [("user.name", "Test"), ("user.email", "test@example.org")] {
        env.git(["config", key, value]);
    }
    env.write(".gitignore", ".lockstep/\nsteps/audit-*.log\n");
    yes(&env, "init --client claude --git-hook --quiet");
    for step in ["01-01", "01-02"] {
        yes(&env, &format!("step new {step} --project auth --phases tdd-3"));
    }
    let careless = prompt(&env, "01-01", "CARELESS");
    let incomplete =
        careless.replace("## AGENT_IDENTITY", "## WHO").replace("- G4", "- H4").replace("CARELESS", "NOBODY");
    let scenario = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scenarios/step-gates.toml");
    let text = std::fs::read_to_string(scenario).unwrap();
    let text = text
        .replace("{lockstep}", env!("CARGO_BIN_EXE_lockstep"))
        .replace("{incomplete}", &incomplete)
        .replace("{careless}", &careless)
        .replace("{careful}", &prompt(&env, "01-02", "CAREFUL"));
    let rehearsal = Rehearsal::new(client, Scenario::parse(&text).unwrap(), env.project());
    let outcome = rehearsal.home(env.home()).env("TMPDIR", env.tmp()).run().unwrap();
    let transcript = &outcome.transcript;
    assert!(outcome.success(), "{outcome:?}");
    assert!(
        outcome.unplayed.is_empty(),
        "the session took another way: {:?}\n{transcript}",
        outcome.unplayed
    );

    // The incomplete prompt: the Lead's very next request holds every error with its suggestion.
    for text in [
        "MISSING: Mandatory section 'AGENT_IDENTITY' not found. Suggestion: Add ## AGENT_IDENTITY section to prompt template.",
        "INCOMPLETE: 'G4' not mentioned in section QUALITY_GATES. Suggestion: Add G4 to QUALITY_GATES section.",
    ] {
        assert_eq!(transcript.lead().first_with(text), Some(1), "{transcript}");
        assert_eq!(transcript.recipients_of(text), [RequestAgent::Lead].into());
    }

    // Each agent was asked once: the careless one twice would be a loop, and its script has no more turns.
    let question = "Phase RED left IN_PROGRESS (abandoned)";
    let asked = "This is said once: if it stays so, the step is set to FAILED.";
    assert_eq!(
        transcript.recipients_of(asked),
        ["CARELESS", "CAREFUL"].map(RequestAgent::subagent).into(),
        "{transcript}"
    );
    for tag in ["CARELESS", "CAREFUL"] {
        let conversations = transcript.subagents(tag);
        assert_eq!(conversations.len(), 1, "{transcript}");
        // The newest version repeats it to the model as an error of the hook.
        let last = conversations[0].texts(conversations[0].requests().len() - 1);
        let questions = last.iter().filter(|text| text.kind == TextSource::User && text.text.contains(asked));
        assert_eq!(questions.count(), 1, "{transcript}");
    }

    // The careless agent's step is FAILED, and the Lead is notified with the agent's result.
    let failed: Value =
        serde_json::from_str(&std::fs::read_to_string(env.project().join("steps/01-01.json")).unwrap())
            .unwrap();
    assert_eq!(failed["state"]["status"], "FAILED", "{failed}");
    assert_eq!(failed["state"]["failure_reason"], question);
    assert!(!failed["state"]["recovery_suggestions"].as_array().unwrap().is_empty());
    let output = "The step steps/01-01.json was set to FAILED when crafter";
    assert_eq!(transcript.lead().first_with(output), Some(2), "{transcript}");
    assert_eq!(transcript.lead().count(output), 1);
    assert_eq!(transcript.lead().count("The step steps/01-02.json was set to FAILED"), 0);

    // The commit: refused while GREEN is deferred, made after it was done.
    assert!(transcript.lead().count("Phase GREEN is put off (DEFERRED: later)") >= 1, "{transcript}");
    assert!(transcript.lead().count("COMMITTED") >= 1, "{transcript}");
    let log = env.git_output(["log", "--format=%s"]).assert_success();
    assert_eq!(log, "late\n");
    assert!(yes(&env, "audit verify").contains("steps: whole"));
    assert!(env.log_lines().is_empty(), "{:?}", env.log_lines());
}

on_each_client!(a_session_with_every_gate,);
