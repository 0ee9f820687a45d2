//! The boundary of a step in the client's hooks: which writes of its agent are refused or found at the stop.

use std::fs;

use lockstep_testkit::HookEvent;
use serde_json::json;

use crate::active;
use crate::steps::{by_hand, yes};
use crate::steps_hooks::{asked, denied, edit, events, running, stop, transcript};

#[test]
fn the_boundary_holds_only_for_the_agent_of_the_step() {
    let env = active();
    let args = [
        "step",
        "new",
        "01-01",
        "--project",
        "auth",
        "--phases",
        "tdd-3",
        "--allow",
        "src/**",
        "--forbid",
        "src/gen/**",
    ];
    env.lockstep(args).assert_success();
    running(&env, "a1");
    transcript(&env, "a2", "Look around.", 1);
    for (path, refused) in
        [("src/a.rs", false), ("docs/x.md", true), ("src/gen/x.rs", true), ("src/../docs/x.md", true)]
    {
        assert_eq!(denied(&env.hook(&edit(&env, "a1", path))).is_some(), refused, "{path}");
        assert_eq!(denied(&env.hook(&edit(&env, "a2", path))), None);
        assert_eq!(denied(&env.hook(&edit(&env, "a1", path).by_lead())), None);
    }
    let own = denied(&env.hook(&edit(&env, "a1", "steps/01-01.json"))).unwrap();
    assert!(own.contains("written by `lockstep step` only"), "{own}");
    assert!(denied(&env.hook(&edit(&env, "a1", "steps/audit-2026-02-14.log"))).is_some());
    fs::create_dir_all(env.project().join("docs")).unwrap();
    fs::create_dir_all(env.project().join("src")).unwrap();
    std::os::unix::fs::symlink("../docs", env.project().join("src/link")).unwrap();
    assert!(
        denied(&env.hook(&edit(&env, "a1", "src/link/new.md"))).is_some(),
        "a link does not hide where a file lies"
    );
    // The client would create the file to which the link leads.
    std::os::unix::fs::symlink("../docs/not-yet.md", env.project().join("src/dangling.rs")).unwrap();
    std::os::unix::fs::symlink("dangling.rs", env.project().join("src/twice.rs")).unwrap();
    for path in ["src/dangling.rs", "src/twice.rs"] {
        assert!(denied(&env.hook(&edit(&env, "a1", path))).is_some(), "{path}");
    }
    assert_eq!(events(&env).iter().filter(|event| *event == "BOUNDARY_REFUSED").count(), 8);
}

#[test]
fn a_step_agent_writes_neither_gits_files_nor_files_with_a_second_name() {
    for (boundary, is_bounded) in [(&["--forbid", "docs/**"][..], true), (&[], false)] {
        let env = active();
        let new = ["step", "new", "01-01", "--project", "auth", "--phases", "tdd-3"];
        env.lockstep(new.iter().chain(boundary)).assert_success();
        running(&env, "a1");
        env.write("docs/x.md", "old");
        env.write("src/a.rs", "old");
        fs::hard_link(env.project().join("docs/x.md"), env.project().join("src/linked.rs")).unwrap();
        for path in [".git/hooks/pre-commit", ".git/refs/heads/main", "sub/.GIT/config", "src/../.git/config"]
        {
            assert!(denied(&env.hook(&edit(&env, "a1", path))).is_some(), "{path}");
        }
        for path in ["/repo/src/linked.rs", "/proc/self/fd/3", "/dev/fd/3"] {
            let input = json!({"file_path": path, "old_string": "a", "new_string": "b"});
            let event = edit(&env, "a1", "x").with("tool_input", input);
            assert_eq!(denied(&env.hook(&event)).is_some(), is_bounded, "{path}");
        }
        assert_eq!(denied(&env.hook(&edit(&env, "a1", "src/a.rs"))), None);
        assert_eq!(denied(&env.hook(&edit(&env, "a1", ".gitignore"))), None);
    }
}

