//! The present moment.

use std::fs;
use std::path::Path;

use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};

use crate::env_vars::{LOCKSTEP_NOW, TZ};

const LOCAL_TIME: &str = "/etc/localtime";
const ZONE_INFO: &str = "/usr/share/zoneinfo";

/// Now, in the local time zone. In builds for tests, `LOCKSTEP_NOW` fixes it; a released program has no such switch, since an agent
/// could date its work with it.
pub(crate) fn now() -> Zoned {
    let named = if cfg!(debug_assertions) { LOCKSTEP_NOW.get() } else { None };
    let fixed = named.and_then(|text| text.to_str()?.parse().ok());
    fixed.unwrap_or_else(|| Timestamp::now().to_zoned(local_zone()))
}

/// Returns the local time zone, read directly from its file. jiff's own search reads the complete directory
/// of zones first, which takes longer than the rest of a hook.
fn local_zone() -> TimeZone {
    let zone = match TZ.get() {
        None => from_file(Path::new(LOCAL_TIME)),
        Some(name) => name.to_str().and_then(zone_by_name),
    };
    zone.unwrap_or_else(TimeZone::system)
}

/// `TZ`: a name, perhaps behind a colon, a file's path, or a POSIX rule.
fn zone_by_name(name: &str) -> Option<TimeZone> {
    let name = name.strip_prefix(':').unwrap_or(name);
    from_file(&Path::new(ZONE_INFO).join(name)).or_else(|| TimeZone::posix(name).ok())
}

fn from_file(path: &Path) -> Option<TimeZone> {
    TimeZone::tzif("", &fs::read(path).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zones_are_found_by_name_path_and_rule() {
        let at = Timestamp::UNIX_EPOCH;
        for name in ["Asia/Tokyo", ":Asia/Tokyo", "/usr/share/zoneinfo/Asia/Tokyo", "JST-9"] {
            let Some(zone) = zone_by_name(name) else {
                // A machine without zone files still has rules.
                assert!(!Path::new(ZONE_INFO).exists());
                continue;
            };
            assert_eq!(zone.to_offset(at).seconds(), 9 * 3600, "{name}");
        }
        assert!(zone_by_name("No/Such").is_none());
    }
}
