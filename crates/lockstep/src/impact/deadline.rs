//! The time limit of a command: one moment that holds for the index and for the analysis.

use std::time::{Duration, Instant};

use lockstep_index::index::{Phase, Progress};

/// Progress with a moment at which the work has to end.
pub(crate) struct Deadline<'a> {
    progress: &'a dyn Progress,
    /// `None` where it is too far away to be represented.
    at: Option<Instant>,
}

impl<'a> Deadline<'a> {
    /// A deadline so long after now.
    pub(crate) fn after(limit: Duration, progress: &'a dyn Progress) -> Self {
        Self { progress, at: Instant::now().checked_add(limit) }
    }
}

impl Progress for Deadline<'_> {
    fn report(&self, phase: Phase, done: usize, all: usize) {
        self.progress.report(phase, done, all);
    }

    fn is_abandoned(&self) -> bool {
        self.progress.is_abandoned()
    }

    fn deadline(&self) -> Option<Instant> {
        self.at
    }
}
