//! Student's t tests and what belongs to them: intervals, equivalence, several tests at once.
//!
//! Works on logarithms of ratios when the callers give it those (they do: a log ratio is
//! symmetric, and a ratio is what people ask for), but knows nothing of it.

use serde::{Deserialize, Serialize};

use super::student::{t_quantile, two_sided_p, upper_tail};
use super::summary::{mean, variance};

/// An estimated difference with its standard error, of which a t test and an interval follow.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TTest {
    /// The estimated difference.
    pub estimate: f64,
    /// Its standard error; 0 when all observations agree.
    pub se: f64,
    /// Degrees of freedom.
    pub df: f64,
}

impl TTest {
    /// The test of paired observations from their differences (Student, 1908). `None` for fewer
    /// than two, or when one is not finite.
    pub fn paired(differences: &[f64]) -> Option<Self> {
        let se = (variance(differences)? / differences.len() as f64).sqrt();
        let df = (differences.len() - 1) as f64;
        Self { estimate: mean(differences)?, se, df }.if_finite()
    }

    /// The test of `other - baseline` for two unpaired samples of unequal variance (Welch, 1947).
    /// `None` for fewer than two of either, or when one is not finite.
    pub fn welch(baseline: &[f64], other: &[f64]) -> Option<Self> {
        let (n_a, n_b) = (baseline.len() as f64, other.len() as f64);
        let (v_a, v_b) = (variance(baseline)? / n_a, variance(other)? / n_b);
        let v = v_a + v_b;
        let df = v.powi(2) / (v_a.powi(2) / (n_a - 1.0) + v_b.powi(2) / (n_b - 1.0));
        // No variance in either: 0 / 0.
        let df = if df.is_nan() { n_a + n_b - 2.0 } else { df };
        Self { estimate: mean(other)? - mean(baseline)?, se: v.sqrt(), df }.if_finite()
    }

    fn if_finite(self) -> Option<Self> {
        (self.estimate.is_finite() && self.se.is_finite()).then_some(self)
    }

    fn t_against(&self, value: f64) -> f64 {
        let difference = self.estimate - value;
        if difference == 0.0 { 0.0 } else { difference / self.se }
    }

    /// The two-sided p of no difference.
    pub fn p(&self) -> f64 {
        two_sided_p(self.t_against(0.0), self.df)
    }

    /// The interval that covers the true difference with probability `confidence` (such as 0.95).
    pub fn interval(&self, confidence: f64) -> (f64, f64) {
        let half = t_quantile(0.5 + confidence / 2.0, self.df) * self.se;
        (self.estimate - half, self.estimate + half)
    }

    /// The p of "the difference is at least `margin` in either direction", by two one-sided tests
    /// (Schuirmann, 1987): small when the difference is shown to lie within the margin.
    pub fn equivalence_p(&self, margin: f64) -> f64 {
        let above_low = upper_tail(self.t_against(-margin), self.df);
        let below_high = upper_tail(-self.t_against(margin), self.df);
        above_low.max(below_high)
    }

    /// The smallest true difference that a two-sided test at level `alpha` would have found with
    /// the probability `power`, planned from the standard error at hand (Bloom, 1995).
    pub fn detectable(&self, alpha: f64, power: f64) -> f64 {
        (t_quantile(1.0 - alpha / 2.0, self.df) + t_quantile(power, self.df)) * self.se
    }
}

/// Adjusts the p values of several tests, so that one false alarm among all of them is as rare as
/// in a single test (Holm, 1979). The order is kept.
pub fn holm(p_values: &[f64]) -> Vec<f64> {
    let mut rising: Vec<usize> = (0..p_values.len()).collect();
    rising.sort_by(|&a, &b| p_values[a].total_cmp(&p_values[b]));
    let mut adjusted = vec![0.0; p_values.len()];
    let mut least = 0.0_f64;
    for (rank, &i) in rising.iter().enumerate() {
        least = least.max((p_values.len() - rank) as f64 * p_values[i]).min(1.0);
        adjusted[i] = least;
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-4
    }

    #[test]
    fn the_sleep_data_of_student_1908() {
        // Extra hours of sleep with two drugs, ten patients: t = 4.0621, p = 0.002833; unpaired
        // (Welch) t = 1.8608, df = 17.776, p = 0.07939.
        let one = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0];
        let two = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4];
        let differences: Vec<f64> = two.iter().zip(one).map(|(b, a)| b - a).collect();
        let paired = TTest::paired(&differences).unwrap();
        assert!(near(paired.estimate / paired.se, 4.0621) && near(paired.p(), 0.002_833));
        let (low, high) = paired.interval(0.95);
        assert!(near(low, 0.700_11) && near(high, 2.459_89));
        let welch = TTest::welch(&one, &two).unwrap();
        assert!(near(welch.estimate / welch.se, 1.8608) && (welch.df - 17.776).abs() < 1e-3);
        assert!(near(welch.p(), 0.079_39));
    }

    #[test]
    fn too_few_or_unusable_observations_give_no_test() {
        assert_eq!(TTest::paired(&[]), None);
        assert_eq!(TTest::paired(&[1.0]), None);
        assert_eq!(TTest::paired(&[1.0, f64::NAN]), None);
        assert_eq!(TTest::paired(&[1.0, f64::NEG_INFINITY]), None);
        assert_eq!(TTest::welch(&[1.0], &[1.0, 2.0]), None);
    }

    #[test]
    fn identical_observations_are_certain() {
        let apart = TTest::paired(&[0.1; 5]).unwrap();
        assert!(apart.p() < 1e-9, "{}", apart.p());
        let same = TTest::paired(&[0.0; 5]).unwrap();
        assert_eq!((same.p(), same.interval(0.95)), (1.0, (0.0, 0.0)));
        assert_eq!(same.equivalence_p(0.03), 0.0);
        let welch = TTest::welch(&[1.0; 3], &[2.0; 4]).unwrap();
        assert_eq!((welch.p(), welch.df), (0.0, 5.0));
    }

    #[test]
    fn equivalence_is_the_ninety_percent_interval_inside_the_margin() {
        let test = TTest { estimate: 0.01, se: 0.008, df: 7.0 };
        let (_, high) = test.interval(0.90);
        assert!(test.equivalence_p(high + 1e-6) < 0.05);
        assert!(test.equivalence_p(high - 1e-6) > 0.05);
        assert!(test.equivalence_p(0.001) > 0.5, "the estimate itself lies outside");
    }

    #[test]
    fn holm_steps_down_and_never_falls() {
        let adjusted = holm(&[0.01, 0.04, 0.03, 0.005]);
        for (a, b) in adjusted.iter().zip([0.03, 0.06, 0.06, 0.02]) {
            assert!((a - b).abs() < 1e-12, "{adjusted:?}");
        }
        assert_eq!(holm(&[]), Vec::<f64>::new());
        assert_eq!(holm(&[0.4, 0.9]), vec![0.8, 0.9]);
        assert_eq!(holm(&[0.7, 0.9]), vec![1.0, 1.0]);
    }
}
