//! A condition that ends a pipeline: `slower>5%`.
//!
//! It holds when the whole confidence interval lies beyond the threshold, so chance alone trips it
//! in at most one comparison of forty; a point estimate beyond it does not. What was neither shown
//! nor excluded is said to be so, since a gate that is open for lack of data proves nothing.

use std::fmt;
use std::str::FromStr;

use crate::result::comparison::Comparison;
use crate::units::parse_percent_below;

/// What must not be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum What {
    Faster,
    Slower,
    Different,
}

/// A condition on the comparisons.
#[derive(Debug, Clone, PartialEq)]
pub struct Gate {
    what: What,
    /// As a fraction.
    threshold: f64,
    text: String,
}

/// Thresholds are below this, as a fraction: nobody asks for more than a hundred times.
const MOST: f64 = 100.0;

/// What a comparison says about a condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found {
    /// The whole interval lies beyond the threshold.
    Holds,
    /// The whole interval lies on this side of it.
    Excluded,
    /// The interval holds the threshold.
    Open,
    /// There is no interval.
    Undecidable,
}

impl FromStr for Gate {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let refused = || {
            format!(
                "\"{text}\" is no condition: write faster, slower or different, and how much, \
                 such as 'slower>5%'"
            )
        };
        let plain: String = text.chars().filter(|c| !c.is_whitespace()).collect();
        let (what, threshold) = match plain.split_once('>') {
            Some((what, threshold)) => {
                (what, parse_percent_below(threshold, MOST).map_err(|_| refused())?)
            }
            None => (plain.as_str(), 0.0),
        };
        let what = match what {
            "faster" => What::Faster,
            "slower" => What::Slower,
            "different" => What::Different,
            _ => return Err(refused()),
        };
        if threshold >= 1.0 && what != What::Faster {
            return Err(format!("\"{text}\": nothing is slower by 100 % or more"));
        }
        Ok(Self { what, threshold, text: text.to_owned() })
    }
}

impl Gate {
    /// What a comparison says about it.
    pub fn judge(&self, comparison: &Comparison) -> Found {
        let (Some(low), Some(high)) = (comparison.ci_low, comparison.ci_high) else {
            return Found::Undecidable;
        };
        let (up, down) = (1.0 + self.threshold, 1.0 - self.threshold);
        // Of a latency more is slower.
        let above = match (self.what, comparison.metric == "tps") {
            (What::Different, _) => None,
            (what, is_tps) => Some((what == What::Faster) == is_tps),
        };
        let (holds, excluded) = match above {
            Some(true) => (low > up, high <= up),
            Some(false) => (high < down, low >= down),
            None => (low > up || high < down, low >= down && high <= up),
        };
        match (holds, excluded) {
            (true, _) => Found::Holds,
            (false, true) => Found::Excluded,
            (false, false) => Found::Open,
        }
    }

    /// The same as a sentence.
    pub fn sentence(&self, comparison: &Comparison) -> String {
        let Comparison { arm, baseline, workload, ratio, paired, .. } = comparison;
        let on = if workload.is_empty() { String::new() } else { format!(", {workload}") };
        let found = self.judge(comparison);
        let said = match found {
            Found::Holds => "holds",
            Found::Excluded => "does not hold",
            Found::Open => {
                "was not shown, and is not excluded either: more rounds make the interval narrower"
            }
            Found::Undecidable => "cannot be decided: a single round has no confidence interval",
        };
        let mut text = format!("{self} {said} ({arm} / {baseline}{on}: ratio {ratio:.4}");
        if let (Some(low), Some(high)) = (comparison.ci_low, comparison.ci_high) {
            text.push_str(&format!(", 95 % interval {low:.4}-{high:.4}"));
        }
        if !paired && found != Found::Undecidable {
            text.push_str("; not interleaved, so it may be the time of day");
        }
        text + ")"
    }
}

impl fmt::Display for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::verdict::Verdict;

    fn comparison(metric: &str, ratio: f64, ci: Option<(f64, f64)>) -> Comparison {
        Comparison {
            baseline: "a".into(),
            arm: "b".into(),
            workload: String::new(),
            metric: metric.into(),
            rounds: 5,
            paired: true,
            ratio,
            ci_low: ci.map(|(low, _)| low),
            ci_high: ci.map(|(_, high)| high),
            p: None,
            p_holm: None,
            verdict: Verdict::None,
            sentence: String::new(),
            margin: 0.03,
            mde: None,
            rounds_needed: None,
            levels: Vec::new(),
        }
    }

    fn judged(gate: &str, metric: &str, ratio: f64, low: f64, high: f64) -> Found {
        let gate: Gate = gate.parse().unwrap();
        gate.judge(&comparison(metric, ratio, Some((low, high))))
    }

    #[test]
    fn the_whole_interval_must_lie_beyond_the_threshold() {
        // The point estimate is beyond it, the interval is not.
        assert_eq!(judged("slower>5%", "tps", 0.93, 0.90, 0.96), Found::Open);
        assert_eq!(judged("slower>5%", "tps", 0.93, 0.92, 0.94), Found::Holds);
        assert_eq!(judged("slower>5%", "tps", 0.97, 0.96, 0.98), Found::Excluded);
        assert_eq!(judged("slower>5%", "tps", 1.2, 1.1, 1.3), Found::Excluded);
        assert_eq!(judged("slower", "tps", 0.97, 0.96, 0.98), Found::Holds);
        assert_eq!(judged("faster > 5%", "tps", 1.2, 1.1, 1.3), Found::Holds);
        assert_eq!(judged("faster>5%", "tps", 1.05, 1.0, 1.1), Found::Open);
        assert_eq!(judged("different>5%", "tps", 0.9, 0.88, 0.92), Found::Holds);
        assert_eq!(judged("different>5%", "tps", 1.1, 1.08, 1.12), Found::Holds);
        assert_eq!(judged("different>5%", "tps", 1.0, 0.97, 1.03), Found::Excluded);
        assert_eq!(judged("different>5%", "tps", 1.03, 0.99, 1.07), Found::Open);
    }

    #[test]
    fn of_a_latency_more_is_slower() {
        assert_eq!(judged("slower>5%", "response_p99_ms", 1.2, 1.1, 1.3), Found::Holds);
        assert_eq!(judged("faster>5%", "response_p99_ms", 1.2, 1.1, 1.3), Found::Excluded);
        assert_eq!(judged("faster>5%", "response_p99_ms", 0.8, 0.7, 0.9), Found::Holds);
    }

    #[test]
    fn without_an_interval_nothing_can_be_decided() {
        let gate: Gate = "slower>5%".parse().unwrap();
        let alone = comparison("tps", 0.5, None);
        assert_eq!(gate.judge(&alone), Found::Undecidable);
        assert!(gate.sentence(&alone).contains("cannot be decided"));
    }

    #[test]
    fn what_is_no_condition_is_refused() {
        for text in ["", "slower<5%", "slower>5", "slow>5%", "slower>", "slower>x%", ">5%"] {
            let error = text.parse::<Gate>().unwrap_err();
            assert!(error.contains("'slower>5%'"), "{error}");
        }
        assert!("slower>100%".parse::<Gate>().is_err());
        assert!("faster>100%".parse::<Gate>().is_ok());
    }
}
