//! Appending, verifying, accepting and searching the audit trail.

use std::thread;

use super::*;
use crate::{StateDir, UserDir};

fn record(at: &str) -> TrailRecord {
    TrailRecord::new(at.parse().unwrap(), "X", Some("steps/01-01.json"))
}

fn memory(root: &Path) -> ProjectMemory {
    ProjectMemory::new(Some(UserDir::new(root.join("user"))), root, &StateDir::for_project(root))
}

fn trail(root: &Path) -> AuditTrail {
    AuditTrail::new(root.join("steps"), &memory(root))
}

fn append(trail: &AuditTrail, record: &TrailRecord) -> PathBuf {
    trail.append(record, Vec::new).unwrap()
}

#[test]
fn a_line_that_a_killed_writer_left_unfinished_is_no_entry() {
    let root = tempfile::tempdir().unwrap();
    let trail = trail(root.path());
    let file = append(&trail, &record("2026-02-14T10:00:00Z"));
    let complete = fs::read_to_string(&file).unwrap();
    fs::write(&file, format!("{complete}{}", &complete[..complete.len() / 2])).unwrap();
    assert_eq!(trail.verify().unwrap().unwrap().len(), 1);
    append(&trail, &record("2026-02-14T10:00:01Z"));
    assert_eq!(trail.verify().unwrap().unwrap().len(), 2);
    // A recorded line that was cut is still missed.
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, &text[..text.len() - 5]).unwrap();
    assert!(trail.verify().unwrap().is_err());
}

#[test]
fn chain_continues_across_days_and_processes() {
    let root = tempfile::tempdir().unwrap();
    for at in ["2026-02-14T23:59:59Z", "2026-02-15T00:00:00Z", "2026-02-15T00:00:01Z"] {
        append(&trail(root.path()), &record(at));
    }
    let names: Vec<_> = trail(root.path()).files().unwrap().into_iter().map(|file| file.name).collect();
    assert_eq!(names, ["audit-2026-02-14.log", "audit-2026-02-15.log"]);
    assert_eq!(trail(root.path()).verify().unwrap().unwrap().len(), 3);
}

#[test]
fn a_line_longer_than_what_is_read_at_first_is_found() {
    let root = tempfile::tempdir().unwrap();
    let at = "2026-02-14T10:00:00Z";
    let long = "x".repeat(usize::try_from(TAIL_BYTES).unwrap() * 2);
    let trail = trail(root.path());
    for text in ["short", &long, &long] {
        append(&trail, &record(at).with("text", text));
    }
    assert_eq!(trail.verify().unwrap().unwrap().len(), 3);
    let text = |entry: &TrailEntry| Some(entry.text("text").to_owned()).filter(|text| text.len() < 9);
    assert_eq!(trail.find_newest(&["short"], text).unwrap().as_deref(), Some("short"));
}

#[test]
fn clock_set_back_breaks_no_chain() {
    let root = tempfile::tempdir().unwrap();
    for at in ["2026-02-15T00:00:01Z", "2026-02-14T23:59:59Z", "2026-02-16T00:00:00Z"] {
        append(&trail(root.path()), &record(at));
    }
    assert_eq!(trail(root.path()).verify().unwrap().unwrap().len(), 3);
}

#[test]
fn lines_cut_off_the_end_are_missed_before_and_after_the_next() {
    let root = tempfile::tempdir().unwrap();
    let trail = trail(root.path());
    for second in 0..3 {
        append(&trail, &record(&format!("2026-02-14T10:00:0{second}Z")));
    }
    let file = root.path().join("steps/audit-2026-02-14.log");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.lines().next().unwrap().to_owned() + "\n").unwrap();
    assert!(trail.verify().unwrap().unwrap_err().why.contains("the last 2 entries"));
    append(&trail, &record("2026-02-14T10:00:09Z"));
    let broken = trail.verify().unwrap().unwrap_err();
    assert_eq!((broken.line, broken.why.contains("2 entries are missing")), (2, true), "{broken}");
}

#[test]
fn trail_continues_without_the_state_directory() {
    let root = tempfile::tempdir().unwrap();
    append(&trail(root.path()), &record("2026-02-14T10:00:00Z"));
    fs::remove_dir_all(root.path().join(".lockstep")).unwrap();
    append(&trail(root.path()), &record("2026-02-14T10:00:01Z"));
    assert_eq!(trail(root.path()).verify().unwrap().unwrap().len(), 2);
}

#[test]
fn a_line_that_was_remembered_and_not_appended_is_an_entry() {
    let root = tempfile::tempdir().unwrap();
    let trail = trail(root.path());
    for at in ["2026-02-14T10:00:00Z", "2026-02-14T10:00:01Z"] {
        let file = append(&trail, &record(at).with("at", at));
        let text = fs::read_to_string(&file).unwrap();
        let last = text.trim_end().rfind('\n').map_or(0, |end| end + 1);
        // The process was killed before it noted that the line was appended.
        let lock = trail.memory.lock().unwrap();
        lock.note_appended(GENESIS).unwrap();
        drop(lock);
        for left in [last, last + 30] {
            fs::write(&file, &text[..left]).unwrap();
            let entries = trail.verify().unwrap().unwrap();
            assert_eq!(entries.last().unwrap().text("at"), at, "{left}");
            let newest = trail.find_newest(&[], |entry| Some(entry.text("at").to_owned())).unwrap();
            assert_eq!(newest.as_deref(), Some(at), "{left}");
        }
    }
    append(&trail, &record("2026-02-14T10:00:02Z"));
    assert_eq!(trail.verify().unwrap().unwrap().len(), 3);
}

