//! `init` and `uninstall`: nothing of the user's is touched, and undoing is exact.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};

use lockstep_testkit::copy_program;

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
        env.lockstep(["init"]).assert_success();
        let installed = fs::read_to_string(&settings).unwrap();
        assert!(serde_json::from_str::<serde_json::Value>(&installed).is_ok(), "{installed}");
        assert_eq!(installed.matches("hook claude").count(), 9, "{installed}");
        let again = env.lockstep(["init"]).assert_success();
        assert!(again.contains("nothing to change"), "{again}");
        assert_eq!(fs::read_to_string(&settings).unwrap(), installed);
        env.lockstep(["uninstall"]).assert_success();
        assert_eq!(fs::read_to_string(&settings).unwrap(), *layout);
        assert!(!env.project().join("lockstep.toml").exists());
    }
}

#[test]
fn uninstall_removes_files_that_init_created() {
    let env = inactive();
    env.lockstep(["init", "--client", "claude"]).assert_success();
    assert!(env.project().join(SETTINGS).exists());
    env.lockstep(["uninstall", "--purge"]).assert_success();
    for dir in [env.project(), env.home(), env.tmp()] {
        assert_eq!(fs::read_dir(&dir).unwrap().count(), 0, "{}", env.dir_snapshot());
    }
}

#[test]
fn edits_since_init_are_kept() {
    let env = inactive();
    let settings = env.write(SETTINGS, "{\n  \"a\": 1\n}\n");
    env.lockstep(["init"]).assert_success();
    let edited = fs::read_to_string(&settings).unwrap().replace("\"a\": 1", "\"a\": 2");
    fs::write(&settings, edited).unwrap();
    env.configure("[alert]\nlead = \"any\"\n");
    let output = env.lockstep(["uninstall"]).assert_success();
    assert_eq!(fs::read_to_string(&settings).unwrap(), "{\n  \"a\": 2\n}\n");
    assert!(output.contains("it stays"), "{output}");
    assert!(env.project().join("lockstep.toml").exists());
}

#[test]
fn uninstall_works_without_install_record() {
    let env = inactive();
    let settings = env.write(SETTINGS, "{\n  \"a\": 1\n}\n");
    env.lockstep(["init"]).assert_success();
    fs::remove_dir_all(env.state()).unwrap();
    env.lockstep(["uninstall"]).assert_success();
    assert_eq!(fs::read_to_string(&settings).unwrap(), "{\n  \"a\": 1\n}\n");
}

#[test]
fn a_dry_run_shows_the_change_and_makes_none() {
    let env = inactive();
    env.write(SETTINGS, "{}\n");
    let before = env.dir_snapshot();
    let text = env.lockstep(["init", "--dry-run"]).assert_success();
    assert_eq!(env.dir_snapshot(), before);
    for part in ["+++ b/lockstep.toml", "+++ b/.claude/settings.json", "hook claude", "Nothing was changed"] {
        assert!(text.contains(part), "{text}");
    }
    env.lockstep(["init"]).assert_success();
    let before = env.dir_snapshot();
    let text = env.lockstep(["uninstall", "--dry-run", "--purge"]).assert_success();
    assert!(text.contains("-"), "{text}");
    assert_eq!(env.dir_snapshot(), before);
}

#[test]
fn local_settings_are_the_users_own() {
    let env = inactive();
    env.write(SETTINGS, "{}\n");
    env.lockstep(["init", "--local"]).assert_success();
    assert_eq!(fs::read_to_string(env.project().join(SETTINGS)).unwrap(), "{}\n");
    let local = env.project().join(".claude/settings.local.json");
    assert!(fs::read_to_string(&local).unwrap().contains("hook claude"));
    env.lockstep(["uninstall"]).assert_success();
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
        let before = env.dir_snapshot();
        let complaint = env.lockstep(["init"]).assert_failure(3);
        assert!(complaint.contains(why) && complaint.contains(SETTINGS), "{complaint}");
        assert_eq!(env.dir_snapshot(), before, "nothing is half set up");
    }
}

