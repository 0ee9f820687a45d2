//! `init` and `uninstall`: nothing of the user's is touched, and undoing is exact.

use std::fs;
use std::os::unix::fs::symlink;

use crate::inactive;

const SETTINGS: &str = ".claude/settings.json";

/// Settings as people have them: other hooks, unknown keys, unusual layouts.
const LAYOUTS: &[&str] = &[
    "{}",
    "{}\n",
    "{\n}\n",
    "{\"permissions\":{\"allow\":[\"Bash(ls)\"]}}",
    "{\n\t\"model\": \"opus\",\n\t\"unknown\": [1, {\"deep\": null}]\n}\n",
    "{\r\n  \"env\": {\"A\": \"b\"}\r\n}\r\n",
    "{ \"hooks\" : { \"PostToolUse\" : [ { \"matcher\" : \"Edit|Write\" , \"hooks\" : [ { \"type\" : \"command\" , \"command\" : \"fmt\" } ] } ] } }",
    "{\n   \"hooks\": {\n      \"Stop\": [\n         {\"hooks\": [{\"type\": \"command\", \"command\": \"say done\", \"timeout\": 3}]}\n      ]\n   },\n   \"z\": 1.50\n}",
    "{\n  \"hooks\": {},\n  \"x\": \"\\u00e9 é\"\n}\n",
    "{\n  \"hooks\": {\"SessionStart\": []}\n}\n",
];

#[test]
fn init_twice_and_uninstall_leave_every_settings_file_as_it_was() {
    for layout in LAYOUTS {
        let env = inactive();
        let settings = env.write(SETTINGS, layout);
        env.lockstep(["init"]).succeeded();
        let installed = fs::read_to_string(&settings).unwrap();
        assert!(serde_json::from_str::<serde_json::Value>(&installed).is_ok(), "{installed}");
        assert_eq!(installed.matches("hook claude").count(), 8, "{installed}");
        let again = env.lockstep(["init"]).succeeded();
        assert!(again.contains("nothing to change"), "{again}");
        assert_eq!(fs::read_to_string(&settings).unwrap(), installed);
        env.lockstep(["uninstall"]).succeeded();
        assert_eq!(fs::read_to_string(&settings).unwrap(), *layout);
        assert!(!env.project().join("lockstep.toml").exists());
    }
}

#[test]
fn what_was_not_there_is_gone_again() {
    let env = inactive();
    env.lockstep(["init", "--client", "claude"]).succeeded();
    assert!(env.project().join(SETTINGS).exists());
    env.lockstep(["uninstall", "--purge"]).succeeded();
    for dir in [env.project(), env.home(), env.tmp()] {
        assert_eq!(fs::read_dir(&dir).unwrap().count(), 0, "{}", env.listing());
    }
}

#[test]
fn edits_since_init_are_kept() {
    let env = inactive();
    let settings = env.write(SETTINGS, "{\n  \"a\": 1\n}\n");
    env.lockstep(["init"]).succeeded();
    let edited = fs::read_to_string(&settings).unwrap().replace("\"a\": 1", "\"a\": 2");
    fs::write(&settings, edited).unwrap();
    env.configure("[alert]\nlead = \"any\"\n");
    let said = env.lockstep(["uninstall"]).succeeded();
    assert_eq!(fs::read_to_string(&settings).unwrap(), "{\n  \"a\": 2\n}\n");
    assert!(said.contains("it stays"), "{said}");
    assert!(env.project().join("lockstep.toml").exists());
}

#[test]
fn uninstall_needs_no_memory() {
    let env = inactive();
    let settings = env.write(SETTINGS, "{\n  \"a\": 1\n}\n");
    env.lockstep(["init"]).succeeded();
    fs::remove_dir_all(env.state()).unwrap();
    env.lockstep(["uninstall"]).succeeded();
    assert_eq!(fs::read_to_string(&settings).unwrap(), "{\n  \"a\": 1\n}\n");
}

