//! From the values of arms to a ratio, its interval, and one of four verdicts.
//!
//! One primary endpoint per arm: the geometric mean, over the declared client levels, of the ratio
//! to the baseline. Levels are shown beside it and never decide. What may not be claimed (arms run
//! one after the other, too few rounds) is not claimable here, whatever the numbers.

use serde::{Deserialize, Serialize};

use super::exact::sign_flip_p;
use super::power::rounds_needed;
use super::rounds::Arm;
use super::ttest::{TTest, holm};

/// Chance of a false alarm per study.
const ALPHA: f64 = 0.05;
/// The power that detectable differences and needed rounds are stated for.
const POWER: f64 = 0.8;
/// Fewer rounds give no verdict: the standard deviation would be a guess.
pub const MIN_ROUNDS: u32 = 5;

/// What has to be said wherever runs were not interleaved.
pub const NOT_INTERLEAVED_BANNER: &str =
    "arms were run one after the other: time drift cannot be told from the arm";

/// How the runs of the arms lie in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Design {
    /// Each round holds all arms: rounds are pairs.
    Interleaved,
    /// Anything else.
    OneAfterTheOther,
}

/// Which way is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Better {
    /// Throughput.
    Higher,
    /// Latency.
    Lower,
}

/// What is fixed before the first run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rules {
    /// How the runs lie in time.
    pub design: Design,
    /// A ratio within 1 / (1 + margin) and 1 + margin is no difference that matters; 0.03 is 3 %.
    pub margin: f64,
    /// Which way is better.
    pub better: Better,
}

/// What may be said of an arm against the baseline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Better than the baseline.
    Faster,
    /// Worse than the baseline.
    Slower,
    /// Shown to lie within the margin.
    Equivalent,
    /// None of these could be shown.
    Undetected,
    /// No verdict may be given, see [`NoVerdict`].
    None,
}

impl Verdict {
    /// Its word in files.
    pub fn key(self) -> &'static str {
        match self {
            Self::Faster => "faster",
            Self::Slower => "slower",
            Self::Equivalent => "equivalent",
            Self::Undetected => "undetected",
            Self::None => "none",
        }
    }
}

/// Why there is no verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NoVerdict {
    /// The arms were not interleaved.
    OneAfterTheOther,
    /// Fewer than five complete rounds.
    TooFewRounds,
    /// No round has all levels of both arms.
    NothingToCompare,
}

/// One client level of a comparison, with an interval of its own (95 %, for itself).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LevelComparison {
    /// Clients.
    pub clients: u32,
    /// Arm / baseline.
    pub ratio: Option<f64>,
    /// Lower end of the interval.
    pub ci_low: Option<f64>,
    /// Upper end of the interval.
    pub ci_high: Option<f64>,
    /// Two-sided p of no difference.
    pub p: Option<f64>,
    /// The same, adjusted over the levels.
    pub p_holm: Option<f64>,
}

/// An arm against the baseline.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// The baseline's name.
    pub baseline: String,
    /// The arm's name.
    pub arm: String,
    /// Complete rounds of the arm that were used.
    pub rounds: usize,
    /// Complete rounds of the baseline that were used; equal to `rounds` when paired.
    pub baseline_rounds: usize,
    /// Whether rounds were compared with each other (interleaved) or only means.
    pub paired: bool,
    /// Which way is better.
    pub better: Better,
    /// Arm / baseline: geometric mean over levels and rounds.
    pub ratio: Option<f64>,
    /// Lower end of the interval; simultaneous over all arms.
    pub ci_low: Option<f64>,
    /// Upper end of the interval.
    pub ci_high: Option<f64>,
    /// Two-sided p of no difference.
    pub p: Option<f64>,
    /// The same, adjusted over the arms.
    pub p_holm: Option<f64>,
    /// Exact p of the sign-flip test, as a check; paired, 6 to 20 rounds.
    pub p_sign_flip: Option<f64>,
    /// The verdict.
    pub verdict: Verdict,
    /// Why there is none.
    pub no_verdict: Option<NoVerdict>,
    /// Faster or slower, but surely by less than the margin.
    pub below_margin: bool,
    /// The margin, as a fraction.
    pub margin: f64,
    /// The smallest difference (a fraction) that would have been found with 80 % probability.
    pub mde: Option<f64>,
    /// Rounds that a difference as large as the margin needs (80 %), at least 5; `None` when that
    /// is unknown, or over 1000.
    pub rounds_needed: Option<u32>,
    /// Level by level.
    pub levels: Vec<LevelComparison>,
}

