//! Settings entries that look like the hook: the plugin must still work.

use std::process::Stdio;

use lockstep_testkit::attacks::{idle_commands, idle_settings};
use lockstep_testkit::{HookEvent, TestEnv};

use super::scene::must;
use super::trial::{Trial, Verdict};

fn sound(command: &str) -> String {
    let command = serde_json::json!(command);
    format!(
        r#"{{"hooks":{{"PostToolUse":[{{"matcher":"Edit|Write","hooks":[{{"type":"command","command":{command}}}]}}]}}}}"#
    )
}

/// Returns true if the plugin's hook journals an edit beside these settings.
fn journals(env: &TestEnv, settings: &str, file: &str) -> bool {
    env.write(file, settings);
    let _ = std::fs::remove_file(env.journal("s1"));
    let mut command = env.command(["hook", "claude", "--plugin"]);
    command.env("CLAUDE_PROJECT_DIR", env.project()).stdin(Stdio::piped());
    let output = env.run(command, HookEvent::edit("a.py").json(&env.project()).as_bytes());
    assert!(output.code == Some(0), "{}", output.snapshot());
    !env.journal_text("s1").is_empty()
}

pub(super) fn attack(trial: &mut Trial<'_>) {
    let env = TestEnv::inactive(trial.program);
    must(&env, "init --plugin --quiet");
    env.write("a.py", "x = 1\n");
    let program = trial.program.display().to_string();
    trial.case("an entry of this very program does the work", || {
        let journals = journals(&env, &sound(&format!("{program} hook claude")), ".claude/settings.json");
        Verdict::held_if(!journals, || "the work was done twice".to_owned())
    });
    let mut all: Vec<(String, String)> = Vec::new();
    for command in idle_commands(&mut trial.numbers) {
        // Most of them with the path of this very program, so that only their shape is wrong.
        let command = if command.contains("/lockstep") {
            command
        } else {
            command.replacen("lockstep hook", &format!("{program} hook"), 1)
        };
        all.push((command.clone(), sound(&command)));
    }
    for (name, from, to) in idle_settings() {
        all.push((name.to_owned(), sound(&format!("{program} hook claude")).replacen(from, to, 1)));
    }
    for (name, settings) in trial.sample(all) {
        let file = *trial.numbers.choose(&[".claude/settings.json", ".claude/settings.local.json"]);
        trial.case(format!("{name} in {file}"), || {
            env.shell("rm -f .claude/settings.json .claude/settings.local.json");
            Verdict::held_if(journals(&env, &settings, file), || settings.clone())
        });
    }
}
