//! Taking entries out: exactly ours, and to the byte.

use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use lockstep_setup::claude::{EntryAction, SettingsError, install, uninstall};
use lockstep_setup::install_record::{InstallRecord, RestoreAction, restore};
use proptest::prelude::*;

use crate::settings_texts::samples;
use crate::{entries, entry, registered};

fn value(text: &str) -> serde_json::Value {
    let text = text.trim_start_matches('\u{feff}');
    let result = parse_to_ast(text, &CollectOptions::default(), &ParseOptions::default()).unwrap();
    result.value.unwrap().into()
}

/// Without hook containers that hold nothing.
fn pruned(mut value: serde_json::Value) -> serde_json::Value {
    if let Some(hooks) = value.get_mut("hooks").and_then(|hooks| hooks.as_object_mut()) {
        hooks.retain(|_, groups| groups.as_array().is_none_or(|groups| !groups.is_empty()));
        if hooks.is_empty() {
            value.as_object_mut().unwrap().remove("hooks");
        }
    }
    value
}

#[test]
fn nothing_of_ours_nothing_changed() {
    for text in ["{}", "[]", "1", "", "// c", "{\"hooks\": {\"Stop\": []}}", "{\"hooks\": 1}"] {
        let edit = uninstall(text).unwrap();
        assert_eq!((edit.text.as_str(), edit.changes.len()), (text, 0));
    }
    assert!(matches!(uninstall("{"), Err(SettingsError::Syntax { .. })));
}

#[test]
fn edited_entries_are_still_recognised() {
    let text = r#"{
  "hooks": {
    "Stop": [
      {"hooks": [
        {"type": "command", "command": "/a/lockstep hook claude || true"}, // ours
        {"type": "command", "command": "notify"}
      ]},
      {"hooks": [{"type": "command", "command": "lockstep hook claude", "async": true}]},
    ],
    // why
    "SessionStart": [{"hooks": [{"type": "command", "command": "lockstep hook"}]}]
  }
}"#;
    let edit = uninstall(text).unwrap();
    assert_eq!(edit.changes.iter().filter(|change| change.action == EntryAction::Removed).count(), 3);
    insta::assert_snapshot!(edit.text);
}

#[test]
fn a_comment_keeps_its_container() {
    let text = "{\n  \"hooks\": {\n    // soon\n  }\n}\n";
    let edit = install(Some(text), &entries()).unwrap();
    assert_eq!(uninstall(&edit.text).unwrap().text, text);
}

#[test]
fn a_line_comment_never_swallows_what_follows() {
    let text = "{\"a\": 1, // c\n\"hooks\": {\"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"lockstep hook\"}]}]}}";
    let edit = uninstall(text).unwrap();
    assert_eq!(value(&edit.text), serde_json::json!({"a": 1}));
}

#[test]
fn a_record_restores_what_text_alone_cannot() {
    for original in
        [None, Some("{ }"), Some("{\n  \"hooks\": {}\n}"), Some("{\"hooks\":{\"Stop\":[ ]}}"), Some("")]
    {
        let installed = install(original, &entries()).unwrap().text;
        let record = InstallRecord::new(original, &installed);
        let expected = original.map_or(RestoreAction::Remove, |text| RestoreAction::Write(text.to_owned()));
        assert_eq!(restore(&record, &installed), Some(expected));
        assert_eq!(restore(&record, &format!("{installed}\n")), None);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn uninstall_restores_the_settings_byte_for_byte(sample in samples()) {
        let edit = install(Some(&sample.text), &entries()).unwrap();
        let out = uninstall(&edit.text).unwrap();
        prop_assert_eq!(registered(&out.text), []);
        if sample.reversible {
            prop_assert_eq!(&out.text, &sample.text, "{}", edit.text);
        } else {
            prop_assert_eq!(pruned(value(&out.text)), pruned(value(&sample.text)), "{}", edit.text);
        }
    }

    #[test]
    fn uninstall_is_exact_after_update(sample in samples()) {
        let older = [
            entry("PostToolUse", Some("Edit"), "/old/lockstep hook claude", 5000),
            entry("Other", None, "lockstep hook claude", 5),
            entry("SessionStart", Some("startup"), "lockstep hook claude", 10),
        ];
        let old = install(Some(&sample.text), &older).unwrap();
        let new = install(Some(&old.text), &entries()).unwrap();
        let out = uninstall(&new.text).unwrap();
        if sample.reversible {
            prop_assert_eq!(&out.text, &sample.text, "{}", new.text);
        }
    }
}
