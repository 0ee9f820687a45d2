//! Edits by shell commands: the client's list of them is used where it is complete and true, and a sweep runs where it is not.

use std::fs;
use std::thread::sleep;
use std::time::Duration;

use lockstep_testkit::{HookEvent, TestEnv};
use lockstep_wire::claude::samples;
use serde_json::{Value, json};

use crate::{active, inactive};

/// A project with files that a session knows.
fn session() -> TestEnv {
    let env = active();
    env.write("a.py", "def hello():\n    return 1\n");
    env.write("b.py", "from a import hello\n\nhello()\n");
    env.write("old.py", "x = 1\n");
    env.lockstep(["index", "--quiet"]).assert_success();
    // Times this fresh are not trusted.
    sleep(Duration::from_millis(50));
    env.hook(&HookEvent::session_start()).assert_silent();
    env
}

fn before() -> HookEvent {
    HookEvent::from_sample(samples::PRE_TOOL_USE_BASH).by_agent("a1", "implementer").with("tool_use_id", "t1")
}

/// The end of a command of `a1`, with this `bashEditDiff`.
fn after(list: Value) -> HookEvent {
    HookEvent::from_sample(samples::POST_TOOL_USE_BASH_EDIT_IN_SUBAGENT)
        .by_agent("a1", "implementer")
        .with("tool_use_id", "t1")
        .with("tool_response", json!({"stdout": "", "bashEditDiff": list}))
}

fn renamed() -> Value {
    json!({"filePath": "/repo/a.py", "hunks": [{"oldStart": 1, "oldLines": 2, "newStart": 1, "newLines": 2,
        "lines": ["-def hello():", "+def greet():", "     return 1"]}]})
}

fn complete(files: Value) -> Value {
    let paths: Vec<Value> = files.as_array().unwrap().iter().map(|file| file["filePath"].clone()).collect();
    json!({"files": files, "moreFiles": 0, "changedFiles": paths})
}

/// `(kind, file, agents, attribution)` of every change, by file.
fn changes(env: &TestEnv) -> Vec<(String, String, String, String)> {
    let listing: Value =
        serde_json::from_str(&env.lockstep(["changes", "--format", "json"]).assert_success()).unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let of_change = |change: &Value| {
        let agents: Vec<String> =
            change["agents"].as_array().unwrap().iter().map(|candidate| text(&candidate["id"])).collect();
        let file = text(&change["path"]).rsplit('/').next().unwrap().to_owned();
        (text(&change["kind"]), file, agents.join(" "), text(&change["attribution"]))
    };
    let mut changes: Vec<_> = listing["changes"].as_array().unwrap().iter().map(of_change).collect();
    changes.sort();
    changes
}

fn change(kind: &str, file: &str) -> (String, String, String, String) {
    (kind.to_owned(), file.to_owned(), "a1".to_owned(), "exact".to_owned())
}

#[test]
fn a_complete_list_is_journaled_without_a_sweep() {
    let env = session();
    env.hook(&before()).assert_silent();
    env.write("a.py", "def greet():\n    return 1\n");
    // Something else changes that the client does not know of. Only a sweep could find it.
    env.write("other.py", "y = 1\n");
    env.hook(&after(complete(json!([renamed()])))).assert_silent();
    assert_eq!(changes(&env), [change("written", "a.py")]);
    // The next stop finds what the list missed, and nothing twice.
    env.hook(&HookEvent::subagent_stop("a1", "implementer")).assert_silent();
    let files: Vec<_> = changes(&env).into_iter().map(|(kind, file, ..)| (kind, file)).collect();
    let expected = [("created", "other.py"), ("written", "a.py")];
    assert_eq!(files, expected.map(|(kind, file)| (kind.to_owned(), file.to_owned())));
    assert!(env.log_lines().is_empty(), "{:?}", env.log_lines());
}

