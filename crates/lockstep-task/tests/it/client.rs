//! Calls that write the client's list, decided before they happen.

use lockstep_task::access::{AccessTable, Principal};
use lockstep_task::client_list::{
    KnownTask, ListComparison, ListWrite, ListWriteEffect, VersionWrite, compare, evaluate_list_write,
};
use lockstep_task::document::{DocumentLimits, TaskDocument};
use lockstep_task::phase::TaskPhase;
use lockstep_task::write_check::WriteRules;

use crate::fixture::{after_p3, all, document, edited, held};

fn decide(
    call: ListWrite<'_>,
    agent: Option<&str>,
    task: Option<&TaskDocument>,
) -> Result<ListWriteEffect, String> {
    let (access, lookup) = (AccessTable::default(), all());
    let rules = WriteRules { access: &access, limits: DocumentLimits::default(), lookup: &lookup };
    let known = task.map(|document| KnownTask {
        task_id: Some("1"),
        subject: "[PERMANENT] PT-v3 auth",
        held: held(3, document),
    });
    evaluate_list_write(call, &Principal::from_agent_name(agent), known, rules)
        .map_err(|reasons| reasons.iter().map(|r| format!("{r}\n")).collect())
}

fn written(result: Result<ListWriteEffect, String>) -> VersionWrite {
    match result.unwrap() {
        ListWriteEffect::Write(write) => *write,
        ListWriteEffect::Nothing | ListWriteEffect::Copy => panic!("it writes"),
    }
}

fn update<'a>(subject: Option<&'a str>, description: Option<&'a str>) -> ListWrite<'a> {
    ListWrite::Update { task_id: "1", subject, description, status: None }
}

#[test]
fn the_lead_creates_the_task() {
    let create =
        ListWrite::Create { subject: "[PERMANENT] PT-v1 auth", description: "user_intent: add login" };
    let write = written(decide(create, None, None));
    assert_eq!((write.version, write.subject.to_string().as_str()), (1, "[PERMANENT] PT-v1 auth"));
    assert_eq!(write.sections, ["user_intent", "subject"]);
    let unversioned =
        ListWrite::Create { subject: "[PERMANENT] auth", description: "user_intent: add login" };
    assert_eq!(written(decide(unversioned, None, None)).subject.version, Some(1));
    assert!(decide(create, Some("pt-manager"), None).is_ok());
}

#[test]
fn refuses_forbidden_list_creations() {
    let task = after_p3();
    let first =
        ListWrite::Create { subject: "[PERMANENT] PT-v1 auth", description: "user_intent: add login" };
    let output = [
        decide(first, Some("implementer"), None),
        decide(first, Some("pt-manager"), Some(&task)),
        decide(
            ListWrite::Create { subject: "[PERMANENT] PT-v7 auth", description: "just words" },
            None,
            None,
        ),
        decide(
            ListWrite::Create { subject: "write tests", description: "" },
            Some("pt-manager"),
            Some(&task),
        ),
    ];
    insta::assert_snapshot!(output.map(Result::unwrap_err).join("\n"));
    assert_eq!(
        decide(ListWrite::Create { subject: "write tests", description: "x" }, None, Some(&task)),
        Ok(ListWriteEffect::Nothing)
    );
}

#[test]
fn an_update_names_the_next_version() {
    let task = after_p3();
    let new = edited(&task, "status: IN_PROGRESS", "status: BLOCKED").to_yaml();
    let write = written(decide(update(Some("[PERMANENT] PT-v4 auth"), Some(&new)), None, Some(&task)));
    assert_eq!((write.version, write.sections), (4, vec!["phase_status".to_owned()]));
    let refused = |subject| decide(update(subject, Some(&new)), None, Some(&task)).unwrap_err();
    insta::assert_snapshot!(
        [
            None,
            Some("[PERMANENT] PT-v3 auth"),
            Some("[PERMANENT] PT-v2 auth"),
            Some("[PERMANENT] PT-v9 auth"),
            Some("[PERMANENT] auth"),
            Some("auth")
        ]
        .map(refused)
        .join("\n")
    );
}

