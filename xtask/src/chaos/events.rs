//! Events that a gate could misread.

use lockstep_testkit::attacks::{event_forms, unreadable_events};
use lockstep_testkit::{HookEvent, TestEnv};
use serde_json::{Value, json};

use super::scene::{bash, begun, is_refused, must};
use super::trial::{Trial, Verdict};

/// A commit in every form, with commands that are written in other words.
pub(super) fn attack(trial: &mut Trial<'_>) {
    let env = begun(trial.program);
    let mut all: Vec<(String, Vec<u8>)> = Vec::new();
    let commands = [
        "git commit -m x",
        "git -C . commit -n",
        "cd . && git commit -q",
        "sh -c 'git commit' x",
        "g=git; $g commit x",
    ];
    for command in trial.numbers.sample(commands.to_vec(), 1 + trial.limit / 40) {
        let event = bash(command).json(&env.project());
        let forms = event_forms(&event).into_iter();
        let unreadable = unreadable_events(&event);
        all.extend(forms.chain(unreadable).map(|(form, bytes)| (format!("{form}: {command}"), bytes)));
    }
    for (name, bytes) in trial.sample(all) {
        trial.case(name, || {
            let output = env.hook_bytes(&bytes);
            Verdict::held_if(is_refused(&output), || output.snapshot())
        });
    }
}

/// Random bytes of an event are removed, repeated, replaced or inserted. A result that is still the event of
/// a commit, or no JSON, is refused.
pub(super) fn attack_by_damage(trial: &mut Trial<'_>) {
    let env = begun(trial.program);
    let sound = bash("git commit -m x").json(&env.project());
    for at in 0..trial.limit {
        let mut bytes = sound.clone().into_bytes();
        for _ in 0..1 + trial.numbers.below(4) {
            let place = trial.numbers.below(bytes.len());
            let byte = *trial.numbers.choose(b"\"\\{}[],:\0\x01\xff\xc3 x7/");
            match trial.numbers.below(5) {
                0 => drop(bytes.remove(place)),
                1 => bytes[place] = byte,
                2 => bytes.insert(place, byte),
                3 => bytes.truncate(place.max(bytes.len() * 9 / 10)),
                _ => {
                    let copy = bytes[place..(place + 20).min(bytes.len())].to_vec();
                    bytes.splice(place..place, copy);
                }
            }
        }
        let text = String::from_utf8_lossy(&bytes).into_owned();
        trial.case(format!("damage {at}: {text}"), || {
            let output = env.hook_bytes(&bytes);
            let ends = matches!(output.code, Some(0 | 2));
            Verdict::held_if(ends && (is_refused(&output) || !must_be_refused(&text)), || output.snapshot())
        });
    }
}

/// Returns true for a commit, and for text that names the event and the tool and is no JSON.
fn must_be_refused(text: &str) -> bool {
    match serde_json::from_str::<Value>(text) {
        Ok(event) => {
            event["hook_event_name"] == "PreToolUse"
                && event["tool_name"] == "Bash"
                && event["tool_input"]["command"]
                    .as_str()
                    .is_some_and(|command| command.starts_with("git commit "))
        }
        Err(_) => {
            text.contains("\"hook_event_name\":\"PreToolUse\"") && text.contains("\"tool_name\":\"Bash\"")
        }
    }
}

/// An agent writes the task, and its id is not an id.
pub(super) fn attack_by_id(trial: &mut Trial<'_>) {
    let env = TestEnv::active(trial.program);
    env.hook(&HookEvent::session_start()).assert_silent();
    env.write("more.yaml", "user_intent: Add login and logout\nconstraints: []\n");
    must(&env, "task new --title auth --intent x");
    let ids = [
        json!(""),
        json!(null),
        json!(0),
        json!(7),
        json!(-1),
        json!(1.5),
        json!([]),
        json!(["a1"]),
        json!({}),
        json!({"id": "a1"}),
        json!(true),
        json!(false),
        json!(" "),
        json!("\u{0}"),
        json!("lead"),
        json!("Lead"),
        json!("main"),
        json!("x".repeat(100_000)),
        json!("a\nb"),
        json!("\u{202e}"),
        json!("../../x"),
    ];
    let types = [json!("implementer"), json!("reviewer-x"), json!("IMPLEMENTER")];
    let all: Vec<(Value, Value)> =
        ids.iter().flat_map(|id| types.iter().map(move |kind| (id.clone(), kind.clone()))).collect();
    for (id, kind) in trial.sample(all) {
        let excerpt: String = id.to_string().chars().take(40).collect();
        trial.case(format!("agent_id {excerpt}, agent_type {kind}"), || {
            let event =
                bash("lockstep task update more.yaml --base 1").with("agent_id", id).with("agent_type", kind);
            let output = env.hook(&event);
            Verdict::held_if(is_refused(&output), || output.snapshot())
        });
    }
}
