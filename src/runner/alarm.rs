//! Waiting for an instant more precisely than the runtime's timers, which tick in milliseconds.

use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::io::read;
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
    timerfd_settime,
};
use tokio::io::unix::AsyncFd;
use tokio::time::Instant;

/// A client's alarm clock.
#[derive(Debug)]
pub(super) enum Alarm {
    /// A kernel timer in the runtime's event loop.
    Kernel(AsyncFd<OwnedFd>),
    /// The runtime's own timer: for virtual time, and where the kernel gives none.
    Runtime,
}

impl Alarm {
    /// A kernel timer if it is to be `precise`.
    pub(super) fn new(precise: bool) -> Self {
        let timer = precise
            .then(|| {
                let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
                timerfd_create(TimerfdClockId::Monotonic, flags).ok()
            })
            .flatten();
        #[expect(
            deprecated,
            reason = "what replaced it is unsafe; an OwnedFd stays open and is ours"
        )]
        let registered = timer.and_then(|timer| AsyncFd::new(timer).ok());
        registered.map_or(Self::Runtime, Self::Kernel)
    }

    /// Waits for as long as `pause`.
    pub(super) async fn sleep(&mut self, pause: Duration) {
        let end = Instant::now() + pause;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            self.wait(end, left).await;
        }
    }

    /// Waits until `instant`, or at most for `at_most`.
    pub(super) async fn wait(&mut self, instant: Instant, at_most: Duration) {
        let left = instant.saturating_duration_since(Instant::now()).min(at_most);
        if left.is_zero() {
            return;
        }
        match self {
            Self::Kernel(timer) if set(timer, left).is_ok() => {
                let Ok(mut ready) = timer.readable().await else { return };
                let mut expirations = [0; 8];
                // Read or not: the caller looks at the clock itself.
                let _ = read(timer.get_ref(), &mut expirations);
                ready.clear_ready();
            }
            _ => tokio::time::sleep(left).await,
        }
    }
}

fn set(timer: &AsyncFd<OwnedFd>, left: Duration) -> rustix::io::Result<()> {
    let once = Timespec { tv_sec: 0, tv_nsec: 0 };
    let first = Timespec {
        tv_sec: i64::try_from(left.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: left.subsec_nanos().into(),
    };
    let spec = Itimerspec { it_interval: once, it_value: first };
    timerfd_settime(timer, TimerfdTimerFlags::empty(), &spec).map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_kernels_timer_is_never_early() {
        let mut alarm = Alarm::new(true);
        assert!(matches!(alarm, Alarm::Kernel(_)));
        for micros in [50, 250, 1500] {
            let instant = Instant::now() + Duration::from_micros(micros);
            alarm.wait(instant, Duration::from_secs(1)).await;
            assert!(Instant::now() >= instant);
            alarm.sleep(Duration::from_micros(micros)).await;
            assert!(Instant::now() >= instant + Duration::from_micros(micros));
        }
    }
}
