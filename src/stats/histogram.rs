//! Latency histograms: fixed bounds, fixed memory, values in nanoseconds.
//!
//! A thin wrapper over `hdrhistogram` that fixes bounds and digits, counts what lies above the
//! bound, keeps an exact mean, and gives the figures that results hold. Counters are `u64`
//! everywhere: a buffer of one interval is then the same type as the total of a run, so that
//! merging is an addition of equal arrays (half the memory with `u32` would cost that).

use serde::{Deserialize, Serialize};

/// Lowest value told apart from zero. Two readings of the clock cost about this much.
const LOW_NS: u64 = 100;
/// Highest value recorded as it is: an hour. Above it a value counts as an hour and as saturated.
pub const HIGH_NS: u64 = 3_600_000_000_000;

const NS_PER_MS: f64 = 1e6;

/// A histogram of latencies in nanoseconds. Recording, merging and clearing do not allocate.
#[derive(Debug, Clone)]
pub struct Histogram {
    inner: hdrhistogram::Histogram<u64>,
    /// Exact, so that the mean has no rounding to buckets.
    sum_ns: u128,
    saturated: u64,
}

impl Histogram {
    /// For whole transactions: 100 ns to an hour, three digits, 221 KB.
    pub fn transactions() -> Self {
        Self::with_digits(3)
    }

    /// For single statements: 100 ns to an hour, two digits, about 30 KB.
    pub fn statements() -> Self {
        Self::with_digits(2)
    }

    fn with_digits(digits: u8) -> Self {
        let inner = hdrhistogram::Histogram::new_with_bounds(LOW_NS, HIGH_NS, digits)
            .expect("the bounds are constants that the crate accepts");
        Self { inner, sum_ns: 0, saturated: 0 }
    }

    /// Counts one latency of `ns`. Above an hour it counts as an hour, and as saturated.
    #[inline]
    pub fn record(&mut self, ns: u64) {
        let kept_ns = ns.min(HIGH_NS);
        self.saturated += u64::from(ns > HIGH_NS);
        self.sum_ns += u128::from(kept_ns);
        self.inner.saturating_record(kept_ns);
    }

    /// Adds everything that `other` counted.
    pub fn merge(&mut self, other: &Self) {
        self.inner
            .add(&other.inner)
            .expect("all histograms have the same upper bound, so none holds a value above it");
        self.sum_ns += other.sum_ns;
        self.saturated += other.saturated;
    }

    /// Forgets everything, keeps the memory.
    pub fn clear(&mut self) {
        // `reset`, not the crate's `clear`, which would keep the old minimum and maximum.
        if !self.is_empty() {
            self.inner.reset();
        }
        self.sum_ns = 0;
        self.saturated = 0;
    }

    /// How many values were recorded.
    pub fn count(&self) -> u64 {
        self.inner.len()
    }

    /// Whether nothing was recorded.
    pub fn is_empty(&self) -> bool {
        self.inner.is_empty()
    }

    /// How many values were above the upper bound and counted as an hour.
    pub fn saturated(&self) -> u64 {
        self.saturated
    }

    /// How many values are at most each of `ends_ns`, which ascend. A value counts by the upper end
    /// of its bucket, so one that is an end itself may count as above it.
    pub fn counts_up_to(&self, ends_ns: &[u64]) -> Vec<u64> {
        let mut counts = vec![0; ends_ns.len()];
        for step in self.inner.iter_recorded() {
            let first = ends_ns.partition_point(|end| *end < step.value_iterated_to());
            if let Some(count) = counts.get_mut(first) {
                *count += step.count_at_value();
            }
        }
        let mut sum = 0;
        counts.iter_mut().for_each(|count| {
            sum += *count;
            *count = sum;
        });
        counts
    }

    /// The exact mean in nanoseconds; `None` when empty.
    pub fn mean_ns(&self) -> Option<f64> {
        (!self.is_empty()).then(|| self.sum_ns as f64 / self.count() as f64)
    }

    /// The upper end of the bucket of the largest value; `None` when empty.
    pub fn max_ns(&self) -> Option<u64> {
        (!self.is_empty()).then(|| self.inner.max())
    }

    /// The smallest recorded value (upper end of its bucket) that at least the share `quantile`
    /// (0 to 1) of all values does not exceed; `None` when empty. Never above [`Self::max_ns`].
    pub fn quantile_ns(&self, quantile: f64) -> Option<u64> {
        (!self.is_empty()).then(|| self.inner.value_at_quantile(quantile).min(self.inner.max()))
    }

    /// The figures of this histogram in milliseconds.
    pub fn summary(&self) -> LatencySummary {
        if self.is_empty() {
            return LatencySummary::default();
        }
        let ms = |ns: u64| Some(ns as f64 / NS_PER_MS);
        let max_ns = self.inner.max();
        let mut quantiles = self
            .inner
            .value_at_quantiles([0.5, 0.9, 0.95, 0.99, 0.999, 0.9999])
            .map(|ns| ms(ns.min(max_ns)));
        let mut next = || quantiles.next().flatten();
        LatencySummary {
            count: self.count(),
            p50: next(),
            p90: next(),
            p95: next(),
            p99: next(),
            p99_9: next(),
            p99_99: next(),
            mean: self.mean_ns().map(|ns| ns / NS_PER_MS),
            stddev: Some(self.inner.stdev() / NS_PER_MS),
            min: ms(self.inner.min()),
            max: ms(max_ns),
        }
    }

    /// The crate's histogram, for writing it to a file.
    pub fn as_hdr(&self) -> &hdrhistogram::Histogram<u64> {
        &self.inner
    }
}

