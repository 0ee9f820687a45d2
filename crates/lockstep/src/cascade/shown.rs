//! A cascade as it is shown: everything about it as data, and in words.

use std::fmt::Write as _;

use lockstep_cascade::report::Data;
use schemars::JsonSchema;
use serde::Serialize;

use super::Opened;
use crate::reply::Reply;

/// What is said where there is nothing to show.
pub(crate) const NONE_YET: &str = "There was no cascade yet.\n";

/// Where a cascade stands.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Shown {
    /// Its number.
    pub(crate) id: i64,
    /// The session it was started in.
    pub(crate) session: Option<String>,
    #[serde(flatten)]
    pub(crate) data: Data,
}

impl Shown {
    pub(crate) fn of(opened: &Opened) -> Self {
        let (id, session) = (opened.record.id, opened.record.session.clone());
        Self { id, session, data: opened.state.data() }
    }
}

impl Reply for Shown {
    fn text(&self) -> String {
        let data = &self.data;
        let mut out = format!("Cascade {}: ", self.id);
        match &data.why {
            Some(why) => {
                let _ = writeln!(out, "{}, {why}", data.status);
            }
            None => {
                let _ = writeln!(
                    out,
                    "active, iteration {} of at most {}, {}",
                    data.iterations, data.max_iterations, data.tier
                );
            }
        }
        if !data.causes.is_empty() {
            let _ = writeln!(out, "  changed: {}", data.causes.join(", "));
        }
        for group in &data.groups {
            let attempt = if group.attempt > 1 { ", second attempt" } else { "" };
            let stage = match group.stage {
                "handed" => "in an agent's hands",
                stage => stage,
            };
            let _ = writeln!(out, "  {} {}: {stage}{attempt}", group.id, group.role);
            for file in &group.open {
                let _ = writeln!(out, "    {file}");
            }
        }
        let mut list = |title: &str, lines: Vec<String>| {
            if !lines.is_empty() {
                let _ = writeln!(out, "  {title}: {}", lines.join(", "));
            }
        };
        list("updated", data.updated.clone());
        list("skipped", data.skipped.iter().map(|named| named.path.clone()).collect());
        list("dismissed", data.dismissed.iter().map(|named| named.path.clone()).collect());
        if !data.active {
            list("unresolved", data.unresolved.clone());
        }
        for warning in data.warnings.iter().filter(|warning| *warning != "The cascade is not over.") {
            let _ = writeln!(out, "warning: {warning}");
        }
        out
    }
}
