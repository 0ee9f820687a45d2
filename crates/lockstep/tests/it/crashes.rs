//! Hooks that are killed, by a client's timeout or because memory runs out. Unreported changes are reported
//! later.

use std::cell::Cell;
use std::thread;
use std::time::{Duration, Instant};

use lockstep_testkit::{HookEvent, ProcessOutput, TestEnv};

use crate::{configured, plant_users};

const ROUNDS: u64 = 50;

/// Kills hooks at points spread over a little more than the life of a whole one, which is measured: machines differ.
struct Killer<'a> {
    env: &'a TestEnv,
    life: Cell<Duration>,
    killed: Cell<u64>,
}

impl<'a> Killer<'a> {
    fn new(env: &'a TestEnv) -> Self {
        Self { env, life: Cell::new(Duration::from_millis(10)), killed: Cell::new(0) }
    }

    /// Starts the hook and kills it; then lets it do all of its work.
    fn kill_and_repeat(&self, event: &HookEvent, round: u64) -> ProcessOutput {
        let mut hook = self.env.start_hook(event);
        thread::sleep(self.life.get().mul_f64(1.3 * (round * 37 % 100) as f64 / 100.0));
        hook.kill().unwrap();
        self.killed.set(self.killed.get() + u64::from(hook.wait().unwrap().code().is_none()));
        let start = Instant::now();
        let output = self.env.hook(event);
        self.life.set(start.elapsed());
        output
    }

    /// The test would prove little if every kill came too late.
    fn assert_deadly(&self) {
        assert!(self.killed.get() > ROUNDS / 5, "only {} were killed", self.killed.get());
    }
}

/// Returns how often the file of a round is in the journal.
fn sightings(env: &TestEnv, round: u64) -> usize {
    env.journal_text("s1").matches(&format!("/{round}.py\t")).count()
}

#[test]
fn no_change_is_lost_with_a_killed_sweep() {
    let env = configured("[alert]\nlead = \"any\"\n");
    env.hook(&HookEvent::session_start()).assert_silent();
    let killer = Killer::new(&env);
    for round in 0..ROUNDS {
        env.shell(&format!("echo new > {round}.py"));
        let event = if round % 2 == 0 { HookEvent::bash() } else { HookEvent::stop() };
        killer.kill_and_repeat(&event, round).context();
        let times = sightings(&env, round);
        assert!((1..=2).contains(&times), "round {round}: journaled {times} times");
    }
    killer.assert_deadly();
    let listed = env.lockstep(["changes", "--tsv"]).assert_success();
    assert_eq!(listed, env.journal_text("s1"), "the store has all of it");
    assert!(env.log_lines().is_empty(), "{:?}", env.log_lines());
}

#[test]
fn a_killed_stop_neither_loses_nor_repeats_an_alert() {
    let env = configured("");
    let modules: Vec<String> = (0..ROUNDS).map(|round| format!("m{round}")).collect();
    plant_users(&env, &modules.iter().map(|module| &**module).collect::<Vec<_>>());
    env.hook(&HookEvent::session_start()).assert_silent();
    let stop = HookEvent::subagent_stop("a1", "implementer");
    let killer = Killer::new(&env);
    for round in 0..ROUNDS {
        let file = format!("m{round}.py");
        env.write(&file, "new");
        env.hook(&HookEvent::edit(&file).by_agent("a1", "implementer")).assert_silent();
        killer.kill_and_repeat(&stop, round).assert_silent();
        let alert = env.hook(&HookEvent::prompt()).context().expect("the alert of this round").1;
        assert!(alert.contains(&format!("\nChanged: {file} (hello removed)\n")), "round {round}: {alert}");
        assert!(!alert.contains("earlier"), "round {round}: {alert}");
        env.hook(&HookEvent::prompt()).assert_silent();
    }
    killer.assert_deadly();
    let reports = env.state().join("reports/s1");
    for number in 1..=ROUNDS {
        for extension in ["yaml", "md"] {
            assert!(reports.join(format!("{number}.{extension}")).exists(), "report {number}.{extension}");
        }
    }
    assert!(env.log_lines().is_empty(), "{:?}", env.log_lines());
}

#[test]
fn killed_session_start_or_end_is_recovered() {
    let env = configured("[journal]\ngrace = \"0s\"\n");
    let killer = Killer::new(&env);
    for round in 0..ROUNDS {
        let session = format!("s{round}");
        killer.kill_and_repeat(&HookEvent::session_start().session(&session), round).assert_silent();
        env.write("a.py", format!("{round}"));
        env.hook(&HookEvent::edit("a.py").session(&session)).assert_silent();
        killer.kill_and_repeat(&HookEvent::session_end().session(&session), round * 3).assert_silent();
        assert!(!env.journal(&session).exists(), "round {round}");
    }
    let listed = env.lockstep(["changes", "--tsv"]).assert_success();
    assert_eq!(listed.lines().count() as u64, ROUNDS, "each session's edit is remembered once:\n{listed}");
    killer.assert_deadly();
    assert!(env.log_lines().is_empty(), "{:?}", env.log_lines());
}
