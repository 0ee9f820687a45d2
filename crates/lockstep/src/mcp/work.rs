//! A request while it is worked on: where, for whom, who watches, and whether anybody still waits.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use lockstep_index::index::{Phase, Progress};
use tokio::sync::mpsc::UnboundedSender;

use super::caller::Caller;

/// So many requests are worked on at once; the others wait.
pub(super) const AT_ONCE: usize = 4;

/// Between two notifications.
const INTERVAL: Duration = Duration::from_millis(100);

/// How far a request has come.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Step {
    pub(super) done: u64,
    pub(super) all: u64,
    pub(super) what: &'static str,
}

/// A request that is worked on.
#[derive(Debug)]
pub(super) struct Work {
    /// Where the server was started.
    pub(super) directory: PathBuf,
    pub(super) caller: Arc<Caller>,
    /// Set when nobody waits any more.
    pub(super) abandoned: Arc<AtomicBool>,
    /// Who is told, where somebody wants to know.
    pub(super) watcher: Option<Watcher>,
}

/// Somebody who wants to know how far it has come.
#[derive(Debug)]
pub(super) struct Watcher {
    steps: UnboundedSender<Step>,
    started: Instant,
    /// When the next step is told, in milliseconds since the start.
    next: AtomicU64,
    /// The most that was told: progress never goes back, whichever thread tells it first.
    told: AtomicU64,
}

impl Watcher {
    pub(super) fn new(steps: UnboundedSender<Step>) -> Self {
        Self { steps, started: Instant::now(), next: AtomicU64::new(0), told: AtomicU64::new(0) }
    }

    fn tell(&self, step: Step) {
        let now = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        let (next, later) =
            (self.next.load(Ordering::Relaxed), now.saturating_add(INTERVAL.as_millis() as u64));
        let is_last = step.done == step.all;
        if now < next && !is_last {
            return;
        }
        let is_mine = self.next.compare_exchange(next, later, Ordering::Relaxed, Ordering::Relaxed).is_ok();
        if (is_mine || is_last) && self.told.fetch_max(step.done, Ordering::Relaxed) < step.done {
            // Who does not listen any more need not be told.
            let _ = self.steps.send(step);
        }
    }
}

impl Progress for Work {
    fn report(&self, phase: Phase, done: usize, all: usize) {
        let Some(watcher) = &self.watcher else { return };
        let (done, all) = (done as u64, all as u64);
        // Each comes after the one before it, of no more files.
        let (before, what) = match phase {
            Phase::Words => (0, "reading files"),
            Phase::Facts => (1, "parsing files"),
            Phase::References => (2, "resolving references"),
        };
        watcher.tell(Step { done: before * all + done, all: all * 3, what });
    }

    fn is_abandoned(&self) -> bool {
        self.abandoned.load(Ordering::Relaxed)
    }
}
