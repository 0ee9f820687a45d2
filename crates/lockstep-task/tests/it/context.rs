//! The whole context of a fork agent in one text.

use lockstep_task::access::AccessTable;
use lockstep_task::fork_context::{ForkContext, render};
use lockstep_task::scratch::Scratch;

use crate::fixture::{document, held};

#[test]
fn arguments_session_and_task() {
    let task = document("user_intent: |\n  Add login\n  ```\n  # not a heading\n  ```\nconstraints: []\n");
    let access = AccessTable::default();
    let scratch = Scratch::read(b"gc_version: 3\n").unwrap();
    let text = render(&ForkContext {
        agent: "delivery-agent",
        arguments: &["--session s1".to_owned(), "ship `it`".to_owned()],
        session: &[("session".to_owned(), "s1".to_owned()), ("phase".to_owned(), "P9".to_owned())],
        scratch: Some(&scratch),
        title: "auth",
        held: Some(held(8, &task)),
        access: &access,
    });
    insta::assert_snapshot!(text);
}

#[test]
fn missing_parts_are_named() {
    let access = AccessTable::default();
    let none = ForkContext {
        agent: "scribe",
        arguments: &[],
        session: &[],
        scratch: None,
        title: "",
        held: None,
        access: &access,
    };
    assert_eq!(
        render(&none),
        "# Context for scribe\n\n## Arguments\n\nnone\n\n## Session\n\nnothing is recorded\n\n## Task\n\nthere is no task\n"
    );
    let task = document("user_intent: x\n");
    let reader = render(&ForkContext { held: Some(held(2, &task)), ..none });
    assert!(reader.contains("PT-v2, open. scribe reads the task and does not update it."));
}
