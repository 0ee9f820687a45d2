//! The report of a cascade: L1 for programs, L2 for people and models, and everything as data. The same state gives the
//! same bytes.

mod data;
mod l1;
mod l2;

pub use data::{ChangedFile, Data, GroupData, IterationLog, Named, Violation};
pub use l2::Held;
pub(crate) use l2::{diff as text_diff, fence};

use crate::state::{Cascade, Iteration, Outcome, Status};

impl Cascade {
    /// The status of the contract. A cascade that is not over has not converged.
    pub fn status(&self) -> Status {
        self.end.as_ref().map_or(Status::Partial, |end| end.status)
    }

    /// `convergence`; `None` where the question does not arise.
    pub fn convergence(&self) -> Option<bool> {
        match self.status() {
            Status::Converged => Some(true),
            Status::Partial => Some(false),
            Status::Skipped => None,
        }
    }

    /// The warnings of the report.
    pub fn all_warnings(&self) -> Vec<String> {
        let mut warnings = self.warnings.clone();
        match &self.end {
            None => warnings.push("The cascade is not over.".to_owned()),
            Some(end) if end.status != Status::Converged => {
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

/// How many assigned files an iteration brought up to date.
fn files_changed(iteration: &Iteration) -> usize {
    let files = iteration.groups.iter().flat_map(|group| &group.files);
    files.filter(|file| file.outcome == Some(Outcome::Updated)).count()
}
