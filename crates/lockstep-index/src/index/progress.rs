//! How far a build has come, for whoever watches.

use std::time::Instant;

/// What is being done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Files are read for their words.
    Words,
    /// Files are parsed for their facts.
    Facts,
    /// The references of files are resolved.
    References,
}

/// Somebody who is told. Called from several threads, often: it must be quick.
pub trait Progress: Sync {
    /// `done` of `all` files have been through the phase.
    fn report(&self, phase: Phase, done: usize, all: usize);

    /// Whether nobody waits for the outcome any more. Asked between files; what was begun then ends with an error.
    fn is_abandoned(&self) -> bool {
        false
    }

    /// When the time for the outcome is over. Work that is not done by then is left out, and the index says so.
    fn deadline(&self) -> Option<Instant> {
        None
    }

    /// Whether no further file is parsed in advance.
    fn is_parsing_over(&self) -> bool {
        self.is_out_of_time()
    }

    /// Whether the deadline has passed.
    fn is_out_of_time(&self) -> bool {
        self.deadline().is_some_and(|deadline| Instant::now() >= deadline)
    }
}

/// Nobody.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unwatched;

impl Progress for Unwatched {
    fn report(&self, _phase: Phase, _done: usize, _all: usize) {}
}
