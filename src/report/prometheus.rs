//! A run that goes on, as text for Prometheus: counters that only grow and classic histograms in
//! seconds, updated with every interval. Pure; who serves the text is not known here.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::stats::histogram::Histogram;

/// Upper ends of the histograms' buckets, in nanoseconds: 1, 2.5 and 5 in every power of ten from
/// 100 µs to 10 s, as they are usual, and 10 µs steps below.
const BUCKETS_NS: &[u64] = &[
    10_000,
    25_000,
    50_000,
    100_000,
    250_000,
    500_000,
    1_000_000,
    2_500_000,
    5_000_000,
    10_000_000,
    25_000_000,
    50_000_000,
    100_000_000,
    250_000_000,
    500_000_000,
    1_000_000_000,
    2_500_000_000,
    5_000_000_000,
    10_000_000_000,
];

const NS_PER_S: f64 = 1e9;

/// Which runs a series counts: the rounds of a run add up.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Labels {
    /// Name of the arm.
    pub arm: String,
    /// Name of the workload.
    pub workload: String,
    /// Clients.
    pub clients: u32,
}

/// What an interval adds.
#[derive(Debug, Default)]
pub struct Added<'a> {
    /// Committed transactions.
    pub committed: u64,
    /// Failed transactions by code.
    pub failed: Vec<(String, u64)>,
    /// Transactions that were tried more than once.
    pub retried: u64,
    /// Tries beyond the first.
    pub retries: u64,
    /// Arrivals given up.
    pub skipped: u64,
    /// Connections made again.
    pub reconnects: u64,
    /// Transactions per second in this interval.
    pub tps: f64,
    /// Service times.
    pub service: Option<&'a Histogram>,
    /// Response times, with a rate.
    pub response: Option<&'a Histogram>,
}

/// Everything that was counted since the program began.
#[derive(Debug, Default)]
pub struct Metrics {
    series: BTreeMap<Labels, Series>,
}

#[derive(Debug, Default)]
struct Series {
    committed: u64,
    failed: BTreeMap<String, u64>,
    retried: u64,
    retries: u64,
    skipped: u64,
    reconnects: u64,
    tps: f64,
    service: Buckets,
    response: Option<Buckets>,
}

#[derive(Debug, Default)]
struct Buckets {
    /// Values up to each end, beginning with none.
    counts: Vec<u64>,
    count: u64,
    sum_s: f64,
}

impl Buckets {
    fn add(&mut self, histogram: &Histogram) {
        self.counts.resize(BUCKETS_NS.len(), 0);
        for (sum, count) in self.counts.iter_mut().zip(histogram.counts_up_to(BUCKETS_NS)) {
            *sum += count;
        }
        self.count += histogram.count();
        self.sum_s += histogram.mean_ns().unwrap_or(0.0) * histogram.count() as f64 / NS_PER_S;
    }

    fn write(&self, text: &mut String, name: &str, labels: &str) {
        let empty = vec![0; BUCKETS_NS.len()];
        let counts = if self.counts.is_empty() { &empty } else { &self.counts };
        // Writing to a string cannot fail.
        for (end_ns, count) in BUCKETS_NS.iter().zip(counts) {
            let end_s = *end_ns as f64 / NS_PER_S;
            let _ = writeln!(text, "{name}_bucket{{{labels},le=\"{end_s}\"}} {count}");
        }
        let _ = writeln!(text, "{name}_bucket{{{labels},le=\"+Inf\"}} {}", self.count);
        let _ = writeln!(text, "{name}_sum{{{labels}}} {}", self.sum_s);
        let _ = writeln!(text, "{name}_count{{{labels}}} {}", self.count);
    }
}

impl Metrics {
    /// Adds an interval.
    pub fn add(&mut self, labels: &Labels, added: &Added<'_>) {
        let series = self.series.entry(labels.clone()).or_default();
        series.committed += added.committed;
        for (code, count) in &added.failed {
            *series.failed.entry(code.clone()).or_default() += count;
        }
        series.retried += added.retried;
        series.retries += added.retries;
        series.skipped += added.skipped;
        series.reconnects += added.reconnects;
        series.tps = added.tps;
        if let Some(service) = added.service {
            series.service.add(service);
        }
        if let Some(response) = added.response {
            series.response.get_or_insert_with(Buckets::default).add(response);
        }
    }

