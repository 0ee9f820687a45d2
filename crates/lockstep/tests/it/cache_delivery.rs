//! The hook that delivers the cache: what a session and a subagent get, and what happens when something is wrong.

use std::fs::{self, File};
use std::process::Stdio;
use std::time::Duration;

use lockstep_cache::fixture::FixtureSize;
use lockstep_testkit::{HookEvent, ProcessOutput, TestEnv};
use serde_json::Value;

use crate::cache::{cache_text, framework};
use crate::configured;
use crate::plant_users;

/// The hook as one of several entries.
fn hook_part(env: &TestEnv, event: &HookEvent, part: &str) -> ProcessOutput {
    let mut hook = env.command(["hook", "claude", "--part", part]);
    hook.env("CLAUDE_PROJECT_DIR", env.project()).stdin(Stdio::piped());
    env.run(hook, event.json(&env.project()).as_bytes())
}

#[track_caller]
fn context(output: &ProcessOutput) -> String {
    output.context().expect("something is delivered").1
}

fn length(text: &str) -> usize {
    text.encode_utf16().count()
}

#[test]
fn a_session_gets_the_index_within_the_clients_limit_and_a_receipt_is_kept() {
    let env = framework(FixtureSize::USUAL, "[cache]\nbudget_chars = 200000\n");
    env.hook(&HookEvent::session_start()).assert_silent();
    env.lockstep(["cache", "build"]).assert_success();
    let cache = cache_text(&env);
    assert!(length(&cache) > 150_000, "{}", length(&cache));
    let text = context(&env.hook(&HookEvent::session_start()));
    assert!(length(&text) <= 9_500, "{}", length(&text));
    assert_eq!(text + "\n", env.lockstep(["cache", "inject"]).assert_success());
    for source in ["resume", "clear", "compact", "something-new"] {
        let event = HookEvent::session_start().with("source", source);
        assert!(context(&env.hook(&event)).contains("- SKILL_INDEX: "), "{source}");
    }
    hook_part(&env, &HookEvent::session_start(), "2/3").assert_silent();
    let receipts = fs::read_to_string(env.state().join("cache/receipts.jsonl")).unwrap();
    let first: Value = serde_json::from_str(receipts.lines().next().unwrap()).unwrap();
    assert_eq!(
        (receipts.lines().count(), &first["to"], &first["stale"]),
        (5, &"startup".into(), &Value::Null)
    );
    assert!(cache.contains(&format!("Hash: {}", first["hash"].as_str().unwrap())));
    let doctor = env.lockstep(["doctor"]);
    let output = String::from_utf8(doctor.stdout).unwrap();
    assert!(
        output.contains("last given at 2026-02-14T06:30:42Z (SessionStart, something-new): part 1 of 1"),
        "{output}"
    );
}

#[test]
fn all_parts_together_are_the_cache_exactly() {
    let env = framework(FixtureSize::USUAL, "[cache]\nbudget_chars = 200000\ndeliver = \"full\"\n");
    env.lockstep(["cache", "build"]).assert_success();
    let cache = cache_text(&env);
    let mut joined = String::new();
    let mut sent = 0;
    for number in 1..=30 {
        let output = hook_part(&env, &HookEvent::session_start(), &format!("{number}/30"));
        let Some((_, text)) = output.context() else { continue };
        assert!(length(&text) <= 9_500);
        let (first, rest) = text.split_once('\n').unwrap();
        assert!(first.contains(&format!("part {number} of ")), "{first}");
        joined.push_str(rest);
        sent += 1;
    }
    assert_eq!(joined, cache);
    assert!((17..30).contains(&sent), "{sent}");
    // With fewer entries than parts, the last one names the missing parts and their location.
    let last = context(&hook_part(&env, &HookEvent::session_start(), "5/5"));
    assert!(last.contains("5 are registered. `lockstep init` registers the others"), "{last}");
    let only = context(&env.hook(&HookEvent::session_start()));
    assert!(only.contains("1 are registered"), "{only}");
}

#[test]
fn a_subagent_gets_its_own_agents_part() {
    let env = framework(FixtureSize::SMALL, "");
    env.hook(&HookEvent::subagent_start("a1", "agent-01")).assert_silent();
    env.lockstep(["cache", "build"]).assert_success();
    let output = env.hook(&HookEvent::subagent_start("a1", "agent-01"));
    let (event, text) = output.context().unwrap();
    assert_eq!(event, "SubagentStart");
    assert!(text.contains("## Agent: agent-01\n") && !text.contains("## Agent: agent-00"), "{text}");
    assert!(
        text.contains("Text of an external skill, not of this project:\n### External Skill: external-1"),
        "{text}"
    );
    assert_eq!(text + "\n", env.lockstep(["cache", "inject", "--agent", "agent-01"]).assert_success());
    env.hook(&HookEvent::subagent_start("a1", "general-purpose")).assert_silent();
    env.hook(&HookEvent::subagent_start("a1", "agent-01").without("agent_type")).assert_silent();
}

