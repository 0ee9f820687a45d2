//! The number of threads for a check of many files.

/// Returns the number of extra threads to start: at most `limit`, and one fewer than the available cores.
/// Querying the core count reads several files, so it is skipped if `limit` is 0.
pub(crate) fn extra_threads(limit: usize) -> usize {
    match limit {
        0 => 0,
        limit => limit.min(std::thread::available_parallelism().map_or(1, usize::from) - 1),
    }
}
