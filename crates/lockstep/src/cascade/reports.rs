//! The written reports of a cascade, in `.lockstep/reports/cascade/ID/`: L1, L2, and the output of agents.

use std::path::PathBuf;

use lockstep_cascade::Cascade;
use lockstep_cascade::report::HeldAlert;
use lockstep_fs::write_atomically;
use lockstep_store::StoreError;

use super::inspector::DiskInspector;
use crate::error::CommandResult;

impl DiskInspector<'_> {
    /// The directory of this cascade's reports.
    pub(crate) fn reports_dir(&self) -> Result<PathBuf, StoreError> {
        self.project.state.ensure_dir(&format!("reports/cascade/{}", self.id))
    }

    /// The report for people and models.
    pub(crate) fn l2(&self, cascade: &Cascade) -> CommandResult<String> {
        let held_alerts = self.store.held_alerts(self.id)?;
        let held_alerts: Vec<HeldAlert> =
            held_alerts.into_iter().map(|(session, report)| HeldAlert { session, report }).collect();
        Ok(cascade.l2(&|digest| self.text(digest), &held_alerts))
    }
}

/// Writes both reports.
pub(super) fn write(disk: &DiskInspector<'_>, cascade: &Cascade) -> CommandResult<()> {
    let dir = disk.reports_dir()?;
    write_atomically(&dir.join("report.yaml"), cascade.l1().as_bytes(), 0o600)?;
    write_atomically(&dir.join("report.md"), disk.l2(cascade)?.as_bytes(), 0o600)?;
    Ok(())
}
