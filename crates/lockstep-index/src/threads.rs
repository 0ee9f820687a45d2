//! How many threads a look at many files is worth.

/// So many threads besides this one, but with it not more than there are cores. Nobody asks the system about cores for nothing: that reads
/// half a dozen files.
pub(crate) fn besides(worth: usize) -> usize {
    match worth {
        0 => 0,
        worth => worth.min(std::thread::available_parallelism().map_or(1, usize::from) - 1),
    }
}
