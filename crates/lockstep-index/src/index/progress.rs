//! Progress of a build.

use std::time::Instant;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IndexPhase {
    /// Reading files for their words.
    Words,
    /// Parsing files for their facts.
    Facts,
    /// Resolving the references of files.
    References,
}

/// A receiver of progress. It is called often, from several threads, so it must be fast.
pub trait IndexProgress: Sync {
    /// Reports that `done` of `all` files have finished the phase.
    fn report(&self, phase: IndexPhase, done: usize, all: usize);

    /// Returns true if the result is no longer needed. Checked between files; the build then ends with an
    /// error.
    fn is_cancelled(&self) -> bool {
        false
    }

    /// Returns the deadline. Work that is not finished by then is left out, and the index reports that.
    fn deadline(&self) -> Option<Instant> {
        None
    }

    /// Returns true if no further file is parsed in advance.
    fn is_parsing_over(&self) -> bool {
        self.is_out_of_time()
    }

    /// Returns true if the deadline has passed.
    fn is_out_of_time(&self) -> bool {
        self.deadline().is_some_and(|deadline| Instant::now() >= deadline)
    }
}

/// A receiver that ignores progress.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoProgress;

impl IndexProgress for NoProgress {
    fn report(&self, _phase: IndexPhase, _done: usize, _all: usize) {}
}
