//! Forged, rolled back and copied trails and step files.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use lockstep_steps::audit::{TrailEntry, TrailRecord};
use lockstep_testkit::TestEnv;
use lockstep_testkit::attacks::Numbers;

use super::scene::{bash, begun, is_refused, make_ready, must, run, with_step};
use super::trial::{Trial, Verdict};

/// The file of the trail.
fn log(env: &TestEnv) -> PathBuf {
    let files = fs::read_dir(env.project().join("steps")).expect("the directory of the steps");
    let files = files.map(|entry| entry.expect("an entry").path());
    files
        .into_iter()
        .find(|path| path.extension().is_some_and(|extension| extension == "log"))
        .expect("a trail")
}

fn lines(env: &TestEnv) -> Vec<String> {
    fs::read_to_string(log(env)).expect("the trail").lines().map(str::to_owned).collect()
}

fn write_lines(env: &TestEnv, lines: &[String]) {
    fs::write(log(env), lines.iter().map(|line| format!("{line}\n")).collect::<String>()).expect("the trail");
}

/// Appends a line with a right hash.
fn forge(env: &TestEnv, event: &str, fields: &[(&str, &str)]) {
    let mut lines = lines(env);
    let head = TrailEntry::parse(lines.last().expect("a line")).expect("an entry").head();
    let record = TrailRecord::new(jiff::Timestamp::now(), event, Some("steps/01-01.json"));
    let record = fields.iter().fold(record, |record, (name, value)| record.with(name, *value));
    lines.push(record.line(&head).0.trim_end().to_owned());
    write_lines(env, &lines);
}

fn copy(from: &std::path::Path, to: &std::path::Path) {
    assert!(Command::new("cp").arg("-a").args([from, to]).status().is_ok_and(|status| status.success()));
}

/// Runs `lockstep ARGS` elsewhere, or with another state directory of the user.
fn apart(env: &TestEnv, dir: PathBuf, state: Option<PathBuf>, args: &str) {
    let mut command = env.command(args.split(' '));
    command.current_dir(dir);
    if let Some(state) = state {
        command.env("XDG_STATE_HOME", state);
    }
    let _ = env.run(command, b"");
}

