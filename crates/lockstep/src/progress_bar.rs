//! The progress of a build, on a terminal.

use std::io::{self, IsTerminal as _};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use lockstep_index::index::{IndexPhase, IndexProgress};

use crate::terminal::{Terminal, replace_line};

/// The delay before progress is shown.
const PATIENCE_MS: u64 = 300;

/// Between two lines that replace each other.
const INTERVAL_MS: u64 = 60;

const WIDTH: usize = 30;

/// A line on standard error that is replaced again and again; nothing where that is not a terminal.
pub(crate) struct ProgressBar {
    started: Instant,
    /// When the next line is due, in milliseconds since the start.
    next: AtomicU64,
    is_on: bool,
}

impl ProgressBar {
    pub(crate) fn new(terminal: &Terminal) -> Self {
        let is_on = !terminal.quiet() && io::stderr().is_terminal();
        Self { started: Instant::now(), next: AtomicU64::new(PATIENCE_MS), is_on }
    }
}

impl IndexProgress for ProgressBar {
    fn report(&self, phase: IndexPhase, done: usize, all: usize) {
        let now = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        let next = self.next.load(Ordering::Relaxed);
        if !self.is_on || now < next {
            return;
        }
        // One thread writes, the others go on.
        let later = now.saturating_add(INTERVAL_MS);
        if self.next.compare_exchange(next, later, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
            replace_line(&line(phase, done, all));
        }
    }
}

impl Drop for ProgressBar {
    fn drop(&mut self) {
        if self.is_on && self.next.load(Ordering::Relaxed) > PATIENCE_MS {
            replace_line("");
        }
    }
}

fn line(phase: IndexPhase, done: usize, all: usize) -> String {
    let what = match phase {
        IndexPhase::Words => "reading",
        IndexPhase::Facts => "parsing",
        IndexPhase::References => "resolving",
    };
    let full = (WIDTH * done).checked_div(all).unwrap_or(0).min(WIDTH);
    format!("{what} [{}{}] {done} of {all} files", "=".repeat(full), " ".repeat(WIDTH - full))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bar_is_as_full_as_the_work_is_done() {
        assert_eq!(
            line(IndexPhase::Words, 15, 30),
            "reading [===============               ] 15 of 30 files"
        );
        assert_eq!(line(IndexPhase::Facts, 0, 0), "parsing [                              ] 0 of 0 files");
    }
}