#[test]
fn a_dry_run_shows_the_change_and_makes_none() {
    let env = inactive();
    env.write(SETTINGS, "{}\n");
    let before = env.listing();
    let shown = env.lockstep(["init", "--dry-run"]).succeeded();
    assert_eq!(env.listing(), before);
    for part in ["+++ b/lockstep.toml", "+++ b/.claude/settings.json", "hook claude", "Nothing was changed"] {
        assert!(shown.contains(part), "{shown}");
    }
    env.lockstep(["init"]).succeeded();
    let before = env.listing();
    let shown = env.lockstep(["uninstall", "--dry-run", "--purge"]).succeeded();
    assert!(shown.contains("-"), "{shown}");
    assert_eq!(env.listing(), before);
}

#[test]
fn local_settings_are_the_users_own() {
    let env = inactive();
    env.write(SETTINGS, "{}\n");
    env.lockstep(["init", "--local"]).succeeded();
    assert_eq!(fs::read_to_string(env.project().join(SETTINGS)).unwrap(), "{}\n");
    let local = env.project().join(".claude/settings.local.json");
    assert!(fs::read_to_string(&local).unwrap().contains("hook claude"));
    env.lockstep(["uninstall"]).succeeded();
    assert!(!local.exists());
}

#[test]
fn settings_that_cannot_be_edited_are_left_alone_with_the_reason() {
    for (text, why) in [
        ("{\"hooks\": [", "not JSON"),
        ("{\"hooks\": []}", "hooks"),
        ("{\"hooks\": {\"PostToolUse\": \"x\"}}", "PostToolUse"),
        ("[]", "settings"),
    ] {
        let env = inactive();
        env.write(SETTINGS, text);
        let before = env.listing();
        let complaint = env.lockstep(["init"]).failed(3);
        assert!(complaint.contains(why) && complaint.contains(SETTINGS), "{complaint}");
        assert_eq!(env.listing(), before, "nothing is half set up");
    }
}

#[test]
fn settings_in_which_no_hook_runs_are_told_at_once() {
    let env = inactive();
    let said = || env.lockstep(["init", "--client", "claude"]).snapshot();
    let warning = "No hook runs as .claude/settings.json is: line 2, column 3: this is not strict JSON";
    env.write(SETTINGS, "{\n  // ours\n  \"permissions\": {}\n}\n");
    for said in [said(), said()] {
        assert!(said.contains(warning), "{said}");
    }
    env.write(SETTINGS, "{}\n");
    assert!(!said().contains("No hook runs"));
}

#[test]
fn a_link_out_of_the_project_is_not_followed() {
    let env = inactive();
    let outside = env.elsewhere().join("settings.json");
    fs::write(&outside, "{}").unwrap();
    fs::create_dir(env.project().join(".claude")).unwrap();
    symlink(&outside, env.project().join(SETTINGS)).unwrap();
    let complaint = env.lockstep(["init"]).failed(3);
    assert!(complaint.contains("leads out of the project"), "{complaint}");
    assert_eq!(fs::read_to_string(&outside).unwrap(), "{}");
}

#[test]
fn a_project_is_set_up_at_the_root_of_its_repository() {
    let env = inactive();
    env.git(["init", "--quiet"]);
    env.write("deep/er/file", "");
    env.lockstep(["-C", "deep/er", "init", "--client", "claude"]).succeeded();
    assert!(env.project().join("lockstep.toml").exists());
    assert!(env.project().join(SETTINGS).exists());
    env.shell("test -z \"$(git status --porcelain -- .lockstep)\"");
}

#[test]
fn without_a_client_only_the_configuration_is_written() {
    let env = inactive();
    let said = env.lockstep(["init"]).succeeded();
    assert!(said.contains("No client was found"), "{said}");
    assert!(!env.project().join(".claude").exists());
    assert!(env.project().join("lockstep.toml").exists());
}
