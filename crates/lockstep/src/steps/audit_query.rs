//! Entries of the audit trail, chosen and in order.

use std::path::Path;

use jiff::Timestamp;
use lockstep_steps::audit::TrailEntry;
use lockstep_text::single_line;
use schemars::JsonSchema;
use serde::{Serialize, Serializer};

use super::StepContext;
use crate::command_output::CommandOutput;
use crate::error::{CommandError, CommandResult};

/// Which entries are wanted.
#[derive(Debug, Clone, Default)]
pub(crate) struct AuditFilter<'a> {
    /// Only about this step: its file, or its id.
    pub(crate) step: Option<&'a str>,
    pub(crate) event: Option<&'a str>,
    /// Only since this day or moment, in UTC.
    pub(crate) since: Option<&'a str>,
    /// Only before this day or moment, in UTC.
    pub(crate) until: Option<&'a str>,
}

/// Entries of the trail, the oldest first.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct AuditEntriesOutput {
    /// As they are in the trail; `lockstep schema audit-entry` describes them.
    #[serde(serialize_with = "fields")]
    #[schemars(with = "Vec<serde_json::Map<String, serde_json::Value>>")]
    pub(crate) entries: Vec<TrailEntry>,
}

fn fields<S: Serializer>(entries: &[TrailEntry], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(entries.iter().map(TrailEntry::fields))
}

impl StepContext<'_> {
    /// The entries of every trail that are wanted. A step is named from `directory`.
    pub(crate) fn entries(
        &self,
        directory: &Path,
        wanted: &AuditFilter<'_>,
    ) -> CommandResult<AuditEntriesOutput> {
        let (since, until) = (moment(wanted.since)?, moment(wanted.until)?);
        let name_of = |name: &str| {
            let file = self.resolve_from_directory(directory, name);
            file.map_or_else(|_| name.to_owned(), |file| file.name)
        };
        let step = wanted.step.map(name_of);
        let fits = |entry: &TrailEntry| {
            let at: Option<Timestamp> = entry.text("timestamp").parse().ok();
            step.as_deref().is_none_or(|step| entry.step_file() == Some(step))
                && wanted.event.is_none_or(|event| entry.event() == event)
                && since.is_none_or(|since| at.is_some_and(|at| at >= since))
                && until.is_none_or(|until| at.is_some_and(|at| at < until))
        };
        let mut entries = Vec::new();
        for trail in self.trails() {
            for file in trail.files()? {
                // Lines that were edited are shown by `verify`.
                entries
                    .extend(file.text.lines().filter_map(|line| TrailEntry::parse(line).ok()).filter(fits));
            }
        }
        entries.sort_by(|a, b| a.text("timestamp").cmp(b.text("timestamp")));
        Ok(AuditEntriesOutput { entries })
    }
}

impl CommandOutput for AuditEntriesOutput {
    fn text(&self) -> String {
        if self.entries.is_empty() {
            return "the trail has no such entry\n".to_owned();
        }
        self.entries.iter().map(line).collect()
    }
}

fn line(entry: &TrailEntry) -> String {
    let mut line = format!("{}  {}", entry.text("timestamp"), entry.event());
    for part in [
        entry.step_file().unwrap_or_default(),
        entry.text("phase"),
        entry.text("result"),
        entry.text("status"),
    ] {
        if !part.is_empty() {
            line.push_str(&format!("  {part}"));
        }
    }
    if let Some(code) = entry.fields().get("exit_code").and_then(serde_json::Value::as_i64) {
        line.push_str(&format!("  `{}` exited with {code}", entry.text("command")));
    }
    for name in ["blocked_by", "reason", "why", "subject"] {
        if !entry.text(name).is_empty() {
            line.push_str(&format!("  ({})", entry.text(name)));
        }
    }
    line = single_line(&line) + "\n";
    let errors = entry.fields().get("errors").and_then(|errors| errors.as_array());
    line.extend(
        errors
            .into_iter()
            .flatten()
            .filter_map(|error| Some(format!("    - {}\n", single_line(error.as_str()?)))),
    );
    line
}

fn moment(text: Option<&str>) -> CommandResult<Option<Timestamp>> {
    let Some(text) = text else { return Ok(None) };
    let day =
        || Some(text.parse::<jiff::civil::Date>().ok()?.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp());
    match text.parse().ok().or_else(day) {
        Some(moment) => Ok(Some(moment)),
        None => Err(CommandError::usage(format!("{text:?} is not a time"))
            .hint("write a day, 2026-02-14, or a moment, 2026-02-14T10:00:00Z")),
    }
}
