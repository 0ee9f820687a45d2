//! The number of threads for a check of many files.

/// Returns the number of extra threads to start: at most `worth`, and one fewer than the available cores.
/// Querying the core count reads several files, so it is skipped if `worth` is 0.
pub(crate) fn besides(worth: usize) -> usize {
    match worth {
        0 => 0,
        worth => worth.min(std::thread::available_parallelism().map_or(1, usize::from) - 1),
    }
}