#[test]
fn a_line_that_was_not_recorded_is_foreign() {
    let root = tempfile::tempdir().unwrap();
    let trail = trail(root.path());
    let file = append(&trail, &record("2026-02-14T10:00:00Z"));
    let whole = fs::read_to_string(&file).unwrap();
    let head = TrailEntry::parse(whole.trim_end()).unwrap().head();
    let (forged, _) = record("2026-02-14T10:00:01Z").with("status", "DONE").line(&head);
    for text in [format!("{whole}{forged}"), format!("{whole}{whole}")] {
        fs::write(&file, &text).unwrap();
        let broken = trail.verify().unwrap().unwrap_err();
        assert_eq!((broken.line, broken.why.contains("foreign")), (2, true), "{broken}");
        assert_eq!(trail.find_newest(&[], |_| Some(())).is_err(), text.contains("DONE"), "{text}");
    }
}

#[test]
fn a_trail_of_another_machine_is_not_verified_until_it_is_accepted() {
    let root = tempfile::tempdir().unwrap();
    let trail = trail(root.path());
    append(&trail, &record("2026-02-14T10:00:00Z"));
    // Another user has neither the record nor the state directory.
    fs::remove_dir_all(root.path().join("user")).unwrap();
    assert!(trail.check().unwrap().unwrap_err().why.contains("is missing"));
    fs::remove_dir_all(root.path().join(".lockstep")).unwrap();
    assert_eq!(trail.check().unwrap().unwrap().unverified, 1);
    append(&trail, &record("2026-02-14T10:00:01Z"));
    let checked = trail.check().unwrap().unwrap();
    assert_eq!((checked.entries.len(), checked.unverified), (2, 1));
    let accepting = TrailRecord::new("2026-02-14T10:00:02Z".parse().unwrap(), ACCEPTED, None);
    trail.accept(&accepting, Vec::new).unwrap();
    let checked = trail.check().unwrap().unwrap();
    assert_eq!((checked.entries.len(), checked.unverified), (3, 0));
}

#[test]
fn accepted_broken_trail_continues() {
    let root = tempfile::tempdir().unwrap();
    let trail = trail(root.path());
    let file = append(&trail, &record("2026-02-14T10:00:00Z"));
    fs::write(&file, fs::read_to_string(&file).unwrap().replace("10:00", "11:00")).unwrap();
    append(&trail, &record("2026-02-14T10:00:01Z"));
    assert!(trail.check().unwrap().is_err());
    let accepting = TrailRecord::new("2026-02-14T10:00:02Z".parse().unwrap(), ACCEPTED, None);
    trail.accept(&accepting, Vec::new).unwrap();
    append(&trail, &record("2026-02-14T10:00:03Z"));
    assert_eq!(trail.check().unwrap().unwrap().entries.len(), 3);
    let newest = trail.find_newest(&["10:00:01"], |entry| Some(entry.text("timestamp").to_owned())).unwrap();
    assert_eq!(newest.as_deref(), Some("2026-02-14T10:00:01.000Z"));
}

#[test]
fn a_moved_project_keeps_its_identity_and_a_copy_has_none() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("one");
    fs::create_dir(&root).unwrap();
    let user = UserDir::new(dir.path().join("user"));
    let of = |root: &Path| {
        AuditTrail::new(
            root.join("steps"),
            &ProjectMemory::new(Some(user.clone()), root, &StateDir::for_project(root)),
        )
    };
    append(&of(&root), &record("2026-02-14T10:00:00Z"));
    let copy = dir.path().join("copy");
    assert!(std::process::Command::new("cp").arg("-r").args([&root, &copy]).status().unwrap().success());
    let why = of(&copy).check().unwrap().unwrap_err().why;
    assert!(why.contains("is a copy of"), "{why}");
    assert!(of(&copy).append(&record("2026-02-14T10:00:01Z"), Vec::new).is_err());
    let moved = dir.path().join("two");
    fs::rename(&root, &moved).unwrap();
    append(&of(&moved), &record("2026-02-14T10:00:01Z"));
    let checked = of(&moved).check().unwrap().unwrap();
    assert_eq!((checked.entries.len(), checked.unverified), (2, 0));
}

#[test]
fn many_at_once_are_one_chain() {
    let root = tempfile::tempdir().unwrap();
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..50 {
                    append(&trail(root.path()), &record("2026-02-14T10:00:00Z"));
                }
            });
        }
    });
    assert_eq!(trail(root.path()).verify().unwrap().unwrap().len(), 200);
}

#[test]
fn the_newest_entry_about_a_step_is_found() {
    let root = tempfile::tempdir().unwrap();
    let trail = trail(root.path());
    for (at, status) in [("2026-02-14T10:00:00Z", "TODO"), ("2026-02-15T10:00:00Z", "DONE")] {
        append(&trail, &record(at).with("status", status));
    }
    let status = |entry: &TrailEntry| Some(entry.text("status").to_owned());
    assert_eq!(trail.find_newest(&["\"steps/01-01.json\""], status).unwrap().as_deref(), Some("DONE"));
    assert_eq!(trail.find_newest(&["\"steps/02-01.json\""], status).unwrap(), None);
}