/// Compares every arm with the baseline. `clients` names the levels, in the order of the values.
pub fn compare(clients: &[u32], baseline: &Arm, arms: &[Arm], rules: Rules) -> Vec<Comparison> {
    let mut comparisons: Vec<Comparison> =
        arms.iter().map(|arm| compare_one(clients, baseline, arm, arms.len(), rules)).collect();
    adjust(comparisons.iter_mut().map(|c| (c.p, &mut c.p_holm)));
    comparisons
}

/// Fills in the Holm-adjusted p of those that have one.
fn adjust<'a>(tests: impl Iterator<Item = (Option<f64>, &'a mut Option<f64>)>) {
    let (p_values, slots): (Vec<f64>, Vec<&mut Option<f64>>) =
        tests.filter_map(|(p, slot)| Some((p?, slot))).unzip();
    for (slot, p) in slots.into_iter().zip(holm(&p_values)) {
        *slot = Some(p);
    }
}

/// Two arms' logarithms that belong together: by round when paired, else just both.
struct Samples {
    baseline: Vec<f64>,
    arm: Vec<f64>,
}

impl Samples {
    /// `cell` gives an arm's logarithm in a round.
    fn new(
        baseline: &Arm,
        arm: &Arm,
        design: Design,
        cell: impl Fn(&Arm, usize) -> Option<f64>,
    ) -> Self {
        let rounds = baseline.values.len().max(arm.values.len());
        match design {
            Design::Interleaved => {
                let pair = |r| Some((cell(baseline, r)?, cell(arm, r)?));
                let (baseline, arm) = (0..rounds).filter_map(pair).unzip();
                Self { baseline, arm }
            }
            Design::OneAfterTheOther => Self {
                baseline: (0..rounds).filter_map(|r| cell(baseline, r)).collect(),
                arm: (0..rounds).filter_map(|r| cell(arm, r)).collect(),
            },
        }
    }

    fn differences(&self) -> Vec<f64> {
        self.arm.iter().zip(&self.baseline).map(|(b, a)| b - a).collect()
    }

    fn test(&self, design: Design) -> Option<TTest> {
        match design {
            Design::Interleaved => TTest::paired(&self.differences()),
            Design::OneAfterTheOther => TTest::welch(&self.baseline, &self.arm),
        }
    }

    /// The log ratio, which a single round already has.
    fn ln_ratio(&self) -> Option<f64> {
        Some(super::summary::mean(&self.arm)? - super::summary::mean(&self.baseline)?)
    }
}

fn compare_one(
    clients: &[u32],
    baseline: &Arm,
    arm: &Arm,
    arms: usize,
    rules: Rules,
) -> Comparison {
    let samples =
        Samples::new(baseline, arm, rules.design, |arm, round| arm.ln_round(round, clients.len()));
    let test = samples.test(rules.design);
    let paired = rules.design == Design::Interleaved;
    let alpha = ALPHA / arms as f64;
    let interval = test.map(|t| t.interval(1.0 - alpha));
    let no_verdict = no_verdict(&samples, rules.design);
    let verdict = match (test, no_verdict) {
        (Some(test), None) => decide(&test, rules, arms),
        _ => Verdict::None,
    };
    let mut levels: Vec<LevelComparison> = clients
        .iter()
        .enumerate()
        .map(|(level, &clients)| compare_level(clients, level, baseline, arm, rules.design))
        .collect();
    adjust(levels.iter_mut().map(|l| (l.p, &mut l.p_holm)));
    let ln_margin = rules.margin.ln_1p();
    Comparison {
        baseline: baseline.name.clone(),
        arm: arm.name.clone(),
        rounds: samples.arm.len(),
        baseline_rounds: samples.baseline.len(),
        paired,
        better: rules.better,
        ratio: samples.ln_ratio().map(f64::exp),
        ci_low: interval.map(|(low, _)| low.exp()),
        ci_high: interval.map(|(_, high)| high.exp()),
        p: test.map(|t| t.p()),
        p_holm: None,
        p_sign_flip: paired.then(|| sign_flip_p(&samples.differences())).flatten(),
        verdict,
        no_verdict,
        below_margin: matches!(verdict, Verdict::Faster | Verdict::Slower)
            && interval.is_some_and(|(low, high)| low > -ln_margin && high < ln_margin),
        margin: rules.margin,
        mde: test.map(|t| t.detectable(alpha, POWER).exp_m1()),
        rounds_needed: test
            .filter(|_| paired)
            .and_then(|t| {
                let stddev = t.se * (samples.arm.len() as f64).sqrt();
                rounds_needed(stddev, ln_margin, alpha, POWER)
            })
            .map(|rounds| rounds.max(MIN_ROUNDS)),
        levels,
    }
}

