//! Several at once, and some killed: the document is always whole.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use lockstep_testkit::TestEnv;

use crate::active;

const MAP: &str = ".lockstep/codebase-map.md";

fn plant(env: &TestEnv, files: usize) {
    for at in 0..files {
        env.write(
            format!("py/m{at}.py"),
            format!("from py.m{} import f{}\n\ndef f{at}():\n    pass\n", (at + 1) % files, (at + 1) % files),
        );
    }
}

/// Asserts that the document is complete, old or new.
fn assert_whole(env: &TestEnv, files: usize) {
    let text = fs::read_to_string(env.project().join(MAP)).unwrap();
    let count =
        text.lines().find_map(|line| line.strip_prefix("<!-- Entry count: ")?.strip_suffix(" -->")).unwrap();
    assert_eq!(text.matches("\n## ").count(), count.parse::<usize>().unwrap());
    assert!(text.ends_with("\nupdated: 2026-02-14\n") && count.parse::<usize>().unwrap() >= files);
}

#[test]
fn two_updates_at_once_take_turns() {
    let env = active();
    plant(&env, 40);
    env.lockstep(["map"]).assert_success();
    for round in 0..4 {
        env.write("py/m3.py", format!("from py.m4 import f4\n\ndef f3():\n    return {round}\n"));
        env.write(format!("py/new{round}.py"), "from py.m3 import f3\n");
        let running: Vec<_> = (0..4).map(|_| env.command(["map", "update"]).spawn().unwrap()).collect();
        let outputs: Vec<_> = running.into_iter().map(|child| child.wait_with_output().unwrap()).collect();
        for output in &outputs {
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        }
        let text: String = outputs.iter().map(|output| String::from_utf8_lossy(&output.stdout)).collect();
        assert_eq!(text.matches("Updated").count(), 1, "one does it, the others find it done: {text}");
        env.lockstep(["map", "check"]).assert_success();
    }
}

#[test]
fn waiting_process_names_the_lock_owner() {
    let env = active();
    plant(&env, 3);
    env.lockstep(["map"]).assert_success();
    let lock = fs::File::options().read(true).write(true).open(env.state().join("map/lock")).unwrap();
    lock.lock().unwrap();
    fs::write(env.state().join("map/lock"), "process 4711 (map build)\n").unwrap();
    let mut waiting = env.command(["map", "update"]).stderr(Stdio::piped()).spawn().unwrap();
    let mut output = BufReader::new(waiting.stderr.take().unwrap());
    let mut line = String::new();
    output.read_line(&mut line).unwrap();
    assert_eq!(line, "waiting for process 4711 (map build)\n");
    drop(lock);
    assert!(waiting.wait().unwrap().success());
    line.clear();
    output.read_to_string(&mut line).unwrap();
    assert_eq!(line, "");
}

#[test]
fn a_killed_run_leaves_a_whole_map_and_the_next_ends_the_same() {
    let env = active();
    plant(&env, 60);
    env.lockstep(["map"]).assert_success();
    let mut life = Duration::from_millis(60);
    let mut killed = 0;
    for round in 0..24_u32 {
        env.write(
            "py/m7.py",
            format!("from py.m{} import f{}\n\ndef f7():\n    return {round}\n", round % 60, round % 60),
        );
        env.write(format!("py/extra{}.py", round % 5), format!("from py.m7 import f7\nround = {round}\n"));
        let way = if round % 2 == 0 { "update" } else { "build" };
        let mut child = env.command(["map", way]).spawn().unwrap();
        thread::sleep(life.mul_f64(1.2 * f64::from(round * 37 % 100) / 100.0));
        child.kill().unwrap();
        killed += u32::from(child.wait().unwrap().code().is_none());
        assert_whole(&env, 60);
        let start = Instant::now();
        env.lockstep(["map", "update"]).assert_success();
        life = start.elapsed();
        env.lockstep(["map", "check"]).assert_success();
        let updated = fs::read_to_string(env.project().join(MAP)).unwrap();
        env.lockstep(["map", "build"]).assert_success();
        assert_eq!(fs::read_to_string(env.project().join(MAP)).unwrap(), updated, "round {round}");
        assert!(!env.project().join(format!("{MAP}.bak")).exists(), "round {round}");
    }
    assert!(killed > 4, "only {killed} were killed");
}
