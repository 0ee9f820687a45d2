//! Whether a second thread is worth a thought.

/// Whether there is no second core. The system's own answer; asking what a container may use of it costs more than it could save.
pub(crate) fn is_alone() -> bool {
    rustix::thread::sched_getaffinity(None).map_or(true, |cores| cores.count() < 2)
}
