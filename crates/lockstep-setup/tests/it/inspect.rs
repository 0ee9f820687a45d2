//! The findings about settings files.

use lockstep_setup::claude::{SettingsFindingKind, Severity, inspect, install};
use proptest::prelude::*;

use crate::settings_texts::samples;
use crate::{entries, registered};

fn shown(text: &str) -> String {
    let lines = inspect(text).into_iter().map(|finding| format!("{:?}: {finding}\n", finding.kind.weight()));
    lines.collect()
}

#[test]
fn our_entries_are_listed() {
    let text = install(None, &entries()).unwrap().text;
    insta::assert_snapshot!(shown(&text));
    assert!(inspect(&text).iter().all(|finding| finding.kind.weight() == Severity::Info));
}

#[test]
fn everything_wrong_is_found_at_once() {
    insta::assert_snapshot!(shown(
        r#"{
  "disableAllHooks": true,
  "hooks": {
    "PostToolUse": [
      {"matcher": {"tools": ["Edit"]}, "hooks": [{"type": "command", "command": "lint", "timeout": 5000}]},
      {"matcher": 3, "hooks": {}},
      {"matcher": "Bash"},
      "text",
      {"hooks": [1, {"command": "x"}, {"type": "command"}, {"type": "command", "command": 1, "timeout": "5"}, {"type": "prompt"}]}
    ],
    "Stop": [
      {"hooks": [{"type": "command", "command": "lockstep hook claude", "timeout": 10}]},
      {"hooks": [{"type": "command", "command": "/usr/bin/lockstep hook claude", "timeout": 10, "async": true}]}
    ],
    "PreCompact": "text"
  }
}"#
    ));
}

#[test]
fn reports_settings_the_client_cannot_parse() {
    let texts = [
        "",
        "{",
        "{\n  // c\n  \"disableAllHooks\": true\n}",
        "{\"a\": 1,}",
        "\u{feff}{}",
        "[]",
        "{\"hooks\": []}",
    ];
    let all: Vec<_> = texts.into_iter().map(|text| format!("{text:?}\n{}", shown(text))).collect();
    insta::assert_snapshot!(all.join("\n"));
}

#[test]
fn entries_that_differ_in_arguments_are_no_duplicates() {
    let text = install(None, &entries()[3..]).unwrap().text;
    assert!(
        !inspect(&text).iter().any(|finding| matches!(finding.kind, SettingsFindingKind::Duplicate { .. }))
    );
    assert_eq!(registered(&text).len(), 2);
}

proptest! {
    #[test]
    fn text_that_is_not_strict_json_is_always_reported(sample in samples()) {
        let strict = serde_json::from_str::<serde_json::Value>(&sample.text).is_ok();
        let is_said = |kind: &SettingsFindingKind| matches!(kind, SettingsFindingKind::NotJson { .. } | SettingsFindingKind::ByteOrderMark);
        let said = inspect(&sample.text).iter().any(|finding| is_said(&finding.kind));
        prop_assert_eq!(strict, !said);
    }

    #[test]
    fn no_text_panics(text in ".{0,60}") {
        inspect(&text);
    }
}
