//! Runs of several arms to comparisons with a verdict: what `run` with several targets, `study`
//! and comparisons of finished results have in common.
//!
//! Pure. The arithmetic is in `stats`; here runs become its observations, and what it found
//! becomes entries of `summary.json` and warnings.

pub mod alike;
pub mod csv;
pub mod fair;
pub mod gate;
pub mod probes;

use crate::result::Run;
use crate::result::comparison::{Comparison, LevelComparison};
use crate::result::distinct;
use crate::stats::rounds::{Arm, RoundTrend, is_interleaved, order_effect_p};
use crate::stats::verdict::{self, Better, Design, NOT_INTERLEAVED_BANNER, Rules, Verdict};

/// Order effects are warned about below this p.
const WARN_BELOW_P: f64 = 0.05;

/// One figure of one run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Observation<'a> {
    /// The arm.
    pub arm: &'a str,
    /// Round, from 1.
    pub round: u32,
    /// Clients.
    pub clients: u32,
    /// The figure; absent where the run has none.
    pub value: Option<f64>,
}

/// What is to be compared.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Question<'a> {
    /// The arm that the others are compared with.
    pub baseline: &'a str,
    /// The difference that matters, as a fraction.
    pub margin: f64,
}

/// What comparing gave.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Compared {
    /// An entry for each workload, metric and arm but the baseline.
    pub comparisons: Vec<Comparison>,
    /// What the reader must know beside it.
    pub warnings: Vec<String>,
}

/// A figure that is compared.
struct Metric {
    name: &'static str,
    better: Better,
    of: fn(&Run) -> Option<f64>,
}

const TPS: Metric = Metric { name: "tps", better: Better::Higher, of: |run| Some(run.tps) };
/// With a rate the throughput is given; what differs is how long a request takes.
const RESPONSE: Metric = Metric {
    name: "response_p99_ms",
    better: Better::Lower,
    of: |run| run.response_ms.as_ref().and_then(|response| response.p99),
};
/// Steadiness: shown beside the verdict, never part of it.
const EXPLORED: [Metric; 3] = [
    Metric { name: "cv", better: Better::Lower, of: |run| run.variance.cv },
    Metric { name: "robust_cv", better: Better::Lower, of: |run| run.variance.robust_cv },
    Metric { name: "steadiness", better: Better::Higher, of: |run| run.variance.steadiness },
];

/// Compares the arms of `runs`, which are in the order of time.
pub fn compare_runs(runs: &[Run], question: Question<'_>) -> Compared {
    let mut compared = Compared::default();
    for workload in distinct(runs.iter().map(|run| run.workload.as_str())) {
        let of_workload: Vec<&Run> = runs.iter().filter(|run| run.workload == workload).collect();
        let primary = match of_workload.iter().any(|run| run.response_ms.is_some()) {
            true => RESPONSE,
            false => TPS,
        };
        let observed = |of: fn(&Run) -> Option<f64>| -> Vec<Observation<'_>> {
            let one = |run: &&'_ Run| run.complete.then(|| of(run)).flatten();
            of_workload
                .iter()
                .map(|run| Observation {
                    arm: &run.arm,
                    round: run.round,
                    clients: run.clients,
                    value: one(run),
                })
                .collect()
        };
        let found = compare(workload, &primary, &observed(primary.of), question);
        for warning in found.warnings {
            if !compared.warnings.contains(&warning) {
                compared.warnings.push(warning);
            }
        }
        compared.comparisons.extend(found.comparisons);
        for metric in &EXPLORED {
            let found = compare(workload, metric, &observed(metric.of), question);
            compared.comparisons.extend(found.comparisons.into_iter().map(|comparison| {
                Comparison {
                    verdict: Verdict::None,
                    sentence: "no verdict: explored beside the throughput".to_owned(),
                    mde: None,
                    rounds_needed: None,
                    ..comparison
                }
            }));
        }
    }
    compared
}

