//! The report of a cascade: L1 for programs, L2 for people and models, and the complete state as data.
//! Rendering is deterministic.

mod json;
mod l1;
mod l2;

pub use json::{
    AssignedFileStatus, CascadeReport, FileWithReason, GroupStatus, IterationLog, ScopeViolation,
};
pub use l2::HeldAlert;
pub(crate) use l2::diff as text_diff;

use crate::state::{Cascade, CascadeStatus, FileOutcome, Iteration};

impl Cascade {
    /// `status` of the L1. A cascade that has not ended is partial.
    pub fn status(&self) -> CascadeStatus {
        self.end.as_ref().map_or(CascadeStatus::Partial, |end| end.status)
    }

    /// `convergence` of the L1; `None` for a skipped cascade.
    pub fn convergence(&self) -> Option<bool> {
        match self.status() {
            CascadeStatus::Converged => Some(true),
            CascadeStatus::Partial => Some(false),
            CascadeStatus::Skipped => None,
        }
    }

    pub fn all_warnings(&self) -> Vec<String> {
        let mut warnings = self.warnings.clone();
        match &self.end {
            None => warnings.push("The cascade is not over.".to_owned()),
            Some(end) if end.status != CascadeStatus::Converged => {
                let mut why = end.why.clone();
                why[..1].make_ascii_uppercase();
                let why = format!("{why}.");
                if !warnings.contains(&why) {
                    warnings.push(why);
                }
            }
            Some(_) => {}
        }
        warnings
    }
}

/// Returns the number of assigned files that an iteration updated.
fn files_changed(iteration: &Iteration) -> usize {
    let files = iteration.groups.iter().flat_map(|group| &group.files);
    files.filter(|file| file.outcome == Some(FileOutcome::Updated)).count()
}
