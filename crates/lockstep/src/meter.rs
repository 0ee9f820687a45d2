//! The resources of this process, for the budgets of parsers.

use std::fs;
use std::time::Duration;

use lockstep_refs::budget::{Meter, install_meter};
use rustix::param::page_size;
use rustix::time::{ClockId, clock_gettime};

struct ProcessMeter;

/// Installs the meter by which parsers measure their time and memory.
pub(crate) fn install() {
    install_meter(&ProcessMeter);
}

impl Meter for ProcessMeter {
    fn thread_time(&self) -> Duration {
        let time = clock_gettime(ClockId::ThreadCPUTime);
        let part = |number: i64| u64::try_from(number).unwrap_or_default();
        Duration::from_secs(part(time.tv_sec)) + Duration::from_nanos(part(time.tv_nsec))
    }

    fn memory(&self) -> Option<u64> {
        let text = fs::read_to_string("/proc/self/statm").ok()?;
        let pages: u64 = text.split_whitespace().nth(1)?.parse().ok()?;
        Some(pages * page_size() as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_advances_with_work_and_memory_is_known() {
        let before = ProcessMeter.thread_time();
        let mut sum = 0_u64;
        while ProcessMeter.thread_time() == before {
            sum = std::hint::black_box(sum.wrapping_add(1));
        }
        assert!(ProcessMeter.thread_time() > before);
        if cfg!(target_os = "linux") {
            assert!(ProcessMeter.memory().expect("statm can be read") > 1 << 20);
        }
    }
}
