//! Pipes, devices, sockets, links and endless files where files are read.

use std::fs;
use std::process::Command;

use lockstep_testkit::attacks::{PLACES, PLANTS};
use lockstep_testkit::step_agent::{stop, transcript};
use lockstep_testkit::{HookEvent, TestEnv};

use super::scene::{bash, begun, must_git};
use super::trial::{Trial, Verdict};
use super::usage::ends;

/// `lockstep ARGS` with little memory.
fn limited(env: &TestEnv, args: &[&str]) -> Command {
    let inner = env.command(args);
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -v 2000000; exec \"$0\" \"$@\""]).arg(inner.get_program()).args(args);
    command.env_clear().envs(inner.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.env("CLAUDE_PROJECT_DIR", env.project()).current_dir(env.project());
    command
}

pub(super) fn attack(trial: &mut Trial<'_>) {
    let program = trial.program;
    let more = [
        "elsewhere/transcripts/s1/subagents/agent-a1.jsonl",
        "elsewhere/transcripts/s1.jsonl",
        "project/a.py",
    ];
    let places = PLACES.iter().chain(more.iter());
    let all = places.flat_map(|place| PLANTS.iter().map(move |plant| (*place, plant)));
    for (place, (what, put)) in trial.sample(all) {
        trial.case(format!("{what} at {place}"), || {
            let env = begun(program);
            env.write("a.py", "def hello(): pass\n");
            env.write("sub/b.py", "from a import hello\n");
            must_git(&env, "git init -q && git add -A && git commit -qm a");
            env.hook(&HookEvent::session_start()).assert_success();
            transcript(&env, "a1", "work", 0);
            let path = env.root().join(place);
            fs::create_dir_all(path.parent().expect("it has one")).expect("a directory");
            let _ = fs::remove_file(&path);
            put(&path);
            let events = [
                HookEvent::session_start(),
                HookEvent::prompt(),
                HookEvent::edit("a.py").by_agent("a1", "implementer"),
                bash("ls"),
                HookEvent::bash(),
                stop(&env, "a1", false),
                HookEvent::stop(),
                HookEvent::session_end(),
            ];
            for event in events {
                let json = event.json(&env.project());
                if let Err(reason) = ends(limited(&env, &["hook", "claude"]), json.as_bytes()) {
                    return Verdict::Broken(format!("{}: {reason}", event.name()));
                }
            }
            // git itself waits for a pipe in the place of its own files.
            let by_git = [&["changes"][..], &["impact"], &["gate", "commit"], &["doctor"]];
            let by_git = by_git.into_iter().filter(|_| !place.contains("git"));
            for args in [&["index"][..], &["step", "list"]].into_iter().chain(by_git) {
                if let Err(reason) = ends(limited(&env, args), b"") {
                    return Verdict::Broken(format!("{args:?}: {reason}"));
                }
            }
            Verdict::Held
        });
    }
}
