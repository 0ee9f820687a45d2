//! Decides whether a second thread can help.

/// Returns true if there is only one core. Uses the system's core count: reading the limits of a container
/// costs more than it could save.
pub(crate) fn is_single_core() -> bool {
    rustix::thread::sched_getaffinity(None).map_or(true, |cores| cores.count() < 2)
}
