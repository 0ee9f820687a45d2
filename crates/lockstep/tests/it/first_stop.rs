//! The first stop of a project that has no index yet. For every kind of change, the alert names the
//! dependent, or says that it was not analysed and names it at a later event.

use std::fs;
use std::thread::sleep;
use std::time::{Duration, Instant};

use lockstep_testkit::{HookEvent, TestEnv};
use lockstep_wire::claude::samples;
use serde_json::json;

use crate::configured;

pub(crate) const DEFINITION: &str =
    "\"\"\"Core.\"\"\"\n\n\ndef greet(name):\n    return name\n\n\ndef other():\n    return 1\n";
pub(crate) const DEPENDENT: &str = "from core import greet\n\n\ndef main():\n    return greet(\"x\")\n";

/// The state of the project before the agent changes something.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Git {
    /// No repository.
    None,
    /// Everything is committed.
    Committed,
    /// A repository without a commit.
    Unborn,
    /// The files are not tracked.
    Untracked,
    /// The committed definition has another name than the one on disk.
    Dirty,
}

struct Variant {
    name: &'static str,
    git: Git,
    session_start: bool,
    /// The agent's actions. Events are those of subagent `a1`, unless the variant is about the Lead.
    act: fn(&TestEnv),
}

pub(crate) fn subagent(event: HookEvent) -> HookEvent {
    event.by_agent("a1", "implementer")
}

/// A shell command of the subagent, and its event.
pub(crate) fn shell(env: &TestEnv, script: &str) {
    env.shell(script);
    env.hook(&subagent(HookEvent::bash())).assert_silent();
}

fn rename(env: &TestEnv) {
    let text = fs::read_to_string(env.project().join("core.py")).unwrap();
    env.write("core.py", text.replace("greet", "salute"));
}

pub(crate) fn edit_event() -> HookEvent {
    subagent(HookEvent::edit("core.py"))
        .with(
            "tool_input",
            json!({"file_path": "/repo/core.py", "old_string": "def greet", "new_string": "def salute"}),
        )
        .with("tool_response", json!({"filePath": "/repo/core.py"}))
}

fn project(git: Git) -> TestEnv {
    let env = configured("");
    if git != Git::None {
        env.git(["init", "--quiet"]);
    }
    if git == Git::Untracked {
        env.write("readme.txt", "x\n");
        env.git(["add", "readme.txt"]);
        env.git(["commit", "--quiet", "-m", "first"]);
    }
    let committed =
        if git == Git::Dirty { DEFINITION.replace("greet", "hello") } else { DEFINITION.to_owned() };
    env.write("core.py", committed);
    env.write("use.py", DEPENDENT);
    if matches!(git, Git::Committed | Git::Dirty) {
        env.git(["add", "-A"]);
        env.git(["commit", "--quiet", "-m", "first"]);
    }
    if git == Git::Dirty {
        env.write("core.py", DEFINITION);
    }
    env
}

/// The next text that reaches the Lead.
pub(crate) fn delivered(env: &TestEnv, event: &HookEvent) -> String {
    env.hook(event).context().map(|(_, text)| text).unwrap_or_default()
}

/// Asserts that an alert names the dependent: this one or, if it was not analysed yet, a later one.
pub(crate) fn assert_named(env: &TestEnv, name: &str, first: String) {
    if first.contains("use.py") {
        return;
    }
    assert!(first.contains("not analysed"), "{name}: {first:?}\n{:?}", env.log_lines());
    let started = Instant::now();
    while started.elapsed() < Duration::from_secs(60) {
        sleep(Duration::from_millis(100));
        if delivered(env, &HookEvent::prompt()).contains("use.py") {
            return;
        }
    }
    panic!("{name}: no later event names the dependent: {:?}", env.log_lines());
}

fn run(variant: &Variant) {
    let env = project(variant.git);
    if variant.session_start {
        env.hook(&HookEvent::session_start()).assert_silent();
    }
    (variant.act)(&env);
    env.hook(&HookEvent::subagent_stop("a1", "implementer")).assert_silent();
    assert_named(&env, variant.name, delivered(&env, &HookEvent::agent_done()));
}

