//! Many hooks at the same time: agents work in parallel, and clients kill hooks that take too long.

use std::collections::BTreeSet;
use std::fs;
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

use lockstep_model::change::JournalLine;
use lockstep_testkit::{HookEvent, TestEnv};

use crate::{active, configured, plant_users};

const WORKERS: usize = 8;
const LINES: usize = 500;

/// Returns an edit with a unique call id.
fn edit(worker: usize, n: usize) -> (String, HookEvent) {
    let id = format!("call-{worker}-{n}");
    let event = HookEvent::edit(format!("{worker}.py")).by_agent(&format!("a{worker}"), "implementer");
    (id.clone(), event.with("tool_use_id", id))
}

/// The ids of the calls in the journal, every line of which must be whole.
fn journaled_calls(env: &TestEnv) -> Vec<String> {
    let bytes = fs::read(env.journal("s1")).unwrap();
    let text = bytes.strip_suffix(b"\n").expect("the last line is whole");
    text.split(|b| *b == b'\n')
        .map(|line| {
            let output = String::from_utf8_lossy(line);
            let columns = line.iter().filter(|b| **b == b'\t').count() + 1;
            let line = JournalLine::parse(line).filter(|_| columns == 5);
            let line = line.unwrap_or_else(|| panic!("torn: {output}"));
            let (call, agent) = (line.tool_use.unwrap().to_string(), line.agent.unwrap().to_string());
            let worker = call.split('-').nth(1).unwrap().to_owned();
            assert_eq!(line.path, env.project().join(format!("{worker}.py")), "{output}");
            assert_eq!((line.tool.as_str(), agent), ("Edit", format!("a{worker}")), "{output}");
            call
        })
        .collect()
}

fn with_workers(env: &TestEnv, work: impl Fn(usize) + Sync) {
    for worker in 0..WORKERS {
        env.write(format!("{worker}.py"), "x");
    }
    thread::scope(|scope| {
        for worker in 0..WORKERS {
            let work = &work;
            scope.spawn(move || work(worker));
        }
    });
}

#[test]
fn concurrent_appends_lose_and_mix_no_lines() {
    let env = active();
    with_workers(&env, |worker| {
        for n in 0..LINES {
            env.hook(&edit(worker, n).1).assert_silent();
        }
    });
    let calls = journaled_calls(&env);
    assert_eq!(calls.len(), WORKERS * LINES);
    assert_eq!(calls.iter().collect::<BTreeSet<_>>().len(), WORKERS * LINES, "each once");
    assert!(env.log_lines().is_empty(), "{:?}", env.log_lines());
    let listed = env.lockstep(["changes", "--tsv"]).assert_success();
    assert_eq!(listed, env.journal_text("s1"), "all of them are read back as they are");
}

#[test]
fn killed_hooks_tear_nothing_and_take_nothing_with_them() {
    let env = active();
    let (ended, killed) = (Mutex::new(BTreeSet::new()), Mutex::new(BTreeSet::new()));
    with_workers(&env, |worker| {
        // Every run kills at the same points of its own count; where in the hook that is, the machine decides.
        let mut chance = worker as u64 + 1;
        for n in 0..LINES {
            let (id, event) = edit(worker, n);
            let mut hook = env.start_hook(&event);
            chance = chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            if chance >> 63 == 0 {
                thread::sleep(Duration::from_micros((chance >> 40) % 6_000));
                hook.kill().unwrap();
            }
            let lists = if hook.wait().unwrap().code() == Some(0) { &ended } else { &killed };
            lists.lock().unwrap().insert(id);
        }
    });
    let (ended, killed) = (ended.into_inner().unwrap(), killed.into_inner().unwrap());
    let calls = journaled_calls(&env);
    let there: BTreeSet<String> = calls.iter().cloned().collect();
    assert_eq!(there.len(), calls.len(), "none twice");
    assert!(ended.is_subset(&there), "lost: {:?}", ended.difference(&there).collect::<Vec<_>>());
    // The test would prove little if every kill came too early or too late.
    let (before, after) = (killed.difference(&there).count(), killed.intersection(&there).count());
    assert!(before > 20 && ended.len() > 100, "{before} killed before their line, {after} after");
    assert!(env.log_lines().is_empty(), "{:?}", env.log_lines());
}

#[test]
fn of_eight_processes_one_delivers() {
    let env = configured("[alert]\nformat = \"plain\"\n");
    plant_users(&env, &["a1", "a2"]);
    env.hook(&HookEvent::session_start()).assert_silent();
    for round in 0..6 {
        for agent in ["a1", "a2"] {
            env.write(format!("{agent}.py"), format!("{round}"));
            env.hook(&HookEvent::edit(format!("{agent}.py")).by_agent(agent, "implementer")).assert_silent();
            env.hook(&HookEvent::subagent_stop(agent, "implementer")).assert_silent();
        }
        let events = [HookEvent::agent_done(), HookEvent::prompt(), HookEvent::bash(), HookEvent::stop()];
        let texts: Vec<String> = env
            .run_hooks_concurrently(&[&events[..], &events[..]].concat())
            .iter()
            .filter_map(|output| Some(output.context()?.1))
            .collect();
        assert_eq!(texts.len(), 1, "{texts:?}");
        assert!(texts[0].contains("(and 1 earlier)"), "{texts:?}");
    }
    assert!(env.log_lines().is_empty(), "{:?}", env.log_lines());
}

