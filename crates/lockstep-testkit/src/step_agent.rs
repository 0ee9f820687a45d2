//! An agent that works on the step `01-01`, as hooks see it: its prompt, its start, its transcript and its end.

use std::fs;
use std::path::PathBuf;

use lockstep_wire::claude::samples;
use serde_json::json;

use crate::{HookEvent, TestEnv};

/// A prompt that passes gate 1 for the step.
pub fn prompt(env: &TestEnv) -> String {
    let args = [
        "prompt",
        "render",
        "execute_step",
        "--step",
        "01-01",
        "--set",
        "agent_name=crafter",
        "--set",
        "description=Work",
    ];
    env.lockstep(args).assert_success()
}

pub fn invoke(prompt: &str) -> HookEvent {
    HookEvent::from_sample(samples::PRE_TOOL_USE_AGENT)
        .with("tool_input", json!({"description": "work", "prompt": prompt, "subagent_type": "implementer"}))
}

/// An agent's transcript with its prompt, as the client has it.
pub fn transcript(env: &TestEnv, agent: &str, prompt: &str, turns: usize) -> PathBuf {
    let mut text =
        json!({"type": "user", "isSidechain": true, "message": {"role": "user", "content": prompt}})
            .to_string()
            + "\n";
    for turn in 0..turns {
        let message = json!({"id": format!("m{turn}"), "role": "assistant", "content": [], "usage": {"input_tokens": 100, "output_tokens": 20}});
        text.push_str(&(json!({"type": "assistant", "message": message}).to_string() + "\n"));
    }
    let path = env.outside_dir().join(format!("transcripts/s1/subagents/agent-{agent}.jsonl"));
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, text).unwrap();
    path
}

/// The end of an agent whose transcript this is.
pub fn stop(env: &TestEnv, agent: &str, again: bool) -> HookEvent {
    let main = env.outside_dir().join("transcripts/s1.jsonl");
    let own = env.outside_dir().join(format!("transcripts/s1/subagents/agent-{agent}.jsonl"));
    HookEvent::subagent_stop(agent, "implementer")
        .with("transcript_path", main.to_str().unwrap())
        .with("agent_transcript_path", own.to_str().unwrap())
        .with("stop_hook_active", again)
}
