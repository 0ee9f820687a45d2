//! Stale phases: IN_PROGRESS for an implausibly long time.

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};
use serde::Serialize;

use crate::step::Step;

/// A phase that was probably abandoned.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StalePhase {
    pub phase_name: String,
    /// The start time, as text of the file.
    pub started_at: String,
    pub age_minutes: i64,
}

/// A phase whose age is unknown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UndatedPhase {
    pub phase_name: String,
    /// The reason why its age is unknown.
    pub why: String,
}

/// Returns the phases that have been IN_PROGRESS for at least `minutes`, and those whose age is unknown.
pub fn find_stale_phases(step: &Step, now: &Zoned, minutes: i64) -> (Vec<StalePhase>, Vec<UndatedPhase>) {
    let (mut found, mut undated) = (Vec::new(), Vec::new());
    for phase in step.phases().iter().filter(|phase| phase.status == "IN_PROGRESS") {
        let phase_name = phase.name.clone();
        let Some(text) = &phase.started_at else {
            undated.push(UndatedPhase { phase_name, why: "it does not say when it began".to_owned() });
            continue;
        };
        match parse_timestamp(text, now.time_zone()) {
            Some(started) => {
                // The complete duration, including days.
                let age_minutes = now.timestamp().duration_since(started).as_mins();
                if age_minutes >= minutes {
                    found.push(StalePhase { phase_name, started_at: text.clone(), age_minutes });
                }
            }
            None => undated.push(UndatedPhase { phase_name, why: format!("{text:?} is not a time") }),
        }
    }
    (found, undated)
}

/// A moment as step files spell it: with an offset, or without one, in local time.
pub fn parse_timestamp(text: &str, zone: &TimeZone) -> Option<Timestamp> {
    let text = text.trim();
    text.parse::<Timestamp>().ok().or_else(|| {
        let local: DateTime = text.parse().ok()?;
        Some(zone.to_zoned(local).ok()?.timestamp())
    })
}

/// Parses a timestamp, for comparison within one file. Timestamps without an offset are in the same zone.
pub(crate) fn parse_timestamp_utc(text: &str) -> Option<Timestamp> {
    parse_timestamp(text, &TimeZone::UTC)
}
