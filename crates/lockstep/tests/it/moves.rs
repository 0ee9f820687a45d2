//! Moves by content: in the working tree, in patches and in a session.

use lockstep_testkit::{HookEvent, TestEnv};

use crate::configured;

const CORE: &str =
    "def greet(name):\n    return name\n\n\ndef other():\n    return 1\n\n\ndef third():\n    return 3\n";

fn project() -> TestEnv {
    let env = configured("");
    env.write("core.py", CORE);
    env.write("use.py", "from core import greet\n\ngreet(1)\n");
    for name in ["one", "two", "three"] {
        env.write(format!("pkg/{name}.py"), format!("def {name}():\n    return \"{name}\"\n"));
    }
    env.git(["init", "--quiet"]);
    env.git(["add", "-A"]);
    env.git(["commit", "--quiet", "-m", "first"]);
    env
}

fn impact(env: &TestEnv, arguments: &[&str]) -> String {
    env.lockstep([&["impact"], arguments].concat()).assert_success()
}

#[test]
fn a_plain_mv_in_the_working_tree_is_a_move() {
    for script in ["mv core.py kernel.py", "mv core.py kernel.py && sed -i s/other/another/ kernel.py"] {
        let env = project();
        env.shell(script);
        let text = impact(&env, &[]);
        assert!(text.contains("kernel.py  (was core.py)"), "{script}: {text}");
        assert!(text.contains("use.py:1"), "{script}: {text}");
        let named = impact(&env, &["kernel.py"]);
        assert!(named.contains("kernel.py  (was core.py)"), "{script}: {named}");
    }
}

#[test]
fn a_copy_is_no_move_and_neither_is_another_file() {
    let env = project();
    env.shell("cp core.py kernel.py");
    assert!(!impact(&env, &[]).contains("(was "));
    env.shell("rm kernel.py core.py && printf 'x = 1\\ny = 2\\n' > kernel.py");
    let text = impact(&env, &[]);
    assert!(!text.contains("(was ") && text.contains("core.py  (deleted)"), "{text}");
}

#[test]
fn a_moved_directory_is_one_line() {
    let env = project();
    env.shell("mv pkg lib");
    let text = impact(&env, &[]);
    assert!(text.contains("lib/  (was pkg/, 3 files moved)"), "{text}");
    let all = impact(&env, &["--all"]);
    assert!(all.contains("lib/one.py  (was pkg/one.py)"), "{all}");
}

#[test]
fn a_patch_that_deletes_and_creates_the_same_content_is_a_move() {
    let env = project();
    let (minus, plus): (Vec<_>, Vec<_>) =
        CORE.lines().map(|line| (format!("-{line}\n"), format!("+{line}\n"))).unzip();
    let count = minus.len();
    let patch = format!(
        "--- a/core.py\n+++ /dev/null\n@@ -1,{count} +0,0 @@\n{}--- /dev/null\n+++ b/kernel.py\n@@ -0,0 +1,{count} @@\n{}",
        minus.concat(),
        plus.concat()
    );
    env.write("fix.diff", patch);
    let text = impact(&env, &["--patch", "fix.diff"]);
    assert!(text.contains("kernel.py  (was core.py)"), "{text}");
}

#[test]
fn a_sweep_keeps_a_move_with_changes_as_a_move() {
    let env = project();
    env.hook(&HookEvent::session_start()).assert_silent();
    env.shell("cp core.py kernel.py && sed -i s/other/another/ kernel.py && rm core.py");
    env.hook(&HookEvent::bash()).assert_silent();
    let changes = env.lockstep(["changes"]).snapshot();
    assert!(changes.contains("core.py  (renamed to kernel.py)"), "{changes}");
    assert!(changes.contains("kernel.py  (renamed from core.py)"), "{changes}");
    let session = impact(&env, &["--session", "s1"]);
    assert!(session.contains("kernel.py  (was core.py)"), "{session}");
}
