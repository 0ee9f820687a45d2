//! The subject of the task, as people and models write it.

use lockstep_task::version::subject::TaskSubject;

fn subject(version: Option<u64>, delivered: bool, title: &str) -> Option<TaskSubject> {
    Some(TaskSubject { version, delivered, title: title.to_owned() })
}

#[test]
fn subjects_are_read() {
    let table = [
        ("[PERMANENT] PT-v3 auth", subject(Some(3), false, "auth")),
        ("PT-v12", subject(Some(12), false, "")),
        ("PT-v3: add login", subject(Some(3), false, "add login")),
        ("[PERMANENT] auth — DELIVERED", subject(None, true, "auth")),
        ("[PERMANENT] PT-v9 auth and roles — DELIVERED", subject(Some(9), true, "auth and roles")),
        ("[PERMANENT] PT-vFinal DELIVERED", subject(None, true, "")),
        ("## [PERMANENT] — PT-v4", subject(Some(4), false, "##")),
        ("[permanent] pt-V2 x", subject(Some(2), false, "x")),
        ("PERMANENT task", subject(None, false, "task")),
        ("PT-v99999999999999999999999 x", subject(None, false, "x")),
        // Ordinary tasks stay ordinary.
        ("Make the storage permanent", None),
        ("Write the report — DELIVERED", None),
        ("script-v3 fails", None),
        ("PT-", None),
        ("é", None),
        ("", None),
    ];
    for (text, expected) in table {
        assert_eq!(TaskSubject::parse(text), expected, "{text:?}");
    }
}

#[test]
fn subjects_round_trip() {
    for text in [
        "[PERMANENT] PT-v3 auth",
        "[PERMANENT] PT-v9 auth and roles — DELIVERED",
        "[PERMANENT] PT-v1",
        "[PERMANENT] x",
    ] {
        assert_eq!(TaskSubject::parse(text).unwrap().to_string(), text);
    }
}