#[test]
fn a_list_that_is_not_complete_is_followed_by_a_sweep() {
    let mut unavailable = complete(json!([renamed()]));
    unavailable["unavailable"] = "the tree is too large".into();
    let mut more = complete(json!([renamed()]));
    more["moreFiles"] = 1.into();
    let mut named = complete(json!([renamed()]));
    named["changedFiles"] = json!(["/repo/a.py", "/repo/other.py"]);
    for list in [unavailable, more, named, Value::Null, json!({"files": 7})] {
        let env = session();
        env.hook(&before()).assert_silent();
        env.write("a.py", "def greet():\n    return 1\n");
        env.write("other.py", "y = 1\n");
        env.hook(&after(list.clone())).assert_silent();
        assert_eq!(changes(&env), [change("created", "other.py"), change("written", "a.py")], "{list}");
    }
}

#[test]
fn a_list_that_contradicts_the_disk_is_followed_by_a_sweep() {
    let hunks = json!([{"newStart": 0, "lines": ["-x = 1"]}]);
    for file in [
        json!({"filePath": "/repo/a.py", "hunks": hunks, "deleted": true}),
        json!({"filePath": "/repo/missing.py", "hunks": hunks}),
    ] {
        let env = session();
        env.hook(&before()).assert_silent();
        env.write("a.py", "def greet():\n    return 1\n");
        env.write("other.py", "y = 1\n");
        env.hook(&after(complete(json!([file])))).assert_silent();
        assert_eq!(changes(&env), [change("created", "other.py"), change("written", "a.py")], "{file}");
    }
}

#[test]
fn a_listed_file_that_did_not_change_is_not_journaled() {
    let env = session();
    env.hook(&before()).assert_silent();
    env.write("a.py", "def greet():\n    return 1\n");
    let stale =
        json!({"filePath": "/repo/old.py", "hunks": [{"newStart": 1, "lines": ["-x = 0", "+x = 1"]}]});
    let outside = json!({"filePath": "/elsewhere/x.py", "hunks": [{"newStart": 1, "lines": ["+x"]}]});
    let own = json!({"filePath": "/repo/.lockstep/x", "hunks": [{"newStart": 1, "lines": ["+x"]}], "created": true});
    env.hook(&after(complete(json!([renamed(), stale, outside, own])))).assert_silent();
    assert_eq!(changes(&env), [change("written", "a.py")]);
    // A second command lists what the first one changed: it is known.
    env.hook(&before().with("tool_use_id", "t2")).assert_silent();
    env.hook(&after(complete(json!([renamed()]))).with("tool_use_id", "t2")).assert_silent();
    assert_eq!(changes(&env), [change("written", "a.py")]);
}

#[test]
fn created_deleted_and_moved_files_are_distinguished() {
    let env = session();
    env.hook(&before()).assert_silent();
    env.write("new.py", "z = 1\n");
    fs::remove_file(env.project().join("b.py")).unwrap();
    fs::rename(env.project().join("old.py"), env.project().join("moved.py")).unwrap();
    let list = complete(json!([
        {"filePath": "/repo/new.py", "hunks": [{"newStart": 1, "lines": ["+z = 1"]}], "created": true},
        {"filePath": "/repo/b.py", "hunks": [{"newStart": 0, "lines": ["-from a import hello", "-", "-hello()"]}], "deleted": true},
        {"filePath": "/repo/old.py", "hunks": [{"newStart": 1, "lines": ["-x = 1"]}], "deleted": true},
        {"filePath": "/repo/moved.py", "hunks": [{"newStart": 1, "lines": ["+x = 1"]}], "created": true},
    ]));
    env.hook(&after(list)).assert_silent();
    let expected = [
        change("created", "new.py"),
        change("deleted", "b.py"),
        change("renamed_from", "moved.py"),
        change("renamed_to", "old.py"),
    ];
    assert_eq!(changes(&env), expected);
    // The sweep of the stop finds none of it again.
    env.hook(&HookEvent::subagent_stop("a1", "implementer")).assert_silent();
    assert_eq!(changes(&env), expected);
    assert!(env.log_lines().is_empty(), "{:?}", env.log_lines());
}

