//! The runs of a summary by workload, level and arm, and the figures over their rounds.

use std::collections::{BTreeMap, BTreeSet};

use crate::result::{Run, Summary, whole};
use crate::stats::student::t_quantile;
use crate::stats::summary::{logs, mean, stddev};

/// The rounds of one arm at one level of one workload.
#[derive(Debug)]
pub(super) struct Cell<'a> {
    /// Index of the arm.
    pub(super) arm: usize,
    /// Index of the workload.
    pub(super) workload: usize,
    pub(super) clients: u32,
    /// One for each round; those that were measured to their end, where there are any.
    pub(super) runs: Vec<&'a Run>,
}

/// A mean with its 95 % confidence interval.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mean {
    pub(super) value: f64,
    /// Standard deviation of the logarithms of the rounds.
    pub(super) spread: Option<f64>,
    pub(super) interval: Option<(f64, f64)>,
    pub(super) rounds: usize,
}

/// Everything that is measured, in the order in which it is shown.
#[derive(Debug)]
pub(super) struct Groups<'a> {
    pub(super) arms: Vec<String>,
    pub(super) workloads: Vec<String>,
    /// The client counts of each workload, rising.
    pub(super) levels: Vec<Vec<u32>>,
    pub(super) cells: Vec<Cell<'a>>,
}

impl<'a> Groups<'a> {
    /// Sorts the runs of `summary`. Arms are in the order of the summary, workloads in that of
    /// measuring.
    pub(super) fn of(summary: &'a Summary) -> Self {
        let mut arms: Vec<String> = Vec::new();
        let mut workloads: Vec<String> = Vec::new();
        let listed = summary.arms.iter().map(|arm| &arm.name);
        for name in listed.chain(summary.runs.iter().map(|run| &run.arm)) {
            if !arms.contains(name) {
                arms.push(name.clone());
            }
        }
        let mut cells: BTreeMap<(usize, u32, usize), Vec<&Run>> = BTreeMap::new();
        for run in &summary.runs {
            let workload = match workloads.iter().position(|name| *name == run.workload) {
                Some(index) => index,
                None => {
                    workloads.push(run.workload.clone());
                    workloads.len() - 1
                }
            };
            if let Some(arm) = arms.iter().position(|name| *name == run.arm) {
                cells.entry((workload, run.clients, arm)).or_default().push(run);
            }
        }
        let levels = |index| {
            let of_workload = cells.keys().filter(|(workload, _, _)| *workload == index);
            let clients: BTreeSet<u32> = of_workload.map(|(_, clients, _)| *clients).collect();
            clients.into_iter().collect()
        };
        Self {
            levels: (0..workloads.len()).map(levels).collect(),
            arms,
            workloads,
            cells: cells
                .into_iter()
                .map(|((workload, clients, arm), runs)| Cell {
                    arm,
                    workload,
                    clients,
                    runs: whole(&runs),
                })
                .collect(),
        }
    }

    /// The index of an arm.
    pub(super) fn arm(&self, name: &str) -> Option<usize> {
        self.arms.iter().position(|known| known == name)
    }

    /// How many rounds an arm has, at the level that has most.
    pub(super) fn rounds_of(&self, arm: usize) -> Option<usize> {
        let own = self.cells.iter().filter(|cell| cell.arm == arm);
        own.map(|cell| cell.runs.len()).max()
    }

    /// The index of a workload.
    pub(super) fn workload(&self, name: &str) -> Option<usize> {
        self.workloads.iter().position(|known| known == name)
    }

