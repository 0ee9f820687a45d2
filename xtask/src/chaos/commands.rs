//! Commands of a shell whose words are hidden.

use std::path::Path;

use lockstep_testkit::attacks::{commit_command, task_command};
use lockstep_testkit::{HookEvent, TestEnv};
use serde_json::json;

use super::scene::{bash, begun, is_refused, must};
use super::trial::{Trial, Verdict};

pub(super) fn attack(trial: &mut Trial<'_>) {
    let env = begun(trial.program);
    for _ in 0..trial.limit * 4 {
        let mut command = commit_command(&mut trial.numbers);
        if trial.numbers.one_in(8) {
            // A shell drops it.
            let at = trial.numbers.below(command.len());
            let at = (0..=at).rev().find(|at| command.is_char_boundary(*at)).unwrap_or(0);
            command.insert(at, '\0');
        }
        let event = match trial.numbers.below(6) {
            0 => {
                bash("").with("tool_name", "mcp__shell__run").with("tool_input", json!({"command": command}))
            }
            1 => bash("")
                .with("tool_name", "mcp__x__y")
                .with("tool_input", json!({"options": {"cmd": command}})),
            _ => bash(&command),
        };
        trial.case(&command, || {
            let output = env.hook(&event);
            Verdict::held_if(is_refused(&output), || output.snapshot())
        });
    }
}

fn with_task(program: &Path) -> TestEnv {
    let env = TestEnv::active(program);
    env.hook(&HookEvent::session_start()).assert_silent();
    env.write("more.yaml", "user_intent: Add login and logout\nconstraints: []\n");
    must(&env, "task new --title auth --intent x");
    env
}

/// An agent without rights writes the task. If a hook cannot read the command, the record has an unknown
/// writer.
pub(super) fn attack_task(trial: &mut Trial<'_>) {
    let program = trial.program;
    let env = with_task(program);
    for _ in 0..trial.limit * 2 {
        let command = task_command(&mut trial.numbers);
        let event = bash(&command).by_agent("w1", "implementer");
        trial.case(&command, || {
            if is_refused(&env.hook(&event)) {
                return Verdict::Held;
            }
            let env = with_task(program);
            let _ = env.hook(&event);
            let mut write = env.command(["task", "update", "more.yaml", "--base", "1"]);
            write.env("CLAUDE_CODE_SESSION_ID", "s1").env("CLAUDECODE", "1");
            let written = env.run(write, b"");
            let history = env.lockstep(["task", "history"]).snapshot();
            match written.code == Some(1) || history.contains("  unknown  ") {
                true => Verdict::Reported,
                false => Verdict::Broken(format!("{}{history}", written.snapshot())),
            }
        });
    }
}
