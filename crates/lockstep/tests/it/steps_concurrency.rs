//! Many processes at one step and one trail, and processes that die in the middle.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use lockstep_steps::audit::TrailRecord;
use lockstep_store::audit::AuditTrail;
use lockstep_store::project_memory::ProjectMemory;
use lockstep_store::{StateDir, UserDir};
use lockstep_testkit::TestEnv;
use serde_json::Value;

use crate::active;
use crate::steps::{no, step, yes};

const WRITERS: usize = 20;

/// Returns a project with a step of twenty phases that may be started in any order.
fn twenty() -> TestEnv {
    let env = active();
    let names: Vec<String> = (0..WRITERS).map(|n| format!("P{n}")).collect();
    env.write(
        "steps/step-execution-fsm.yaml",
        format!("phase_sets:\n  many: {{phases: [{}], ordered: false}}\n", names.join(", ")),
    );
    yes(&env, "step new 01-01 --project auth --phases many");
    env
}

fn start(env: &TestEnv, args: &str) -> Child {
    env.command(args.split(' ')).stdout(Stdio::piped()).spawn().unwrap()
}

fn begun(env: &TestEnv) -> Vec<String> {
    let log = step(env)["tdd_cycle"]["phase_execution_log"].as_array().unwrap().clone();
    let begun = log.iter().filter(|phase| phase["status"] == "IN_PROGRESS");
    begun.map(|phase| phase["phase_name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn concurrent_phase_writes_are_all_recorded() {
    let env = twenty();
    let children: Vec<Child> =
        (0..WRITERS).map(|n| start(&env, &format!("step phase start 01-01 P{n}"))).collect();
    let mut accepted = Vec::new();
    for (n, child) in children.into_iter().enumerate() {
        let output = child.wait_with_output().unwrap();
        if output.status.code() == Some(0) {
            accepted.push(format!("P{n}"));
        } else {
            assert!(
                String::from_utf8_lossy(&output.stdout).contains("STEP_LOCKED by someone since"),
                "{output:?}"
            );
        }
    }
    assert_eq!(begun(&env), accepted, "every accepted write is there");
    assert_eq!(accepted.len(), WRITERS, "nobody holds it for longer than a write takes");
    assert_eq!(yes(&env, "audit verify"), "steps: whole, 21 entries\n");
}

#[test]
fn a_locked_step_names_its_holder() {
    let env = twenty();
    yes(&env, "step lock 01-01 --as ada");
    let writer = |n: usize| {
        format!("step phase start 01-01 P{n} --as {}", if n.is_multiple_of(4) { "ada" } else { "bob" })
    };
    let children: Vec<Child> = (0..WRITERS).map(|n| start(&env, &writer(n))).collect();
    let mut accepted = Vec::new();
    for (n, child) in children.into_iter().enumerate() {
        let output = child.wait_with_output().unwrap();
        match output.status.code() {
            Some(0) => accepted.push(format!("P{n}")),
            _ => assert!(
                String::from_utf8_lossy(&output.stdout).contains("STEP_LOCKED by ada since"),
                "{output:?}"
            ),
        }
    }
    assert_eq!(accepted, ["P0", "P4", "P8", "P12", "P16"]);
    assert_eq!(begun(&env), accepted);
}

/// The project of a writer process that the test below starts.
const TRAIL_OF: &str = "LOCKSTEP_TEST_TRAIL_OF";

#[test]
fn eight_processes_with_five_hundred_entries_each_are_one_chain() {
    let env = active();
    yes(&env, "step new 01-01 --project auth --phases tdd-3");
    let writer = || {
        let mut own = Command::new(std::env::current_exe().unwrap());
        own.args(["--exact", "--ignored", "steps_concurrency::writer_process_appends_five_hundred_entries"]);
        own.env(TRAIL_OF, env.project()).stdout(Stdio::piped()).spawn().unwrap()
    };
    let writers: Vec<Child> = (0..8).map(|_| writer()).collect();
    for writer in writers {
        let output = writer.wait_with_output().unwrap();
        assert!(output.status.success(), "{output:?}");
    }
    assert_eq!(yes(&env, "audit verify"), "steps: whole, 4001 entries\n");
}

#[test]
#[ignore = "the test above starts it as one of eight processes"]
fn writer_process_appends_five_hundred_entries() {
    let root = std::env::var_os(TRAIL_OF).expect("started by the test above");
    let root = Path::new(&root);
    let user = UserDir::new(root.parent().unwrap().join("home/.local/state/lockstep"));
    let memory = ProjectMemory::new(Some(user), root, &StateDir::for_project(root));
    let trail = AuditTrail::new(root.join("steps"), &memory);
    for n in 0..500 {
        let record =
            TrailRecord::new("2026-02-14T06:30:42Z".parse().unwrap(), "TEST", Some("steps/01-01.json"));
        trail.append(&record.with("pid", std::process::id()).with("n", n), Vec::new).unwrap();
    }
}

/// A process that dies between the record and the file leaves a step that goes on from where it was.
#[test]
fn killed_writers_leave_a_whole_step_and_a_whole_trail() {
    let env = twenty();
    let mut chance = 7_u64;
    let (mut killed, mut done) = (0, 0);
    // The duration of a process is determined on the way: about half of them should finish.
    let mut span = 12_000_u64;
    for round in 0..6 {
        for n in 0..WRITERS {
            let verb = if round % 2 == 0 { "start" } else { "fail" };
            let mut child = start(&env, &format!("step phase {verb} 01-01 P{n}"));
            chance = chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            thread::sleep(Duration::from_micros((chance >> 40) % span));
            let _ = child.kill();
            match child.wait().unwrap().code() {
                Some(_) => {
                    done += 1;
                    span = (span * 9 / 10).max(200);
                }
                None => {
                    killed += 1;
                    span = (span * 11 / 10).min(500_000);
                }
            }
        }
    }
    assert!(killed > 10, "{killed} killed, {done} done: the test would prove little");
    assert!(yes(&env, "audit verify").contains("whole"));
    // The remaining step is in a recorded state, and can continue.
    let value: Value = step(&env);
    assert_eq!(value["tdd_cycle"]["phase_execution_log"].as_array().unwrap().len(), WRITERS);
    let text = yes(&env, "step show 01-01");
    assert!(!text.contains("warning"), "{text}");
    for n in 0..WRITERS {
        let status = &step(&env)["tdd_cycle"]["phase_execution_log"][n]["status"];
        let verb = if status == "IN_PROGRESS" { "fail" } else { "start" };
        yes(&env, &format!("step phase {verb} 01-01 P{n}"));
    }
    no(&env, "gate stop 01-01");
}