/// Compares throughputs that come from somewhere else than dbload, in the order of time.
pub fn compare_tps(
    workload: &str,
    observations: &[Observation<'_>],
    question: Question<'_>,
) -> Compared {
    compare(workload, &TPS, observations, question)
}

fn compare(
    workload: &str,
    metric: &Metric,
    observations: &[Observation<'_>],
    question: Question<'_>,
) -> Compared {
    let mut clients = distinct(observations.iter().map(|o| o.clients));
    clients.sort_unstable();
    let arm = |name: &str| arm(name, observations, &clients);
    let names = distinct(observations.iter().map(|o| o.arm));
    let baseline = arm(question.baseline);
    let others: Vec<Arm> =
        names.iter().filter(|name| **name != question.baseline).map(|name| arm(name)).collect();
    let design = design(observations);
    let rules = Rules { design, margin: question.margin, better: metric.better };
    let mut warnings = Vec::new();
    if design == Design::OneAfterTheOther && !others.is_empty() {
        warnings.push(NOT_INTERLEAVED_BANNER.to_owned());
    }
    let mut comparisons = Vec::new();
    for found in verdict::compare(&clients, &baseline, &others, rules) {
        let (name, baseline) = (found.arm.clone(), found.baseline.clone());
        match entry(&found, workload, metric.name) {
            Some(comparison) => comparisons.push(comparison),
            None => warnings.push(format!(
                "{name} cannot be compared with {baseline}: no round has every level of both to \
                 its end"
            )),
        }
    }
    for arm in others.iter().chain([&baseline]) {
        let trend = RoundTrend::of(arm, clients.len());
        warnings.extend(trend.filter(RoundTrend::is_warning).map(|trend| trend.to_string()));
    }
    for arm in &others {
        warnings.extend(order_warning(&baseline, arm, observations, clients.len()));
    }
    Compared { comparisons, warnings }
}

/// Whether rounds are pairs: they stand together, and at least one holds more than one arm.
fn design(observations: &[Observation<'_>]) -> Design {
    let rounds: Vec<u32> = observations.iter().map(|o| o.round).collect();
    let shared = observations
        .chunk_by(|a, b| a.round == b.round)
        .any(|round| round.iter().any(|o| o.arm != round[0].arm));
    match shared && is_interleaved(&rounds) {
        true => Design::Interleaved,
        false => Design::OneAfterTheOther,
    }
}

/// The values of an arm by round and level.
fn arm(name: &str, observations: &[Observation<'_>], clients: &[u32]) -> Arm {
    let last = observations.iter().map(|o| o.round).max().unwrap_or(0);
    let cell = |round: u32, clients: u32| {
        let found =
            observations.iter().find(|o| (o.arm, o.round, o.clients) == (name, round, clients));
        found.and_then(|o| o.value)
    };
    let values = (1..=last).map(|r| clients.iter().map(|c| cell(r, *c)).collect()).collect();
    Arm { name: name.to_owned(), values }
}

/// A warning when it matters which of the two arms ran first.
fn order_warning(
    baseline: &Arm,
    arm: &Arm,
    observations: &[Observation<'_>],
    levels: usize,
) -> Option<String> {
    let (mut ratios, mut order) = (Vec::new(), Vec::new());
    for (index, round) in (1_u32..).zip(0..baseline.values.len()).map(|(n, i)| (i, n)) {
        let (Some(a), Some(b)) = (baseline.ln_round(index, levels), arm.ln_round(index, levels))
        else {
            continue;
        };
        ratios.push(b - a);
        order.push(sign(baseline, arm, observations, round));
    }
    let p = order_effect_p(&ratios, &order).filter(|p| *p < WARN_BELOW_P)?;
    Some(format!(
        "{} against {} depends on which of them ran first (p = {p:.2}): give the machine longer to \
         settle between runs",
        arm.name, baseline.name
    ))
}

/// +1 where the baseline ran first at every level of a round, -1 where the arm did.
fn sign(baseline: &Arm, arm: &Arm, observations: &[Observation<'_>], round: u32) -> f64 {
    let of_round: Vec<&Observation<'_>> =
        observations.iter().filter(|o| o.round == round).collect();
    let levels = distinct(of_round.iter().map(|o| o.clients));
    let at = |name: &str, clients: u32| {
        of_round.iter().position(|o| o.arm == name && o.clients == clients)
    };
    let signs = levels.iter().filter_map(|&clients| {
        Some(if at(&baseline.name, clients)? < at(&arm.name, clients)? { 1.0 } else { -1.0 })
    });
    crate::stats::summary::mean(&signs.collect::<Vec<f64>>()).unwrap_or(0.0)
}

/// The entry of `summary.json`; nothing where there is no ratio.
fn entry(found: &verdict::Comparison, workload: &str, metric: &str) -> Option<Comparison> {
    let levels = found.levels.iter().filter_map(|level| {
        Some(LevelComparison {
            clients: level.clients,
            ratio: level.ratio?,
            ci_low: level.ci_low,
            ci_high: level.ci_high,
            p: level.p,
            p_holm: level.p_holm,
        })
    });
    Some(Comparison {
        baseline: found.baseline.clone(),
        arm: found.arm.clone(),
        workload: workload.to_owned(),
        metric: metric.to_owned(),
        rounds: u32::try_from(found.rounds).unwrap_or(u32::MAX),
        paired: found.paired,
        ratio: found.ratio?,
        ci_low: found.ci_low,
        ci_high: found.ci_high,
        p: found.p,
        p_holm: found.p_holm,
        verdict: found.verdict,
        sentence: found.sentence(),
        margin: found.margin,
        mde: found.mde,
        rounds_needed: found.rounds_needed,
        levels: levels.collect(),
    })
}

#[cfg(test)]
mod tests;