    /// The text format, version 0.0.4.
    pub fn text(&self) -> String {
        let mut text = String::new();
        let mut family = |name: &str, kind: &str, help: &str, write: &dyn Fn(&mut String)| {
            let mut lines = String::new();
            write(&mut lines);
            if !lines.is_empty() {
                let _ = write!(text, "# HELP {name} {help}\n# TYPE {name} {kind}\n{lines}");
            }
        };
        let each = |lines: &mut String, name: &str, of: &dyn Fn(&Series) -> f64| {
            for (labels, series) in &self.series {
                let _ = writeln!(lines, "{name}{{{}}} {}", labels.text(), of(series));
            }
        };
        for (name, help, of) in COUNTERS {
            family(name, "counter", help, &|lines| each(lines, name, of));
        }
        let name = "dbload_failed_transactions_total";
        family(name, "counter", "Transactions that failed for good, by code.", &|lines| {
            for (labels, series) in &self.series {
                for (code, count) in &series.failed {
                    let (labels, code) = (labels.text(), escaped(code));
                    let _ = writeln!(lines, "{name}{{{labels},code=\"{code}\"}} {count}");
                }
            }
        });
        let name = "dbload_tps";
        let help = "Committed transactions per second in the last interval.";
        family(name, "gauge", help, &|lines| each(lines, name, &|series| series.tps));
        let name = "dbload_service_seconds";
        let help = "Service time: from the start of the first try to the end.";
        family(name, "histogram", help, &|lines| {
            for (labels, series) in &self.series {
                series.service.write(lines, name, &labels.text());
            }
        });
        let name = "dbload_response_seconds";
        let help = "Response time: from the intended start to the end.";
        family(name, "histogram", help, &|lines| {
            for (labels, series) in &self.series {
                if let Some(response) = &series.response {
                    response.write(lines, name, &labels.text());
                }
            }
        });
        text
    }
}

/// Name, explanation and figure of a counter.
type Counter = (&'static str, &'static str, &'static dyn Fn(&Series) -> f64);

const COUNTERS: &[Counter] = &[
    ("dbload_transactions_total", "Committed transactions.", &|series| series.committed as f64),
    ("dbload_retried_transactions_total", "Transactions tried more than once.", &|series| {
        series.retried as f64
    }),
    ("dbload_retries_total", "Tries beyond the first.", &|series| series.retries as f64),
    ("dbload_skipped_total", "Arrivals given up as too late.", &|series| series.skipped as f64),
    ("dbload_reconnects_total", "Connections made again.", &|series| series.reconnects as f64),
];

impl Labels {
    fn text(&self) -> String {
        let (arm, workload) = (escaped(&self.arm), escaped(&self.workload));
        format!("arm=\"{arm}\",workload=\"{workload}\",clients=\"{}\"", self.clients)
    }
}

/// The value of a label.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn metrics() -> Metrics {
        let labels = Labels { arm: "a\"b".to_owned(), workload: "w".to_owned(), clients: 2 };
        let mut service = Histogram::transactions();
        [20_000, 900_000, 20_000_000_000].into_iter().for_each(|ns| service.record(ns));
        let mut metrics = Metrics::default();
        let added = || Added {
            committed: 3,
            failed: vec![("40P01".to_owned(), 1)],
            tps: 3.0,
            service: Some(&service),
            response: Some(&service),
            ..Added::default()
        };
        metrics.add(&labels, &added());
        metrics.add(&labels, &added());
        metrics
    }

    #[test]
    fn counters_grow_and_buckets_hold_all_that_is_below_their_end() {
        let text = metrics().text();
        let labels = r#"{arm="a\"b",workload="w",clients="2""#;
        for line in [
            format!("dbload_transactions_total{labels}}} 6"),
            format!(r#"dbload_failed_transactions_total{labels},code="40P01"}} 2"#),
            format!("dbload_tps{labels}}} 3"),
            format!(r#"dbload_service_seconds_bucket{labels},le="0.00001"}} 0"#),
            format!(r#"dbload_service_seconds_bucket{labels},le="0.000025"}} 2"#),
            format!(r#"dbload_service_seconds_bucket{labels},le="0.001"}} 4"#),
            format!(r#"dbload_service_seconds_bucket{labels},le="10"}} 4"#),
            format!(r#"dbload_service_seconds_bucket{labels},le="+Inf"}} 6"#),
            format!("dbload_service_seconds_count{labels}}} 6"),
            format!("dbload_response_seconds_count{labels}}} 6"),
            "# TYPE dbload_service_seconds histogram".to_owned(),
        ] {
            assert!(text.lines().any(|known| known == line), "no {line} in\n{text}");
        }
        let sum = text.lines().find_map(|line| line.strip_prefix("dbload_service_seconds_sum"));
        let sum: f64 = sum.unwrap().rsplit(' ').next().unwrap().parse().unwrap();
        assert!((sum - 40.00184).abs() < 1e-9, "{sum}");
    }

    #[test]
    fn a_family_without_series_is_not_there() {
        assert_eq!(Metrics::default().text(), "");
    }

    /// Every series that the dashboard asks for is one that is served.
    #[test]
    fn the_dashboard_shows_what_is_there() {
        let text = include_str!("../../docs/grafana-dashboard.json");
        let dashboard: serde_json::Value = serde_json::from_str(text).unwrap();
        let served = metrics().text();
        let mut asked = 0;
        let panels = dashboard["panels"].as_array().unwrap();
        for target in panels.iter().flat_map(|panel| panel["targets"].as_array().unwrap()) {
            let query = target["expr"].as_str().unwrap();
            for name in query.split(|c: char| !c.is_ascii_alphanumeric() && c != '_') {
                if name.starts_with("dbload_") {
                    asked += 1;
                    assert!(served.contains(&format!("\n{name}{{")), "{name} is not served");
                }
            }
        }
        assert!(asked >= panels.len(), "{asked} series for {} panels", panels.len());
    }
}