/// The figures of a latency histogram, in milliseconds. Without a transaction there is no latency:
/// `count` is 0 and every figure is `None` (null in JSON, an empty cell in CSV).
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct LatencySummary {
    /// Values recorded.
    pub count: u64,
    /// Exact mean.
    pub mean: Option<f64>,
    /// Standard deviation of the whole population (as pgbench's), from bucket midpoints.
    pub stddev: Option<f64>,
    /// Lower end of the lowest bucket in use.
    pub min: Option<f64>,
    /// Median.
    pub p50: Option<f64>,
    /// 90 % are at most this.
    pub p90: Option<f64>,
    /// 95 % are at most this.
    pub p95: Option<f64>,
    /// 99 % are at most this.
    pub p99: Option<f64>,
    /// 99.9 % are at most this.
    pub p99_9: Option<f64>,
    /// 99.99 % are at most this.
    pub p99_99: Option<f64>,
    /// Upper end of the highest bucket in use.
    pub max: Option<f64>,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(values_ns: &[u64]) -> Histogram {
        let mut histogram = Histogram::transactions();
        values_ns.iter().for_each(|&ns| histogram.record(ns));
        histogram
    }

    #[test]
    fn an_empty_histogram_has_no_figures() {
        let empty = Histogram::transactions();
        assert_eq!(empty.summary(), LatencySummary::default());
        assert_eq!((empty.count(), empty.mean_ns(), empty.max_ns()), (0, None, None));
        assert_eq!(empty.quantile_ns(0.5), None);
        let json = serde_json::to_string(&empty.summary()).unwrap();
        assert!(json.starts_with(r#"{"count":0,"mean":null,"#), "{json}");
    }

    #[test]
    fn a_thousand_even_values_have_the_figures_of_arithmetic() {
        let values: Vec<u64> = (1..=1000).map(|i| i * 1_000_000).collect();
        let s = of(&values).summary();
        assert_eq!(s.count, 1000);
        assert_eq!(s.mean, Some(500.5), "the mean is exact");
        for (figure, exact) in [
            (s.stddev, 288.675),
            (s.min, 1.0),
            (s.p50, 500.0),
            (s.p90, 900.0),
            (s.p95, 950.0),
            (s.p99, 990.0),
            (s.p99_9, 999.0),
            (s.p99_99, 1000.0),
            (s.max, 1000.0),
        ] {
            let figure = figure.unwrap();
            assert!((figure / exact - 1.0).abs() < 0.001, "{figure} is not {exact}");
        }
    }

    #[test]
    fn values_above_an_hour_are_kept_as_an_hour_and_counted() {
        let histogram = of(&[HIGH_NS, HIGH_NS + 1, u64::MAX]);
        assert_eq!((histogram.count(), histogram.saturated()), (3, 2));
        assert_eq!(histogram.mean_ns(), Some(3.6e12));
        let max_ns = histogram.max_ns().unwrap() as f64;
        assert!((max_ns / 3.6e12 - 1.0).abs() < 0.001, "{max_ns}");
    }

    #[test]
    fn zero_is_a_latency() {
        let s = of(&[0]).summary();
        assert_eq!((s.count, s.mean, s.min), (1, Some(0.0), Some(0.0)));
        assert!(s.p50.unwrap() < 0.0001 && s.p50 <= s.max);
    }

    #[test]
    fn clearing_forgets_the_extremes_too() {
        let mut histogram = of(&[1_000, 5_000_000_000, u64::MAX]);
        histogram.clear();
        assert_eq!(histogram.summary(), LatencySummary::default());
        histogram.record(2_000_000);
        let s = histogram.summary();
        assert!((s.max.unwrap() - 2.0).abs() < 0.002 && (s.min.unwrap() - 2.0).abs() < 0.002);
        assert_eq!(histogram.saturated(), 0);
    }

    #[test]
    fn the_memory_is_what_the_documents_say() {
        let slots = |h: &Histogram| h.as_hdr().distinct_values() * size_of::<u64>();
        assert_eq!(slots(&Histogram::transactions()), 221_184);
        assert!(slots(&Histogram::statements()) < 32_000);
    }

    fn latencies() -> impl Strategy<Value = Vec<u64>> {
        prop::collection::vec(
            prop_oneof![0..10_000_u64, 0..10_000_000_000_u64, any::<u64>()],
            0..60,
        )
    }

    proptest! {
        #[test]
        fn quantiles_rise_and_never_exceed_the_maximum(values in latencies()) {
            let s = of(&values).summary();
            let rising = [s.min, s.p50, s.p90, s.p95, s.p99, s.p99_9, s.p99_99, s.max];
            prop_assert!(rising.is_sorted(), "{rising:?}");
            prop_assert!(s.mean >= s.min && s.mean <= s.max);
        }

        #[test]
        fn merging_equals_recording_everything_in_one(a in latencies(), b in latencies()) {
            let mut merged = of(&a);
            merged.merge(&of(&b));
            let all = of(&[a, b].concat());
            prop_assert_eq!(merged.summary(), all.summary());
            prop_assert_eq!(merged.saturated(), all.saturated());
        }

        #[test]
        fn merging_is_associative(a in latencies(), b in latencies(), c in latencies()) {
            let (a, b, c) = (of(&a), of(&b), of(&c));
            let mut left = a.clone();
            left.merge(&b);
            left.merge(&c);
            let mut right = b.clone();
            right.merge(&c);
            let mut all = a.clone();
            all.merge(&right);
            prop_assert_eq!(left.summary(), all.summary());
        }
    }
}