#[test]
fn a_notebook_edit_with_two_paths_is_refused() {
    let env = active();
    env.lockstep(["step", "new", "01-01", "--project", "auth", "--phases", "tdd-3", "--allow", "src/**"])
        .assert_success();
    running(&env, "a1");
    for paths in [("src/a.ipynb", "docs/x.ipynb"), ("docs/x.ipynb", "src/a.ipynb")] {
        let input = json!({"file_path": paths.0, "notebook_path": paths.1, "new_source": "x"});
        let event = edit(&env, "a1", "x").with("tool_name", "NotebookEdit").with("tool_input", input);
        let output = env.hook(&event);
        assert_eq!(output.code, Some(2), "{paths:?}: {}", output.snapshot());
    }
}

#[test]
fn shell_writes_outside_the_boundary_are_found_at_stop() {
    let env = active();
    env.lockstep(["step", "new", "01-01", "--project", "auth", "--phases", "tdd-3", "--allow", "src/**"])
        .assert_success();
    env.write("docs/x.md", "old");
    env.hook(&HookEvent::session_start()).assert_silent();
    running(&env, "a1");
    env.shell("echo new > docs/x.md; mkdir -p src; echo fine > src/a.rs");
    env.hook(&HookEvent::bash().by_agent("a1", "implementer")).assert_silent();
    let question = asked(&env.hook(&stop(&env, "a1", false))).unwrap();
    assert!(
        question.contains("docs/x.md was changed, outside the step's boundary: allowed is src/**"),
        "{question}"
    );
    assert!(!question.contains("src/a.rs") && question.matches("was changed").count() == 1, "{question}");
}

#[test]
fn boundary_changes_only_through_the_command() {
    let env = active();
    env.lockstep(["step", "new", "01-01", "--project", "auth", "--phases", "tdd-3", "--allow", "src/**"])
        .assert_success();
    running(&env, "a1");
    let before = denied(&env.hook(&edit(&env, "a1", "docs/x.md"))).unwrap();
    assert!(before.contains("lockstep step boundary"), "{before}");
    env.lockstep([
        "step",
        "boundary",
        "01-01",
        "--allow",
        "src/**",
        "--allow",
        "docs/**",
        "--why",
        "they belong together",
    ])
    .assert_success();
    assert_eq!(denied(&env.hook(&edit(&env, "a1", "docs/x.md"))), None);
    assert!(yes(&env, "audit show --event STEP_BOUNDARY_CHANGED").contains("(they belong together)"));
    by_hand(&env, |value| value["boundary"] = json!({"allowed": ["**"]}));
    assert!(asked(&env.hook(&stop(&env, "a1", false))).unwrap().contains("by hand"));
}

/// A program may resolve `..` behind a link on the disk, and a server's tool writes files too.
#[test]
fn a_boundary_holds_on_the_disk_and_for_tools_of_servers() {
    let env = active();
    env.lockstep(["step", "new", "01-01", "--project", "auth", "--phases", "tdd-3", "--allow", "src/**"])
        .assert_success();
    running(&env, "a1");
    env.write("docs/x.md", "old");
    env.write("src/a.rs", "old");
    std::os::unix::fs::symlink(".", env.project().join("src/here")).unwrap();
    assert!(denied(&env.hook(&edit(&env, "a1", "src/here/../docs/x.md"))).is_some());
    assert_eq!(denied(&env.hook(&edit(&env, "a1", "src/here/a.rs"))), None);
    let call = |tool: &str, input: serde_json::Value| {
        env.hook(&edit(&env, "a1", "x").with("tool_name", tool).with("tool_input", input))
    };
    for (tool, input) in [
        ("mcp__filesystem__write_file", json!({"path": "docs/x.md", "content": "x"})),
        ("mcp__filesystem__write_file", json!({"path": ".git/refs/heads/main", "content": "x"})),
        ("mcp__filesystem__move_file", json!({"source": "src/a.rs", "destination": "docs/x.md"})),
        ("mcp__serena__create_text_file", json!({"relative_path": "docs/x.md", "content": "x"})),
        ("mcp__x__delete_files", json!({"paths": ["src/a.rs", "docs/x.md"]})),
    ] {
        assert!(denied(&call(tool, input.clone())).is_some(), "{tool} {input}");
    }
    for (tool, input) in [
        ("mcp__filesystem__write_file", json!({"path": "src/a.rs", "content": "x"})),
        ("mcp__filesystem__read_file", json!({"path": "docs/x.md"})),
    ] {
        assert_eq!(denied(&call(tool, input.clone())), None, "{tool} {input}");
    }
}
