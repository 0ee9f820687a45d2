//! Hooks while a cascade is active: alerts about its own files wait for its report, and new sessions get a
//! mention.

use lockstep_testkit::{HookEvent, TestEnv};

use crate::active;
use crate::rename_fixtures::{commit, list, rust, status};

/// An agent has changed files with its shell, and stops.
fn agent_stops(env: &TestEnv, agent: &str) {
    env.hook(&HookEvent::bash().by_agent(agent, "implementer")).assert_silent();
    env.hook(&HookEvent::subagent_stop(agent, "implementer")).assert_silent();
}

#[test]
fn alerts_about_cascade_files_are_deferred_to_its_report() {
    let env = active();
    env.write("src/lib.rs", "pub mod f0;\npub mod own;\npub mod other;\npub mod user;\npub mod behind;\n");
    env.write("src/f0.rs", "pub fn f0_old() {}\n");
    env.write("src/own.rs", "use crate::f0::f0_old;\n\npub fn own_old() {\n    f0_old()\n}\n");
    env.write("src/behind.rs", "use crate::own::own_old;\n\npub fn behind() {\n    own_old()\n}\n");
    env.write("src/other.rs", "pub fn other_old() {}\n");
    env.write("src/user.rs", "use crate::other::other_old;\n\npub fn user() {\n    other_old()\n}\n");
    commit(&env);
    env.lockstep(["index"]).assert_success();
    env.write("src/f0.rs", "pub fn f0_new() {}\n");
    env.hook(&HookEvent::session_start()).assert_silent();
    env.lockstep(["cascade", "start"]).assert_success();
    env.lockstep(["cascade", "next"]).assert_success();
    env.shell("sed -i s/_old/_new/g src/own.rs");
    agent_stops(&env, "a1");
    env.hook(&HookEvent::prompt()).assert_silent();
    // Changes of other files are reported as usual, without those of the cascade.
    env.shell("echo '// more' >> src/own.rs; sed -i s/_old/_new/g src/other.rs");
    agent_stops(&env, "a2");
    let (_, alert) = env.hook(&HookEvent::prompt()).context().expect("an alert about the other file");
    assert!(alert.contains("other.rs") && alert.contains("user.rs") && !alert.contains("own.rs"), "{alert}");
    env.lockstep(["cascade", "abort", "--why", "seen enough"]).assert_success();
    let report = env.lockstep(["cascade", "report"]).assert_success();
    let current = report.split("## Alerts Held Back").nth(1).unwrap();
    assert!(current.contains("- `.lockstep/reports/s1/1.md`"), "{report}");
    // The cascade has ended: its files are reported again.
    env.shell("sed -i s/own_old/own_new/g src/behind.rs; sed -i s/own_new/own_newer/g src/own.rs");
    agent_stops(&env, "a3");
    let (_, alert) = env.hook(&HookEvent::prompt()).context().expect("an alert");
    assert!(alert.contains("own.rs") && alert.contains("behind.rs"), "{alert}");
}

#[test]
fn a_new_or_compacted_session_gets_one_notice_of_the_cascade() {
    let env = rust(1, 1);
    env.hook(&HookEvent::session_start()).assert_silent();
    env.lockstep(["cascade", "start"]).assert_success();
    for source in ["startup", "resume", "clear", "compact"] {
        let (event, text) =
            env.hook(&HookEvent::session_start().with("source", source)).context().expect("a mention");
        assert_eq!(event, "SessionStart");
        assert!(
            text.contains("A cascade is active")
                && text.contains("1a (waiting, src/r1/m0.rs)")
                && text.contains("lockstep cascade next"),
            "{text}"
        );
    }
    // An agent of the cascade has its own prompt.
    let mut hook = env.hook_command();
    hook.env("LOCKSTEP_GROUP", "1a");
    env.run(hook, HookEvent::session_start().json(&env.project()).as_bytes()).assert_silent();
    let impact = env.lockstep(["impact", "--format", "json"]).assert_success();
    assert!(impact.contains("\"continue-cascade\""), "{impact}");
    env.lockstep(["cascade", "abort", "--why", "enough"]).assert_success();
    env.hook(&HookEvent::session_start().with("source", "compact")).assert_silent();
    assert!(list(&status(&env), "unresolved").contains(&"src/r1/m0.rs".to_owned()));
}

#[test]
fn large_cascade_and_full_cache_part_fit_the_client_limit() {
    let env = active();
    let long = "a_name_that_somebody_thought_about_for_a_long_time_before_writing_it_down";
    env.write("src/f0.py", "def f0_old():\n    pass\n");
    for n in 0..60 {
        env.write(format!("src/{long}_{n}.py"), "from f0 import f0_old\n\nf0_old()\n");
    }
    for n in 0..36 {
        let text =
            format!("---\nname: skill-{n}\ndescription: {}\n---\n", "Says what it is good for. ".repeat(6));
        env.write(format!(".claude/skills/skill-{n}/SKILL.md"), text);
    }
    commit(&env);
    env.write("src/f0.py", "def f0_new():\n    pass\n");
    env.lockstep(["cache", "build", "--quiet"]).assert_success();
    env.lockstep(["cascade", "start"]).assert_success();
    let (_, text) = env.hook(&HookEvent::session_start()).context().expect("both");
    let units = text.encode_utf16().count();
    assert!(units > 8_000 && units <= 10_000, "{units}");
    assert_eq!(text.matches("A cascade is active in this project").count(), 1, "told once:\n{text}");
}

#[test]
fn the_former_path_of_a_renamed_cause_belongs_to_the_cascade() {
    let env = active();
    env.write("src/lib.rs", "pub mod old;\npub mod user;\n");
    env.write("src/old.rs", "pub fn call() {}\n");
    env.write("src/user.rs", "use crate::old::call;\n\npub fn user() {\n    call()\n}\n");
    commit(&env);
    env.lockstep(["index"]).assert_success();
    env.hook(&HookEvent::session_start()).assert_silent();
    env.shell("git mv src/old.rs src/new.rs; sed -i 's/mod old/mod new/' src/lib.rs");
    env.lockstep(["cascade", "start"]).assert_success();
    // The stop of the first agent is the first to see the rename.
    agent_stops(&env, "a1");
    env.hook(&HookEvent::prompt()).assert_silent();
}
