//! Runs that are killed at any point: the state is consistent, the next run continues, nothing is done twice,
//! and no process survives.

use std::fs;
use std::io::{self, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use lockstep_testkit::{ProcessOutput, TestEnv};

use crate::rename_fixtures::{RENAMER, list, run, run_command, rust, status, touched};

const POINTS: u32 = 20;

/// The processes that were started with a mark in their environment.
pub(crate) fn marked(mark: &str) -> Vec<i32> {
    let wanted = format!("LOCKSTEP_TEST_MARK={mark}\0");
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    pids.filter(|pid| {
        let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        String::from_utf8_lossy(&environment).contains(&wanted)
    })
    .collect()
}

fn assert_nobody_survives(mark: &str) {
    let start = Instant::now();
    while !marked(mark).is_empty() {
        assert!(start.elapsed() < Duration::from_secs(300), "still alive: {:?}", marked(mark));
        thread::sleep(Duration::from_millis(20));
    }
}

/// Two groups in the first round, one file after the other in each; two rounds.
fn project() -> TestEnv {
    let env = rust(2, 2);
    for name in ["x", "y"] {
        env.write(
            format!("src/{name}/mod.rs"),
            "use crate::f0::f0_old;\n\npub fn user() {\n    f0_old();\n}\n",
        );
    }
    env.write("src/lib.rs", "pub mod f0;\npub mod r1;\npub mod r2;\npub mod x;\npub mod y;\n");
    env
}

const FILES: [&str; 6] =
    ["src/r1/m0.rs", "src/r1/m1.rs", "src/r2/m0.rs", "src/r2/m1.rs", "src/x/mod.rs", "src/y/mod.rs"];

/// The agent's time per file, in seconds.
const PACE: &str = "0.02";

fn run_paced(env: &TestEnv) -> ProcessOutput {
    let mut command = run_command(env, RENAMER, &[]);
    command.env("PACE", PACE);
    env.run(command, b"")
}

/// Random points of a run, from 0 to 1. A failure prints its seed, and `LOCKSTEP_TEST_SEED` repeats it.
struct Points {
    seed: u64,
    state: u64,
}

impl Points {
    fn new() -> Self {
        let named = std::env::var("LOCKSTEP_TEST_SEED").ok().and_then(|seed| seed.parse().ok());
        let now = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap().subsec_nanos().into();
        let seed = named.unwrap_or_else(now);
        Self { seed, state: seed }
    }

    /// Generates the next number (SplitMix64).
    fn next(&mut self) -> f64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }
}

#[test]
fn killed_run_resumes_where_it_stopped() {
    // The duration of an undisturbed run: the points are spread over it.
    let whole = project();
    let started = Instant::now();
    run_paced(&whole).assert_success();
    let mut life = started.elapsed();
    let (mut killed, mut tries) = (0, 0);
    let mut points = Points::new();
    while killed < POINTS {
        tries += 1;
        assert!(tries < 10 * POINTS, "only {killed} of {tries} were killed in the middle");
        let at = points.next();
        let point = format!("{at:.3} of {life:?}, LOCKSTEP_TEST_SEED={}", points.seed);
        let env = project();
        let mark = env.root().display().to_string();
        let mut command = run_command(&env, RENAMER, &[]);
        command.env("LOCKSTEP_TEST_MARK", &mark).env("PACE", PACE);
        let mut child = command.spawn().unwrap();
        thread::sleep(life.mul_f64(at));
        child.kill().unwrap();
        match child.wait().unwrap().code() {
            None => killed += 1,
            // The run ended before it was killed: on a machine that is less busy now, a run takes less time.
            Some(_) => life = life.mul_f64(at.max(0.5)),
        }
        assert_nobody_survives(&mark);
        // The reported state is consistent: each file is unchanged, or was changed once.
        let text = env.lockstep(["cascade", "status", "--format", "json"]).assert_success();
        let before: Vec<usize> = FILES.iter().map(|file| touched(&env, file)).collect();
        assert!(before.iter().all(|times| *times <= 1), "point {point}: {before:?}\n{text}");
        let seen: serde_json::Value = serde_json::from_str(&text).unwrap();
        for file in seen["updated"].as_array().into_iter().flatten() {
            assert_eq!(
                touched(&env, file.as_str().unwrap()),
                1,
                "point {point}: counted as updated, and is not"
            );
        }
        let start = Instant::now();
        if seen["active"] != false {
            run(&env, RENAMER, &[]).assert_success();
        }
        let whole = before.iter().all(|times| *times == 0);
        if whole {
            life = life.max(start.elapsed());
        }
        let status = status(&env);
        assert_eq!(
            (&status["status"], &status["active"]),
            (&"converged".into(), &false.into()),
            "point {point}: {status:#}"
        );
        assert_eq!(list(&status, "updated").len(), FILES.len(), "point {point}: {status:#}");
        for file in FILES {
            assert_eq!(touched(&env, file), 1, "point {point}: {file} was processed more than once");
        }
    }
}

/// Returns true if child processes ignore Ctrl-C.
fn ignores_interrupts() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask & 2 != 0)
}

/// Acts like a terminal on Ctrl-C: it interrupts every process of the foreground group.
#[test]
fn interrupted_run_ends_its_agents_and_resumes_later() {
    if ignores_interrupts() {
        let _ = writeln!(
            io::stderr(),
            "SKIPPED Ctrl-C: who started the tests ignores it, as `nohup` does, and so would the run"
        );
        return;
    }
    let env = rust(1, 1);
    let mark = env.root().display().to_string();
    // An agent that does not let itself be interrupted.
    let deaf = "trap '' INT; cat > /dev/null; touch here; sleep 600\n";
    let mut command = run_command(&env, deaf, &[]);
    command.env("LOCKSTEP_TEST_MARK", &mark).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    let child = command.spawn().unwrap();
    let start = Instant::now();
    while !env.project().join("here").exists() {
        assert!(start.elapsed() < Duration::from_secs(300), "the agent was never started");
        thread::sleep(Duration::from_millis(20));
    }
    let group = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process_group(group, rustix::process::Signal::INT).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(!output.status.success(), "an interrupted run is no success");
    assert_nobody_survives(&mark);
    let before = status(&env);
    assert_eq!((&before["active"], list(&before, "updated").len()), (&true.into(), 0), "{before:#}");
    run(&env, RENAMER, &[]).assert_success();
    let after = status(&env);
    assert_eq!((&after["status"], &after["active"]), (&"converged".into(), &false.into()), "{after:#}");
    assert_eq!(touched(&env, "src/r1/m0.rs"), 1);
}

#[test]
fn second_concurrent_run_is_refused() {
    let env = rust(1, 1);
    let mut command = run_command(
        &env,
        "cat > /dev/null; touch here; while [ ! -e go ]; do sleep 0.05; done; sed -i s/_old/_new/g $LOCKSTEP_FILES\n",
        &[],
    );
    let first = command.spawn().unwrap();
    let start = Instant::now();
    while !env.project().join("here").exists() {
        assert!(start.elapsed() < Duration::from_secs(300), "the agent was never started");
        thread::sleep(Duration::from_millis(20));
    }
    let refused = env.lockstep(["cascade", "run", "--agent", "true"]).assert_failure(2);
    assert!(refused.contains("another `lockstep cascade run` is at work"), "{refused}");
    env.write("go", "");
    let output = first.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
