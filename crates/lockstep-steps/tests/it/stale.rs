//! Stale phases: complete days, both kinds of timestamps, and unknown ages.

use jiff::Zoned;
use lockstep_steps::stale_phases::find_stale_phases;
use lockstep_steps::step::Step;
use serde_json::json;

use crate::three;

fn running_since(started_at: serde_json::Value) -> Step {
    let mut value = three().value().clone();
    value["tdd_cycle"]["phase_execution_log"][0]["status"] = json!("IN_PROGRESS");
    value["tdd_cycle"]["phase_execution_log"][0]["started_at"] = started_at;
    Step::parse(&value.to_string()).unwrap()
}

fn now() -> Zoned {
    "2026-02-14T15:30:00+09:00[Asia/Tokyo]".parse().unwrap()
}

fn age(started_at: &str, minutes: i64) -> Option<i64> {
    let (found, undated) = find_stale_phases(&running_since(json!(started_at)), &now(), minutes);
    assert!(undated.is_empty(), "{undated:?}");
    found.first().map(|stale| stale.age_minutes)
}

#[test]
fn three_days_are_4320_minutes() {
    assert_eq!(age("2026-02-11T15:30:00+09:00", 30), Some(4320));
    assert_eq!(age("2026-02-11T06:30:00Z", 30), Some(4320));
    assert_eq!(age("2026-02-11T15:30:00", 30), Some(4320), "without an offset: local time");
    assert_eq!(age("2026-02-11 15:30:00.123456", 30), Some(4319));
}

#[test]
fn the_threshold_is_respected() {
    assert_eq!(age("2026-02-14T15:01:00+09:00", 30), None);
    assert_eq!(age("2026-02-14T15:00:00+09:00", 30), Some(30));
    assert_eq!(age("2026-02-14T15:29:59+09:00", 0), Some(0));
    assert_eq!(age("2026-02-15T15:29:59+09:00", 30), None, "a clock that went back is no age");
}

#[test]
fn phases_without_a_valid_time_are_listed() {
    for started_at in [json!(null), json!("yesterday"), json!("2026-13-01T00:00:00Z")] {
        let (found, undated) = find_stale_phases(&running_since(started_at.clone()), &now(), 30);
        assert!(found.is_empty() && undated.len() == 1, "{started_at}");
    }
    let (found, undated) = find_stale_phases(&three(), &now(), 0);
    assert!(found.is_empty() && undated.is_empty(), "nothing is in progress");
}
