//! The time limit of a command: one moment that holds for the index, the analysis and the output.

use std::time::{Duration, Instant};

use lockstep_index::index::{IndexPhase, IndexProgress};

/// The part of a time limit that remains for what follows the analysis: the last step, the report and the output.
const RESERVE_DIVISOR: u32 = 10;

/// The longest reserve.
const MAX_RESERVE: Duration = Duration::from_secs(1);

/// Progress with a moment at which the work has to end.
pub(crate) struct Deadline<'a> {
    progress: &'a dyn IndexProgress,
    /// `None` if it is too far away to be represented.
    at: Option<Instant>,
}

impl<'a> Deadline<'a> {
    /// A deadline so long after now.
    pub(crate) fn after(limit: Duration, progress: &'a dyn IndexProgress) -> Self {
        Self { progress, at: Instant::now().checked_add(limit) }
    }

    /// The deadline of the analysis in a command that begins now and may take as long as `limit` in all.
    pub(crate) fn within(limit: Duration, progress: &'a dyn IndexProgress) -> Self {
        let reserve = (limit / RESERVE_DIVISOR).min(MAX_RESERVE);
        Self::after(limit - reserve, progress)
    }
}

impl IndexProgress for Deadline<'_> {
    fn report(&self, phase: IndexPhase, done: usize, all: usize) {
        self.progress.report(phase, done, all);
    }

    fn is_cancelled(&self) -> bool {
        self.progress.is_cancelled()
    }

    fn deadline(&self) -> Option<Instant> {
        self.at
    }
}