#[test]
fn settings_in_which_no_hook_runs_are_a_failure_with_the_fix() {
    let disabled = "{\n  \"disableAllHooks\": true\n}\n";
    for (file, text, why) in [
        (SETTINGS, "{\n  // ours\n  \"permissions\": {}\n}\n", "settings.json:2:3: this is not strict JSON"),
        (SETTINGS, disabled, "settings.json:2:3: `disableAllHooks` is true, so no hook runs; remove it"),
        (".claude/settings.local.json", disabled, "`disableAllHooks` is true"),
        ("../home/.claude/settings.json", disabled, "`disableAllHooks` is true"),
    ] {
        let env = inactive();
        env.git(["init", "--quiet"]);
        env.write(file, text);
        for args in
            [&["init", "--client", "claude"][..], &["init", "--client", "claude"], &["init", "--dry-run"]]
        {
            let output = env.lockstep(args);
            let error = output.snapshot();
            assert_eq!(output.code, Some(3), "{error}");
            assert!(error.contains("error: no hook will run") && error.contains(why), "{file}: {error}");
            assert!(error.contains("settings") && error.contains("hint: "), "{error}");
            assert!(error.contains("in this project\n  because: ") && !error.contains('\u{fffd}'), "{error}");
        }
        env.write(file, "{}\n");
        env.lockstep(["init", "--client", "claude"]).assert_success();
    }
}

#[test]
fn a_later_settings_file_enables_hooks_again() {
    let env = inactive();
    env.write(SETTINGS, "{\"disableAllHooks\": true}\n");
    env.write(".claude/settings.local.json", "{\"disableAllHooks\": false}\n");
    env.lockstep(["init"]).assert_success();
}

#[test]
fn the_plugin_does_not_run_where_hooks_are_disabled_either() {
    let env = inactive();
    env.write(SETTINGS, "{\"disableAllHooks\": true}\n");
    let output = env.lockstep(["init", "--plugin"]);
    let error = output.snapshot();
    assert!(output.code == Some(3) && error.contains("no hook will run"), "{error}");
}

#[test]
fn init_builds_the_index() {
    let env = inactive();
    env.git(["init", "--quiet"]);
    env.write("a.py", "def hello(): pass\n");
    env.lockstep(["init", "--client", "claude"]).assert_success();
    // A slow machine finishes it in the background.
    let fresh = (0..500).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(20));
        env.lockstep(["index", "--check"]).code == Some(0)
    });
    assert!(fresh, "{}", env.lockstep(["index", "--check"]).snapshot());
}

#[test]
fn the_new_configuration_is_short_and_names_where_the_keys_are() {
    let env = inactive();
    env.lockstep(["init"]).assert_success();
    let text = fs::read_to_string(env.project().join("lockstep.toml")).unwrap();
    assert!(text.lines().count() < 15 && text.contains("lockstep config template"), "{text}");
}

#[test]
fn impact_does_not_report_what_init_wrote() {
    let env = inactive();
    env.git(["init", "--quiet"]);
    env.write("a.py", "def hello(): pass\n");
    env.write("b.py", "from a import hello\n");
    env.write(SETTINGS, "{}\n");
    env.git(["add", "--all"]);
    env.git(["commit", "--quiet", "--message", "first"]);
    env.write("a.py", "def greet(): pass\n");
    for init in [&["init"][..], &["init", "--plugin"]] {
        env.lockstep(init).assert_success();
        let output = env.lockstep(["impact"]).assert_success();
        assert!(
            output.contains("b.py") && !output.contains("lockstep.toml") && !output.contains("settings"),
            "{output}"
        );
        assert!(!output.contains("SKILL.md") && !output.contains(".lockstep/"), "{output}");
    }
    // An edit of the user's is one again.
    env.configure("[scope]\nexclude = [\"dist/\"]\n");
    let text = env.lockstep(["impact"]).assert_success();
    assert!(text.contains("lockstep.toml"), "{text}");
}

#[test]
fn init_reports_settings_that_git_ignores() {
    for (ignore, is_said) in [(".claude/\n", true), ("settings.json\n", true), ("dist/\n", false)] {
        let env = inactive();
        env.git(["init", "--quiet"]);
        env.write(".gitignore", ignore);
        for args in [&["init", "--client", "claude", "--dry-run"][..], &["init", "--client", "claude"]] {
            let output = env.lockstep(args).snapshot();
            assert_eq!(output.contains("git ignores .claude/settings.json"), is_said, "{ignore}: {output}");
        }
        let local = env.lockstep(["init", "--client", "claude", "--local"]).snapshot();
        assert!(!local.contains("git ignores"), "the local settings are not shared anyway: {local}");
    }
}

