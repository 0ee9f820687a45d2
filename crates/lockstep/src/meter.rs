//! The resources of this process, for the budgets of parsers.

use std::time::Duration;

use lockstep_fs::process;
use lockstep_refs::budget::{Meter, install_meter};

struct ProcessMeter;

/// Installs the meter by which parsers measure their time and memory.
pub(crate) fn install() {
    install_meter(&ProcessMeter);
}

impl Meter for ProcessMeter {
    fn thread_time(&self) -> Duration {
        process::thread_time()
    }

    fn memory(&self) -> Option<u64> {
        process::resident_bytes()
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