type Attack = (&'static str, fn(&TestEnv, &mut Numbers));

/// Attempts to pass the gate or to hide that a step was started.
const ATTACKS: &[Attack] = &[
    ("a forged line gives the step up", |env, _| forge(env, "STEP_ABANDONED", &[("why", "x")])),
    ("a forged line ends the step", |env, _| {
        forge(env, "STEP_FINISHED", &[("status", "DONE"), ("seal", "x")])
    }),
    ("a forged line accepts the trail", |env, _| forge(env, "TRAIL_ACCEPTED", &[("why", "x")])),
    ("forged lines of a random number", |env, numbers| {
        for _ in 0..1 + numbers.below(4) {
            let events = [
                "GATE_PASSED",
                "STEP_ABANDONED",
                "SUBAGENT_STOP_VALIDATION",
                "COMMIT_VALIDATED",
                "PHASE_DONE",
            ];
            forge(env, events[numbers.below(events.len())], &[("verdict", "PASS")]);
        }
    }),
    ("the tail is cut", |env, numbers| {
        let lines = lines(env);
        write_lines(env, &lines[..lines.len() - 1 - numbers.below(lines.len() - 1)]);
    }),
    ("one byte is changed", |env, numbers| {
        let mut bytes = fs::read(log(env)).expect("the trail");
        let at = numbers.below(bytes.len() - 1);
        bytes[at] = if bytes[at] == b'7' { b'8' } else { b'7' };
        fs::write(log(env), bytes).expect("the trail");
    }),
    ("two lines are exchanged", |env, numbers| {
        let mut lines = lines(env);
        let at = numbers.below(lines.len() - 1);
        lines.swap(at, at + 1);
        write_lines(env, &lines);
    }),
    ("a line is repeated", |env, numbers| {
        let mut lines = lines(env);
        lines.push(lines[numbers.below(lines.len())].clone());
        write_lines(env, &lines);
    }),
    ("a line is removed", |env, numbers| {
        let mut lines = lines(env);
        lines.remove(numbers.below(lines.len()));
        write_lines(env, &lines);
    }),
    ("the trail is deleted", |env, _| fs::remove_file(log(env)).expect("the trail")),
    ("the trail is emptied", |env, _| fs::write(log(env), "").expect("the trail")),
    ("the trail is renamed to another day", |env, _| {
        fs::rename(log(env), log(env).with_file_name("audit-2031-01-01.log")).expect("the trail");
    }),
    ("a copy of the project gives the step up", |env, _| {
        let other = env.root().join("copy");
        copy(&env.project(), &other);
        for args in ["audit accept --why mine", "step abandon 01-01 --why x"] {
            apart(env, other.clone(), None, args);
        }
        copy(&other.join("steps/."), &env.project().join("steps"));
    }),
    ("a whole copy takes the place of the project", |env, _| {
        let other = env.root().join("copy");
        copy(&env.project(), &other);
        for args in ["audit accept --why mine", "step abandon 01-01 --why x"] {
            apart(env, other.clone(), None, args);
        }
        fs::rename(env.project(), env.root().join("former")).expect("a rename");
        copy(&other, &env.project());
    }),
    ("another state directory of the user gives the step up", |env, _| {
        let _ = fs::remove_file(env.state().join("project"));
        apart(env, env.project(), Some(env.outside_dir().join("state")), "step abandon 01-01 --why x");
    }),
    ("another state directory accepts the trail first", |env, _| {
        for args in ["audit accept --why mine", "step abandon 01-01 --why x"] {
            apart(env, env.project(), Some(env.outside_dir().join("state")), args);
        }
    }),
    ("the step file says DONE", |env, _| {
        let path = env.project().join("steps/01-01.json");
        let text = fs::read_to_string(&path).expect("the step");
        fs::write(path, text.replace("IN_PROGRESS", "DONE").replace("NOT_EXECUTED", "EXECUTED"))
            .expect("the step");
    }),
    ("the step file says TODO", |env, _| {
        let path = env.project().join("steps/01-01.json");
        let text = fs::read_to_string(&path).expect("the step");
        fs::write(path, text.replace("IN_PROGRESS", "TODO")).expect("the step");
    }),
    ("the step file is deleted", |env, _| {
        fs::remove_file(env.project().join("steps/01-01.json")).expect("the step")
    }),
    ("the step file is renamed", |env, _| {
        let dir = env.project().join("steps");
        fs::rename(dir.join("01-01.json"), dir.join("09-09.json")).expect("the step");
    }),
    ("the directory of the steps is renamed", |env, _| {
        fs::rename(env.project().join("steps"), env.project().join("other")).expect("the steps");
    }),
    ("the state is deleted", |env, _| fs::remove_dir_all(env.state()).expect("the state")),
    ("the list of begun steps is deleted", |env, _| {
        let _ = fs::remove_dir_all(env.state().join("steps"));
    }),
    ("the store is deleted", |env, _| env.shell("rm -f .lockstep/state.db*")),
    ("the id of the project is deleted", |env, _| {
        let _ = fs::remove_file(env.state().join("project"));
    }),
    ("the id of the project is another", |env, _| {
        fs::write(env.state().join("project"), "0123456789abcdef0123456789abcdef").expect("the id");
    }),
    ("state and trail are deleted", |env, _| env.shell("rm -rf .lockstep steps/audit-*.log")),
];

/// Each attack begins with a step whose phase is open, so that gate 3 refuses.
pub(super) fn attack(trial: &mut Trial<'_>) {
    let program = trial.program;
    let all: Vec<(usize, &Attack)> = (0..trial.limit.div_ceil(ATTACKS.len()).max(1))
        .flat_map(|round| ATTACKS.iter().map(move |attack| (round, attack)))
        .collect();
    for (round, (name, attack)) in trial.sample(all) {
        let mut numbers = Numbers::new(trial.numbers.below(1 << 30) as u64);
        trial.case(format!("{name} (round {round})"), || {
            let env = begun(program);
            attack(&env, &mut numbers);
            let gate = run(&env, "gate commit");
            let hook = env.hook(&bash("git commit"));
            let has_held = gate.code == Some(1) && is_refused(&hook);
            Verdict::held_if(has_held, || format!("gate 3 passed: {}{}", gate.snapshot(), hook.snapshot()))
        });
    }
    if !trial.is_test_build() {
        trial.case("the environment names another day", || {
            let env = begun(program);
            let file = log(&env);
            Verdict::held_if(!file.ends_with("audit-2026-02-14.log"), || file.display().to_string())
        });
    }
    for (name, when) in [("before it failed", 0), ("before it began", 1), ("all of the project", 2)] {
        trial.case(format!("the former state is put back: {name}"), || roll_back(&with_step(program), when));
    }
}

/// A failed step becomes an earlier state of itself.
fn roll_back(env: &TestEnv, when: usize) -> Verdict {
    let file = env.project().join("steps/01-01.json");
    let first = fs::read(&file).expect("the step");
    make_ready(env, "01-01");
    let former = fs::read(&file).expect("the step");
    let saved = env.root().join("saved");
    copy(&env.project(), &saved);
    must(env, "step finish 01-01 --status FAILED --why broken");
    match when {
        0 => fs::write(&file, former).expect("the step"),
        1 => fs::write(&file, first).expect("the step"),
        _ => {
            fs::remove_dir_all(env.project()).expect("the project");
            copy(&saved, &env.project());
        }
    }
    let gate = run(env, "gate commit");
    Verdict::held_if(gate.code == Some(1), || gate.snapshot())
}

/// Changes of the configuration and of tables after the step began.
const RULES: [(&str, &str, &str); 14] = [
    ("gates off", "lockstep.toml", "[gates]\ncommit = 'off'\nstop = 'off'\nprompt = 'off'\n"),
    ("gate 3 off", "lockstep.toml", "[gates]\ncommit = 'off'\n"),
    ("gate 3 warns", "lockstep.toml", "[gates]\ncommit = 'warn'\n"),
    ("gate 2 off", "lockstep.toml", "[gates]\nstop = 'off'\n"),
    ("moved trail", "lockstep.toml", "[audit]\ndir = 'logs'\n"),
    ("on_failure", "lockstep.toml", "[hooks]\non_failure = 'allow'\n"),
    ("unreadable", "lockstep.toml", "[gates]\nunreadable = 'allow'\n"),
    ("moved steps", "lockstep.toml", "[steps]\ndir = 'other'\n"),
    ("other markers", "lockstep.toml", "[steps.markers]\nvalidation = 'XES-VALIDATION'\n"),
    ("other machine", "lockstep.toml", "[steps]\nmachine = 'other.yaml'\n"),
    (
        "machine",
        "steps/step-execution-fsm.yaml",
        "phase_sets:\n  tdd-3: {phases: [RED, GREEN, COMMIT], ordered: false}\n",
    ),
    ("shorter machine", "steps/step-execution-fsm.yaml", "phase_sets:\n  tdd-3: {phases: [COMMIT]}\n"),
    ("evidence", "lockstep.toml", "[steps.evidence]\nRED = 'none'\n"),
    ("nothing", "lockstep.toml", "[gates]\nprompt = 'off'\n"),
];

pub(super) fn attack_rules(trial: &mut Trial<'_>) {
    let program = trial.program;
    for (name, file, text) in trial.sample(RULES) {
        trial.case(name, || {
            let env = begun(program);
            env.write("other.yaml", "phase_sets:\n  tdd-3: {phases: [COMMIT]}\n");
            env.write(file, text);
            let (gate, hook) = (run(&env, "gate commit"), env.hook(&bash("git commit")));
            let has_held = gate.code.is_some_and(|code| code != 0) && is_refused(&hook);
            Verdict::held_if(has_held, || format!("{}{}", gate.snapshot(), hook.snapshot()))
        });
    }
}