#[test]
fn uninstall_names_what_it_leaves() {
    for purge in [false, true] {
        let env = inactive();
        env.git(["init", "--quiet"]);
        env.write("a.py", "def hello(): pass\n");
        env.lockstep(["init", "--client", "claude"]).assert_success();
        env.configure("[map]\npath = \"docs/map.md\"\n\n[cache]\npath = \"docs/cache.md\"\n");
        env.write(".claude/skills/greet/SKILL.md", "---\nname: greet\ndescription: Greets\n---\n");
        env.lockstep(["map", "--quiet"]).assert_success();
        env.lockstep(["cache", "build", "--quiet"]).assert_success();
        let _ = env.hook(&lockstep_testkit::HookEvent::session_start());
        env.hook(&lockstep_testkit::HookEvent::edit("a.py")).assert_silent();
        let args = if purge { &["uninstall", "--purge"][..] } else { &["uninstall"] };
        let output = env.lockstep(args).snapshot();
        for name in [
            "docs/map.md (the map)",
            "docs/cache.md (the session cache)",
            "src-changes-SESSION.log (1 journal",
        ] {
            assert!(output.contains(name), "{name}: {output}");
        }
        assert!(
            output.contains("lockstep.toml was not written by `lockstep init`, or edited since"),
            "{output}"
        );
        assert_eq!(output.contains(".lockstep stays with its history"), !purge, "{output}");
        assert_eq!(output.contains(".lockstep was removed with its history"), purge, "{output}");
        assert!(env.project().join("docs/map.md").exists());
    }
}

#[test]
fn a_link_out_of_the_project_is_not_followed() {
    let env = inactive();
    let outside = env.outside_dir().join("settings.json");
    fs::write(&outside, "{}").unwrap();
    fs::create_dir(env.project().join(".claude")).unwrap();
    symlink(&outside, env.project().join(SETTINGS)).unwrap();
    let complaint = env.lockstep(["init"]).assert_failure(3);
    assert!(complaint.contains("points outside the project"), "{complaint}");
    assert_eq!(fs::read_to_string(&outside).unwrap(), "{}");
}

#[test]
fn a_project_is_set_up_at_the_root_of_its_repository() {
    let env = inactive();
    env.git(["init", "--quiet"]);
    env.write("deep/er/file", "");
    let output = env.lockstep(["-C", "deep/er", "init", "--client", "claude"]).assert_success();
    let root = env.project().display().to_string();
    assert!(output.contains(&format!("Setting up {root}, which this directory belongs to.")), "{output}");
    assert!(!env.lockstep(["init", "--client", "claude"]).assert_success().contains("Setting up"));
    assert!(env.project().join("lockstep.toml").exists());
    assert!(env.project().join(SETTINGS).exists());
    env.shell("test -z \"$(git status --porcelain -- .lockstep)\"");
}

#[test]
fn without_a_client_only_the_configuration_is_written() {
    let env = inactive();
    let output = env.lockstep(["init"]).assert_success();
    assert!(output.contains("No client was found"), "{output}");
    assert!(!output.contains("Restart"), "there is no hook to see: {output}");
    assert!(!env.project().join(".claude").exists());
    assert!(env.project().join("lockstep.toml").exists());
}

#[test]
fn init_refuses_to_register_a_program_that_it_would_not_recognise() {
    let env = inactive();
    let renamed = env.root().join("tool-1.0");
    copy_program(Path::new(env!("CARGO_BIN_EXE_lockstep")), &renamed);
    let mut command = Command::new(&renamed);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let template = env.command(["init", "--client", "claude"]);
    command.args(template.get_args()).current_dir(env.project()).env_clear();
    command.envs(template.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let output = env.run(command, b"");
    assert_eq!(output.code, Some(3), "{}", output.snapshot());
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(message.contains("rename the program's file to `lockstep`"), "{message}");
    assert!(!env.project().join(SETTINGS).exists());
}

/// Another program adds to the settings while `init` does, each time with what it has just read.
#[test]
fn another_writer_keeps_its_change() {
    for by_rename in [true, false] {
        let env = inactive();
        let path = env.write(".claude/settings.json", "{}\n");
        let is_over = std::sync::atomic::AtomicBool::new(false);
        let written = std::thread::scope(|scope| {
            let other = scope.spawn(|| {
                let mut written = Vec::new();
                while !is_over.load(std::sync::atomic::Ordering::SeqCst) {
                    let text = fs::read_to_string(&path).unwrap();
                    let mut value: serde_json::Value = serde_json::from_str(&text).unwrap();
                    let key = format!("k{}", written.len());
                    value[&key] = true.into();
                    if by_rename {
                        let temporary = path.with_extension("other");
                        fs::write(&temporary, value.to_string()).unwrap();
                        fs::rename(&temporary, &path).unwrap();
                    } else {
                        fs::write(&path, value.to_string()).unwrap();
                    }
                    written.push(key);
                    std::thread::sleep(std::time::Duration::from_millis(20));
                }
                written
            });
            env.lockstep(["init", "--client", "claude", "--quiet"]).assert_success();
            is_over.store(true, std::sync::atomic::Ordering::SeqCst);
            other.join().unwrap()
        });
        let value: serde_json::Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        let lost: Vec<_> = written.iter().filter(|key| value[key.as_str()] != true).collect();
        assert!(lost.is_empty(), "{lost:?} of {} (renamed: {by_rename})", written.len());
    }
}
