//! The tools and the hook events of the tested clients are in the routing table. A new one has to be
//! reviewed: it may start an agent or change a file. Skipped with a message if the client is not available.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use lockstep_cli::hook::known::{IGNORED_EVENTS, TOOLS};
use lockstep_cli::hook::routing::REGISTRATIONS;
use lockstep_rehearsal::run::Rehearsal;
use lockstep_rehearsal::scenario::{Scenario, Turn};
use lockstep_rehearsal::transcript::ModelRequest;
use lockstep_testkit::client::{VERSIONS, find_client_or_skip, version_of_test};

use crate::inactive;

/// The tools in a request: those with a schema, and those that are only named.
fn tools(request: &ModelRequest) -> BTreeSet<String> {
    let given = request.body["tools"].as_array().into_iter().flatten();
    let mut names: BTreeSet<String> = given.map(|tool| tool["name"].as_str().unwrap().to_owned()).collect();
    for text in request.texts() {
        let Some((_, list)) = text.text.split_once("deferred tools are now available") else { continue };
        let lines = list.lines().skip(1).take_while(|line| !line.is_empty());
        names.extend(lines.map(str::to_owned));
    }
    names
}

/// The hook events that a client takes in its settings.
fn events(program: &Path) -> BTreeSet<String> {
    longest_list(program, r#"\["PreToolUse","PostToolUse"[A-Za-z",]*\]"#)
}

/// The longest list of names in the program that matches an expression.
fn longest_list(program: &Path, list: &str) -> BTreeSet<String> {
    let output = Command::new("grep").args(["-aoE", list]).arg(program).output().unwrap();
    let lists = String::from_utf8(output.stdout).unwrap();
    let names = lists.lines().filter_map(|list| serde_json::from_str::<BTreeSet<String>>(list).ok());
    names.max_by_key(BTreeSet::len).unwrap_or_default()
}

fn every_tool_of_the_client_is_known() {
    let Some(client) = find_client_or_skip() else { return };
    let env = inactive();
    let mut scenario = Scenario::new("Say hello.");
    scenario.lead = vec![Turn::text("Hello.")];
    let rehearsal = Rehearsal::new(client.clone(), scenario, env.project()).with_task_list();
    let outcome = rehearsal.run().unwrap();
    let mut found = tools(outcome.transcript.lead().requests().first().expect("the Lead asked the model"));
    for tool in ["Agent", "Bash", "SendMessage", "TaskCreate", "TaskUpdate"] {
        assert!(found.contains(tool), "{tool} is missing in {found:?}");
    }
    // The newest program also lists the tools that it offers on other systems or in other modes.
    let listed = longest_list(client.program(), r#"\["Agent",[A-Za-z_",]*\]"#);
    assert!(listed.len() > 40 || version_of_test() != VERSIONS[0], "{listed:?}");
    found.extend(listed);
    let known: BTreeSet<&str> = TOOLS.iter().map(|(name, _)| *name).collect();
    let new: Vec<&String> = found.iter().filter(|name| !known.contains(name.as_str())).collect();
    assert!(new.is_empty(), "judge these tools and add them to hook/known.rs: {new:?}");
}

fn every_hook_event_of_the_client_is_known() {
    let Some(client) = find_client_or_skip() else { return };
    let found = events(client.program());
    assert!(found.len() >= 30, "{found:?}");
    let registered = REGISTRATIONS.iter().map(|registration| registration.event);
    let known: BTreeSet<&str> = registered.clone().chain(IGNORED_EVENTS.iter().copied()).collect();
    let new: Vec<&String> = found.iter().filter(|name| !known.contains(name.as_str())).collect();
    assert!(new.is_empty(), "judge these events and add them to hook/known.rs: {new:?}");
    let removed: Vec<&str> = registered.filter(|event| !found.contains(*event)).collect();
    assert!(removed.is_empty(), "the client does not know these events: {removed:?}");
}

/// Every tool that the table gives a purpose is one that the matchers let through.
#[test]
fn tools_that_are_decided_are_registered() {
    let decided =
        REGISTRATIONS.iter().find(|one| one.event == "PreToolUse").and_then(|one| one.matcher).unwrap();
    let names = decided.strip_prefix("^(").and_then(|names| names.strip_suffix(")$")).unwrap();
    let decided: BTreeSet<&str> = names.split('|').collect();
    for (tool, purpose) in TOOLS {
        let is_decided = purpose.is_some_and(|purpose| purpose.contains(':'));
        assert_eq!(decided.contains(tool), is_decided, "{tool}");
    }
}

on_each_client!(every_tool_of_the_client_is_known, every_hook_event_of_the_client_is_known);
