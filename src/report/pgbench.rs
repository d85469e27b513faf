//! Lines in pgbench's own formats, for programs that read them: progress, the log of transactions
//! and the aggregated log. Pure; the formats are those of pgbench 15 to 18.

use std::fmt::Write;

/// What a progress line says of an interval.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Progress {
    /// Its end, in seconds after the start of the window.
    pub end_s: f64,
    /// Committed transactions per second.
    pub tps: f64,
    /// Their mean latency: with a rate from the intended start on, as pgbench's.
    pub mean_ms: Option<f64>,
    /// Its standard deviation.
    pub stddev_ms: Option<f64>,
    /// Failed transactions.
    pub failed: u64,
    /// With a rate: the mean lag, 0 when nothing committed.
    pub lag_ms: Option<f64>,
    /// With a rate and a latency limit: arrivals given up.
    pub skipped: Option<u64>,
    /// Where transactions may be tried again: those that were, and tries beyond the first.
    pub retried: Option<(u64, u64)>,
}

/// pgbench's progress line.
pub fn progress_line(of: &Progress) -> String {
    let (mean, stddev) = (of.mean_ms.unwrap_or(0.0), of.stddev_ms.unwrap_or(0.0));
    let mut line = format!(
        "progress: {:.1} s, {:.1} tps, lat {mean:.3} ms stddev {stddev:.3}, {} failed",
        of.end_s, of.tps, of.failed
    );
    if let Some(lag) = of.lag_ms {
        line.push_str(&format!(", lag {lag:.3} ms"));
    }
    if let Some(skipped) = of.skipped {
        line.push_str(&format!(", {skipped} skipped"));
    }
    if let Some((retried, retries)) = of.retried {
        line.push_str(&format!(", {retried} retried, {retries} retries"));
    }
    line
}

/// What became of a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// It committed.
    Committed,
    /// It was given up as too late.
    Skipped,
    /// It met a serialization failure in its last try.
    Serialization,
    /// It met a deadlock in its last try.
    Deadlock,
    /// It failed otherwise.
    Other,
}

/// One transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transaction {
    /// Its client, from 0.
    pub client: u32,
    /// Its number among those of its client, from 1.
    pub number: u64,
    /// The index of its script, from 0.
    pub script: usize,
    /// What became of it.
    pub ended: Ended,
    /// Its end, in microseconds since the epoch.
    pub epoch_us: u64,
    /// Its latency: with a rate from the intended start on, as pgbench's.
    pub latency_us: u64,
    /// Intended start to start.
    pub lag_us: u64,
    /// Tries beyond the first.
    pub retries: u64,
}

/// Which optional columns a log of transactions has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LogStyle {
    /// The lag: with a rate.
    pub lag: bool,
    /// The retries: where there may be any.
    pub retries: bool,
    /// What a failure was, in place of the word `failed`.
    pub detailed: bool,
}

/// Adds a transaction's line to `text`.
pub fn log_line(text: &mut String, style: LogStyle, of: &Transaction) {
    let Transaction { client, number, script, .. } = of;
    let word = match of.ended {
        Ended::Committed => None,
        Ended::Skipped => Some("skipped"),
        _ if !style.detailed => Some("failed"),
        Ended::Serialization => Some("serialization"),
        Ended::Deadlock => Some("deadlock"),
        Ended::Other => Some("other"),
    };
    let (seconds, us) = (of.epoch_us / 1_000_000, of.epoch_us % 1_000_000);
    // Writing to a string cannot fail.
    let _ = match word {
        None => write!(text, "{client} {number} {} {script} {seconds} {us}", of.latency_us),
        Some(word) => write!(text, "{client} {number} {word} {script} {seconds} {us}"),
    };
    if style.lag {
        let _ = write!(text, " {}", of.lag_us);
    }
    if style.retries {
        let _ = write!(text, " {}", of.retries);
    }
    text.push('\n');
}

/// Sum, sum of squares, smallest and largest, in microseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Spread {
    sum: f64,
    sum_of_squares: f64,
    min: f64,
    max: f64,
}

impl Spread {
    fn add(&mut self, us: u64, is_first: bool) {
        let us = us as f64;
        self.sum += us;
        self.sum_of_squares += us * us;
        self.min = if is_first { us } else { self.min.min(us) };
        self.max = if is_first { us } else { self.max.max(us) };
    }

    fn columns(&self) -> String {
        let Self { sum, sum_of_squares, min, max } = self;
        format!("{sum:.0} {sum_of_squares:.0} {min:.0} {max:.0}")
    }
}

/// The aggregated log: one line for each stretch of time, empty ones too.
#[derive(Debug, Clone)]
pub struct Aggregate {
    length_s: u64,
    style: LogStyle,
    /// Start of the stretch, in seconds since the epoch.
    start_s: u64,
    count: u64,
    latency: Spread,
    lag: Spread,
    skipped: u64,
    retried: u64,
    retries: u64,
    serialization_failures: u64,
    deadlock_failures: u64,
}

