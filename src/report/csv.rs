//! The report as CSV: a row for each run, or of a comparison a row for each ratio. Columns are
//! those of `docs/output.md`; what is not known is an empty cell.

use crate::result::comparison::Comparison;
use crate::result::{Run, Summary};

/// The columns of a report of runs.
pub const RUN_COLUMNS: [&str; 28] = [
    "arm",
    "round",
    "workload",
    "clients",
    "workers",
    "protocol",
    "pipeline",
    "duration_s",
    "transactions",
    "tps",
    "ci_tps_low",
    "ci_tps_high",
    "failed",
    "retries",
    "latency_mean_ms",
    "latency_p50_ms",
    "latency_p95_ms",
    "latency_p99_ms",
    "latency_max_ms",
    "response_mean_ms",
    "response_p50_ms",
    "response_p95_ms",
    "response_p99_ms",
    "response_max_ms",
    "cv",
    "steadiness",
    "client_cpu_us_per_txn",
    "complete",
];

/// The columns of a comparison.
pub const RATIO_COLUMNS: [&str; 16] = [
    "baseline",
    "arm",
    "workload",
    "metric",
    "clients",
    "rounds",
    "paired",
    "ratio",
    "ci_low",
    "ci_high",
    "p",
    "p_holm",
    "verdict",
    "margin",
    "mde",
    "rounds_needed",
];

/// Every run in the order of measuring.
pub fn runs(summary: &Summary) -> String {
    table(&RUN_COLUMNS, summary.runs.iter().map(run_cells))
}

/// Every ratio to the baseline, over all levels and by level.
pub fn ratios(summary: &Summary) -> String {
    table(&RATIO_COLUMNS, summary.comparisons.iter().flat_map(ratio_rows))
}

fn table<const N: usize>(columns: &[&str; N], rows: impl Iterator<Item = [String; N]>) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let write = || -> Result<(), csv::Error> {
        writer.write_record(columns)?;
        rows.into_iter().try_for_each(|row| writer.write_record(row))
    };
    write().expect("memory takes every row");
    let bytes = writer.into_inner().expect("memory can be flushed");
    String::from_utf8_lossy(&bytes).into_owned()
}

fn run_cells(run: &Run) -> [String; 28] {
    let known = |field: &str, text: String| if run.knows(field) { text } else { String::new() };
    let ms = |figure: Option<f64>| figure.map_or_else(String::new, |figure| figure.to_string());
    let latency = run.latency_ms;
    let response = run.response_ms.unwrap_or_default();
    let [low, high] = run.ci_tps.map_or([None, None], |[low, high]| [Some(low), Some(high)]);
    [
        run.arm.clone(),
        run.round.to_string(),
        run.workload.clone(),
        run.clients.to_string(),
        known("workers", run.workers.to_string()),
        known("protocol", run.protocol.to_string()),
        known("protocol", run.pipeline.to_string()),
        known("duration_s", run.duration_s.to_string()),
        known("transactions", run.transactions.to_string()),
        run.tps.to_string(),
        ms(low),
        ms(high),
        known("failed", run.failed.total.to_string()),
        known("retries", run.retries.to_string()),
        ms(latency.mean),
        ms(latency.p50),
        ms(latency.p95),
        ms(latency.p99),
        ms(latency.max),
        ms(response.mean),
        ms(response.p50),
        ms(response.p95),
        ms(response.p99),
        ms(response.max),
        ms(run.variance.cv),
        ms(run.variance.steadiness),
        ms(run.client_cpu_us_per_txn),
        run.complete.to_string(),
    ]
}

fn ratio_rows(comparison: &Comparison) -> Vec<[String; 16]> {
    let four = |figure: Option<f64>| figure.map_or_else(String::new, |f| format!("{f:.4}"));
    let Comparison { baseline, arm, workload, metric, rounds, paired, .. } = comparison;
    // What is told of the whole has no figure at a level.
    let row = |clients: String, ratio: f64, [low, high, p, p_holm]: [Option<f64>; 4], of_whole| {
        let [verdict, margin, mde, rounds_needed] = of_whole;
        [
            baseline.clone(),
            arm.clone(),
            workload.clone(),
            metric.clone(),
            clients,
            rounds.to_string(),
            paired.to_string(),
            format!("{ratio:.4}"),
            four(low),
            four(high),
            probability(p),
            probability(p_holm),
            verdict,
            margin,
            mde,
            rounds_needed,
        ]
    };
    let Comparison { ci_low, ci_high, p, p_holm, margin, mde, rounds_needed, .. } = *comparison;
    let of_whole = [
        comparison.verdict.key().to_owned(),
        margin.to_string(),
        four(mde),
        rounds_needed.map_or_else(String::new, |rounds| rounds.to_string()),
    ];
    let whole = row("all".into(), comparison.ratio, [ci_low, ci_high, p, p_holm], of_whole);
    let levels = comparison.levels.iter().map(|level| {
        let ends = [level.ci_low, level.ci_high, level.p, level.p_holm];
        row(level.clients.to_string(), level.ratio, ends, Default::default())
    });
    std::iter::once(whole).chain(levels).collect()
}

/// A number that a program reads; a small one keeps its digits.
fn probability(p: Option<f64>) -> String {
    match p {
        None => String::new(),
        Some(p) if p < 0.001 => format!("{p:.2e}"),
        Some(p) => format!("{p:.4}"),
    }
}