/// A real case as a client's call: complete P4, lose P2 and P3, keep the version.
#[test]
fn the_lossy_update_is_refused() {
    let task = after_p3();
    let text = task.to_yaml();
    let text = text
        .replace("    l2_path: phase-2/research-coord/L2-summary.md\n", "")
        .replace("    l2_path: phase-3/arch-coord/L2-summary.md\n", "");
    let output =
        decide(update(None, Some(&text.replace("IN_PROGRESS", "COMPLETE"))), None, Some(&task)).unwrap_err();
    for part in ["phase_status.P2.l2_path", "phase_status.P3.l2_path", "kept its version"] {
        assert!(output.contains(part), "{output}");
    }
}

#[test]
fn each_agent_has_its_sections() {
    let task = after_p3();
    let status = edited(&task, "status: IN_PROGRESS", "status: BLOCKED").to_yaml();
    let intent = edited(&task, "Add login to the service", "Add logout").to_yaml();
    let (next, title) = (Some("[PERMANENT] PT-v4 auth"), Some("[PERMANENT] PT-v4 login"));
    // Agent; may write phase_status, user_intent, the title; may touch the status in the list.
    let table = [
        (None, [true, true, true, true]),
        (Some("pt-manager"), [true, true, true, true]),
        (Some("delivery-agent"), [true, false, true, true]),
        (Some("rsil-agent"), [true, false, false, true]),
        (Some("implementer"), [false, false, false, false]),
    ];
    for (agent, expected) in table {
        let touch =
            ListWrite::Update { task_id: "1", subject: None, description: None, status: Some("in_progress") };
        let calls = [update(next, Some(&status)), update(next, Some(&intent)), update(title, None), touch];
        let may = calls.map(|call| decide(call, agent, Some(&task)).is_ok());
        assert_eq!(may, expected, "{agent:?}");
    }
    let output = decide(update(next, Some(&intent)), Some("delivery-agent"), Some(&task)).unwrap_err();
    assert_eq!(
        output,
        "delivery-agent may not change user_intent: delivery-agent may update only phase_status, metrics, subject. Who could: the Lead, pt-manager.\n"
    );
}

#[test]
fn another_task_does_not_become_the_task() {
    let task = after_p3();
    let rename = |subject| ListWrite::Update {
        task_id: "2",
        subject: Some(subject),
        description: Some("user_intent: x"),
        status: None,
    };
    assert!(
        decide(rename("[PERMANENT] PT-v4 auth"), None, Some(&task))
            .unwrap_err()
            .contains("make another task the task")
    );
    assert_eq!(decide(rename("tests"), None, Some(&task)), Ok(ListWriteEffect::Nothing));
    assert!(decide(rename("tests"), Some("implementer"), Some(&task)).is_err());
    // Without a task, an ordinary task with that subject becomes it, and is judged as a new one.
    assert_eq!(written(decide(rename("[PERMANENT] PT-v1 auth"), None, None)).version, 1);
    assert!(decide(rename("[PERMANENT] PT-v1 auth"), Some("implementer"), None).is_err());
}

#[test]
fn the_task_is_not_deleted_and_not_delivered_early() {
    let task = after_p3();
    let delete =
        ListWrite::Update { task_id: "1", subject: None, description: None, status: Some("deleted") };
    assert!(decide(delete, None, Some(&task)).unwrap_err().contains("the task is never deleted"));
    let deliver = update(Some("[PERMANENT] PT-v4 auth — DELIVERED"), None);
    let output = decide(deliver, Some("delivery-agent"), Some(&task)).unwrap_err();
    assert!(output.contains("P4 is IN_PROGRESS") && output.contains("P9 has no status"), "{output}");
    let phases: String =
        TaskPhase::ALL.iter().map(|phase| format!("  {phase}: {{status: COMPLETE}}\n")).collect();
    let done = document(&format!("user_intent: x\nphase_status:\n{phases}"));
    let write = written(decide(deliver, Some("delivery-agent"), Some(&done)));
    assert!(write.subject.delivered);
    assert_eq!(write.sections, ["subject"]);
}