    /// The counters per transaction that some run has, the client's and host's first.
    pub(super) fn costs(&self) -> Vec<Cost> {
        let runs = || self.cells.iter().flat_map(|cell| &cell.runs);
        let host: BTreeSet<&String> = runs()
            .filter_map(|run| run.host.as_ref())
            .flat_map(|host| host.per_txn.keys())
            .collect();
        let server: BTreeSet<&String> = runs()
            .filter_map(|run| run.server.as_ref())
            .flat_map(|server| server.per_txn.keys())
            .collect();
        let mut costs: Vec<Cost> =
            host.into_iter().map(|key| Cost::new(Source::Host, key)).collect();
        costs.sort_by_key(|cost| cost.rank);
        costs.extend(server.into_iter().map(|key| Cost::new(Source::Server, key)));
        costs.retain(|cost| {
            let values = self.cells.iter().filter_map(|cell| cost.mean_of(cell));
            // A counter that never moved explains nothing.
            values.into_iter().any(|value| value != 0.0)
        });
        costs
    }
}

impl Cell<'_> {
    /// Geometric mean of tps, as ratios are: over rounds with the interval of Student's t on the
    /// logarithms, of a single round with its own.
    pub(super) fn tps(&self) -> Mean {
        let values: Vec<f64> = self.runs.iter().map(|run| run.tps).collect();
        let logs = logs(&values);
        let (middle, spread) = (mean(&logs), stddev(&logs));
        let interval = match (values.as_slice(), middle.zip(spread)) {
            ([_], _) => self.runs[0].ci_tps.map(|[low, high]| (low, high)),
            (_, Some((middle, spread))) => {
                let rounds = logs.len() as f64;
                let half = t_quantile(0.975, rounds - 1.0) * spread / rounds.sqrt();
                Some(((middle - half).exp(), (middle + half).exp()))
            }
            _ => None,
        };
        Mean { value: middle.map_or(0.0, f64::exp), spread, interval, rounds: values.len() }
    }

    /// The mean over the rounds that have a figure.
    pub(super) fn mean_of(&self, of: impl Fn(&Run) -> Option<f64>) -> Option<f64> {
        let values: Vec<f64> = self.runs.iter().filter_map(|run| of(run)).collect();
        mean(&values)
    }
}

/// Whose counter it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Source {
    Host,
    Server,
}

/// Something that a transaction costs.
#[derive(Debug, Clone)]
pub(super) struct Cost {
    source: Source,
    key: String,
    rank: usize,
    pub(super) title: String,
    pub(super) unit: &'static str,
}

/// The host's counters that have words of their own, in the order in which they are shown.
const HOST_WORDS: [(&str, &str, &str); 8] = [
    ("cpu_us", "CPU time of all but dbload", "µs"),
    ("client_cpu_us", "CPU time of dbload", "µs"),
    ("context_switches", "context switches", ""),
    ("flushes", "device flushes", ""),
    ("writes", "device writes", ""),
    ("written_kib", "written to devices", "KiB"),
    ("reads", "device reads", ""),
    ("read_kib", "read from devices", "KiB"),
];

impl Cost {
    fn new(source: Source, key: &str) -> Self {
        let known = HOST_WORDS.iter().enumerate().find(|(_, (name, _, _))| *name == key);
        if let (Source::Host, Some((rank, (_, words, unit)))) = (source, known) {
            return Self { source, key: key.to_owned(), rank, title: (*words).to_owned(), unit };
        }
        let units = [("_us", "µs"), ("_ms", "ms"), ("_kib", "KiB"), ("_bytes", "B")];
        let found = units.into_iter().find(|(ending, _)| key.ends_with(ending));
        let (stem, unit) = match found {
            Some((ending, unit)) => (key.trim_end_matches(ending), unit),
            None => (key, ""),
        };
        let owner = if source == Source::Server { "server: " } else { "" };
        let title = format!("{owner}{}", stem.replace('_', " "));
        Self { source, key: key.to_owned(), rank: HOST_WORDS.len(), title, unit }
    }

    /// The mean over the rounds of a cell.
    pub(super) fn mean_of(&self, cell: &Cell<'_>) -> Option<f64> {
        cell.mean_of(|run| match self.source {
            Source::Host => run.host.as_ref()?.per_txn.get(&self.key).copied(),
            Source::Server => run.server.as_ref()?.per_txn.get(&self.key).copied(),
        })
    }
}
