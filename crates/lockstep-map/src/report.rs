//! L1: the result of a run, for programs. The keys and their order are a contract.

use std::fmt::Write as _;

use serde::Serialize;

use crate::check::Recommendation;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MapReport {
    domain: &'static str,
    skill: &'static str,
    pub status: MapRunStatus,
    pub mode: MapRunMode,
    pub entries: usize,
    /// Entries removed because their file was deleted.
    pub stale_entries_removed: usize,
    pub new_entries_added: usize,
    /// Entries whose file changed.
    pub entries_updated: usize,
    /// The document, relative to the root.
    pub map_path: String,
    /// Only where it was checked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub staleness_report: Option<StalenessReport>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum MapRunStatus {
    Complete,
    /// Files changed during the run; the next run checks them again.
    Partial,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum MapRunMode {
    /// The complete map was built.
    FullGeneration,
    /// Changed entries were updated.
    IncrementalUpdate,
    StalenessCheck,
}

/// The counted findings of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct StalenessReport {
    /// Entries that the document lists.
    pub total_entries: usize,
    /// Entries older than seven days whose file changed since.
    pub stale_count: usize,
    /// Entries of deleted files, and files without an entry.
    pub missing_count: usize,
    pub recommendation: Recommendation,
}

impl MapReport {
    /// Of a run that changed nothing yet.
    pub fn new(mode: MapRunMode, status: MapRunStatus, entries: usize, map_path: String) -> Self {
        Self {
            domain: "homeostasis",
            skill: "manage-codebase",
            status,
            mode,
            entries,
            stale_entries_removed: 0,
            new_entries_added: 0,
            entries_updated: 0,
            map_path,
            staleness_report: None,
        }
    }

    pub fn to_yaml(&self) -> String {
        let word = |value: &dyn erased::SerializedName| value.word();
        let mut out = format!("domain: {}\nskill: {}\n", self.domain, self.skill);
        let _ = writeln!(out, "status: {}\nmode: {}", word(&self.status), word(&self.mode));
        let _ = writeln!(out, "entries: {}", self.entries);
        let _ = writeln!(out, "stale_entries_removed: {}", self.stale_entries_removed);
        let _ = writeln!(out, "new_entries_added: {}", self.new_entries_added);
        let _ = writeln!(out, "entries_updated: {}", self.entries_updated);
        // A JSON string is a YAML string.
        let _ = writeln!(out, "map_path: {}", serde_json::Value::from(self.map_path.as_str()));
        if let Some(report) = &self.staleness_report {
            let _ = write!(
                out,
                "staleness_report:\n  total_entries: {}\n  stale_count: {}\n  missing_count: {}\n  recommendation: {}\n",
                report.total_entries,
                report.stale_count,
                report.missing_count,
                word(&report.recommendation)
            );
        }
        out
    }
}

/// Enums by their serialised names.
mod erased {
    /// A value with a serialised name.
    pub(super) trait SerializedName {
        fn word(&self) -> String;
    }

    impl<T: serde::Serialize> SerializedName for T {
        fn word(&self) -> String {
            let value = serde_json::to_value(self).unwrap_or_default();
            value.as_str().unwrap_or_default().to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn report_yaml_matches_its_format_and_parses() {
        let mut l1 = MapReport::new(
            MapRunMode::IncrementalUpdate,
            MapRunStatus::Complete,
            71,
            ".claude/agent-memory/analyst/codebase-map.md".to_owned(),
        );
        l1.entries_updated = 2;
        let head = "domain: homeostasis\nskill: manage-codebase\nstatus: complete\nmode: incremental-update\n\
                    entries: 71\nstale_entries_removed: 0\nnew_entries_added: 0\nentries_updated: 2\n\
                    map_path: \".claude/agent-memory/analyst/codebase-map.md\"\n";
        assert_eq!(l1.to_yaml(), head);
        l1.mode = MapRunMode::StalenessCheck;
        l1.staleness_report = Some(StalenessReport {
            total_entries: 71,
            stale_count: 0,
            missing_count: 0,
            recommendation: Recommendation::FullRegeneration,
        });
        let report = "staleness_report:\n  total_entries: 71\n  stale_count: 0\n  missing_count: 0\n  \
                      recommendation: full-regeneration\n";
        assert_eq!(l1.to_yaml(), head.replace("incremental-update", "staleness-check") + report);
        let read: serde_json::Value = serde_saphyr::from_str(&l1.to_yaml()).unwrap();
        assert_eq!(read, serde_json::to_value(&l1).unwrap());
    }

    #[test]
    fn every_report_matches_its_schema() {
        let (_, schema) = crate::schema::schemas().remove(0);
        let schema = jsonschema::validator_for(&schema).unwrap();
        for mode in [MapRunMode::FullGeneration, MapRunMode::IncrementalUpdate, MapRunMode::StalenessCheck] {
            for status in [MapRunStatus::Complete, MapRunStatus::Partial] {
                let mut l1 = MapReport::new(mode, status, 3, "map.md".to_owned());
                assert!(schema.is_valid(&serde_json::to_value(&l1).unwrap()), "{l1:?}");
                for recommendation in
                    [Recommendation::None, Recommendation::Incremental, Recommendation::FullRegeneration]
                {
                    l1.staleness_report = Some(StalenessReport {
                        total_entries: 3,
                        stale_count: 1,
                        missing_count: 0,
                        recommendation,
                    });
                    assert!(schema.is_valid(&serde_json::to_value(&l1).unwrap()), "{l1:?}");
                }
            }
        }
        assert!(!schema.is_valid(&serde_json::json!({"domain": "homeostasis"})));
    }
}
