//! Hooks that are killed: a client gives up on one, a machine runs out of memory. What was not told is told later.

use std::thread;
use std::time::Duration;

use lockstep_testkit::{Event, TestEnv};

use crate::configured;

const ROUNDS: u64 = 50;

/// Starts the hook and kills it at some point of its work; true when it was still alive then.
fn kill(env: &TestEnv, event: &Event, round: u64) -> bool {
    let mut hook = env.start_hook(event);
    // Spread over the whole of a hook's life, in an order that is the same in every run.
    thread::sleep(Duration::from_micros(round.wrapping_mul(7_919) % 14_000));
    hook.kill().unwrap();
    hook.wait().unwrap().code().is_none()
}

/// How often the file of a round is in the journal.
fn sightings(env: &TestEnv, round: u64) -> usize {
    env.journaled("s1").matches(&format!("/{round}.py\t")).count()
}

#[test]
fn no_change_is_lost_with_a_killed_sweep() {
    let env = configured("[alert]\nlead = \"any\"\n");
    env.hook(&Event::session_start()).silent();
    let mut killed = 0;
    for round in 0..ROUNDS {
        env.shell(&format!("echo new > {round}.py"));
        let event = if round % 2 == 0 { Event::bash() } else { Event::stop() };
        killed += u64::from(kill(&env, &event, round));
        env.hook(&Event::stop()).context();
        let times = sightings(&env, round);
        assert!((1..=2).contains(&times), "round {round}: journaled {times} times");
    }
    assert!(killed > ROUNDS / 5, "only {killed} were killed");
    let listed = env.lockstep(["changes", "--tsv"]).succeeded();
    assert_eq!(listed, env.journaled("s1"), "the store has all of it");
    assert!(env.logged().is_empty(), "{:?}", env.logged());
}

#[test]
fn no_alert_is_lost_with_a_killed_stop_and_none_is_told_twice() {
    let env = configured("");
    env.hook(&Event::session_start()).silent();
    let stop = Event::subagent_stop("a1", "implementer");
    let mut killed = 0;
    for round in 0..ROUNDS {
        let file = format!("{round}.py");
        env.write(&file, "new");
        env.hook(&Event::edit(&file).by("a1", "implementer")).silent();
        killed += u64::from(kill(&env, &stop, round));
        env.hook(&stop).silent();
        let alert = env.hook(&Event::prompt()).context().expect("the alert of this round").1;
        assert!(alert.contains(&format!("\nChanged: {file}\n")), "round {round}: {alert}");
        assert!(!alert.contains("earlier"), "round {round}: {alert}");
        env.hook(&Event::prompt()).silent();
    }
    assert!(killed > ROUNDS / 5, "only {killed} were killed");
    let reports = env.state().join("reports/s1");
    for number in 1..=ROUNDS {
        for extension in ["yaml", "md"] {
            assert!(reports.join(format!("{number}.{extension}")).exists(), "report {number}.{extension}");
        }
    }
    assert!(env.logged().is_empty(), "{:?}", env.logged());
}

#[test]
fn no_session_is_lost_with_a_killed_beginning_or_end() {
    let env = configured("[journal]\ngrace = \"0s\"\n");
    for round in 0..ROUNDS {
        let session = format!("s{round}");
        kill(&env, &Event::session_start().session(&session), round);
        env.hook(&Event::session_start().session(&session)).silent();
        env.write("a.py", format!("{round}"));
        env.hook(&Event::edit("a.py").session(&session)).silent();
        kill(&env, &Event::session_end().session(&session), round * 3);
        env.hook(&Event::session_end().session(&session)).silent();
        assert!(!env.journal(&session).exists(), "round {round}");
    }
    let listed = env.lockstep(["changes", "--tsv"]).succeeded();
    assert_eq!(listed.lines().count() as u64, ROUNDS, "each session's edit is remembered once:\n{listed}");
    assert!(env.logged().is_empty(), "{:?}", env.logged());
}
