//! Pipes, devices, sockets and endless files where Lockstep reads files: nothing hangs, and nothing runs out of memory.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use lockstep_testkit::attacks::{PLACES, PLANTS, make_fifo};
use lockstep_testkit::{HookEvent, TestEnv};

use crate::observed;
use crate::steps::{with_step, yes};
use crate::steps_hooks::{asked, invoke, prompt, stop, transcript};

/// A limit that only a process that hangs reaches.
const HANG: Duration = Duration::from_secs(60);

/// Runs a command with little memory; fails if it hangs or a signal ends it.
fn ends(env: &TestEnv, args: &[&str], stdin: &str, what: &str) {
    let inner = env.command(args);
    let mut command = std::process::Command::new("sh");
    command.args(["-c", "ulimit -v 2000000; exec \"$0\" \"$@\""]).arg(inner.get_program()).args(args);
    command.env_clear().envs(inner.get_envs().filter_map(|(key, value)| Some((key, value?))));
    command.current_dir(env.project()).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), stdin.as_bytes()).unwrap();
    let started = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if started.elapsed() > HANG {
            child.kill().unwrap();
            panic!("{what}: {args:?} hangs");
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    assert!(status.code().is_some_and(|code| code < 100), "{what}: {args:?} ended with {status}");
}

/// A project with git, a step in work and a baseline.
fn begun() -> TestEnv {
    let env = with_step();
    env.write("a.py", "def hello(): pass\n");
    env.write("sub/b.py", "from a import hello\n");
    env.shell("git init -q && git add -A && git -c user.name=a -c user.email=a@a commit -qm a");
    env.hook(&HookEvent::session_start()).assert_success();
    yes(&env, "step phase start 01-01 RED");
    env
}

fn plant(env: &TestEnv, place: &str, plant: fn(&Path)) {
    let path = env.root().join(place);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let _ = fs::remove_file(&path);
    plant(&path);
}

#[test]
fn hooks_and_commands_end_whatever_is_in_the_place_of_a_file() {
    for (at, place) in PLACES.into_iter().enumerate() {
        // Each place meets a pipe, and one of the other plants.
        for (what, put) in [PLANTS[0], PLANTS[1 + at % (PLANTS.len() - 1)]] {
            let env = begun();
            plant(&env, place, put);
            let what = format!("{what} at {place}");
            for event in observed() {
                ends(&env, &["hook", "claude"], &event.json(&env.project()), &what);
            }
            // git itself waits for a pipe in the place of its own files; commands that run git give up after a minute.
            let is_gits = place.contains("git");
            let by_git = [&["changes"][..], &["impact"], &["gate", "commit"]];
            let by_git = by_git.into_iter().filter(|_| !is_gits);
            for args in [&["index"][..], &["step", "list"]].into_iter().chain(by_git) {
                ends(&env, args, "", &what);
            }
        }
    }
}

#[test]
fn gate_2_decides_if_the_transcript_is_a_pipe_or_a_device() {
    for (what, put) in PLANTS {
        let env = begun();
        let prompt = prompt(&env);
        env.hook(&invoke(&prompt)).assert_success();
        let path = transcript(&env, "a1", &prompt, 1);
        // The first read of the transcript determines the agent's step.
        assert!(asked(&env.hook(&stop(&env, "a1", false))).is_some(), "{what}");
        fs::remove_file(&path).unwrap();
        put(&path);
        let event = stop(&env, "a1", true);
        ends(&env, &["hook", "claude"], &event.json(&env.project()), what);
    }
}

#[test]
fn the_sweep_sees_changes_beside_a_rule_file_that_is_a_pipe() {
    let env = begun();
    plant(&env, "project/.lockstepignore", make_fifo);
    plant(&env, "project/.gitignore", make_fifo);
    env.shell("echo changed > a.py; echo new > sub/new.py");
    env.hook(&HookEvent::bash()).assert_success();
    let journal = env.journal_text("s1");
    assert!(journal.contains("/a.py\t") && journal.contains("/sub/new.py\t"), "{journal}");
}

#[test]
fn an_unreadable_directory_does_not_count_as_deleted() {
    let env = begun();
    plant(&env, "project/sub/.gitignore", make_fifo);
    env.hook(&HookEvent::bash()).assert_success();
    assert!(!env.journal_text("s1").contains("sub/b.py"), "{}", env.journal_text("s1"));
}

/// The regular files below a directory.
fn files_below(dir: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(dir).unwrap().map(Result::unwrap) {
        match entry.file_type().unwrap() {
            kind if kind.is_dir() => files.extend(files_below(&entry.path())),
            kind if kind.is_file() => files.push(entry.path()),
            _ => {}
        }
    }
    files
}

#[test]
fn no_file_of_the_state_can_be_a_pipe_that_is_waited_for() {
    let env = begun();
    let commands: [&[&str]; 9] = [
        &["index", "--quiet"],
        &["map", "build"],
        &["cache", "build"],
        &["task", "show"],
        &["cascade", "status"],
        &["changes"],
        &["step", "list"],
        &["audit", "verify"],
        &["scratch", "show", "--session", "s1"],
    ];
    yes(&env, "task new --title t --intent i");
    env.write("a.py", "def other(): pass\n");
    let _ = env.lockstep(["cascade", "start"]);
    for command in commands {
        let _ = env.lockstep(command);
    }
    let files = files_below(&env.state());
    assert!(files.iter().any(|file| file.ends_with("cache/lock")), "{files:?}");
    for file in files {
        let remaining = env.outside_dir().join("kept");
        if fs::rename(&file, &remaining).is_err() {
            // A command has removed it.
            continue;
        }
        make_fifo(&file);
        let what = file.display().to_string();
        for args in commands {
            ends(&env, args, "", &what);
        }
        for event in observed() {
            ends(&env, &["hook", "claude"], &event.json(&env.project()), &what);
        }
        let _ = fs::remove_file(&file);
        fs::rename(&remaining, &file).unwrap();
    }
}
