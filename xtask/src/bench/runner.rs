//! Runs all programs in turns, so that other load on the machine affects all of them.

use std::fs;
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use super::statistics::Times;
use super::targets::{BenchTarget, TargetRole};
use super::{BenchPlan, CONCURRENT_PROCESSES};
use crate::{XtaskResult, workspace};

/// Runs that count for memory; the largest of them is the peak.
const MEMORY_RUNS: usize = 3;

/// The measurements, in the order of the programs.
pub(super) struct BenchRun {
    pub(super) results: Vec<TargetResult>,
    /// The reason why nothing was measured with empty caches, if so.
    pub(super) not_cold: Option<String>,
}

/// One contestant's numbers.
pub(super) struct TargetResult {
    pub(super) name: String,
    pub(super) role: TargetRole,
    pub(super) warm: Times,
    pub(super) crowd: Times,
    pub(super) cold: Times,
    pub(super) peak_kib: u64,
}

impl BenchRun {
    pub(super) fn run(
        contestants: &[BenchTarget],
        plan: &BenchPlan,
        peak: &std::path::Path,
    ) -> XtaskResult<Self> {
        // Once each before it counts: caches are warm from the second run on.
        in_turns(contestants, 2, |_| true, run_once)?;
        let before: Vec<_> = contestants.iter().map(BenchTarget::journaled).collect();
        let warm = in_turns(contestants, plan.warm_runs, |_| true, run_once)?;
        prove_journaled(contestants, &before, plan.warm_runs)?;
        let crowd = in_turns(contestants, plan.crowd_rounds, |_| true, run_concurrently)?;
        let (cold, not_cold) = match caches_can_be_emptied(plan) {
            Ok(()) => (in_turns(contestants, plan.cold_runs, |one| one.cold, with_empty_caches)?, None),
            Err(why) => (vec![Times::default(); contestants.len()], Some(why)),
        };
        let mut results = Vec::new();
        for (((one, warm), crowd), cold) in contestants.iter().zip(warm).zip(crowd).zip(cold) {
            let peak_kib = peak_of(one, peak)?;
            results.push(TargetResult {
                name: one.name.clone(),
                role: one.role,
                warm,
                crowd,
                cold,
                peak_kib,
            });
        }
        Ok(Self { results, not_cold })
    }

    /// The first contestant of a role.
    pub(super) fn of(&self, role: TargetRole) -> &TargetResult {
        self.results.iter().find(|one| one.role == role).expect("every role has a contestant")
    }
}

/// Runs rounds in which every program runs once, in another order each time: a program after a large one
/// finds other caches than one after a small one.
fn in_turns(
    contestants: &[BenchTarget],
    rounds: u32,
    takes_part: impl Fn(&BenchTarget) -> bool,
    turn: impl Fn(&BenchTarget) -> XtaskResult<Vec<Duration>>,
) -> XtaskResult<Vec<Times>> {
    let mut times = vec![Vec::new(); contestants.len()];
    let mut order: Vec<usize> = (0..contestants.len()).filter(|at| takes_part(&contestants[*at])).collect();
    let mut dice = SplitMix64(0x9E37_79B9_7F4A_7C15);
    for _ in 0..rounds {
        dice.shuffle(&mut order);
        for &at in &order {
            contestants[at].prepare()?;
            times[at].extend(turn(&contestants[at])?);
        }
    }
    Ok(times.into_iter().map(Times::new).collect())
}

fn run_once(contestant: &BenchTarget) -> XtaskResult<Vec<Duration>> {
    Ok(vec![timed(contestant.command()?)?])
}

/// From before the process is started until it has ended.
fn timed(mut command: std::process::Command) -> Result<Duration, String> {
    let start = Instant::now();
    let status = command.status().map_err(|error| format!("{command:?}: {error}"))?;
    let took = start.elapsed();
    if status.success() { Ok(took) } else { Err(format!("{command:?}: {status}")) }
}

fn run_concurrently(contestant: &BenchTarget) -> XtaskResult<Vec<Duration>> {
    let commands =
        (0..CONCURRENT_PROCESSES).map(|_| contestant.command()).collect::<XtaskResult<Vec<_>>>()?;
    let line = Barrier::new(CONCURRENT_PROCESSES);
    let times: Result<Vec<Duration>, String> = thread::scope(|scope| {
        let start = |command| {
            line.wait();
            timed(command)
        };
        let runners: Vec<_> =
            commands.into_iter().map(|command| scope.spawn(move || start(command))).collect();
        runners.into_iter().map(|runner| runner.join().expect("starting a process does not panic")).collect()
    });
    Ok(times?)
}

const DROP_CACHES: &str = "/proc/sys/vm/drop_caches";

fn caches_can_be_emptied(plan: &BenchPlan) -> Result<(), String> {
    if plan.cold_runs == 0 {
        return Err("not asked for".to_owned());
    }
    empty_caches().map_err(|error| format!("{DROP_CACHES}: {error}"))
}

fn empty_caches() -> std::io::Result<()> {
    // Data that is not on disk yet stays in the cache.
    std::process::Command::new("sync").status()?;
    fs::write(DROP_CACHES, "3")
}

fn with_empty_caches(contestant: &BenchTarget) -> XtaskResult<Vec<Duration>> {
    let command = contestant.command()?;
    empty_caches()?;
    Ok(vec![timed(command)?])
}

fn peak_of(contestant: &BenchTarget, peak: &std::path::Path) -> XtaskResult<u64> {
    let mut largest = 0;
    for _ in 0..MEMORY_RUNS {
        contestant.prepare()?;
        let mut command = contestant.command_under(peak)?;
        command.stdout(std::process::Stdio::piped());
        let stdout = String::from_utf8(workspace::output(command)?)?;
        largest = largest.max(stdout.trim().parse()?);
    }
    Ok(largest)
}

/// Checks that every journaling program did so in every run: a process that does nothing is fast.
fn prove_journaled(contestants: &[BenchTarget], before: &[Option<usize>], runs: u32) -> XtaskResult {
    for (one, before) in contestants.iter().zip(before) {
        let lines = one.journaled().zip(*before).map(|(after, before)| after - before);
        if let Some(lines) = lines.filter(|lines| *lines != runs as usize) {
            return Err(format!("{}: {lines} lines journaled in {runs} runs", one.name).into());
        }
    }
    Ok(())
}

/// Random enough for an order, and the same in every run.
struct SplitMix64(u64);

impl SplitMix64 {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let other = usize::try_from(self.next() % (last as u64 + 1)).expect("an index fits");
            items.swap(last, other);
        }
    }
}
