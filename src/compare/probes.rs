//! Storages compared by their probes, with the statistics of the runs.

use super::{Compared, Metric, Observation, Question, compare};
use crate::result::distinct;
use crate::result::probe::Probe;
use crate::stats::verdict::Better;

/// A figure of a probe.
struct Figure {
    metric: &'static str,
    better: Better,
    of: fn(&Probe) -> Option<f64>,
}

const FIGURES: [Figure; 4] = [
    Figure { metric: "iops", better: Better::Higher, of: iops },
    Figure {
        metric: "read_clat_p99_ms",
        better: Better::Lower,
        of: |probe| probe.read.as_ref().map(|read| read.clat_p99_ms),
    },
    Figure {
        metric: "write_clat_p99_ms",
        better: Better::Lower,
        of: |probe| probe.write.as_ref().map(|write| write.clat_p99_ms),
    },
    Figure {
        metric: "flush_p99_ms",
        better: Better::Lower,
        of: |probe| probe.flush.as_ref().map(|flush| flush.p99_ms),
    },
];

/// Operations in both directions.
fn iops(probe: &Probe) -> Option<f64> {
    let figures = [&probe.read, &probe.write];
    let known = figures.into_iter().flatten().map(|io| io.iops);
    known.reduce(|sum, iops| sum + iops)
}

/// Compares storages; `baseline` of the question is a storage.
pub fn compare_probes(probes: &[Probe], question: Question<'_>) -> Compared {
    let mut compared = Compared::default();
    for job in distinct(probes.iter().map(|probe| probe.job.as_str())) {
        for figure in &FIGURES {
            let observed: Vec<Observation<'_>> = probes
                .iter()
                .filter(|probe| probe.job == job)
                .map(|probe| Observation {
                    arm: &probe.storage,
                    round: probe.round,
                    clients: 1,
                    value: (figure.of)(probe).filter(|value| *value > 0.0),
                })
                .collect();
            if observed.iter().all(|observation| observation.value.is_none()) {
                continue;
            }
            let metric = Metric { name: figure.metric, better: figure.better, of: |_| None };
            let found = compare(&format!("fio {job}"), &metric, &observed, question);
            compared.comparisons.extend(found.comparisons);
        }
    }
    compared
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::probe::ProbeIo;
    use crate::stats::verdict::Verdict;

    #[test]
    fn a_storage_with_more_operations_is_faster() {
        let probe = |storage: &str, round: u32, iops: f64| Probe {
            storage: storage.to_owned(),
            round,
            job: "random".to_owned(),
            read: Some(ProbeIo { iops: iops + f64::from(round), ..ProbeIo::default() }),
            ..Probe::default()
        };
        let probes: Vec<Probe> = (1..=6)
            .flat_map(|round| {
                let (a, b) = (probe("a", round, 1000.0), probe("b", round, 2000.0));
                if round % 2 == 0 { [a, b] } else { [b, a] }
            })
            .collect();
        let found = compare_probes(&probes, Question { baseline: "a", margin: 0.03 });
        let [one] = &found.comparisons[..] else { panic!("{found:?}") };
        assert_eq!((one.verdict, one.workload.as_str()), (Verdict::Faster, "fio random"));
        assert_eq!((one.arm.as_str(), one.metric.as_str()), ("b", "iops"));
    }
}