fn no_verdict(samples: &Samples, design: Design) -> Option<NoVerdict> {
    if samples.arm.is_empty() || samples.baseline.is_empty() {
        Some(NoVerdict::NothingToCompare)
    } else if design == Design::OneAfterTheOther {
        Some(NoVerdict::OneAfterTheOther)
    } else if samples.arm.len() < MIN_ROUNDS as usize {
        Some(NoVerdict::TooFewRounds)
    } else {
        None
    }
}

fn compare_level(
    clients: u32,
    level: usize,
    baseline: &Arm,
    arm: &Arm,
    design: Design,
) -> LevelComparison {
    let samples = Samples::new(baseline, arm, design, |arm, round| arm.ln_value(round, level));
    let test = samples.test(design);
    let interval = test.map(|t| t.interval(1.0 - ALPHA));
    LevelComparison {
        clients,
        ratio: samples.ln_ratio().map(f64::exp),
        ci_low: interval.map(|(low, _)| low.exp()),
        ci_high: interval.map(|(_, high)| high.exp()),
        p: test.map(|t| t.p()),
        p_holm: None,
    }
}

/// The verdict on the log ratio of one of `arms` arms (the baseline not counted), for interleaved
/// runs with enough rounds. In this order: the interval lies wholly on one side of no difference;
/// two one-sided tests put the difference inside the margin (Schuirmann, 1987); neither. Levels
/// are divided by the number of arms (Bonferroni), so that intervals hold simultaneously and a
/// verdict never claims more than the interval beside it.
pub fn decide(test: &TTest, rules: Rules, arms: usize) -> Verdict {
    let alpha = ALPHA / arms as f64;
    let (low, high) = test.interval(1.0 - alpha);
    let (above, below) = match rules.better {
        Better::Higher => (Verdict::Faster, Verdict::Slower),
        Better::Lower => (Verdict::Slower, Verdict::Faster),
    };
    if low > 0.0 {
        above
    } else if high < 0.0 {
        below
    } else if test.equivalence_p(rules.margin.ln_1p()) < alpha {
        Verdict::Equivalent
    } else {
        Verdict::Undetected
    }
}

impl Comparison {
    /// The verdict as a sentence without its subject: "faster by 7.2 % (1.8-12.8)".
    pub fn sentence(&self) -> String {
        let margin = number(100.0 * self.margin);
        match self.verdict {
            Verdict::Faster => self.difference("faster", "lower"),
            Verdict::Slower => self.difference("slower", "higher"),
            Verdict::Equivalent => format!("equivalent within {margin} %"),
            Verdict::Undetected => {
                let mut text = "no detectable difference".to_owned();
                if let Some(mde) = self.mde {
                    let mde = planned_percent(mde);
                    text += &format!(
                        "; a difference of {mde} % or more would have been found with 80 % \
                         probability"
                    );
                }
                match self.rounds_needed {
                    Some(rounds) => text += &format!("; {rounds} rounds needed for {margin} %"),
                    None => text += &format!("; more than 1000 rounds needed for {margin} %"),
                }
                text
            }
            Verdict::None => match self.no_verdict {
                Some(NoVerdict::OneAfterTheOther) => {
                    "no verdict: the arms were run one after the other".to_owned()
                }
                Some(NoVerdict::TooFewRounds) => format!(
                    "no verdict: {} complete round{}, at least {MIN_ROUNDS} are needed",
                    self.rounds,
                    if self.rounds == 1 { "" } else { "s" }
                ),
                Some(NoVerdict::NothingToCompare) | None => {
                    "no verdict: no round has every level of both arms".to_owned()
                }
            },
        }
    }

    /// "faster by 7.2 % (1.8-12.8)"; a latency is not faster but lower.
    fn difference(&self, throughput_word: &str, latency_word: &str) -> String {
        let (Some(ratio), Some(low), Some(high)) = (self.ratio, self.ci_low, self.ci_high) else {
            return throughput_word.to_owned();
        };
        let word = match self.better {
            Better::Higher => throughput_word,
            Better::Lower => latency_word,
        };
        let percent = |ratio: f64| 100.0 * (ratio - 1.0).abs();
        let mut ends = [percent(low), percent(high)];
        ends.sort_by(f64::total_cmp);
        let suffix = if self.below_margin { ", below your margin" } else { "" };
        format!("{word} by {:.1} % ({:.1}-{:.1}){suffix}", percent(ratio), ends[0], ends[1])
    }
}

/// A number without needless decimals: 3, 2.5.
fn number(value: f64) -> String {
    let rounded = (value * 100.0).round() / 100.0;
    format!("{rounded}")
}

/// A planning figure, as rough as it is: whole percents from 1 on, tenths below.
fn planned_percent(fraction: f64) -> String {
    let percent = 100.0 * fraction;
    if percent < 0.95 { format!("{percent:.1}") } else { format!("{percent:.0}") }
}

#[cfg(test)]
mod tests;
