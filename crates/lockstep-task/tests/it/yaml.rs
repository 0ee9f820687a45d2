//! Values survive writing and reading; refusals have a reason.

use lockstep_task::value::{Map, Value};
use lockstep_task::yaml::{self, YamlError};
use proptest::prelude::*;

pub(crate) fn any_value() -> impl Strategy<Value = Value> {
    let text = prop_oneof![
        any::<String>().prop_filter("YAML has no such characters", |t| t.chars().all(is_printable)),
        "[a-z -]{0,20}",
        Just("yes".to_owned()),
        Just("0x1F".to_owned()),
        Just("~".to_owned()),
        Just(" # a\n\n  - b: c\n".to_owned()),
        "[a-z ]{100,200}",
        Just("2026-02-12".to_owned()),
        Just("1e3".to_owned()),
        Just(".inf".to_owned()),
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(Value::from),
        (-1e15..1e15_f64).prop_map(Value::from),
        text.clone().prop_map(Value::String),
    ];
    leaf.prop_recursive(4, 40, 6, move |inner| {
        let pairs = proptest::collection::vec(("[a-zA-Z0-9_. -]{1,8}", inner.clone()), 0..5);
        prop_oneof![
            proptest::collection::vec(inner, 0..5).prop_map(Value::Array),
            pairs.prop_map(|pairs| Value::Object(pairs.into_iter().collect::<Map>())),
        ]
    })
}

/// The characters YAML can hold at all, carriage returns aside: line breaks are normalised on reading.
fn is_printable(c: char) -> bool {
    !c.is_control() && c != '\u{feff}' && !matches!(c, '\u{2028}' | '\u{2029}' | '\u{fffe}' | '\u{ffff}')
        || matches!(c, '\n' | '\t')
}

proptest! {
    #[test]
    fn every_value_round_trips(value in any_value()) {
        let text = yaml::write(&value);
        let back = yaml::read(text.as_bytes(), 1 << 20);
        prop_assert_eq!(back, Ok(value), "{}", text);
    }
}

#[test]
fn words_stay_words() {
    let value = yaml::read(b"a: yes\nb: on\nc: .inf\nd: 2026-02-12\ne: 012\n", 100).unwrap();
    for (key, text) in [("a", "yes"), ("b", "on"), ("c", ".inf"), ("d", "2026-02-12")] {
        assert_eq!(value.get(key).and_then(Value::as_str), Some(text), "{key}");
    }
}

#[test]
fn no_digit_of_a_large_number_is_lost() {
    for digits in ["9223372036854775807", "-9223372036854775808", "18446744073709551615"] {
        let text = yaml::write(&yaml::read(format!("a: {digits}\n").as_bytes(), 100).unwrap());
        assert!(text.contains(digits), "{text}");
    }
}

#[test]
fn refusals_name_the_place_and_the_remedy() {
    let deep = format!("a: {}1{}", "[".repeat(40), "]".repeat(40));
    let many = format!("a: [{}]", "1,".repeat(30_000));
    let table: [(&str, &str); 9] = [
        ("a: 1\nb: 2\na: 3\n", "line 3, column 1: the key \"a\" occurs twice; keep one"),
        ("a: {b: 1, b: 2}\n", "the key \"b\" occurs twice"),
        ("a: &x 1\nb: *x\n", "line 1, column 7: anchors, aliases and merge keys"),
        ("b: *x\n", "anchors, aliases and merge keys"),
        ("a:\n  <<: {b: 1}\n", "anchors, aliases and merge keys"),
        ("a: 1\n---\nb: 2\n", "a second YAML document begins"),
        ("a:\n\tb: 1\n", "line 2, column 2: tabs disallowed"),
        (&deep, "nested deeper than 32 levels"),
        (&many, "more than 20000 entries"),
    ];
    for (text, expected) in table {
        let error = yaml::read(text.as_bytes(), 1 << 20).unwrap_err().to_string();
        assert!(error.contains(expected), "{:.40}: {error}", text);
    }
    assert_eq!(yaml::read(b"a: \xff", 100), Err(YamlError::NotUtf8 { offset: 3 }));
    assert_eq!(yaml::read(b"a: 12", 3), Err(YamlError::TooLong { bytes: 5, limit: 3 }));
}
