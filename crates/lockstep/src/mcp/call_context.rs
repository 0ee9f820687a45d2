//! A running request: its directory, caller, progress and cancellation.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use lockstep_index::index::{IndexPhase, IndexProgress};
use tokio::sync::mpsc::UnboundedSender;

use super::identity::CallerIdentity;

/// The number of requests that are processed at the same time; the others wait.
pub(super) const MAX_CONCURRENT_CALLS: usize = 4;

/// Between two notifications.
const INTERVAL: Duration = Duration::from_millis(100);

#[derive(Debug, Clone, PartialEq)]
pub(super) struct ProgressStep {
    pub(super) done: u64,
    pub(super) all: u64,
    pub(super) what: &'static str,
}

/// A request that is worked on.
#[derive(Debug)]
pub(super) struct CallContext {
    /// The directory in which the server was started.
    pub(super) directory: PathBuf,
    pub(super) caller: Arc<CallerIdentity>,
    /// Set when the client no longer waits.
    pub(super) abandoned: Arc<AtomicBool>,
    /// The receiver of progress, if the client requested it.
    pub(super) watcher: Option<ProgressSender>,
}

#[derive(Debug)]
pub(super) struct ProgressSender {
    steps: UnboundedSender<ProgressStep>,
    started: Instant,
    /// The time of the next report, in milliseconds since the start.
    next: AtomicU64,
    /// The highest reported progress: it never decreases, whichever thread reports first.
    told: AtomicU64,
}

impl ProgressSender {
    pub(super) fn new(steps: UnboundedSender<ProgressStep>) -> Self {
        Self { steps, started: Instant::now(), next: AtomicU64::new(0), told: AtomicU64::new(0) }
    }

    fn tell(&self, step: ProgressStep) {
        let now = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        let (next, later) =
            (self.next.load(Ordering::Relaxed), now.saturating_add(INTERVAL.as_millis() as u64));
        let is_last = step.done == step.all;
        if now < next && !is_last {
            return;
        }
        let is_mine = self.next.compare_exchange(next, later, Ordering::Relaxed, Ordering::Relaxed).is_ok();
        if (is_mine || is_last) && self.told.fetch_max(step.done, Ordering::Relaxed) < step.done {
            // A client that no longer listens needs no report.
            let _ = self.steps.send(step);
        }
    }
}

impl IndexProgress for CallContext {
    fn report(&self, phase: IndexPhase, done: usize, all: usize) {
        let Some(watcher) = &self.watcher else { return };
        let (done, all) = (done as u64, all as u64);
        // Each phase follows the previous one, with no more files.
        let (before, what) = match phase {
            IndexPhase::Words => (0, "reading files"),
            IndexPhase::Facts => (1, "parsing files"),
            IndexPhase::References => (2, "resolving references"),
        };
        watcher.tell(ProgressStep { done: before * all + done, all: all * 3, what });
    }

    fn is_cancelled(&self) -> bool {
        self.abandoned.load(Ordering::Relaxed)
    }
}
