//! The invariants of the system, I1 to I10, each by its name, with real processes. They are those that the boundaries between the
//! hooks, the reports, the cascade and the map promise each other; where a decision of the design amended one, its test says how.
//!
//! | | invariant | as amended |
//! |---|---|---|
//! | I1 | the session is the same in the journal's name and at the stop | |
//! | I2 | paths are absolute in hooks and reports, relative in alerts and in the map | |
//! | I3 | every changed file of a session's impact report is in its journal | a sweep journals what no tool reported |
//! | I4 | a cascade never processes a file that it has updated | |
//! | I5 | the map's `refs` and `refd_by` mirror each other | |
//! | I6 | hooks never block the pipeline | observers; gates block, by design, and never fail silently |
//! | I7 | every boundary degrades to less data, never to an abort | "no data" is said, and is not "no impact" |
//! | I8 | a cascade has at most 3 iterations | |
//! | I9 | an alert lives for a single turn | it is delivered exactly once; its report stays |
//! | I10 | nothing changes how an implementer behaves | but a gate of its own step, which asks it once |

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use lockstep_cli::hook::routing::REGISTRATIONS;
use lockstep_testkit::{HookEvent, TestEnv};
use serde_json::Value;

use crate::rename_fixtures::{RENAMER, commit, list, run, rust, status, touched};
use crate::{active, observed, plant_users};

/// A subagent renamed `hello` in `a.py`, which `use_a.py` uses, and stops.
fn renamed(env: &TestEnv, session: &str) {
    env.write("a.py", "def hello(): pass\n");
    plant_users(env, &["a"]);
    env.hook(&HookEvent::session_start().session(session)).assert_silent();
    env.write("a.py", "def greet(): pass\n");
    env.hook(&HookEvent::edit("a.py").session(session).by_agent("a1", "implementer")).assert_silent();
    env.hook(&HookEvent::subagent_stop("a1", "implementer").session(session)).assert_silent();
}

fn json(env: &TestEnv, args: &str) -> Value {
    serde_json::from_slice(&env.lockstep(args.split(' ')).stdout).unwrap()
}

/// The third column of a session's journal.
fn journaled_paths(env: &TestEnv, session: &str) -> BTreeSet<String> {
    env.journal_text(session).lines().map(|line| line.split('\t').nth(2).unwrap().to_owned()).collect()
}

#[test]
fn i1_the_session_names_the_journal_and_the_stop_reads_that_one() {
    let env = active();
    renamed(&env, "session-42");
    assert!(env.tmp().join("src-changes-session-42.log").is_file());
    assert!(env.state().join("reports/session-42/1.yaml").is_file(), "{}", env.dir_snapshot());
    // A stop of another session finds nothing in it, and that session's Lead gets no alert.
    env.hook(&HookEvent::subagent_stop("a1", "implementer").session("session-43")).assert_silent();
    env.hook(&HookEvent::agent_done().session("session-43")).assert_silent();
    assert!(!env.state().join("reports/session-43").exists());
    let (_, alert) =
        env.hook(&HookEvent::agent_done().session("session-42")).context().expect("the Lead is told");
    assert!(alert.contains("Changed: a.py"), "{alert}");
}

#[test]
fn i2_paths_are_absolute_in_hooks_and_reports_and_relative_in_alert_and_map() {
    let env = active();
    renamed(&env, "s1");
    let root = env.project();
    assert!(journaled_paths(&env, "s1").iter().all(|path| Path::new(path).starts_with(&root)));
    let report = json(&env, "impact --session s1 --format json");
    let impact = &report["impacts"][0];
    for path in [&impact["changed_file"], &impact["dependents"][0]["file"]] {
        assert!(Path::new(path.as_str().unwrap()).starts_with(&root), "{report:#}");
    }
    let (_, alert) = env.hook(&HookEvent::agent_done()).context().unwrap();
    assert!(
        alert.contains("\nDependents: use_a.py:1 (refs hello) [breaks]\n")
            && !alert.contains(root.to_str().unwrap()),
        "{alert}"
    );
    let map = map(&env, "build");
    assert!(map.keys().all(|path| Path::new(path).is_relative() && root.join(path).is_file()), "{map:?}");
}

