//! The real binary, seen from outside: one file per subject. Real processes, real files, real git; nothing is stubbed.

#![allow(clippy::unwrap_used)] // A helper that panics fails its test, which is its purpose.

// Macros that make a test for each pinned version of the client.
#[macro_use]
extern crate lockstep_testkit;

mod agents_client;
mod attribution;
mod bash_edits;
mod blocking_files;
mod cache;
mod cache_delivery;
mod cache_guide;
mod cache_real_client;
mod cache_reference_builder;
mod cascade;
mod cascade_agents;
mod cascade_client;
mod cascade_crashes;
mod cascade_guide;
mod cascade_hooks;
mod cascade_run;
mod cascade_verdicts;
mod changes;
mod ci_action;
mod command_line;
mod concurrency;
mod conformance;
mod crashes;
mod doc_examples;
mod doctor;
mod everyday;
mod first_stop;
mod first_stop_commands;
mod first_stop_states;
mod first_stop_unparsed;
mod frameworks;
mod fuzz;
mod gate_modes;
mod git_moves;
mod guide;
mod hooks;
mod hostile_events;
mod hostile_files;
mod hostile_input;
mod hostile_paths;
mod hostile_sources;
mod hostile_system;
mod impact;
mod impact_formats;
mod impact_reports;
mod inactive;
mod index;
mod installed;
mod invariants;
mod map;
mod map_check;
mod map_concurrency;
mod map_guide;
mod map_random_edits;
mod mcp_guide;
mod mcp_protocol;
mod mcp_real_client;
mod mcp_sdk;
mod mcp_session;
mod mcp_tools;
mod moves;
mod paths;
mod plugin_client;
mod plugin_lint;
mod plugin_setup;
mod plugin_skills;
mod pre_commit;
mod projects;
mod real_client;
mod refs;
mod rename_fixtures;
mod sessions;
mod setup;
mod steps;
mod steps_agent_tools;
mod steps_audit;
mod steps_boundary;
mod steps_client;
mod steps_commits;
mod steps_concurrency;
mod steps_forgery;
mod steps_gate_bypass;
mod steps_guide;
mod steps_hooks;
mod system;
mod task_client;
mod task_documents;
mod task_guide;
mod task_hooks;
mod task_pipeline;
mod task_shell;
mod task_versions;
mod terminal_output;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use lockstep_testkit::{HookEvent, TestEnv};

/// An environment whose project has no `lockstep.toml`.
fn inactive() -> TestEnv {
    TestEnv::inactive(env!("CARGO_BIN_EXE_lockstep"))
}

/// An environment with an active project.
fn active() -> TestEnv {
    TestEnv::active(env!("CARGO_BIN_EXE_lockstep"))
}

/// An environment with an active project that is configured so.
fn configured(config: &str) -> TestEnv {
    let env = active();
    env.configure(config);
    env
}

/// Gives each of these Python modules a user of the `hello` that recorded edits change, and builds the index:
/// a change of the module then has a dependent.
fn plant_users(env: &TestEnv, modules: &[&str]) {
    for module in modules {
        env.write(format!("use_{module}.py"), format!("from {module} import hello\n"));
    }
    env.lockstep(["index", "--quiet"]).assert_success();
}

/// Every event that leads somewhere and only observes, as the Lead or a subagent causes it.
fn observed() -> Vec<HookEvent> {
    vec![
        HookEvent::session_start(),
        HookEvent::prompt(),
        HookEvent::edit("a.py"),
        HookEvent::edit("a.py").by_agent("a1", "implementer"),
        HookEvent::bash(),
        HookEvent::agent_done(),
        HookEvent::subagent_start("a1", "implementer"),
        HookEvent::subagent_stop("a1", "implementer"),
        HookEvent::stop(),
        HookEvent::session_end(),
    ]
}

/// A file that is not listed above would silently not be tested.
#[test]
fn every_test_file_is_a_module() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it");
    let text = fs::read_to_string(folder.join("main.rs")).unwrap();
    let named: BTreeSet<String> = text
        .lines()
        .filter_map(|line| Some(format!("{}.rs", line.strip_prefix("mod ")?.strip_suffix(';')?)))
        .chain(["main.rs".to_owned()])
        .collect();
    let there: BTreeSet<String> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(".rs"))
        .collect();
    assert_eq!(named, there);
}