impl Aggregate {
    /// Stretches of `length_s` seconds, the first one from the second in which the window began.
    pub fn new(length_s: u64, style: LogStyle, start_s: u64) -> Self {
        Self {
            length_s,
            style,
            start_s,
            count: 0,
            latency: Spread::default(),
            lag: Spread::default(),
            skipped: 0,
            retried: 0,
            retries: 0,
            serialization_failures: 0,
            deadlock_failures: 0,
        }
    }

    /// Counts a transaction; the lines of the stretches that ended before it go to `text`.
    pub fn add(&mut self, text: &mut String, of: &Transaction) {
        self.advance(text, of.epoch_us / 1_000_000);
        if of.ended == Ended::Skipped {
            self.skipped += 1;
            return;
        }
        self.retried += u64::from(of.retries > 0);
        self.retries += of.retries;
        match of.ended {
            Ended::Committed => {
                self.latency.add(of.latency_us, self.count == 0);
                if self.style.lag {
                    self.lag.add(of.lag_us, self.count == 0);
                }
                self.count += 1;
            }
            Ended::Serialization => self.serialization_failures += 1,
            Ended::Deadlock => self.deadlock_failures += 1,
            Ended::Skipped | Ended::Other => {}
        }
    }

    /// The lines of the stretches that ended by `second`.
    pub fn advance(&mut self, text: &mut String, second: u64) {
        while self.start_s + self.length_s <= second {
            let next = Self::new(self.length_s, self.style, self.start_s + self.length_s);
            text.push_str(&std::mem::replace(self, next).line());
        }
    }

    /// The line of the stretch that has not ended yet, the last one.
    pub fn line(&self) -> String {
        format!(
            "{} {} {} {} {} {} {} {} {}\n",
            self.start_s,
            self.count,
            self.latency.columns(),
            self.lag.columns(),
            self.skipped,
            self.retried,
            self.retries,
            self.serialization_failures,
            self.deadlock_failures,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_progress_line_has_what_the_options_ask_for() {
        let plain = Progress {
            end_s: 2.0,
            tps: 1250.04,
            mean_ms: Some(0.7999),
            stddev_ms: Some(0.12),
            ..Progress::default()
        };
        assert_eq!(
            progress_line(&plain),
            "progress: 2.0 s, 1250.0 tps, lat 0.800 ms stddev 0.120, 0 failed"
        );
        let all = Progress {
            failed: 2,
            lag_ms: Some(0.5),
            skipped: Some(3),
            retried: Some((4, 5)),
            ..plain
        };
        assert!(
            progress_line(&all)
                .ends_with(", 2 failed, lag 0.500 ms, 3 skipped, 4 retried, 5 retries")
        );
        let stalled = Progress { end_s: 3.0, ..Progress::default() };
        assert_eq!(
            progress_line(&stalled),
            "progress: 3.0 s, 0.0 tps, lat 0.000 ms stddev 0.000, 0 failed"
        );
    }

    const COMMITTED: Transaction = Transaction {
        client: 3,
        number: 7,
        script: 1,
        ended: Ended::Committed,
        epoch_us: 1_700_000_000_000_042,
        latency_us: 1500,
        lag_us: 20,
        retries: 2,
    };

    #[test]
    fn a_line_of_the_log_has_six_to_eight_columns() {
        let line = |style, of: &Transaction| {
            let mut text = String::new();
            log_line(&mut text, style, of);
            text
        };
        let plain = LogStyle::default();
        assert_eq!(line(plain, &COMMITTED), "3 7 1500 1 1700000000 42\n");
        let all = LogStyle { lag: true, retries: true, detailed: true };
        assert_eq!(line(all, &COMMITTED), "3 7 1500 1 1700000000 42 20 2\n");
        let with = |ended| Transaction { ended, ..COMMITTED };
        assert_eq!(line(plain, &with(Ended::Skipped)), "3 7 skipped 1 1700000000 42\n");
        assert_eq!(line(plain, &with(Ended::Deadlock)), "3 7 failed 1 1700000000 42\n");
        assert_eq!(line(all, &with(Ended::Deadlock)), "3 7 deadlock 1 1700000000 42 20 2\n");
    }

    #[test]
    fn the_aggregated_log_has_a_line_for_every_stretch_the_last_included() {
        let style = LogStyle { lag: true, ..LogStyle::default() };
        let mut aggregate = Aggregate::new(2, style, 100);
        let mut text = String::new();
        let mut add = |second: u64, ended, latency_us, retries| {
            let epoch_us = second * 1_000_000;
            let of = Transaction { ended, epoch_us, latency_us, retries, lag_us: 5, ..COMMITTED };
            aggregate.add(&mut text, &of);
        };
        add(100, Ended::Committed, 30, 0);
        add(101, Ended::Committed, 10, 1);
        add(101, Ended::Skipped, 10, 0);
        add(101, Ended::Serialization, 10, 2);
        add(105, Ended::Committed, 7, 0);
        assert_eq!(
            text,
            "100 2 40 1000 10 30 10 50 5 5 1 2 3 1 0\n102 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n"
        );
        assert_eq!(aggregate.line(), "104 1 7 49 7 7 5 25 5 5 0 0 0 0 0\n");
    }
}