#[test]
fn an_invalid_description_is_refused_with_all_problems() {
    let task = after_p3();
    let output = decide(
        update(
            Some("[PERMANENT] PT-v4 auth"),
            Some("user_intent: x\nconstraints: y\nvalidation_verdict: z\n"),
        ),
        None,
        Some(&task),
    )
    .unwrap_err();
    for part in
        ["constraints: expected a list", "validation_verdict: expected one of", "phase_status.P2.l2_path"]
    {
        assert!(output.contains(part), "{output}");
    }
    assert!(
        decide(update(Some("[PERMANENT] PT-v4 auth"), Some("a: [")), None, Some(&task))
            .unwrap_err()
            .contains("line 1")
    );
}

#[test]
fn the_store_and_the_list_are_compared() {
    let task = after_p3();
    let known = KnownTask { task_id: Some("1"), subject: "[PERMANENT] PT-v3 auth", held: held(3, &task) };
    let with = |subject, description: &str| compare(known, subject, description, DocumentLimits::default());
    assert_eq!(with("[PERMANENT] PT-v3 auth", crate::fixture::AFTER_P3), ListComparison::Match);
    let other = edited(&task, "status: IN_PROGRESS", "status: BLOCKED").to_yaml();
    insta::assert_snapshot!(
        [
            with("[PERMANENT] PT-v4 auth", &other),
            with("[PERMANENT] PT-v3 auth", &other),
            with("auth", "words")
        ]
        .map(|a| a.to_string())
        .join("\n")
    );
}

/// The list of a new session is empty: it accepts a copy of the present version, and nothing else.
#[test]
fn a_list_without_the_task_takes_a_copy_of_it() {
    let task = after_p3();
    let text = task.to_yaml();
    let changed = text.replace("IN_PROGRESS", "COMPLETE");
    let (access, lookup) = (AccessTable::default(), all());
    let rules = WriteRules { access: &access, limits: DocumentLimits::default(), lookup: &lookup };
    let decide = |call: ListWrite<'_>, agent: Option<&str>, task_id| {
        let known = KnownTask { task_id, subject: "[PERMANENT] PT-v3 auth", held: held(3, &task) };
        evaluate_list_write(call, &Principal::from_agent_name(agent), Some(known), rules)
            .map_err(|reasons| reasons.iter().map(|r| format!("{r}\n")).collect::<String>())
    };
    let create = |subject, description| ListWrite::Create { subject, description };
    let copy = create("[PERMANENT] PT-v3 auth", text.as_str());
    assert_eq!(decide(copy, None, None), Ok(ListWriteEffect::Copy));
    assert_eq!(decide(copy, Some("pt-manager"), None), Ok(ListWriteEffect::Copy));
    let renamed = ListWrite::Update {
        task_id: "7",
        subject: Some("PT-v3 auth"),
        description: Some(&text),
        status: None,
    };
    assert_eq!(decide(renamed, None, None), Ok(ListWriteEffect::Copy));
    let refused = [
        decide(copy, None, Some("1")),
        decide(copy, Some("implementer"), None),
        decide(create("[PERMANENT] PT-v3 auth", &changed), None, None),
        decide(create("[PERMANENT] PT-v4 auth", &changed), None, None),
        decide(
            ListWrite::Update { task_id: "7", subject: Some("PT-v9 x"), description: None, status: None },
            None,
            None,
        ),
    ];
    insta::assert_snapshot!(refused.map(Result::unwrap_err).join("\n"));
}