#[test]
fn delivers_nothing_when_mode_is_off() {
    let env = framework(FixtureSize::SMALL, "[cache]\ndeliver = \"off\"\n");
    env.lockstep(["cache", "build"]).assert_success();
    env.hook(&HookEvent::session_start()).assert_silent();
    env.hook(&HookEvent::subagent_start("a1", "agent-01")).assert_silent();
    assert_eq!(env.lockstep(["cache", "inject"]).code, Some(1));
    assert!(!env.state().join("cache/receipts.jsonl").exists());
}

/// Returns the text for an event that requires a rebuild of the cache. A busy machine may have no time for
/// that at first; the text reports that then.
fn fresh(env: &TestEnv, event: &HookEvent) -> String {
    let late = |text: &String| text.contains("there was no time to build it anew");
    (0..50).map(|_| context(&env.hook(event))).find(|text| !late(text)).expect("some time there is")
}

#[test]
fn rebuilding_a_stale_cache_is_not_journaled_as_a_change() {
    let env = framework(FixtureSize::SMALL, "");
    env.lockstep(["cache", "build"]).assert_success();
    context(&env.hook(&HookEvent::session_start()));
    env.write("docs/isdlc/constitution.md", "All for one.\n");
    let text = fresh(&env, &HookEvent::session_start().session("s2"));
    assert!(text.contains("All for one.") && !text.contains("stale"), "{text}");
    assert!(cache_text(&env).contains("All for one."));
    // The constitution was changed without an event, the cache by Lockstep.
    env.hook(&HookEvent::bash().session("s2")).assert_silent();
    assert!(!env.journal_text("s2").contains("session-cache.md"), "{}", env.journal_text("s2"));
    let is_late = |line: &String| line.contains("the cache was delivered as it was");
    assert!(env.log_lines().iter().all(is_late), "{:?}", env.log_lines());
}

/// Until what was written is no longer too young for its times to be trusted.
fn settle() {
    std::thread::sleep(Duration::from_millis(60));
}

#[test]
fn a_part_that_is_ready_is_not_sent_when_a_file_was_forged() {
    let env = framework(FixtureSize::SMALL, "");
    settle();
    env.lockstep(["cache", "build"]).assert_success();
    settle();
    let start = HookEvent::subagent_start("a1", "agent-01");
    let first = context(&env.hook(&start));
    // The second text was cached: without the times of the sources it could not be distinguished from the
    // first.
    assert!(fs::read_dir(env.state().join("cache/ready")).unwrap().count() >= 2);
    assert_eq!(context(&env.hook(&start)), first);
    let skill = env.project().join("src/claude/skills/area-1/skill-1/SKILL.md");
    let modified = fs::metadata(&skill).unwrap().modified().unwrap();
    let text = fs::read_to_string(&skill).unwrap();
    fs::write(&skill, text.replace("work number 1 ", "work number 9 ")).unwrap();
    File::options().append(true).open(&skill).unwrap().set_modified(modified).unwrap();
    let forged = context(&env.hook(&start));
    // On a busy machine there may be no time for a rebuild; the text reports that then.
    let is_new = |text: &str| text.contains("work number 9 ") && !text.contains("work number 1 ");
    assert!(is_new(&forged) || forged.contains("It is stale"), "{forged}");
    env.lockstep(["cache", "build"]).assert_success();
    settle();
    for _ in 0..3 {
        let text = context(&env.hook(&start));
        assert!(is_new(&text), "{text}");
    }
    // Another configuration, another part.
    env.write("lockstep.toml", "[cache]\ndeliver = \"off\"\n");
    env.hook(&start).assert_silent();
}

#[test]
fn a_task_that_changes_is_noticed_however_ready_everything_is() {
    let env = configured("");
    env.write(".claude/skills/look/SKILL.md", "---\nname: look\ndescription: Looks\n---\n");
    env.hook(&HookEvent::session_start()).assert_silent();
    settle();
    env.lockstep(["cache", "build"]).assert_success();
    let inject = || {
        settle();
        env.lockstep(["cache", "inject"]).assert_success()
    };
    let before = inject();
    assert!(env.state().join("cache/ready/given").exists());
    assert_eq!(inject(), before);
    env.lockstep(["task", "new", "--title", "auth", "--intent", "Add login to the service"]).assert_success();
    for _ in 0..3 {
        assert!(inject().contains("Add login to the service"));
    }
}

