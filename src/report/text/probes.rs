//! What fio found about the storages of a study.

use super::mean;
use super::table::{Block, NO_FIGURE, blocks_under};
use super::wrap::hanging;
use crate::result::Summary;
use crate::result::distinct;
use crate::result::probe::{Probe, ProbeFlush, ProbeIo};
use crate::units::{format_ms, format_tps};

/// Means over the rounds, and how the storages compare; nothing where nothing was probed.
pub(super) fn probes(summary: &Summary, width: usize) -> Vec<String> {
    if summary.probes.is_empty() {
        return Vec::new();
    }
    let head = [
        "read\n1/s",
        "p95\nms",
        "p99\nms",
        "write\n1/s",
        "p95\nms",
        "p99\nms",
        "flush p50\nms",
        "p99\nms",
    ];
    let heading: Vec<String> =
        std::iter::once("storage\n").chain(head).map(str::to_owned).collect();
    let mut blocks = Vec::new();
    for job in distinct(summary.probes.iter().map(|probe| probe.job.clone())) {
        let of_job: Vec<&Probe> = summary.probes.iter().filter(|probe| probe.job == job).collect();
        let mut storages = distinct(of_job.iter().map(|probe| probe.storage.clone()));
        let baseline = summary.probe_comparisons.first().map(|found| &found.baseline);
        storages.sort_by_key(|storage| Some(storage) != baseline);
        let row = |storage: String| {
            let of: Vec<&Probe> =
                of_job.iter().copied().filter(|probe| probe.storage == storage).collect();
            let cached = of.iter().any(|probe| !probe.direct);
            let name = if cached { format!("{storage} (cached)") } else { storage };
            std::iter::once(name).chain(figures(&of)).collect()
        };
        let title = Some(format!("fio {job}"));
        blocks.push(Block { title, rows: storages.into_iter().map(row).collect() });
    }
    let mut lines = vec!["Storages without a database, means over the rounds".to_owned()];
    lines.extend(blocks_under(&heading, &blocks, 1));
    if summary.probes.iter().any(|probe| !probe.direct) {
        let note = "(cached): the file system takes no direct I/O, so the page cache is in it";
        lines.extend(hanging("", note, width));
    }
    for found in &summary.probe_comparisons {
        let (arm, baseline, sentence) = (&found.arm, &found.baseline, &found.sentence);
        let text =
            format!("{arm} against {baseline}, {} {}: {sentence}", found.workload, found.metric);
        lines.extend(hanging("", &text, width));
    }
    lines
}

fn figures(probes: &[&Probe]) -> Vec<String> {
    let io = |direction: fn(&Probe) -> Option<&ProbeIo>, figure: fn(&ProbeIo) -> f64| {
        mean(probes.iter().filter_map(|probe| direction(probe).map(figure)))
    };
    let flush = |figure: fn(&ProbeFlush) -> f64| {
        mean(probes.iter().filter_map(|probe| probe.flush.as_ref().map(figure)))
    };
    let mut cells = Vec::new();
    let directions: [fn(&Probe) -> Option<&ProbeIo>; 2] =
        [|probe| probe.read.as_ref(), |probe| probe.write.as_ref()];
    for direction in directions {
        cells.push(shown(io(direction, |io| io.iops), format_tps));
        cells.push(shown(io(direction, |io| io.clat_p95_ms), format_ms));
        cells.push(shown(io(direction, |io| io.clat_p99_ms), format_ms));
    }
    cells.push(shown(flush(|flush| flush.p50_ms), format_ms));
    cells.push(shown(flush(|flush| flush.p99_ms), format_ms));
    cells
}

fn shown(figure: Option<f64>, format: fn(f64) -> String) -> String {
    figure.map_or_else(|| NO_FIGURE.to_owned(), format)
}
