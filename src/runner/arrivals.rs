//! The open loop: when transactions are to start, whatever the server does.
//!
//! One schedule for all clients of a level, from a seed: a free client takes the next arrival, at
//! its time or at once when that is past. It is never shifted, so that lateness is measured and
//! not hidden (response time counts from the intended start; Tene, "How NOT to measure latency").
//!
//! The identity, each term counted on its own:
//! `scheduled + queued_at_start = started + skipped + queued_at_end`.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::plan::Arrival;
use crate::rng::ScriptRng;

/// Arrivals per second, and where their randomness comes from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Rate {
    pub(crate) per_s: f64,
    pub(crate) arrival: Arrival,
    pub(crate) seed: u64,
}

/// The arrivals of a rate, as offsets from the begin of the level.
#[derive(Debug, Clone)]
pub(crate) struct Schedule {
    rate: Rate,
    random: ScriptRng,
    /// Sum of the gaps so far.
    offset_ns: f64,
    number: u64,
}

const NS_PER_S: f64 = 1e9;

impl Schedule {
    /// The schedule from its begin.
    pub(crate) fn new(rate: Rate) -> Self {
        Self { rate, random: ScriptRng::new(rate.seed), offset_ns: 0.0, number: 0 }
    }

    /// The next arrival.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "offsets are positive and far below 2^53 ns, a hundred days"
    )]
    pub(crate) fn next(&mut self) -> Duration {
        let gap_ns = NS_PER_S / self.rate.per_s;
        let offset_ns = match self.rate.arrival {
            // Each from its number: a sum of rounded gaps would drift.
            Arrival::Constant => self.number as f64 * gap_ns,
            Arrival::Poisson => {
                self.offset_ns -= (1.0 - self.random.double()).ln() * gap_ns;
                self.offset_ns
            }
        };
        self.number += 1;
        Duration::from_nanos(offset_ns as u64)
    }
}

/// The arrivals of a level that runs: taken by whichever client is free.
#[derive(Debug)]
pub(crate) struct Arrivals {
    begin: Instant,
    schedule: Mutex<Schedule>,
}

impl Arrivals {
    /// The schedule of `rate` begins now, with the warm-up.
    pub(crate) fn new(rate: Rate, begin: Instant) -> Self {
        Self { begin, schedule: Mutex::new(Schedule::new(rate)) }
    }

    /// The intended start of the next transaction; past when no client was free in time.
    pub(crate) fn take(&self) -> Instant {
        let mut schedule = self.schedule.lock().unwrap_or_else(PoisonError::into_inner);
        self.begin + schedule.next()
    }

    /// Arrivals taken so far.
    pub(crate) fn taken(&self) -> u64 {
        self.schedule.lock().unwrap_or_else(PoisonError::into_inner).number
    }
}

/// Counts a schedule over again, beside the clients: what was due by when.
#[derive(Debug)]
pub(crate) struct Due {
    begin: Instant,
    schedule: Schedule,
    next: Instant,
    count: u64,
}

impl Due {
    /// The schedule of `rate` that began at `begin`.
    pub(crate) fn new(rate: Rate, begin: Instant) -> Self {
        let mut schedule = Schedule::new(rate);
        let next = begin + schedule.next();
        Self { begin, schedule, next, count: 0 }
    }

    /// Arrivals before `instant`, from the begin; calls must not go back in time.
    pub(crate) fn before(&mut self, instant: Instant) -> u64 {
        while self.next < instant {
            self.count += 1;
            self.next = self.begin + self.schedule.next();
        }
        self.count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate(arrival: Arrival) -> Rate {
        Rate { per_s: 300.0, arrival, seed: 5 }
    }

    #[test]
    fn constant_arrivals_do_not_drift() {
        let mut schedule = Schedule::new(rate(Arrival::Constant));
        let last = (0..=3_000_000).map(|_| schedule.next()).last().unwrap();
        assert_eq!(last, Duration::from_secs(10_000));
    }

    #[test]
    fn poisson_arrivals_have_the_rate_and_its_spread() {
        let mut schedule = Schedule::new(rate(Arrival::Poisson));
        let mut counts = vec![0_f64; 1000];
        loop {
            let second = schedule.next().as_secs();
            let Some(count) = counts.get_mut(usize::try_from(second).unwrap()) else { break };
            *count += 1.0;
        }
        let mean = crate::stats::summary::mean(&counts).unwrap();
        let variance = crate::stats::summary::variance(&counts).unwrap();
        // Mean and variance of a Poisson count are equal; bounds of five standard errors.
        assert!((mean - 300.0).abs() < 5.0 * (300.0_f64 / 1000.0).sqrt(), "{mean}");
        assert!((variance - 300.0).abs() < 5.0 * 300.0 * (2.0_f64 / 1000.0).sqrt(), "{variance}");
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_due_is_what_is_taken() {
        let begin = Instant::now();
        let arrivals = Arrivals::new(rate(Arrival::Poisson), begin);
        let mut due = Due::new(rate(Arrival::Poisson), begin);
        for _ in 0..1000 {
            let intended = arrivals.take();
            assert_eq!(due.before(intended) + 1, arrivals.taken());
        }
    }
}
