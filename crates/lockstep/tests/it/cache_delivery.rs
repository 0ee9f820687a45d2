//! The hook that delivers the cache: what a session and a subagent get, and what happens when something is wrong.

use std::fs::{self, File};
use std::process::Stdio;
use std::time::Duration;

use lockstep_cache::fixture::Shape;
use lockstep_testkit::{Event, Output, TestEnv};
use serde_json::Value;

use crate::cache::{cache_text, framework};
use crate::configured;
use crate::plant_users;

/// The hook as one of several entries.
fn hook_part(env: &TestEnv, event: &Event, part: &str) -> Output {
    let mut hook = env.command(["hook", "claude", "--part", part]);
    hook.env("CLAUDE_PROJECT_DIR", env.project()).stdin(Stdio::piped());
    env.run(hook, event.json(&env.project()).as_bytes())
}

#[track_caller]
fn context(output: &Output) -> String {
    output.context().expect("something is delivered").1
}

fn length(text: &str) -> usize {
    text.encode_utf16().count()
}

#[test]
fn a_session_gets_the_index_within_the_clients_limit_and_a_receipt_is_kept() {
    let env = framework(Shape::USUAL, "[cache]\nbudget_chars = 200000\n");
    env.hook(&Event::session_start()).silent();
    env.lockstep(["cache", "build"]).succeeded();
    let cache = cache_text(&env);
    assert!(length(&cache) > 150_000, "{}", length(&cache));
    let text = context(&env.hook(&Event::session_start()));
    assert!(length(&text) <= 9_500, "{}", length(&text));
    assert_eq!(text + "\n", env.lockstep(["cache", "inject"]).succeeded());
    for source in ["resume", "clear", "compact", "something-new"] {
        let event = Event::session_start().with("source", source);
        assert!(context(&env.hook(&event)).contains("- SKILL_INDEX: "), "{source}");
    }
    hook_part(&env, &Event::session_start(), "2/3").silent();
    let receipts = fs::read_to_string(env.state().join("cache/receipts.jsonl")).unwrap();
    let first: Value = serde_json::from_str(receipts.lines().next().unwrap()).unwrap();
    assert_eq!(
        (receipts.lines().count(), &first["to"], &first["stale"]),
        (5, &"startup".into(), &Value::Null)
    );
    assert!(cache.contains(&format!("Hash: {}", first["hash"].as_str().unwrap())));
    let doctor = env.lockstep(["doctor"]);
    let said = String::from_utf8(doctor.stdout).unwrap();
    assert!(
        said.contains("last given at 2026-02-14T06:30:42Z (SessionStart, something-new): part 1 of 1"),
        "{said}"
    );
}

