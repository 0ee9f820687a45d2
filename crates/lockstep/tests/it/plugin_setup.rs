//! `init --plugin`, `uninstall` and `doctor` with the plugin; and what its hooks do where they are not alone, or where the program is
//! missing. Without a client: what a real one makes of it is in `plugin_client.rs`.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::{Command, Stdio};

use lockstep_cli::plugin::{FILES, hooks_json};
use lockstep_testkit::{HookEvent, ProcessOutput, TestEnv};
use serde_json::Value;

use crate::inactive;

const SETTINGS: &str = ".claude/settings.json";
const COPY: &str = ".claude/skills/lockstep";

/// Sends an event as the plugin's entry does.
fn by_plugin(env: &TestEnv, event: &HookEvent) -> ProcessOutput {
    let mut command = env.command(["hook", "claude", "--plugin"]);
    command.env("CLAUDE_PROJECT_DIR", env.project()).stdin(Stdio::piped());
    env.run(command, event.json(&env.project()).as_bytes())
}

#[test]
fn init_copies_the_plugin_and_uninstall_takes_it_out_exactly() {
    let env = inactive();
    env.write(SETTINGS, "{\n  \"model\": \"opus\"\n}\n");
    env.lockstep(["init", "--plugin"]).assert_success();
    for (file, text) in FILES {
        assert_eq!(fs::read_to_string(env.project().join(COPY).join(file)).unwrap(), *text, "{file}");
    }
    let settings = fs::read_to_string(env.project().join(SETTINGS)).unwrap();
    assert!(!settings.contains("hook claude"), "the plugin brings them: {settings}");
    // There are no other skills or agents, so nothing is added to sessions.
    assert!(!env.state().join("session-cache.md").exists());
    let again = env.lockstep(["init"]).assert_success();
    assert!(again.contains("nothing to change"), "a project with the plugin keeps it: {again}");
    env.lockstep(["uninstall", "--purge"]).assert_success();
    assert_eq!(walk(&env.project()), 1, "{}", env.dir_snapshot());
    assert_eq!(fs::read_to_string(env.project().join(SETTINGS)).unwrap(), "{\n  \"model\": \"opus\"\n}\n");
    assert!(!env.project().join(".claude/skills").exists());
}

#[test]
fn init_replaces_entries_of_the_settings_and_keeps_everything_else() {
    let env = inactive();
    let layout = "{\n  \"hooks\": {\n    \"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"say done\"}]}]\n  }\n}\n";
    env.write(SETTINGS, layout);
    env.lockstep(["init"]).assert_success();
    env.lockstep(["init", "--local"]).assert_success();
    env.lockstep(["init", "--plugin"]).assert_success();
    assert_eq!(fs::read_to_string(env.project().join(SETTINGS)).unwrap(), layout);
    assert!(!env.project().join(".claude/settings.local.json").exists());
    env.lockstep(["uninstall", "--purge"]).assert_success();
    assert_eq!(fs::read_to_string(env.project().join(SETTINGS)).unwrap(), layout);
    assert!(!env.project().join(".claude/skills").exists());
}

#[test]
fn edited_plugin_files_are_kept() {
    let env = inactive();
    env.lockstep(["init", "--plugin"]).assert_success();
    let skill = env.project().join(COPY).join("skills/execution-impact/SKILL.md");
    fs::write(&skill, "mine\n").unwrap();
    let output = env.lockstep(["init", "--plugin"]).assert_success();
    assert!(output.contains("skills/execution-impact/SKILL.md was edited"), "{output}");
    fs::remove_file(env.state().join("installation.json")).unwrap();
    let output = env.lockstep(["uninstall"]).assert_success();
    assert!(output.contains("it stays"), "{output}");
    assert_eq!(fs::read_to_string(&skill).unwrap(), "mine\n");
    let left = walk(&env.project().join(".claude"));
    assert_eq!(left, 1, "all else is taken out, also without a memory of it");
}

fn walk(dir: &std::path::Path) -> usize {
    let entries = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    entries.map(|path| if path.is_dir() { walk(&path) } else { 1 }).sum()
}

#[test]
fn a_copy_of_an_earlier_version_is_brought_up_to_date() {
    let env = inactive();
    env.lockstep(["init", "--plugin"]).assert_success();
    // The state of an earlier version: another text, a file that was since removed, and the records of both.
    let memory = env.state().join("installation.json");
    let mut installation: Value = serde_json::from_str(&fs::read_to_string(&memory).unwrap()).unwrap();
    let record = |text: &str| serde_json::json!({"original": null, "installed_digest": blake3::hash(text.as_bytes()).to_hex().to_string()});
    for (file, text) in [("agents/analyst.md", "old\n"), ("agents/gone.md", "gone\n")] {
        env.write(format!("{COPY}/{file}"), text);
        installation["plugin"][format!("{COPY}/{file}")] = record(text);
    }
    fs::write(&memory, installation.to_string()).unwrap();
    env.lockstep(["init"]).assert_success();
    let (_, analyst) = FILES.iter().find(|(file, _)| *file == "agents/analyst.md").unwrap();
    assert_eq!(fs::read_to_string(env.project().join(COPY).join("agents/analyst.md")).unwrap(), *analyst);
    assert!(!env.project().join(COPY).join("agents/gone.md").exists());
}

