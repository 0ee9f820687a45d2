//! Many durations in a few numbers.

use std::time::Duration;

/// Durations of one process, in order of size.
#[derive(Debug, Clone, Default)]
pub(super) struct Times(Vec<Duration>);

impl Times {
    pub(super) fn new(mut times: Vec<Duration>) -> Self {
        times.sort();
        Self(times)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The smallest time that at least `percent` of the runs did not exceed, in milliseconds.
    pub(super) fn percentile(&self, percent: usize) -> f64 {
        let rank = (self.0.len() * percent).div_ceil(100).max(1);
        self.0.get(rank - 1).map_or(f64::NAN, |time| time.as_secs_f64() * 1e3)
    }

    pub(super) fn median(&self) -> f64 {
        self.percentile(50)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_runs_that_took_place() {
        let times = Times::new((1..=200).rev().map(Duration::from_millis).collect());
        assert_eq!([50, 95, 99, 100].map(|p| times.percentile(p)), [100.0, 190.0, 198.0, 200.0]);
        assert_eq!(Times::new(vec![Duration::from_millis(7)]).percentile(99), 7.0);
        assert!(Times::default().median().is_nan());
    }
}
