//! The audit trail as files: what is recorded, what is found, and where it lies.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use jiff::SignedDuration;
use serde_json::Value;

use crate::steps::{no, ready, step, with_step, yes};
use crate::{active, configured};

#[test]
fn the_first_bad_line_of_a_trail_of_days_is_named() {
    let names = ["audit-2026-02-14.log", "audit-2026-02-15.log", "audit-2026-02-16.log"];
    let build = || {
        let env = with_step();
        yes(&env, "step phase start 01-01 RED");
        env.advance(SignedDuration::from_hours(24));
        yes(&env, "step phase done 01-01 RED --run false");
        yes(&env, "step phase start 01-01 GREEN");
        env.advance(SignedDuration::from_hours(24));
        yes(&env, "step phase done 01-01 GREEN --run true");
        env
    };
    let env = build();
    assert_eq!(yes(&env, "audit verify"), "steps: whole, 5 entries\n");
    let there: Vec<bool> = names.iter().map(|name| env.project().join("steps").join(name).exists()).collect();
    assert_eq!(there, [true, true, true]);
    let file = |name: &str| env.project().join("steps").join(name);
    let texts: Vec<String> = names.iter().map(|name| fs::read_to_string(file(name)).unwrap()).collect();
    let first = |text: &str| text.lines().next().unwrap().to_owned() + "\n";
    let cases: Vec<(&str, usize, Option<String>, &str)> = vec![
        (
            "edited",
            1,
            Some(texts[1].replacen("IN_PROGRESS", "DONE", 1)),
            "audit-2026-02-15.log, line 1: it was edited",
        ),
        (
            "removed",
            0,
            Some(texts[0].lines().nth(1).unwrap().to_owned() + "\n"),
            "audit-2026-02-14.log, line 1: it is entry 2",
        ),
        (
            "inserted",
            1,
            Some(texts[0].clone() + &texts[1]),
            "audit-2026-02-15.log, line 1: it is entry 1 where 3 should follow",
        ),
        (
            "reordered",
            1,
            Some(texts[1].lines().nth(1).unwrap().to_owned() + "\n" + &first(&texts[1])),
            "audit-2026-02-15.log, line 1: it is entry 4 where 3 should follow",
        ),
        (
            "truncated",
            2,
            Some(texts[2][..texts[2].len() / 2].to_owned()),
            "audit-2026-02-16.log, line 1: it is cut off",
        ),
        (
            "cut at a line",
            1,
            Some(first(&texts[1])),
            "audit-2026-02-16.log, line 1: it is entry 5 where 4 should follow",
        ),
        (
            "a missing day",
            1,
            None,
            "audit-2026-02-16.log, line 1: it is entry 5 where 3 should follow: 2 entries are missing",
        ),
        (
            "the last day missing",
            2,
            None,
            "audit-2026-02-15.log, line 2: the last entry behind it is missing",
        ),
    ];
    for (name, at, text, expected) in cases {
        match &text {
            Some(text) => fs::write(file(names[at]), text).unwrap(),
            None => fs::remove_file(file(names[at])).unwrap(),
        }
        let output = no(&env, "audit verify");
        assert!(output.contains(&format!("steps/{expected}")), "{name}: {output}");
        fs::write(file(names[at]), &texts[at]).unwrap();
    }
    yes(&env, "audit verify");
}

#[test]
fn entries_are_found_by_step_event_and_time() {
    let env = with_step();
    yes(&env, "step new 01-02 --project auth --phases tdd-3");
    ready(&env);
    let count = |args: &str| {
        let entries: Vec<Value> =
            serde_json::from_str(&yes(&env, format!("audit show --format json {args}").trim_end())).unwrap();
        entries.len()
    };
    assert_eq!(count(""), 6);
    assert_eq!(count("--step 01-01"), 5);
    assert_eq!(count("--step steps/01-02.json"), 1);
    assert_eq!(count("--event STEP_PHASE_STARTED"), 2);
    assert_eq!(count("--since 2026-02-15"), 0);
    assert_eq!(count("--until 2026-02-14T06:30:43Z"), 6);
    assert_eq!(env.lockstep(["audit", "show", "--since", "soon"]).code, Some(2));
}

#[test]
fn the_trail_is_private_and_can_be_moved() {
    let env = configured("[audit]\ndir = \"logs/audit\"\n");
    yes(&env, "step new 01-01 --project auth --phases tdd-3");
    let file = env.project().join("logs/audit/audit-2026-02-14.log");
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(!env.project().join("steps/audit-2026-02-14.log").exists());
    assert_eq!(yes(&env, "audit verify"), "logs/audit: whole, 1 entry\n");
}

#[test]
fn unwritable_trail_stops_changes_but_not_gates() {
    let env = active().as_unprivileged_user();
    yes(&env, "step new 01-01 --project auth --phases tdd-3");
    let log = env.project().join("steps/audit-2026-02-14.log");
    fs::set_permissions(&log, fs::Permissions::from_mode(0o400)).unwrap();
    let output = env.lockstep(["step", "phase", "start", "01-01", "RED"]);
    assert_eq!(output.code, Some(4), "{}", output.snapshot());
    assert_eq!(step(&env)["state"]["status"], "TODO", "what is not recorded is not done");
    let output = env.lockstep(["gate", "stop", "01-01"]);
    assert_eq!(output.code, Some(0), "{}", output.snapshot());
    assert!(
        output.snapshot().contains("the audit entry SUBAGENT_STOP_VALIDATION was not written"),
        "{}",
        output.snapshot()
    );
    assert!(env.log_lines().iter().any(|line| line.contains("was not written")));
}

#[test]
fn a_step_that_never_existed_leaves_no_trail_in_the_root() {
    let env = active();
    let output = env.lockstep(["gate", "stop", "NAME"]).assert_failure(4);
    assert!(output.contains("there is no step file NAME"), "{output}");
    let prompt = env.write("prompt.md", "<!-- DES-VALIDATION: required -->\n<!-- DES-STEP-FILE: NAME -->\n");
    assert_eq!(env.lockstep(["gate", "prompt", prompt.to_str().unwrap()]).code, Some(1));
    let names: Vec<_> = fs::read_dir(env.project())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.starts_with("audit-"))
        .collect();
    assert!(names.is_empty(), "{names:?}");
    assert!(env.lockstep(["audit", "show"]).assert_success().contains("NAME"), "the refusal is on record");
}
