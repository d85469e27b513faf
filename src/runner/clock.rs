//! CPU time of this process and of its worker threads.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

use crate::host::proc::parse_schedstat_run_ns;

/// CPU time, user and system, that this process has used so far.
pub(crate) fn process_cpu() -> Duration {
    let used = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(u64::try_from(used.tv_sec).unwrap_or(0), u32::try_from(used.tv_nsec).unwrap_or(0))
}

/// CPU time that a thread of this process has used so far; nothing where the kernel does not say.
pub(crate) fn thread_cpu(thread: i32) -> Option<Duration> {
    let text = std::fs::read_to_string(format!("/proc/self/task/{thread}/schedstat")).ok()?;
    parse_schedstat_run_ns(&text).map(Duration::from_nanos)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_clocks_advance_with_work() {
        let thread = rustix::thread::gettid().as_raw_nonzero().get();
        let before = (process_cpu(), thread_cpu(thread).unwrap());
        let mut sum = 0_u64;
        while process_cpu() - before.0 < Duration::from_millis(20) {
            sum = std::hint::black_box(sum + 1);
        }
        assert!(thread_cpu(thread).unwrap() > before.1);
    }
}
