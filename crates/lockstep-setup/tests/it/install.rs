//! Adding entries: their position, their style, and the refusals.

use lockstep_setup::claude::{EntryAction, EntryChange, SettingsError, install};
use proptest::prelude::*;

use crate::settings_texts::samples;
use crate::{entries, entry, registered, sorted};

fn installed(existing: &str) -> String {
    install(Some(existing), &entries()[..1]).unwrap().text
}

#[test]
fn a_new_file() {
    let edit = install(None, &entries()[..3]).unwrap();
    insta::assert_snapshot!(edit.text);
    assert_eq!(edit.changes.len(), 3);
    assert!(edit.changes.iter().all(|change| change.action == EntryAction::Added));
    for blank in ["", "\n", "{}\n"] {
        assert_eq!(install(Some(blank), &entries()[..3]).unwrap().text, edit.text, "{blank:?}");
    }
}

#[test]
fn beside_what_is_there() {
    insta::assert_snapshot!(installed(
        r#"{
    "model": "opus",
    "hooks": {
        "PostToolUse": [
            {
                "matcher": "Edit",
                "hooks": [{ "type": "command", "command": "prettier" }]
            }
        ],
        "Stop": []
    },
    "env": { "A": "1" }
}
"#
    ));
}

#[test]
fn the_layout_is_followed() {
    let ours = r#"{"PostToolUse":[{"matcher":"Edit|Write","hooks":[{"type":"command","command":"lockstep hook claude","timeout":5}]}]}"#;
    assert_eq!(installed(r#"{"a":1}"#), format!(r#"{{"a":1,"hooks":{ours}}}"#));
    let spaced =
        ours.replace(":[", ": [").replace("\":", "\": ").replace("\",\"", "\", \"").replace(":  ", ": ");
    assert_eq!(installed(r#"{"a": 1, "b": 2}"#), format!(r#"{{"a": 1, "b": 2, "hooks": {spaced}}}"#));

    let tabs = installed("{\r\n\t\"a\": 1\r\n}");
    assert!(
        tabs.starts_with("{\r\n\t\"a\": 1,\r\n\t\"hooks\": {\r\n\t\t\"PostToolUse\": [\r\n\t\t\t{\r\n"),
        "{tabs:?}"
    );
    assert!(tabs.ends_with("\r\n\t}\r\n}"), "{tabs:?}");
    assert!(!tabs.replace("\r\n", "").contains('\n'));

    let three = installed("\u{feff}{\n   \"a\": 1\n}\n");
    assert!(
        three.starts_with("\u{feff}{\n   \"a\": 1,\n   \"hooks\": {\n      \"PostToolUse\": ["),
        "{three:?}"
    );
}

#[test]
fn comments_keep_their_places() {
    insta::assert_snapshot!(installed(
        "// mine\n{\n  // model\n  \"model\": \"opus\", // the best\n  \"env\": {} // none\n  // end\n}\n// after\n"
    ));
    insta::assert_snapshot!("trailing_comma", installed("{\n  \"model\": \"opus\", // the best\n}\n"));
}

#[test]
fn an_outdated_entry_is_updated_in_place() {
    let old = r#"{ "hooks": { "PostToolUse": [
        { "matcher": {"tools": ["Edit"]}, "hooks": [{"type": "command", "command": "/old/lockstep hook claude", "timeout": 5000, "note": 1}] },
        { "matcher": "Bash", "hooks": [{"command": "lockstep hook claude"}] }
    ] } }"#;
    let edit = install(Some(old), &entries()[..2]).unwrap();
    insta::assert_snapshot!(edit.text, @r#"
    { "hooks": { "PostToolUse": [
            { "matcher": "Edit|Write", "hooks": [{"type": "command", "command": "lockstep hook claude", "timeout": 5, "note": 1}] },
            { "matcher": "Bash", "hooks": [{"command": "lockstep hook claude", "type": "command", "timeout": 5}] }
        ] } }
    "#);
    let updated = |matcher: &str| EntryChange {
        action: EntryAction::Updated,
        event: "PostToolUse".to_owned(),
        matcher: Some(matcher.to_owned()),
    };
    assert_eq!(edit.changes, [updated("Bash"), updated("Edit|Write")]);
}

#[test]
fn a_matcher_shared_with_others_is_left_to_them() {
    let old = r#"{"hooks":{"PostToolUse":[{"matcher":"Read","hooks":[{"type":"command","command":"lint"},{"type":"command","command":"lockstep hook claude","timeout":5}]}]}}"#;
    let text = install(Some(old), &entries()[..1]).unwrap().text;
    insta::assert_snapshot!(text, @r#"{"hooks":{"PostToolUse":[{"matcher":"Read","hooks":[{"type":"command","command":"lint"}]},{"matcher":"Edit|Write","hooks":[{"type":"command","command":"lockstep hook claude","timeout":5}]}]}}"#);
}

#[test]
fn removes_surplus_entries() {
    let twice = install(None, &[entries()[0].clone(), entries()[0].clone()]).unwrap().text;
    assert_eq!(registered(&twice).len(), 2);
    let edit = install(Some(&twice), &entries()[2..3]).unwrap();
    assert_eq!(registered(&edit.text), entries()[2..3]);
    assert_eq!(edit.text, install(None, &entries()[2..3]).unwrap().text);
    assert_eq!(edit.changes.iter().filter(|change| change.action == EntryAction::Removed).count(), 2);
}

#[test]
fn removes_obsolete_matcher() {
    let with = install(None, &[entry("Stop", Some("x"), "lockstep hook claude", 10)]).unwrap().text;
    let without = install(None, &entries()[2..3]).unwrap().text;
    assert_eq!(install(Some(&with), &entries()[2..3]).unwrap().text, without);
}

#[test]
fn uneditable_settings_are_refused_with_all_reasons() {
    let refused: Vec<_> = [
        "{",
        "not json",
        "{\"a\": 1,, \"b\": 2}",
        "{'a': 1}",
        "// nothing but a comment",
        "[]",
        "\"text\"",
        "{\n  \"hooks\": []\n}",
        "{\"hooks\": null}",
        "{\"hooks\": {\n \"PostToolUse\": \"lint\",\n \"Stop\": {},\n \"Stop\": [], \"Other\": 1}}",
        "{\"hooks\": {}, \"hooks\": {}}",
    ]
    .into_iter()
    .map(|text| format!("{text:?}\n{}\n", install(Some(text), &entries()).unwrap_err()))
    .collect();
    insta::assert_snapshot!(refused.join("\n"));
}

#[test]
fn unrelated_problems_do_not_prevent_install() {
    let text = r#"{"hooks": {"Other": 1, "Stop": ["x", {"hooks": "y"}, {"hooks": [1, {"command": 2}]}]}}"#;
    let edit = install(Some(text), &entries()).unwrap();
    assert_eq!(registered(&edit.text), sorted(entries()));
}

#[test]
fn nesting_has_a_limit() {
    let deep = format!("{{\"a\": {}1{}}}", "[".repeat(100_000), "]".repeat(100_000));
    assert!(matches!(install(Some(&deep), &entries()), Err(SettingsError::Syntax { .. })));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn everything_wanted_is_there_once_and_twice_is_once(sample in samples()) {
        let once = install(Some(&sample.text), &entries()).unwrap();
        prop_assert_eq!(registered(&once.text), sorted(entries()), "{}", once.text);
        let again = install(Some(&once.text), &entries()).unwrap();
        prop_assert_eq!(&again.text, &once.text);
        prop_assert_eq!(again.changes, []);
    }

    #[test]
    fn strict_json_stays_strict_json(sample in samples()) {
        let strict = |text: &str| serde_json::from_str::<serde_json::Value>(text).is_ok();
        let edit = install(Some(&sample.text), &entries()).unwrap();
        prop_assert_eq!(strict(&sample.text), strict(&edit.text), "{}", edit.text);
    }

    #[test]
    fn no_text_panics(text in "[\\[\\]{},:\"/* \n\\\\a1-]{0,30}|.{0,30}") {
        if let Ok(edit) = install(Some(&text), &entries()) {
            prop_assert_eq!(registered(&edit.text), sorted(entries()));
        }
    }
}
