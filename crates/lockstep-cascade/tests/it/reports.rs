//! L1 and L2 to the letter.

use lockstep_cascade::CascadeEvent;
use lockstep_cascade::cascade_input::read;
use lockstep_cascade::report::HeldAlert;

use crate::driver::{Play, ROOT, breaks};

fn text(digest: &str) -> Option<String> {
    Some(format!("fn f() {{}}\ncall({digest});\n"))
}

/// Asserts that the L1 is YAML that conforms to its schema.
pub(crate) fn conforms(cascade: &lockstep_cascade::Cascade) {
    let value: serde_json::Value = serde_saphyr::from_str(&cascade.l1()).unwrap();
    let (_, schema) = lockstep_cascade::schema::schemas().remove(0);
    let problems: Vec<String> = jsonschema::validator_for(&schema)
        .unwrap()
        .iter_errors(&value)
        .map(|error| error.to_string())
        .collect();
    assert!(problems.is_empty(), "{problems:?}\n{}", cascade.l1());
}

#[test]
fn the_example_of_the_contract() {
    let mut play = Play::start(&["a/1.rs", "a/2.rs", "b/3.rs", "b/4.rs"]);
    play.hand("1a");
    play.hand("1b");
    for file in ["a/1.rs", "a/2.rs", "b/3.rs", "b/4.rs"] {
        play.fix(file, "1");
    }
    play.done("1a");
    play.done("1b");
    play.check(vec![]);
    let expected = "\
domain: execution
skill: cascade
status: converged
iterations: 1
max_iterations: 3
files_updated: 4
files_skipped: 0
convergence: true
iteration_details:
  - iteration: 1
    implementers_spawned: 2
    files_changed: 4
    new_impacts_detected: 0
warnings: []
";
    assert_eq!(play.cascade.l1(), expected);
}

#[test]
fn report_contains_every_optional_part() {
    let mut play = Play::start(&["a.rs", "b.rs", "c.rs"]);
    play.hand("1a");
    play.step(CascadeEvent::Dismissed { file: "c.rs".to_owned(), why: "a comment, \"quoted\"".to_owned() });
    play.fix("a.rs", "1").fix("odd name.rs", "1").done("1a");
    play.hand("1a");
    play.done("1a");
    play.check(vec![breaks("d.rs", "a.rs")]);
    insta::assert_snapshot!("l1_under_way", play.cascade.l1());
    play.hand("2a");
    play.fix("d.rs", "1").done("2a");
    play.check(vec![breaks(ROOT, "d.rs")]);
    insta::assert_snapshot!("l1", play.cascade.l1());
    conforms(&play.cascade);
    conforms(&lockstep_cascade::Cascade::start(read(b"", "/p"), lockstep_cascade::StartOptions::default()));
    let current = [HeldAlert { session: "s1".to_owned(), report: 3 }];
    insta::assert_snapshot!("l2", play.cascade.l2(&text, &current));
    insta::assert_snapshot!("data", serde_json::to_string_pretty(&play.cascade.data()).unwrap());
}

#[test]
fn missing_content_is_reported_and_fences_stay_closed() {
    let mut play = Play::start(&["a.md"]);
    play.hand("1a");
    play.fix("a.md", "1").done("1a");
    play.check(vec![]);
    assert!(play.cascade.l2(&|_| None, &[]).contains("`a.md` changed; its contents were not kept."));
    let fenced = play.cascade.l2(&|digest| Some(format!("````\n{digest}\n")), &[]);
    assert!(fenced.contains("\n`````diff\n"), "{fenced}");
}
