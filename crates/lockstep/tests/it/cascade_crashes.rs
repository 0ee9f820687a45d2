//! Runs that are killed at any point: the state is right, the next run goes on, nothing is done twice, and nobody survives.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use lockstep_testkit::{Output, TestEnv};

use crate::planted::{RENAMER, list, run, run_command, rust, status, touched};

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
        assert!(start.elapsed() < Duration::from_secs(30), "still alive: {:?}", marked(mark));
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

/// How long the agent takes for a file, in seconds.
const PACE: &str = "0.02";

fn run_paced(env: &TestEnv) -> Output {
    let mut command = run_command(env, RENAMER, &[]);
    command.env("PACE", PACE);
    env.run(command, b"")
}

#[test]
fn a_run_that_is_killed_anywhere_goes_on_where_it_was() {
    // How long a run lives where nobody kills it: the points are spread over that.
    let whole = project();
    let started = Instant::now();
    run_paced(&whole).succeeded();
    let mut life = started.elapsed();
    let mut killed = 0;
    for point in 0..POINTS {
        let env = project();
        let mark = env.root().display().to_string();
        let mut command = run_command(&env, RENAMER, &[]);
        command.env("LOCKSTEP_TEST_MARK", &mark).env("PACE", PACE);
        let mut child = command.spawn().unwrap();
        thread::sleep(life.mul_f64(f64::from(point * 37 % 100) / 100.0));
        child.kill().unwrap();
        killed += u32::from(child.wait().unwrap().code().is_none());
        assert_nobody_survives(&mark);
        // Whatever it shows is a state that is: each file is what it was, or done once.
        let shown = env.lockstep(["cascade", "status", "--format", "json"]).succeeded();
        let before: Vec<usize> = FILES.iter().map(|file| touched(&env, file)).collect();
        assert!(before.iter().all(|times| *times <= 1), "point {point}: {before:?}\n{shown}");
        let seen: serde_json::Value = serde_json::from_str(&shown).unwrap();
        for file in seen["updated"].as_array().into_iter().flatten() {
            assert_eq!(
                touched(&env, file.as_str().unwrap()),
                1,
                "point {point}: counted as updated, and is not"
            );
        }
        let start = Instant::now();
        if seen["active"] != false {
            run(&env, RENAMER, &[]).succeeded();
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
    assert!(killed > POINTS / 4, "only {killed} were killed in the middle");
}

#[test]
fn two_runs_at_once_do_not_meet() {
    let env = rust(1, 1);
    let mut command = run_command(
        &env,
        "cat > /dev/null; touch here; while [ ! -e go ]; do sleep 0.05; done; sed -i s/_old/_new/g $LOCKSTEP_FILES\n",
        &[],
    );
    let first = command.spawn().unwrap();
    let start = Instant::now();
    while !env.project().join("here").exists() {
        assert!(start.elapsed() < Duration::from_secs(60), "the agent was never started");
        thread::sleep(Duration::from_millis(20));
    }
    let refused = env.lockstep(["cascade", "run", "--agent", "true"]).failed(2);
    assert!(refused.contains("another `lockstep cascade run` is at work"), "{refused}");
    env.write("go", "");
    let output = first.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
