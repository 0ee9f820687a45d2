//! Readers of older versions, and the audit line of a write.

use jiff::Timestamp;
use lockstep_task::audit::{TaskAuditEntry, TaskAuditVerdict};
use lockstep_task::task_readers::{ActiveAgent, ReadRecord, outdated_readers_notice, readers};

fn read(agent: Option<&str>, version: u64, second: i64) -> ReadRecord {
    ReadRecord {
        agent_id: agent.map(str::to_owned),
        agent_type: agent.map(|_| "implementer".to_owned()),
        version,
        at: Timestamp::from_second(second).unwrap(),
    }
}

fn active(agent: Option<&str>) -> ActiveAgent {
    ActiveAgent { agent_id: agent.map(str::to_owned), agent_type: None }
}

#[test]
fn the_last_reading_counts() {
    let records = [
        read(Some("a1"), 3, 10),
        read(Some("a1"), 5, 20),
        read(Some("a2"), 5, 20),
        read(Some("a2"), 2, 30),
        read(Some("gone"), 1, 1),
        read(None, 4, 5),
    ];
    let agents = [active(None), active(Some("a1")), active(Some("a2")), active(Some("new"))];
    let found = readers(&records, &agents, 5);
    let output: Vec<_> = found.iter().map(|reader| (reader.to_string(), reader.behind)).collect();
    assert_eq!(
        output,
        [
            ("implementer a2 (PT-v2)".to_owned(), Some(3)),
            ("the Lead (PT-v4)".to_owned(), Some(1)),
            ("implementer a1 (PT-v5)".to_owned(), Some(0)),
            // Never having read differs from being outdated.
            ("agent new (has not read it)".to_owned(), None),
        ]
    );
    assert_eq!(
        outdated_readers_notice(&found, 5).unwrap(),
        "The task is at PT-v5. Agents at work from an older version: implementer a2 (PT-v2)."
    );
    assert_eq!(outdated_readers_notice(&readers(&records, &[active(None), active(Some("a1"))], 5), 5), None);
    assert_eq!(outdated_readers_notice(&readers(&records, &[], 5), 5), None);
}

#[test]
fn an_audit_entry_is_one_line_with_every_key() {
    let entry = TaskAuditEntry {
        timestamp: "2026-02-12T09:30:00Z".parse().unwrap(),
        session: Some("s1".to_owned()),
        agent_id: None,
        agent_type: None,
        tool: "TaskUpdate".to_owned(),
        task_id: Some("1".to_owned()),
        version: Some(4),
        sections: vec!["phase_status".to_owned(), "subject".to_owned()],
        verdict: TaskAuditVerdict::Refused,
        reason: Some("two\nlines".to_owned()),
    };
    let line = entry.to_line();
    insta::assert_snapshot!(line, @r#"{"timestamp":"2026-02-12T09:30:00Z","session":"s1","agent_id":null,"agent_type":null,"tool":"TaskUpdate","task_id":"1","version":4,"sections":["phase_status","subject"],"verdict":"refused","reason":"two\nlines"}"#);
    assert_eq!(line.matches('\n').count(), 1);
    assert_eq!(TaskAuditEntry::parse(&line).unwrap(), entry);
}