#[test]
fn a_link_out_of_the_project_is_not_followed() {
    for link in [".claude", ".claude/skills", ".claude/skills/lockstep", ".claude/skills/lockstep/agents"] {
        let env = inactive();
        let outside = env.outside_dir().join("outside");
        fs::create_dir(&outside).unwrap();
        let path = env.project().join(link);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        symlink(&outside, &path).unwrap();
        let complaint = env.lockstep(["init", "--plugin"]).assert_failure(3);
        assert!(complaint.contains("points outside the project"), "{link}: {complaint}");
        assert_eq!(fs::read_dir(&outside).unwrap().count(), 0, "{link}");
    }
}

#[test]
fn an_event_that_the_settings_register_is_left_to_them() {
    let env = inactive();
    env.lockstep(["init", "--plugin", "--quiet"]).assert_success();
    env.write("a.py", "def greet(): pass\n");
    by_plugin(&env, &HookEvent::edit("a.py")).assert_silent();
    assert_eq!(env.journal_text("s1").lines().count(), 1, "alone, it journals");
    env.lockstep(["uninstall", "--quiet"]).assert_success();
    env.lockstep(["init", "--client", "claude", "--quiet"]).assert_success();
    by_plugin(&env, &HookEvent::edit("a.py")).assert_silent();
    assert_eq!(env.journal_text("s1").lines().count(), 1, "beside the settings' entry, it does not");
    env.hook(&HookEvent::edit("a.py")).assert_silent();
    assert_eq!(env.journal_text("s1").lines().count(), 2);
    // The settings register nothing for this event any more: it is the plugin's again.
    let settings = env.project().join(SETTINGS);
    let without = fs::read_to_string(&settings).unwrap().replace("PostToolUse", "Notification");
    fs::write(&settings, without).unwrap();
    by_plugin(&env, &HookEvent::edit("a.py")).assert_silent();
    assert_eq!(env.journal_text("s1").lines().count(), 3);
}

/// Runs a command of the plugin as the client does, in a shell, without `lockstep` on PATH.
fn without_program(env: &TestEnv, event: &HookEvent, session: &str) -> (String, Option<i32>) {
    let hooks: Value = serde_json::from_str(&hooks_json()).unwrap();
    let line = hooks["hooks"][event.name()][0]["hooks"][0]["command"].as_str().unwrap();
    let mut command = Command::new("sh");
    command.args(["-c", line]).current_dir(env.project()).env_clear();
    command.env("PATH", "/usr/bin:/bin").env("CLAUDE_PROJECT_DIR", env.project());
    command.env("CLAUDE_PLUGIN_ROOT", crate::doc_examples::repository().join("plugin"));
    command.env("CLAUDE_PLUGIN_DATA", env.home().join("data")).env("CLAUDE_CODE_SESSION_ID", session);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let output = env.run(command, event.json(&env.project()).as_bytes());
    assert!(output.stderr.is_empty(), "{}", output.snapshot());
    (String::from_utf8(output.stdout).unwrap(), output.code)
}

#[test]
fn a_missing_program_is_one_line_for_the_lead_of_an_active_project() {
    let env = inactive();
    for event in crate::observed() {
        assert_eq!(
            without_program(&env, &event, "s1"),
            (String::new(), Some(0)),
            "nobody asked: {}",
            event.name()
        );
    }
    env.configure("");
    let mut output = Vec::new();
    for _ in 0..2 {
        for event in crate::observed() {
            let (text, code) = without_program(&env, &event, "s1");
            assert_eq!(code, Some(0), "{}", event.name());
            output.extend((!text.is_empty()).then_some((event.name().to_owned(), text)));
        }
    }
    let [(event, message)] = output.try_into().expect("exactly once");
    assert_eq!((event.as_str(), message.lines().count()), ("SessionStart", 1));
    let reply: Value = serde_json::from_str(&message).unwrap();
    let text = "lockstep: the program is not on PATH";
    assert!(reply["systemMessage"].as_str().unwrap().starts_with(text), "{reply}");
    assert!(reply["hookSpecificOutput"]["additionalContext"].as_str().unwrap().starts_with(text));
    assert_eq!(reply["hookSpecificOutput"]["hookEventName"], "SessionStart");

    // Removed during a session: the next event of the Lead reports it, but not one of a subagent or at a
    // stop.
    for event in [
        HookEvent::subagent_stop("a1", "implementer"),
        HookEvent::stop(),
        HookEvent::edit("a.py").by_agent("a1", "implementer"),
    ] {
        assert_eq!(without_program(&env, &event, "s2"), (String::new(), Some(0)), "{}", event.name());
    }
    assert!(without_program(&env, &HookEvent::edit("a.py"), "s2").0.contains(text));
    assert_eq!(without_program(&env, &HookEvent::edit("a.py"), "s2").0, "");
    // A session's name that is not a plain name becomes no path.
    assert_eq!(without_program(&env, &HookEvent::edit("a.py"), "../../x").0, "");
    assert!(!env.home().join("x").exists() && !env.root().join("x").exists());
}

