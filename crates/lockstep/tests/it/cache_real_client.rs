//! The cache in complete sessions of a real Claude Code: compares the client's requests to the model with the
//! cache. Skipped with a message if the client is not available.

use std::path::Path;

use lockstep_cache::fixture::{self, FixtureSize};
use lockstep_rehearsal::run::{Rehearsal, RehearsalResult};
use lockstep_rehearsal::scenario::Scenario;
use lockstep_rehearsal::transcript::RequestAgent;
use lockstep_testkit::TestEnv;
use lockstep_testkit::client::find_client_or_skip;
use serde_json::Value;

use crate::cache::cache_text;
use crate::inactive;

/// The client's texts when it moved a hook's text into a file.
const PREVIEWS: [&str; 2] = ["saved to", "Output too large"];

/// A project with a cache of about 170,000 characters, and a session in it that starts a subagent of the type `agent-03`.
fn play(env: &TestEnv, deliver: &str) -> Option<RehearsalResult> {
    let client = find_client_or_skip()?;
    fixture::write(&env.project(), FixtureSize::USUAL).unwrap();
    env.configure(&format!("[cache]\nbudget_chars = 200000\ndeliver = \"{deliver}\"\n"));
    env.lockstep(["init", "--client", "claude", "--quiet"]).assert_success();
    assert!(cache_text(env).encode_utf16().count() > 150_000);
    let scenario = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scenarios/session-cache.toml");
    let scenario = Scenario::read(&scenario).unwrap();
    let outcome = Rehearsal::new(client, scenario, env.project()).env("TMPDIR", env.tmp()).run().unwrap();
    assert!(outcome.success(), "{outcome:?}");
    assert!(outcome.unplayed.is_empty(), "the session took another way: {:?}", outcome.unplayed);
    assert!(env.log_lines().is_empty(), "{:?}", env.log_lines());
    Some(outcome)
}

/// The texts that the hook sends, by the command that prints them.
fn sent(env: &TestEnv, args: &[&str]) -> Vec<String> {
    let all = ["cache", "inject", "--format", "json"].iter().chain(args);
    let parts: Value = serde_json::from_str(&env.lockstep(all).assert_success()).unwrap();
    parts.as_array().unwrap().iter().map(|part| part["text"].as_str().unwrap().to_owned()).collect()
}

/// The Lead's first request has `text` exactly once, and no request has a preview of a file.
fn arrived_whole(outcome: &RehearsalResult, text: &str) {
    let transcript = &outcome.transcript;
    let lead = transcript.lead();
    let first = lead.requests().first().expect("the Lead asked the model");
    assert_eq!(first.count(text), 1, "{} …\n{transcript}", &text[..200]);
    for preview in PREVIEWS {
        assert!(transcript.recipients_of(preview).is_empty(), "{preview}: {transcript}");
    }
}

/// Asserts that only the subagent has its agent's part.
fn subagent_has_its_part(env: &TestEnv, outcome: &RehearsalResult) {
    let parts = sent(env, &["--agent", "agent-03"]);
    assert!(parts[0].contains("## Agent: agent-03\n") && parts[0].contains("External Skill: external-3"));
    assert_eq!(outcome.transcript.recipients_of(&parts[0]), [RequestAgent::subagent("LOOKER")].into());
}

fn the_models_first_request_has_the_index_whole() {
    let env = inactive();
    let Some(outcome) = play(&env, "index") else { return };
    let [index] = sent(&env, &[]).try_into().unwrap();
    arrived_whole(&outcome, &index);
    subagent_has_its_part(&env, &outcome);
}

fn the_models_first_request_has_every_section_complete() {
    let env = inactive();
    let Some(outcome) = play(&env, "full") else { return };
    let parts = sent(&env, &[]);
    assert!(parts.len() > 15, "{}", parts.len());
    parts.iter().for_each(|part| arrived_whole(&outcome, part));
    // The received text is the cache, byte for byte: each part follows the line that names it.
    let bodies: String = parts.iter().map(|part| part.split_once('\n').unwrap().1).collect();
    assert_eq!(bodies, cache_text(&env));
    subagent_has_its_part(&env, &outcome);
}

on_each_client!(
    the_models_first_request_has_the_index_whole,
    the_models_first_request_has_every_section_complete,
);
