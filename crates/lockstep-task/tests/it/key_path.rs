//! Places are written so that they can be read back.

use lockstep_task::key_path::KeyPath;
use proptest::prelude::*;

#[test]
fn places_are_readable() {
    let place =
        KeyPath::section("codebase_impact_map").child("risk_hotspots").child("src/a.rs").child("reason");
    assert_eq!(place.to_string(), "codebase_impact_map.risk_hotspots[\"src/a.rs\"].reason");
    assert_eq!(
        "phase_status.P2.l2_path".parse::<KeyPath>().unwrap().keys(),
        ["phase_status", "P2", "l2_path"]
    );
}

#[test]
fn invalid_key_path_is_refused() {
    for text in ["", ".", "a.", "a..b", "a[", "a[\"x", "a b", "a[\"x\"", "a[x]"] {
        assert!(text.parse::<KeyPath>().is_err(), "{text:?}");
    }
}

proptest! {
    #[test]
    fn every_place_round_trips(keys in proptest::collection::vec(any::<String>(), 1..5)) {
        let place = keys.iter().fold(KeyPath::root(), |place, key| place.child(key));
        prop_assert_eq!(place.to_string().parse::<KeyPath>(), Ok(place));
    }
}