#[test]
fn all_parts_together_are_the_cache_exactly() {
    let env = framework(Shape::USUAL, "[cache]\nbudget_chars = 200000\ndeliver = \"full\"\n");
    env.lockstep(["cache", "build"]).succeeded();
    let cache = cache_text(&env);
    let mut joined = String::new();
    let mut sent = 0;
    for number in 1..=30 {
        let output = hook_part(&env, &Event::session_start(), &format!("{number}/30"));
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
    let last = context(&hook_part(&env, &Event::session_start(), "5/5"));
    assert!(last.contains("5 are registered. `lockstep init` registers the others"), "{last}");
    let only = context(&env.hook(&Event::session_start()));
    assert!(only.contains("1 are registered"), "{only}");
}

#[test]
fn a_subagent_gets_its_own_agents_part() {
    let env = framework(Shape::SMALL, "");
    env.hook(&Event::subagent_start("a1", "agent-01")).silent();
    env.lockstep(["cache", "build"]).succeeded();
    let output = env.hook(&Event::subagent_start("a1", "agent-01"));
    let (event, text) = output.context().unwrap();
    assert_eq!(event, "SubagentStart");
    assert!(text.contains("## Agent: agent-01\n") && !text.contains("## Agent: agent-00"), "{text}");
    assert!(
        text.contains("Text of an external skill, not of this project:\n### External Skill: external-1"),
        "{text}"
    );
    assert_eq!(text + "\n", env.lockstep(["cache", "inject", "--agent", "agent-01"]).succeeded());
    env.hook(&Event::subagent_start("a1", "general-purpose")).silent();
    env.hook(&Event::subagent_start("a1", "agent-01").without("agent_type")).silent();
}

#[test]
fn off_is_off() {
    let env = framework(Shape::SMALL, "[cache]\ndeliver = \"off\"\n");
    env.lockstep(["cache", "build"]).succeeded();
    env.hook(&Event::session_start()).silent();
    env.hook(&Event::subagent_start("a1", "agent-01")).silent();
    assert_eq!(env.lockstep(["cache", "inject"]).code, Some(1));
    assert!(!env.state().join("cache/receipts.jsonl").exists());
}

/// Returns the text for an event that requires a rebuild of the cache. A busy machine may have no time for
/// that at first; the text reports that then.
fn fresh(env: &TestEnv, event: &Event) -> String {
    let late = |text: &String| text.contains("there was no time to build it anew");
    (0..50).map(|_| context(&env.hook(event))).find(|text| !late(text)).expect("some time there is")
}

#[test]
fn a_stale_cache_is_built_anew_and_nobody_is_blamed_for_it() {
    let env = framework(Shape::SMALL, "");
    env.lockstep(["cache", "build"]).succeeded();
    context(&env.hook(&Event::session_start()));
    env.write("docs/isdlc/constitution.md", "All for one.\n");
    let text = fresh(&env, &Event::session_start().session("s2"));
    assert!(text.contains("All for one.") && !text.contains("stale"), "{text}");
    assert!(cache_text(&env).contains("All for one."));
    // The constitution was changed without an event, the cache by Lockstep.
    env.hook(&Event::bash().session("s2")).silent();
    assert!(!env.journaled("s2").contains("session-cache.md"), "{}", env.journaled("s2"));
    let is_late = |line: &String| line.contains("the cache was delivered as it was");
    assert!(env.logged().iter().all(is_late), "{:?}", env.logged());
}

/// Until what was written is no longer too young for its times to be trusted.
fn settle() {
    std::thread::sleep(Duration::from_millis(60));
}

#[test]
fn a_part_that_is_ready_is_not_sent_when_a_file_was_forged() {
    let env = framework(Shape::SMALL, "");
    settle();
    env.lockstep(["cache", "build"]).succeeded();
    settle();
    let start = Event::subagent_start("a1", "agent-01");
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
    env.lockstep(["cache", "build"]).succeeded();
    settle();
    for _ in 0..3 {
        let text = context(&env.hook(&start));
        assert!(is_new(&text), "{text}");
    }
    // Another configuration, another part.
    env.write("lockstep.toml", "[cache]\ndeliver = \"off\"\n");
    env.hook(&start).silent();
}

#[test]
fn a_task_that_changes_is_noticed_however_ready_everything_is() {
    let env = configured("");
    env.write(".claude/skills/look/SKILL.md", "---\nname: look\ndescription: Looks\n---\n");
    env.hook(&Event::session_start()).silent();
    settle();
    env.lockstep(["cache", "build"]).succeeded();
    let inject = || {
        settle();
        env.lockstep(["cache", "inject"]).succeeded()
    };
    let before = inject();
    assert!(env.state().join("cache/ready/given").exists());
    assert_eq!(inject(), before);
    env.lockstep(["task", "new", "--title", "auth", "--intent", "Add login to the service"]).succeeded();
    for _ in 0..3 {
        assert!(inject().contains("Add login to the service"));
    }
}

#[test]
fn without_time_to_build_it_the_stale_cache_is_delivered_and_says_so() {
    let env = framework(Shape::SMALL, "");
    env.lockstep(["cache", "build"]).succeeded();
    env.write("docs/isdlc/constitution.md", "All for one.\n");
    let lock = File::options().append(true).open(env.state().join("cache/lock")).unwrap();
    lock.lock().unwrap();
    let text = context(&env.hook(&Event::session_start()));
    assert!(text.contains("It is stale: there was no time to build it anew within 200 ms."), "{text}");
    assert!(!text.contains("All for one."));
    assert!(
        env.logged().iter().any(|line| line.contains("the cache was delivered as it was")),
        "{:?}",
        env.logged()
    );
    drop(lock);
    assert!(fresh(&env, &Event::session_start()).contains("All for one."));
}

#[test]
fn a_cache_that_cannot_be_used_is_one_line_and_no_obstacle() {
    let env = framework(Shape::SMALL, "");
    env.lockstep(["cache", "build"]).succeeded();
    env.shell("rm .isdlc/session-cache.md && mkdir .isdlc/session-cache.md");
    let text = context(&env.hook(&Event::session_start()));
    assert!(text.starts_with("lockstep: degraded: cannot read the session cache"), "{text}");
    assert_eq!(text.lines().count(), 1);
    assert_eq!(env.logged().len(), 1, "{:?}", env.logged());
    // A truncated cache is rebuilt.
    let env = framework(Shape::SMALL, "");
    env.lockstep(["cache", "build"]).succeeded();
    let whole = cache_text(&env);
    env.write(".isdlc/session-cache.md", &whole[..whole.len() / 2]);
    assert!(fresh(&env, &Event::session_start()).starts_with("Lockstep session cache"));
    assert_eq!(cache_text(&env), whole);
}

#[test]
fn waiting_alerts_and_the_task_are_in_it_and_come_first_after_a_compaction() {
    let env = configured("");
    env.write(".claude/skills/look/SKILL.md", "---\nname: look\ndescription: Looks\n---\n");
    env.lockstep(["cache", "build"]).succeeded();
    env.lockstep(["task", "new", "--title", "auth", "--intent", "Add login to the service"]).succeeded();
    plant_users(&env, &["a"]);
    context(&env.hook(&Event::session_start()));
    env.write("a.py", "x = 1\n");
    env.hook(&Event::edit("a.py").by("a1", "implementer")).silent();
    env.hook(&Event::subagent_stop("a1", "implementer")).silent();
    let at = |text: &str, what: &str| text.find(what).unwrap_or_else(|| panic!("no {what} in {text}"));
    let start = fresh(&env, &Event::session_start());
    assert!(at(&start, "<!-- SECTION: INSTRUCTIONS -->") < at(&start, "<!-- SECTION: TASK -->"), "{start}");
    assert!(
        start.contains("Add login to the service") && start.contains("SRC IMPACT ALERT: 1 files changed"),
        "{start}"
    );
    let after = fresh(&env, &Event::session_start().with("source", "compact"));
    assert!(at(&after, "<!-- SECTION: ACTIVE_WORK -->") < at(&after, "<!-- SECTION: TASK -->"), "{after}");
    assert!(at(&after, "<!-- SECTION: TASK -->") < at(&after, "<!-- SECTION: INSTRUCTIONS -->"), "{after}");
    // A mention is no delivery: the alert still waits for the Lead.
    assert!(context(&env.hook(&Event::prompt())).starts_with("SRC IMPACT ALERT:"));
    let later = fresh(&env, &Event::session_start().session("s2"));
    assert!(!later.contains("SRC IMPACT ALERT"), "{later}");
}

#[test]
fn sessions_that_start_at_once_all_get_a_whole_cache() {
    let env = framework(Shape::SMALL, "");
    env.lockstep(["cache", "build"]).succeeded();
    env.write("docs/isdlc/constitution.md", "All for one.\n");
    let events: Vec<Event> = (0..8).map(|n| Event::session_start().session(&format!("s{n}"))).collect();
    for output in env.hooks_at_once(&events) {
        let text = context(&output);
        assert!(text.starts_with("Lockstep session cache, hash "), "{text}");
        assert!(text.contains("All for one.") || text.contains("It is stale"), "{text}");
    }
}