#[test]
fn agents_that_stop_at_once_are_each_reported() {
    let env = active();
    let agents: Vec<String> = (0..WORKERS).map(|n| format!("a{n}")).collect();
    plant_users(&env, &agents.iter().map(|agent| &**agent).collect::<Vec<_>>());
    env.hook(&HookEvent::session_start()).assert_silent();
    for agent in &agents {
        env.write(format!("{agent}.py"), agent);
        env.hook(&HookEvent::edit(format!("{agent}.py")).by_agent(agent, "implementer")).assert_silent();
    }
    let stops: Vec<HookEvent> = agents.iter().map(|id| HookEvent::subagent_stop(id, "implementer")).collect();
    env.run_hooks_concurrently(&stops).iter().for_each(|output| output.assert_silent());
    let reports = env.state().join("reports/s1");
    let mut message = BTreeSet::new();
    for number in 1..=WORKERS {
        let report = fs::read_to_string(reports.join(format!("{number}.yaml"))).unwrap();
        message.insert(agents.iter().find(|agent| report.contains(&format!("{agent}.py"))).unwrap());
    }
    assert_eq!(message.len(), WORKERS);
    let (_, alert) = env.hook(&HookEvent::agent_done()).context().unwrap();
    let totals =
        format!("SRC IMPACT ALERT: {WORKERS} files changed, {WORKERS} potential dependents detected.");
    assert!(alert.starts_with(&totals), "{alert}");
    assert!(env.log_lines().is_empty(), "{:?}", env.log_lines());
}

#[test]
fn concurrent_stops_report_a_shared_file_once() {
    let env = active();
    plant_users(&env, &["shared"]);
    env.hook(&HookEvent::session_start()).assert_silent();
    for round in 0..4 {
        env.write("shared.py", format!("{round}"));
        let mut stops = Vec::new();
        for n in 0..WORKERS {
            let agent = format!("a{n}");
            env.hook(&HookEvent::edit("shared.py").by_agent(&agent, "implementer")).assert_silent();
            stops.push(HookEvent::subagent_stop(&agent, "implementer"));
        }
        env.run_hooks_concurrently(&stops).iter().for_each(|output| output.assert_silent());
        let alert = env.hook(&HookEvent::agent_done()).context().unwrap().1;
        assert!(!alert.contains("earlier"), "round {round}: {alert}");
    }
}

#[test]
fn sweeps_at_once_find_each_change_once() {
    let env = active();
    let files = || (0..20).map(|n| format!("{n}.py"));
    files().for_each(|file| drop(env.write(file, "x")));
    env.hook(&HookEvent::session_start()).assert_silent();
    for round in 1..=3 {
        env.shell("for f in *.py; do echo more >> $f; done");
        let events: Vec<HookEvent> =
            (0..WORKERS).map(|n| if n % 2 == 0 { HookEvent::bash() } else { HookEvent::stop() }).collect();
        env.run_hooks_concurrently(&events).iter().for_each(|output| output.assert_silent());
        let journal = env.journal_text("s1");
        for file in files() {
            let times = journal.matches(&format!("/{file}\t")).count();
            assert_eq!(times, round, "{file} in round {round}");
        }
    }
    assert!(env.log_lines().is_empty(), "{:?}", env.log_lines());
}

#[test]
fn sessions_begin_and_end_at_once() {
    let env = configured("[journal]\ngrace = \"0s\"\n");
    env.write("a.py", "x");
    let all = |event: fn() -> HookEvent| -> Vec<HookEvent> {
        (0..WORKERS).map(|n| event().session(&format!("s{n}"))).collect()
    };
    // The first of them make the store.
    env.run_hooks_concurrently(&all(HookEvent::session_start))
        .iter()
        .for_each(|output| output.assert_silent());
    env.run_hooks_concurrently(&all(|| HookEvent::edit("a.py")))
        .iter()
        .for_each(|output| output.assert_silent());
    let ends: Vec<HookEvent> =
        (0..WORKERS).map(|n| HookEvent::session_end().session(&format!("s{}", n / 2))).collect();
    env.run_hooks_concurrently(&ends).iter().for_each(|output| output.assert_silent());
    for n in 0..WORKERS {
        assert_eq!(env.journal(&format!("s{n}")).exists(), n >= WORKERS / 2, "s{n}");
    }
    let listed = env.lockstep(["changes", "--tsv"]).assert_success();
    assert_eq!(listed.lines().count(), WORKERS, "{listed}");
    assert!(env.log_lines().is_empty(), "{:?}", env.log_lines());
}