/// Neither git nor the index has the former content.
#[test]
fn the_list_gives_the_former_content() {
    let windows = json!({"filePath": "/repo/a.py", "hunks": [{"newStart": 1,
        "lines": ["-def hello():\r", "+def greet():\r", "     return 1\r"]}]});
    let unterminated = json!({"filePath": "/repo/a.py", "hunks": [{"newStart": 1, "lines": ["-def hello():",
        "-    return 1", "\\ No newline at end of file", "+def greet():", "+    return 1", "\\ No newline at end of file"]}]});
    for (present, file) in [
        ("def greet():\n    return 1\n", renamed()),
        ("def greet():\r\n    return 1\r\n", windows),
        ("def greet():\n    return 1", unterminated),
    ] {
        let env = inactive();
        env.configure("");
        env.write("b.py", "from a import hello\n\nhello()\n");
        env.lockstep(["index", "--quiet"]).assert_success();
        env.hook(&HookEvent::session_start()).assert_silent();
        env.write("a.py", present.replace("greet", "hello"));
        env.hook(&before()).assert_silent();
        env.write("a.py", present);
        env.hook(&after(complete(json!([file])))).assert_silent();
        env.hook(&HookEvent::subagent_stop("a1", "implementer")).assert_silent();
        let output = env.hook(&HookEvent::agent_done()).assert_success();
        assert!(output.contains("a.py (hello → greet)") && output.contains("b.py:1,3"), "{file}: {output}");
    }
}

/// Lists that no honest client makes.
#[test]
fn odd_lists_do_no_harm() {
    let written = |path: &str| json!({"filePath": path, "hunks": [{"newStart": 1, "lines": ["+x"]}]});
    let long = format!("/repo/{}", "x".repeat(5_000));
    let mut odd: Vec<Value> = [
        "/etc/hosts",
        "../../../etc/hosts",
        "/repo/../elsewhere/outside.py",
        "/repo/linked/outside.py",
        "/repo/.git/odd",
        "/repo/pipe",
        "/repo/endless",
        "/repo/folder",
        "/repo/a.py/below",
        "/repo/zero\0byte",
        "/repo",
        "",
        &long,
    ]
    .map(written)
    .into();
    odd.push(renamed());
    let far =
        json!({"filePath": "/repo/other.py", "hunks": [{"newStart": u64::MAX, "lines": ["+y", "", "?"]}]});
    odd.push(far);
    let many = |number: usize| json!({"filePath": format!("/repo/none{number}.py"), "deleted": true});
    for list in odd.into_iter().map(|file| vec![file, renamed()]).chain([(0..5_000).map(many).collect()]) {
        let env = session();
        std::os::unix::fs::symlink(env.outside_dir(), env.project().join("linked")).unwrap();
        std::os::unix::fs::symlink("/dev/zero", env.project().join("endless")).unwrap();
        fs::create_dir(env.project().join("folder")).unwrap();
        env.hook(&HookEvent::stop()).assert_success();
        env.hook(&before()).assert_silent();
        env.write("a.py", "def greet():\n    return 1\n");
        env.write("folder/new.txt", "x\n");
        env.write(".git/odd", "x\n");
        fs::write(env.outside_dir().join("outside.py"), "x\n").unwrap();
        let pipe = std::process::Command::new("mkfifo").arg(env.project().join("pipe")).status().unwrap();
        assert!(pipe.success());
        env.hook(&after(complete(list.clone().into()))).assert_silent();
        let files: Vec<String> = changes(&env).into_iter().map(|(_, file, ..)| file).collect();
        assert_eq!(files.iter().filter(|file| *file == "a.py").count(), 1, "{:?}: {files:?}", list[0]);
        let known = ["a.py", "new.txt", "linked", "endless"];
        assert!(files.iter().all(|file| known.contains(&file.as_str())), "{:?}: {files:?}", list[0]);
        assert!(env.log_lines().is_empty(), "{:?}: {:?}", list[0], env.log_lines());
    }
}

#[test]
fn a_failed_command_is_swept_too() {
    let env = session();
    env.hook(&before()).assert_silent();
    env.write("a.py", "def greet():\n    return 1\n");
    let failed = HookEvent::from_sample(samples::POST_TOOL_USE_FAILURE_BASH)
        .by_agent("a1", "implementer")
        .with("tool_use_id", "t1");
    env.hook(&failed).assert_silent();
    assert_eq!(changes(&env), [change("written", "a.py")]);
}