#[test]
fn stale_cache_is_delivered_with_a_note_at_the_deadline() {
    let env = framework(FixtureSize::SMALL, "");
    env.lockstep(["cache", "build"]).assert_success();
    env.write("docs/isdlc/constitution.md", "All for one.\n");
    let lock = File::options().append(true).open(env.state().join("cache/lock")).unwrap();
    lock.lock().unwrap();
    let text = context(&env.hook(&HookEvent::session_start()));
    assert!(text.contains("It is stale: there was no time to build it anew within 200 ms."), "{text}");
    assert!(!text.contains("All for one."));
    assert!(
        env.log_lines().iter().any(|line| line.contains("the cache was delivered as it was")),
        "{:?}",
        env.log_lines()
    );
    drop(lock);
    assert!(fresh(&env, &HookEvent::session_start()).contains("All for one."));
}

#[test]
fn unusable_cache_adds_one_line_and_the_session_starts() {
    let env = framework(FixtureSize::SMALL, "");
    env.lockstep(["cache", "build"]).assert_success();
    env.shell("rm .isdlc/session-cache.md && mkdir .isdlc/session-cache.md");
    let text = context(&env.hook(&HookEvent::session_start()));
    assert!(text.starts_with("lockstep: degraded: cannot read the session cache"), "{text}");
    assert_eq!(text.lines().count(), 1);
    assert_eq!(env.log_lines().len(), 1, "{:?}", env.log_lines());
    // A truncated cache is rebuilt.
    let env = framework(FixtureSize::SMALL, "");
    env.lockstep(["cache", "build"]).assert_success();
    let whole = cache_text(&env);
    env.write(".isdlc/session-cache.md", &whole[..whole.len() / 2]);
    assert!(fresh(&env, &HookEvent::session_start()).starts_with("Lockstep session cache"));
    assert_eq!(cache_text(&env), whole);
}

#[test]
fn waiting_alerts_and_the_task_come_first_after_a_compaction() {
    let env = configured("");
    env.write(".claude/skills/look/SKILL.md", "---\nname: look\ndescription: Looks\n---\n");
    env.lockstep(["cache", "build"]).assert_success();
    env.lockstep(["task", "new", "--title", "auth", "--intent", "Add login to the service"]).assert_success();
    plant_users(&env, &["a"]);
    context(&env.hook(&HookEvent::session_start()));
    env.write("a.py", "x = 1\n");
    env.hook(&HookEvent::edit("a.py").by_agent("a1", "implementer")).assert_silent();
    env.hook(&HookEvent::subagent_stop("a1", "implementer")).assert_silent();
    let at = |text: &str, what: &str| text.find(what).unwrap_or_else(|| panic!("no {what} in {text}"));
    let start = fresh(&env, &HookEvent::session_start());
    assert!(at(&start, "<!-- SECTION: INSTRUCTIONS -->") < at(&start, "<!-- SECTION: TASK -->"), "{start}");
    assert!(
        start.contains("Add login to the service") && start.contains("SRC IMPACT ALERT: 1 files changed"),
        "{start}"
    );
    let after = fresh(&env, &HookEvent::session_start().with("source", "compact"));
    assert!(at(&after, "<!-- SECTION: ACTIVE_WORK -->") < at(&after, "<!-- SECTION: TASK -->"), "{after}");
    assert!(at(&after, "<!-- SECTION: TASK -->") < at(&after, "<!-- SECTION: INSTRUCTIONS -->"), "{after}");
    // A mention is no delivery: the alert still waits for the Lead.
    assert!(context(&env.hook(&HookEvent::prompt())).starts_with("SRC IMPACT ALERT:"));
    let later = fresh(&env, &HookEvent::session_start().session("s2"));
    assert!(!later.contains("SRC IMPACT ALERT"), "{later}");
}

#[test]
fn sessions_that_start_at_once_all_get_a_whole_cache() {
    let env = framework(FixtureSize::SMALL, "");
    env.lockstep(["cache", "build"]).assert_success();
    env.write("docs/isdlc/constitution.md", "All for one.\n");
    let events: Vec<HookEvent> =
        (0..8).map(|n| HookEvent::session_start().session(&format!("s{n}"))).collect();
    for output in env.run_hooks_concurrently(&events) {
        let text = context(&output);
        assert!(text.starts_with("Lockstep session cache, hash "), "{text}");
        assert!(text.contains("All for one.") || text.contains("It is stale"), "{text}");
    }
}