#[test]
fn i3_every_changed_file_of_a_report_was_journaled() {
    let env = active();
    renamed(&env, "s1");
    // One more by a shell, one by the Lead, and one that this session did not change.
    env.write("b.py", "x = 1\n");
    assert!(env.hook(&HookEvent::bash()).context().is_some());
    env.write("c.py", "y = 1\n");
    env.hook(&HookEvent::write("c.py")).assert_silent();
    env.write("d.py", "z = 1\n");
    env.hook(&HookEvent::write("d.py").session("s2")).assert_silent();
    let report = json(&env, "impact --session s1 --format json");
    let changed: BTreeSet<String> = report["impacts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|impact| impact["changed_file"].as_str().unwrap().to_owned())
        .collect();
    let journal = journaled_paths(&env, "s1");
    assert!(changed.len() >= 3 && changed.is_subset(&journal), "{changed:?} {journal:?}");
    assert!(!changed.iter().any(|path| path.ends_with("d.py")), "{changed:?}");
}

#[test]
fn i4_a_cascade_never_processes_a_file_that_it_has_updated() {
    // Two files that use each other: each update changes what the other depends on.
    let env = active();
    env.write("src/f0.rs", "pub fn f0_old() {}\n");
    env.write("src/lib.rs", "mod f0;\nmod a;\nmod b;\n");
    for (name, other) in [("a", "b"), ("b", "a")] {
        let text = format!(
            "use crate::f0::f0_old;\nuse crate::{other}::{other}_old;\n\npub fn {name}_old() {{\n    f0_old();\n    {other}_old()\n}}\n"
        );
        env.write(format!("src/{name}.rs"), text);
    }
    commit(&env);
    env.write("src/f0.rs", "pub fn f0_new() {}\n");
    let output = run(&env, RENAMER, &[]);
    let status = status(&env);
    assert!(matches!(output.code, Some(0 | 1)), "{}", output.snapshot());
    assert_eq!(list(&status, "updated"), ["src/a.rs", "src/b.rs"], "{status:#}");
    for file in ["src/a.rs", "src/b.rs"] {
        assert_eq!(touched(&env, file), 1, "{file} was given to an agent once: {status:#}");
    }
}

/// The map's entries by path, with what they reference and who references them, after it was brought up to date by `verb`.
fn map(env: &TestEnv, verb: &str) -> BTreeMap<String, [Vec<String>; 2]> {
    env.lockstep(["map", verb, "--quiet"]).assert_success();
    let text = fs::read_to_string(env.state().join("codebase-map.md")).unwrap();
    let mut entries = BTreeMap::new();
    for block in text.split("\n## ").skip(1) {
        let mut lines = block.lines();
        let path = lines.next().unwrap().to_owned();
        let items = |line: &str, name: &str| -> Vec<String> {
            let rest = line.strip_prefix(name).unwrap_or_else(|| panic!("{name} in {block}"));
            rest.split(", ").map(|item| item.trim().to_owned()).filter(|item| !item.is_empty()).collect()
        };
        let refs = items(lines.next().unwrap(), "refs:");
        let refd_by = items(lines.next().unwrap(), "refd_by:");
        entries.insert(path, [refs, refd_by]);
    }
    entries
}

#[test]
fn i5_the_maps_references_mirror_each_other() {
    let env = rust(3, 3);
    let map = map(&env, "build");
    // A name in a list is the shortest ending of a path that only one entry has.
    let path_of = |name: &str| -> String {
        let ends = |path: &&String| *path == name || path.ends_with(&format!("/{name}"));
        let found: Vec<&String> = map.keys().filter(ends).collect();
        assert_eq!(found.len(), 1, "{name} is not one entry: {found:?}");
        found[0].clone()
    };
    let pairs = |list: usize| -> BTreeSet<(String, String)> {
        map.iter()
            .flat_map(|(path, lists)| lists[list].iter().map(|name| (path.clone(), path_of(name))))
            .collect()
    };
    let (refs, refd_by) = (pairs(0), pairs(1));
    assert!(refs.len() >= 9, "{refs:?}");
    assert_eq!(refs, refd_by.into_iter().map(|(to, from)| (from, to)).collect());
}

/// Breaks something in a project.
type Destroy = fn(&TestEnv);

#[test]
fn i6_hooks_that_observe_never_block_whatever_is_broken() {
    let broken: [(&str, Destroy); 4] = [
        ("nothing", |_| {}),
        ("the configuration", |env| env.configure("journal = 3\n")),
        ("the store", |env| {
            fs::create_dir_all(env.state()).unwrap();
            fs::write(env.state().join("state.db"), "no database").unwrap();
        }),
        ("the journal", |env| fs::create_dir(env.journal("s1")).unwrap()),
    ];
    for (what, destroy) in broken {
        let env = active();
        env.write("a.py", "x = 1\n");
        destroy(&env);
        for event in observed() {
            let output = env.hook(&event);
            assert_eq!(output.code, Some(0), "{what}, {}: {}", event.name(), output.snapshot());
            assert!(output.stderr.is_empty(), "{what}, {}", event.name());
            // The output is context at most, and never continues a subagent.
            let message = output.context();
            assert!(message.is_none() || event.name() != "SubagentStop", "{what}: {message:?}");
        }
    }
    // The client waits for none of them without an end.
    assert!(REGISTRATIONS.iter().all(|registration| (1..=15).contains(&registration.timeout_seconds)));
}

#[test]
fn i7_every_boundary_degrades_with_a_notice() {
    // B1: a journal that cannot be written loses the line; the next sweep finds the change on disk.
    let env = active();
    env.hook(&HookEvent::session_start()).assert_silent();
    fs::create_dir(env.journal("s1")).unwrap();
    env.write("a.py", "x = 1\n");
    env.hook(&HookEvent::edit("a.py")).assert_silent();
    assert!(!env.log_lines().is_empty(), "what went wrong is in the log");
    fs::remove_dir(env.journal("s1")).unwrap();
    env.hook(&HookEvent::bash()).assert_silent();
    assert!(env.journal_text("s1").contains("\tSweep\t"), "{}", env.journal_text("s1"));
    // B2, B3: nothing changed, so there is no report, no alert and no failure.
    let env = active();
    env.hook(&HookEvent::subagent_stop("a1", "implementer")).assert_silent();
    env.hook(&HookEvent::agent_done()).assert_silent();
    // B2: without an index, an answer is "not analysed", not "none".
    env.write("a.py", "def greet(): pass\n");
    env.hook(&HookEvent::edit("a.py").by_agent("a1", "implementer")).assert_silent();
    env.hook(&HookEvent::subagent_stop("a1", "implementer")).assert_silent();
    assert!(env.state().join("reports/s1/1.yaml").exists());
    // B4: no data starts no cascade, and is not "no impact".
    for text in ["", "no: report", "{", "\u{0}"] {
        let from = env.write("l1.yaml", text);
        let output = env.lockstep(["cascade", "start", "--from", from.to_str().unwrap(), "--format", "json"]);
        assert_eq!(output.code, Some(1), "{text:?}: {}", output.snapshot());
        let started: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(started["status"], "skipped", "{started:#}");
        assert!(!list(&started, "warnings").is_empty(), "{started:#}");
    }
    // B5: agents that all fail end the cascade as partial, with what is left.
    let env = rust(1, 2);
    let output = run(&env, "exit 1\n", &[]);
    assert_eq!(output.code, Some(1), "{}", output.snapshot());
    let status = status(&env);
    assert_eq!((&status["status"], &status["convergence"]), (&"partial".into(), &false.into()), "{status:#}");
    assert_eq!(list(&status, "skipped"), ["src/r1/m0.rs", "src/r1/m1.rs"], "{status:#}");
    // B6: an unreadable map is rebuilt.
    let env = rust(1, 1);
    let whole = map(&env, "build");
    fs::write(
        env.state().join("codebase-map.md"),
        "## not a map
refs
",
    )
    .unwrap();
    assert_eq!(map(&env, "update"), whole);
}

#[test]
fn i8_a_cascade_has_at_most_three_iterations() {
    for (rounds, iterations, over) in [(2, 2, "converged"), (3, 3, "converged"), (5, 3, "partial")] {
        let env = rust(rounds, 1);
        let _ = run(&env, RENAMER, &[]);
        let status = status(&env);
        assert_eq!(
            (&status["iterations"], &status["status"]),
            (&iterations.into(), &over.into()),
            "{status:#}"
        );
        for round in iterations + 1..=rounds {
            assert_eq!(
                touched(&env, &format!("src/r{round}/m0.rs")),
                0,
                "nobody was asked for round {round}"
            );
        }
        // There is no way past it: what is over is over.
        let next = env.lockstep(["cascade", "next"]);
        assert!(!next.snapshot().contains("==>"), "{}", next.snapshot());
    }
}

#[test]
fn i9_an_alert_is_delivered_for_one_turn_and_its_report_stays() {
    let env = active();
    renamed(&env, "s1");
    assert!(env.hook(&HookEvent::agent_done()).context().is_some());
    for event in [HookEvent::agent_done(), HookEvent::bash(), HookEvent::prompt(), HookEvent::stop()] {
        env.hook(&event).assert_silent();
    }
    env.hook(&HookEvent::subagent_stop("a1", "implementer")).assert_silent();
    env.hook(&HookEvent::agent_done()).assert_silent();
    let report = fs::read_to_string(env.state().join("reports/s1/1.yaml")).unwrap();
    assert!(report.contains("use_a.py"), "{report}");
    let again = json(&env, "impact --session s1 --format json");
    assert_eq!(again["next"], "execution-impact", "{again:#}");
}

#[test]
fn i10_nothing_reaches_or_changes_an_implementer() {
    let env = active();
    renamed(&env, "s1");
    let before = fs::read_to_string(env.project().join("a.py")).unwrap();
    // Mail waits for the Lead: none of it leaks into any event of an implementer's, at work or at its end.
    for event in [
        HookEvent::edit("a.py").by_agent("a2", "implementer"),
        HookEvent::write("a.py").by_agent("a2", "implementer"),
        HookEvent::bash().by_agent("a2", "implementer"),
        HookEvent::subagent_start("a2", "implementer"),
        HookEvent::subagent_stop("a2", "implementer"),
    ] {
        env.hook(&event).assert_silent();
    }
    assert_eq!(
        fs::read_to_string(env.project().join("a.py")).unwrap(),
        before,
        "no file of the project is touched"
    );
    assert!(env.hook(&HookEvent::agent_done()).context().is_some(), "it waited for the Lead");
}
