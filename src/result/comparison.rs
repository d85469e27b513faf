//! One entry of `comparisons[]` in `summary.json`: an arm against the baseline.

use serde::{Deserialize, Serialize};

pub use crate::stats::verdict::Verdict;

/// One arm against the baseline, for one workload and metric.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// Name of the baseline arm.
    pub baseline: String,
    /// Name of the arm that is compared.
    pub arm: String,
    /// Name of the workload.
    pub workload: String,
    /// What is compared, for example `tps`.
    pub metric: String,
    /// Rounds that both arms have.
    pub rounds: u32,
    /// Rounds were interleaved and are compared pair by pair.
    pub paired: bool,
    /// Arm over baseline, geometric mean over levels and rounds.
    pub ratio: f64,
    /// Lower end of the confidence interval of `ratio`.
    pub ci_low: Option<f64>,
    /// Upper end of the confidence interval of `ratio`.
    pub ci_high: Option<f64>,
    /// Two-sided p-value of "no difference".
    pub p: Option<f64>,
    /// The same, adjusted over the arms (Holm).
    pub p_holm: Option<f64>,
    /// What the data says.
    pub verdict: Verdict,
    /// The same in words, without the subject.
    pub sentence: String,
    /// The difference that matters, as a fraction, fixed before measuring.
    pub margin: f64,
    /// Smallest difference that would have been found with 80 % probability, as a fraction.
    pub mde: Option<f64>,
    /// Rounds needed to find a difference of `margin` with 80 % probability.
    pub rounds_needed: Option<u32>,
    /// The same for each client count.
    pub levels: Vec<LevelComparison>,
}

impl Comparison {
    /// Whether it carries the verdict on the arm; the others are explored beside it.
    pub fn is_primary(&self) -> bool {
        matches!(self.metric.as_str(), "tps" | "response_p99_ms")
    }
}

/// One arm against the baseline at one client count.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LevelComparison {
    /// Clients.
    pub clients: u32,
    /// Arm over baseline, geometric mean over rounds.
    pub ratio: f64,
    /// Lower end of the confidence interval of `ratio`.
    pub ci_low: Option<f64>,
    /// Upper end of the confidence interval of `ratio`.
    pub ci_high: Option<f64>,
    /// Two-sided p-value of "no difference".
    pub p: Option<f64>,
    /// The same, adjusted over the levels (Holm).
    pub p_holm: Option<f64>,
}
