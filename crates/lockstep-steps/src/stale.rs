//! Stale phases: IN_PROGRESS for longer than anybody works on one.

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};
use serde::Serialize;

use crate::step::Step;

/// A phase that somebody seems to have left behind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Stale {
    /// The phase.
    pub phase_name: String,
    /// When it began, as the file says.
    pub started_at: String,
    /// How old it is, in whole minutes.
    pub age_minutes: i64,
}

/// A phase whose age cannot be told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Undated {
    /// The phase.
    pub phase_name: String,
    /// Why its age cannot be told.
    pub why: String,
}

/// The phases that have been IN_PROGRESS for at least `minutes`, and those of which that cannot be told.
pub fn stale(step: &Step, now: &Zoned, minutes: i64) -> (Vec<Stale>, Vec<Undated>) {
    let (mut found, mut undated) = (Vec::new(), Vec::new());
    for phase in step.phases().iter().filter(|phase| phase.status == "IN_PROGRESS") {
        let phase_name = phase.name.clone();
        let Some(text) = &phase.started_at else {
            undated.push(Undated { phase_name, why: "it does not say when it began".to_owned() });
            continue;
        };
        match parse(text, now.time_zone()) {
            Some(started) => {
                // The whole duration: days count.
                let age_minutes = now.timestamp().duration_since(started).as_mins();
                if age_minutes >= minutes {
                    found.push(Stale { phase_name, started_at: text.clone(), age_minutes });
                }
            }
            None => undated.push(Undated { phase_name, why: format!("{text:?} is no time") }),
        }
    }
    (found, undated)
}

/// A moment as step files spell it: with an offset, or without one, in local time.
pub fn parse(text: &str, zone: &TimeZone) -> Option<Timestamp> {
    let text = text.trim();
    text.parse::<Timestamp>().ok().or_else(|| {
        let local: DateTime = text.parse().ok()?;
        Some(zone.to_zoned(local).ok()?.timestamp())
    })
}

/// A moment, for comparing moments of one file: without an offset, all are of the same zone.
pub(crate) fn parse_exact(text: &str) -> Option<Timestamp> {
    parse(text, &TimeZone::UTC)
}