/// A name, and what the agent does.
type Act = (&'static str, fn(&TestEnv));

/// Ways to rename `greet` to `salute` in `core.py`, or to move or delete it.
const ACTS: &[Act] = &[
    ("sed", |env| shell(env, "sed -i s/greet/salute/ core.py")),
    ("heredoc", |env| shell(env, "cat > core.py <<'E'\ndef salute(name):\n    return name\nE")),
    ("mv", |env| shell(env, "mv core.py kernel.py")),
    ("mv and sed", |env| shell(env, "mv core.py kernel.py && sed -i s/greet/salute/ kernel.py")),
    ("copy and remove", |env| shell(env, "cp core.py kernel.py && rm core.py")),
    ("rm", |env| shell(env, "rm core.py")),
    ("sed, then an edit", |env| {
        shell(env, "sed -i s/greet/salute/ core.py");
        let now = fs::read_to_string(env.project().join("core.py")).unwrap();
        env.write("core.py", format!("{now}\n# more\n"));
        env.hook(&subagent(HookEvent::edit("core.py").original_content(&now))).assert_silent();
    }),
    ("edit without former content", |env| {
        rename(env);
        env.hook(&edit_event()).assert_silent();
    }),
    ("write without former content", |env| {
        rename(env);
        env.hook(
            &subagent(HookEvent::write("core.py"))
                .with("tool_response", json!({"filePath": "/repo/core.py"})),
        )
        .assert_silent();
    }),
    ("multi-edit", |env| {
        rename(env);
        let input =
            json!({"file_path": "/repo/core.py", "edits": [{"old_string": "greet", "new_string": "salute"}]});
        env.hook(
            &subagent(HookEvent::from_sample(samples::POST_TOOL_USE_MULTI_EDIT)).with("tool_input", input),
        )
        .assert_silent();
    }),
    ("no event at all", |env| env.shell("sed -i s/greet/salute/ core.py")),
];

#[test]
fn every_way_of_changing_a_committed_file_names_the_dependent() {
    for session_start in [true, false] {
        for (name, act) in ACTS {
            run(&Variant { name, git: Git::Committed, session_start, act: *act });
        }
    }
}

#[test]
fn uncommitted_and_untracked_files_are_compared_with_the_start_of_the_session() {
    for git in [Git::None, Git::Unborn, Git::Untracked, Git::Dirty] {
        for (name, act) in ACTS {
            run(&Variant { name, git, session_start: true, act: *act });
        }
    }
}

/// Without the start of the session, a tracked file that was changed before is compared with the commit,
/// unless an event has its former content.
#[test]
fn without_a_start_of_the_session_whole_files_count() {
    for git in [Git::None, Git::Unborn, Git::Untracked, Git::Dirty] {
        for (name, act) in ACTS.iter().filter(|(name, _)| is_found(git, name)) {
            run(&Variant { name, git, session_start: false, act: *act });
        }
    }
}

/// A deleted file that nothing has recorded cannot be missed.
fn is_found(git: Git, name: &str) -> bool {
    let output = ["edit without former content", "multi-edit"];
    let written = ["sed", "heredoc", "write without former content", "sed, then an edit", "no event at all"];
    output.contains(&name) || git != Git::Dirty && written.contains(&name)
}

#[test]
fn client_edit_list_yields_the_old_content() {
    let env = project(Git::None);
    env.shell("sed -i s/greet/salute/ core.py");
    let response = json!({"stdout": "", "bashEditDiff": {"files": [{"filePath": "/repo/core.py", "hunks": [{
        "oldStart": 4, "oldLines": 1, "newStart": 4, "newLines": 1, "lines": ["-def greet(name):", "+def salute(name):"]}]}],
        "moreFiles": 0, "changedFiles": ["/repo/core.py"]}});
    env.hook(&subagent(HookEvent::bash()).with("tool_response", response)).assert_silent();
    env.hook(&HookEvent::subagent_stop("a1", "implementer")).assert_silent();
    let alert = delivered(&env, &HookEvent::agent_done());
    assert!(alert.contains("1 files changed") && alert.contains("use.py"), "{alert}");
}

#[test]
fn lead_stop_names_broken_dependents() {
    for session_start in [true, false] {
        let env = project(Git::Committed);
        if session_start {
            env.hook(&HookEvent::session_start()).assert_silent();
        }
        env.shell("sed -i s/greet/salute/ core.py");
        env.hook(&HookEvent::bash()).assert_silent();
        assert_named(&env, "the Lead", delivered(&env, &HookEvent::stop()));
    }
}

#[test]
fn a_commit_by_the_agent_does_not_hide_what_it_changed() {
    let env = project(Git::Committed);
    env.hook(&HookEvent::session_start()).assert_silent();
    env.shell("sed -i s/greet/salute/ core.py");
    env.git(["commit", "--quiet", "-am", "rename"]);
    env.hook(&subagent(HookEvent::bash())).assert_silent();
    env.hook(&HookEvent::subagent_stop("a1", "implementer")).assert_silent();
    assert_named(&env, "commit", delivered(&env, &HookEvent::agent_done()));
}

#[test]
fn staged_moves_detached_heads_and_worktrees_are_understood() {
    let env = project(Git::Committed);
    env.git(["checkout", "--quiet", "--detach"]);
    env.git(["mv", "core.py", "kernel.py"]);
    env.hook(&subagent(HookEvent::bash())).assert_silent();
    env.hook(&HookEvent::subagent_stop("a1", "implementer")).assert_silent();
    assert_named(&env, "git mv", delivered(&env, &HookEvent::agent_done()));
    let changes = env.lockstep(["changes"]).snapshot();
    assert!(changes.contains("core.py  (renamed to kernel.py)"), "{changes}");
}

#[test]
fn two_agents_at_once_are_both_named() {
    let env = project(Git::Committed);
    env.write("kern.py", "def wave():\n    return 1\n");
    env.write("use_kern.py", "from kern import wave\n\nwave()\n");
    env.git(["add", "-A"]);
    env.git(["commit", "--quiet", "-m", "more"]);
    env.hook(&HookEvent::session_start()).assert_silent();
    env.shell("sed -i s/greet/salute/ core.py");
    env.hook(&HookEvent::bash().by_agent("a1", "implementer")).assert_silent();
    env.shell("sed -i s/wave/nod/ kern.py");
    env.hook(&HookEvent::bash().by_agent("a2", "implementer")).assert_silent();
    let stops = ["a1", "a2"].map(|id| HookEvent::subagent_stop(id, "implementer"));
    for output in env.run_hooks_concurrently(&stops) {
        output.assert_silent();
    }
    let mut message = delivered(&env, &HookEvent::agent_done());
    let started = Instant::now();
    while !(message.contains("use.py") && message.contains("use_kern.py")) {
        assert!(started.elapsed() < Duration::from_secs(60), "{message}");
        sleep(Duration::from_millis(100));
        message += &delivered(&env, &HookEvent::prompt());
    }
}

#[test]
fn with_fifty_changed_files_the_dependent_is_named() {
    let env = project(Git::Committed);
    for n in 0..50 {
        env.write(format!("part{n}.py"), format!("def part{n}():\n    return {n}\n"));
    }
    env.git(["add", "-A"]);
    env.git(["commit", "--quiet", "-m", "parts"]);
    env.hook(&HookEvent::session_start()).assert_silent();
    shell(&env, "for f in part*.py core.py; do sed -i 's/return/return 1 +/; s/greet/salute/' $f; done");
    env.hook(&HookEvent::subagent_stop("a1", "implementer")).assert_silent();
    assert_named(&env, "fifty", delivered(&env, &HookEvent::agent_done()));
}

#[test]
fn unanalysed_files_stay_pending_until_analysed() {
    let env = project(Git::Committed);
    env.configure("[impact]\ntime_limit = \"0s\"\n");
    env.lockstep(["index", "--quiet"]).assert_success();
    env.hook(&HookEvent::session_start()).assert_silent();
    shell(&env, "sed -i s/greet/salute/ core.py");
    env.hook(&HookEvent::subagent_stop("a1", "implementer")).assert_silent();
    let first = delivered(&env, &HookEvent::agent_done());
    // The same event may already analyse it: nothing waits longer than the next one.
    let output = first.clone() + &delivered(&env, &HookEvent::prompt());
    assert!(output.contains("use.py"), "{output}");
    assert_eq!(delivered(&env, &HookEvent::prompt()), "", "once");
    env.hook(&HookEvent::subagent_stop("a2", "implementer")).assert_silent();
    assert_eq!(delivered(&env, &HookEvent::prompt()), "");
}

#[test]
fn a_stop_without_an_index_is_made_up_for_when_there_is_one() {
    let env = project(Git::Committed);
    env.hook(&HookEvent::session_start()).assert_silent();
    // Something is in the place of the index, so that it cannot be built.
    let index = env.state().join("index");
    env.shell("sed -i s/greet/salute/ core.py");
    env.hook(&subagent(HookEvent::bash())).assert_silent();
    let started = Instant::now();
    while !index.join("manifest").exists() && started.elapsed() < Duration::from_secs(20) {
        sleep(Duration::from_millis(20));
    }
    fs::remove_dir_all(&index).unwrap();
    env.write(".lockstep/index", "in the way");
    env.hook(&HookEvent::subagent_stop("a1", "implementer")).assert_silent();
    let first = delivered(&env, &HookEvent::agent_done());
    assert!(first.contains("not analysed"), "{first}");
    fs::remove_file(&index).unwrap();
    env.lockstep(["index", "--quiet"]).assert_success();
    assert!(delivered(&env, &HookEvent::agent_done()).contains("use.py"));
    assert_eq!(delivered(&env, &HookEvent::agent_done()), "");
}

#[test]
fn a_dependent_that_already_follows_and_a_comment_raise_no_alert() {
    for session_start in [true, false] {
        for script in [
            "sed -i s/greet/salute/ use.py && sed -i s/greet/salute/ core.py",
            "sed -i s/greet/salute/ core.py && sed -i s/greet/salute/ use.py",
            "sed -i 's/def other/# a comment\\ndef other/' core.py",
            "sed -i 's/\"\"\"Core.\"\"\"/\"\"\"The core.\"\"\"/' core.py",
            "printf '\\n\\n' >> core.py",
        ] {
            let env = project(Git::Committed);
            if session_start {
                env.hook(&HookEvent::session_start()).assert_silent();
            }
            shell(&env, script);
            env.hook(&HookEvent::subagent_stop("a1", "implementer")).assert_silent();
            let first = delivered(&env, &HookEvent::agent_done());
            assert!(first.is_empty() || first.contains("not analysed"), "{script}: {first}");
            let report = fs::read_to_string(env.state().join("reports/s1/1.yaml")).unwrap();
            assert!(report.contains("status: "), "{report}");
        }
    }
}
