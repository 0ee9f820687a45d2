//! The chain: whatever is done to a trail, the first bad line is named.

use lockstep_steps::audit::{ChainHead, TrailEntry, TrailFileText, TrailRecord, verify};
use proptest::prelude::*;

/// A trail of three days with `n` entries each.
fn trail(n: usize) -> (Vec<(String, Vec<String>)>, ChainHead) {
    let mut head = ChainHead::default();
    let mut files = Vec::new();
    for day in 14..17 {
        let mut lines = Vec::new();
        for at in 0..n {
            let moment = format!("2026-02-{day}T10:00:{at:02}Z").parse().unwrap();
            let record = TrailRecord::new(moment, "STEP_PHASE", Some("steps/01-01.json"))
                .with("phase", format!("P{at}"));
            let (line, next) = record.line(&head);
            lines.push(line);
            head = next;
        }
        files.push((format!("audit-2026-02-{day}.log"), lines));
    }
    (files, head)
}

fn verified(
    files: &[(String, Vec<String>)],
    head: Option<&ChainHead>,
) -> Result<usize, (String, usize, String)> {
    let texts: Vec<(String, String)> =
        files.iter().map(|(name, lines)| (name.clone(), lines.concat())).collect();
    let files: Vec<TrailFileText<'_>> =
        texts.iter().map(|(name, text)| TrailFileText { name, text }).collect();
    verify(&files, head).map(|entries| entries.len()).map_err(|broken| (broken.file, broken.line, broken.why))
}

#[test]
fn a_whole_trail_is_whole() {
    let (files, head) = trail(4);
    assert_eq!(verified(&files, Some(&head)), Ok(12));
    assert_eq!(verified(&files, None), Ok(12));
    assert_eq!(verified(&[], None), Ok(0));
    let earlier = TrailEntry::parse(files[1].1[0].trim_end()).unwrap().head();
    assert_eq!(verified(&files, Some(&earlier)), Ok(12), "a process may die before it remembers the end");
}

#[test]
fn the_first_bad_line_is_named() {
    let (whole, head) = trail(4);
    type Attack = (&'static str, fn(&mut Vec<(String, Vec<String>)>), (&'static str, usize, &'static str));
    let attacks: [Attack; 9] = [
        ("edited", |t| t[1].1[1] = t[1].1[1].replace("P1", "P9"), ("audit-2026-02-15.log", 2, "edited")),
        (
            "edited spaces",
            |t| t[1].1[1] = t[1].1[1].replacen(':', ": ", 1),
            ("audit-2026-02-15.log", 2, "edited"),
        ),
        ("removed", |t| drop(t[1].1.remove(1)), ("audit-2026-02-15.log", 2, "1 entry is missing")),
        (
            "inserted",
            |t| {
                let copy = t[0].1[0].clone();
                t[1].1.insert(2, copy)
            },
            ("audit-2026-02-15.log", 3, "put in"),
        ),
        ("reordered", |t| t[1].1.swap(1, 2), ("audit-2026-02-15.log", 2, "missing")),
        (
            "cut off",
            |t| {
                let line = t[2].1.pop().unwrap();
                t[2].1.push(line[..20].to_owned())
            },
            ("audit-2026-02-16.log", 4, "cut off"),
        ),
        (
            "truncated",
            |t| drop(t[2].1.pop()),
            ("audit-2026-02-16.log", 3, "the last entry behind it is missing"),
        ),
        ("a missing day", |t| drop(t.remove(1)), ("audit-2026-02-16.log", 1, "the file of a day between")),
        (
            "the first day missing",
            |t| drop(t.remove(0)),
            ("audit-2026-02-15.log", 1, "nothing before it is there"),
        ),
    ];
    for (name, attack, (file, line, why)) in attacks {
        let mut files = whole.clone();
        attack(&mut files);
        let broken = verified(&files, Some(&head)).unwrap_err();
        assert_eq!((broken.0.as_str(), broken.1), (file, line), "{name}: {}", broken.2);
        assert!(broken.2.contains(why), "{name}: {}", broken.2);
    }
    let last_day_gone = verified(&whole[..2], Some(&head)).unwrap_err();
    assert_eq!(
        (last_day_gone.0.as_str(), last_day_gone.1),
        ("audit-2026-02-15.log", 4),
        "{}",
        last_day_gone.2
    );
    assert_eq!(verified(&[], Some(&head)).unwrap_err().0, "the trail");
}

#[test]
fn a_rewritten_trail_is_rejected() {
    let (_, head) = trail(4);
    let mut other = ChainHead::default();
    let moment = "2026-02-14T10:00:00Z".parse().unwrap();
    let mut lines = Vec::new();
    for _ in 0..12 {
        let (line, next) = TrailRecord::new(moment, "ELSE", None).line(&other);
        lines.push(line);
        other = next;
    }
    let broken = verified(&[("audit-2026-02-14.log".to_owned(), lines)], Some(&head)).unwrap_err();
    assert_eq!((broken.1, broken.2.contains("written anew")), (12, true), "{}", broken.2);
}

proptest! {
    /// Any one change to the bytes of a trail is found.
    #[test]
    fn no_byte_can_be_changed(at in 0.0..1.0_f64, byte in 32_u8..127) {
        let (files, head) = trail(2);
        let whole: String = files.iter().flat_map(|(_, lines)| lines.clone()).collect();
        let at = (at * whole.len() as f64) as usize;
        prop_assume!(whole.as_bytes()[at] != byte);
        let mut changed = whole.into_bytes();
        changed[at] = byte;
        let text = String::from_utf8(changed).unwrap();
        let file = TrailFileText { name: "audit.log", text: &text };
        prop_assert!(verify(&[file], Some(&head)).is_err());
    }
}