/// `doctor` with `lockstep` on PATH, as the plugin needs it; the message of a check and its status.
fn doctor(env: &TestEnv) -> Vec<(String, String, String)> {
    let mut command = env.command(["doctor", "--format", "json"]);
    let bin = std::path::Path::new(env!("CARGO_BIN_EXE_lockstep")).parent().unwrap();
    command.env("PATH", format!("{}:/usr/bin:/bin", bin.display()));
    let report: Value = serde_json::from_slice(&env.run(command, b"").stdout).unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let checks = report["checks"].as_array().unwrap();
    checks
        .iter()
        .map(|check| (text(&check["name"]), text(&check["status"]), text(&check["message"])))
        .collect()
}

#[track_caller]
fn finds(env: &TestEnv, name: &str, status: &str, message: &str) {
    let checks = doctor(env);
    let found = checks.iter().any(|(n, s, m)| n == name && s == status && m.contains(message));
    assert!(found, "{name} {status} {message:?} in {checks:#?}");
}

#[test]
fn doctor_recognises_the_plugin() {
    let env = inactive();
    env.git(["init", "--quiet"]);
    env.lockstep(["init", "--plugin", "--quiet"]).assert_success();
    assert!(doctor(&env).iter().all(|(_, status, _)| status == "ok"), "{:#?}", doctor(&env));
    finds(&env, "registration", "ok", "all 9 events are registered");
    finds(&env, "plugin", "ok", "brings the hooks of this version");
    // Both: nothing is done twice, and it is probably not meant.
    let settings = env.home().join(SETTINGS);
    fs::create_dir_all(settings.parent().unwrap()).unwrap();
    fs::write(
        &settings,
        r#"{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"lockstep hook claude"}]}]}}"#,
    )
    .unwrap();
    finds(&env, "registration", "warning", "both the plugin and the settings register hooks");
    fs::remove_file(&settings).unwrap();
    let hooks = env.project().join(COPY).join("hooks/hooks.json");
    fs::write(&hooks, fs::read_to_string(&hooks).unwrap().replace("\"Stop\"", "\"Notification\"")).unwrap();
    finds(&env, "plugin", "warning", "brings other hooks than this version has");
    finds(&env, "registration", "failed", "no hook of Lockstep's is registered for Stop");
}

#[test]
fn a_copy_delivers_all_of_a_cache_in_as_many_parts_as_it_takes() {
    let env = inactive();
    for n in 0..120 {
        let text =
            format!("---\nname: skill-{n}\ndescription: {}\n---\n", "Says what it is good for. ".repeat(8));
        env.write(format!(".claude/skills/skill-{n}/SKILL.md"), text);
    }
    env.lockstep(["init", "--plugin", "--quiet"]).assert_success();
    env.configure("[cache]\ndeliver = \"full\"\n");
    env.lockstep(["cache", "build", "--quiet"]).assert_success();
    finds(&env, "cache", "warning", "hook entries, and 1 are registered");
    env.lockstep(["init", "--quiet"]).assert_success();
    let text = fs::read_to_string(env.project().join(COPY).join("hooks/hooks.json")).unwrap();
    let hooks: Value = serde_json::from_str(&text).unwrap();
    let starts = hooks["hooks"]["SessionStart"][0]["hooks"].as_array().unwrap();
    assert!(starts.len() > 2, "{starts:#?}");
    assert!(starts[1]["command"].as_str().unwrap().contains("hook claude --plugin --part 2/"), "{starts:#?}");
    finds(&env, "cache", "ok", "session-cache.md is fresh");
    finds(&env, "plugin", "ok", "brings the hooks of this version");
    finds(&env, "registration", "ok", "all 9 events are registered");
    env.lockstep(["uninstall", "--quiet"]).assert_success();
    assert!(!env.project().join(COPY).exists());
}
