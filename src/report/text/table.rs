//! Tables of runs: columns of figures, laid out as the width allows.
//!
//! A layout is one or several tables over the same runs. The widest layout that fits is taken, so
//! a narrow terminal gets two or three tables instead of broken lines.

use comfy_table::{CellAlignment, Table, presets};

use super::sheet::Sheet;
use crate::result::{LatencyMs, Run};
use crate::units::{format_count, format_ms, format_percent, format_tps};

/// What stands where there is no figure.
pub(super) const NO_FIGURE: &str = "-";

/// A column of figures.
#[derive(Clone, Copy)]
pub(super) struct Column {
    heading: &'static str,
    unit: &'static str,
    figure: Figure,
}

/// How a cell is made.
#[derive(Clone, Copy)]
enum Figure {
    /// From the run.
    Run(fn(&Run) -> String),
    /// From the latency distribution that the table is about.
    Latency(fn(&LatencyMs) -> Option<f64>),
}

impl Column {
    const fn of_run(heading: &'static str, unit: &'static str, of: fn(&Run) -> String) -> Self {
        Self { heading, unit, figure: Figure::Run(of) }
    }

    const fn latency(heading: &'static str, of: fn(&LatencyMs) -> Option<f64>) -> Self {
        Self { heading, unit: "ms", figure: Figure::Latency(of) }
    }
}

const CLIENTS: Column = Column::of_run("clients", "", |run| {
    // The mark is explained below the table.
    let clients = match run.knows("clients") {
        true => run.clients.to_string(),
        false => NO_FIGURE.to_owned(),
    };
    format!("{}{clients}", if run.complete { "" } else { "*" })
});
const TRANSACTIONS: Column =
    Column::of_run("transactions", "", |run| format_count(run.transactions));
const TPS: Column = Column::of_run("tps", "1/s", |run| format_tps(run.tps));
const FAILED: Column = Column::of_run("failed", "", |run| format_count(run.failed.total));
const CV: Column = Column::of_run("cv", "", |run| optional(run.variance.cv, format_percent));
/// Half of the 95 % interval of the mean, in percent of it.
const WITHIN: Column = Column::of_run("+-95%", "%", |run| {
    let half = run.ci_tps.map(|[low, high]| (high - low) / (high + low));
    optional(half.filter(|half| half.is_finite()), |half| format!("{:.1}", 100.0 * half))
});
const ESS: Column = Column::of_run("ess", "", |run| optional(run.ess, |ess| format!("{ess:.0}")));
const ROBUST_CV: Column =
    Column::of_run("robust cv", "", |run| optional(run.variance.robust_cv, format_percent));
const P1_TPS: Column = Column::of_run("p1", "tps", |run| optional(run.variance.p1_tps, format_tps));
const P5_TPS: Column = Column::of_run("p5", "tps", |run| optional(run.variance.p5_tps, format_tps));
const STEADY: Column = Column::of_run("p5/p50", "", |run| {
    optional(run.variance.steadiness, |steady| format!("{steady:.2}"))
});
const LONGEST: Column = Column::of_run("longest", "s", |run| {
    optional(run.variance.longest_stall_s, |seconds| format!("{seconds:.1}"))
});
/// A figure of the machine for one transaction.
macro_rules! host {
    ($heading:literal, $unit:literal, $name:literal) => {
        Column::of_run($heading, $unit, |run| {
            let figure = run.host.as_ref().and_then(|host| host.per_txn.get($name));
            optional(figure.copied(), format_per_txn)
        })
    };
}
/// A figure of the server for one transaction.
macro_rules! server {
    ($heading:literal, $unit:literal, $name:literal) => {
        Column::of_run($heading, $unit, |run| {
            let figure = run.server.as_ref().and_then(|server| server.per_txn.get($name));
            optional(figure.copied(), format_per_txn)
        })
    };
}
const WAL_BYTES: Column = server!("WAL", "B", "wal_bytes");
const PAGE_IMAGES: Column = server!("page images", "", "full_page_images");
const WAL_FSYNCS: Column = server!("WAL fsyncs", "", "wal_fsyncs");
const BY_CHECKPOINTER: Column = server!("checkpointer", "buffers", "buffers_written_checkpointer");
const BY_BGWRITER: Column = server!("bgwriter", "buffers", "buffers_written_bgwriter");
const BY_BACKEND: Column = server!("backend", "buffers", "buffers_written_backend");
const DATA_FSYNCS: Column = server!("fsyncs", "", "data_fsyncs");
const PAGES_FLUSHED: Column = server!("flushed", "pages", "pages_flushed");
const DOUBLEWRITTEN: Column = server!("doublewrite", "pages", "doublewrite_pages");
const DATA_WRITES: Column = server!("writes", "", "data_writes");
const DATA_WRITTEN: Column = server!("written", "B", "data_written_bytes");
const HIT_RATIO: Column = Column::of_run("hit", "", |run| {
    optional(run.server.as_ref().and_then(|server| server.hit_ratio), format_percent)
});
const OTHER_CPU: Column = host!("other CPU", "us", "cpu_us");
const SWITCHES: Column = host!("switches", "", "context_switches");
const READS: Column = host!("reads", "", "reads");
const READ_KIB: Column = host!("read", "KiB", "read_kib");
const WRITES: Column = host!("writes", "", "writes");
const WRITTEN_KIB: Column = host!("written", "KiB", "written_kib");
const FLUSHES: Column = host!("flushes", "", "flushes");
const LOWEST: Column =
    Column::of_run("lowest", "tps", |run| optional(run.variance.min_tps, format_tps));
const STALLED: Column = Column::of_run("stalled", "s", |run| {
    optional(run.variance.stall_s, |seconds| format!("{seconds:.1}"))
});
const CPU: Column = Column::of_run("dbload CPU", "us/txn", |run| {
    optional(run.client_cpu_us_per_txn, |us| format!("{us:.1}"))
});
const MEAN: Column = Column::latency("mean", |ms| ms.mean);
const STDDEV: Column = Column::latency("stddev", |ms| ms.stddev);
const P50: Column = Column::latency("p50", |ms| ms.p50);
const P95: Column = Column::latency("p95", |ms| ms.p95);
const P99: Column = Column::latency("p99", |ms| ms.p99);
const P99_9: Column = Column::latency("p99.9", |ms| ms.p99_9);
const MAX: Column = Column::latency("max", |ms| ms.max);

/// Throughput and latency of a closed loop in one table, for wide terminals.
pub(super) const EVERYTHING: &[&[&[Column]]] = &[&[&[
    CLIENTS,
    TRANSACTIONS,
    TPS,
    WITHIN,
    MEAN,
    STDDEV,
    P50,
    P95,
    P99,
    P99_9,
    MAX,
    FAILED,
    CPU,
]]];
/// Throughput.
pub(super) const THROUGHPUT: &[&[&[Column]]] = &[
    &[&[CLIENTS, TRANSACTIONS, TPS, WITHIN, FAILED, CPU]],
    &[&[CLIENTS, TPS, WITHIN], &[CLIENTS, FAILED, CPU]],
];
/// How steady the throughput was.
pub(super) const STEADINESS: &[&[&[Column]]] = &[
    &[&[CLIENTS, ESS, CV, ROBUST_CV, P1_TPS, P5_TPS, LOWEST, STEADY, STALLED, LONGEST]],
    &[&[CLIENTS, ESS, CV, ROBUST_CV, P5_TPS, LOWEST, STEADY, STALLED]],
    &[&[CLIENTS, CV, P5_TPS, LOWEST, STALLED]],
    &[&[CLIENTS, CV, P5_TPS, LOWEST]],
];
/// What a transaction cost the machine.
pub(super) const COST: &[&[&[Column]]] = &[
    &[&[CLIENTS, OTHER_CPU, SWITCHES, READS, READ_KIB, WRITES, WRITTEN_KIB, FLUSHES]],
    &[&[CLIENTS, OTHER_CPU, SWITCHES, FLUSHES], &[CLIENTS, READ_KIB, WRITES, WRITTEN_KIB]],
];
/// What a transaction cost the server, where that is InnoDB.
pub(super) const INNODB: &[&[&[Column]]] = &[
    &[&[
        CLIENTS,
        WAL_BYTES,
        PAGES_FLUSHED,
        DOUBLEWRITTEN,
        DATA_WRITES,
        DATA_WRITTEN,
        DATA_FSYNCS,
        HIT_RATIO,
    ]],
    &[&[CLIENTS, WAL_BYTES, PAGES_FLUSHED], &[CLIENTS, DATA_WRITTEN, DATA_FSYNCS]],
];
/// What a transaction cost the server.
pub(super) const SERVER: &[&[&[Column]]] = &[
    &[&[
        CLIENTS,
        WAL_BYTES,
        PAGE_IMAGES,
        WAL_FSYNCS,
        BY_CHECKPOINTER,
        BY_BGWRITER,
        BY_BACKEND,
        HIT_RATIO,
    ]],
    &[
        &[CLIENTS, WAL_BYTES, PAGE_IMAGES, WAL_FSYNCS],
        &[CLIENTS, BY_CHECKPOINTER, BY_BGWRITER, BY_BACKEND],
    ],
];
/// One latency distribution.
pub(super) const LATENCY: &[&[&[Column]]] = &[
    &[&[CLIENTS, MEAN, STDDEV, P50, P95, P99, P99_9, MAX]],
    &[&[CLIENTS, MEAN, STDDEV, P50], &[CLIENTS, P95, P99, P99_9, MAX]],
];

/// Runs under a line that says what they have in common; no line when there is one group only.
pub(super) struct Group<'a> {
    /// What the runs have in common.
    pub(super) title: String,
    /// The runs, in the order of the rows.
    pub(super) runs: Vec<&'a Run>,
}

/// Which latency distribution a table shows.
pub(super) type Distribution = fn(&Run) -> Option<LatencyMs>;

/// The lines of the first layout that fits into `width` columns.
pub(super) fn first_that_fits(
    layouts: &[&[&[Column]]],
    groups: &[Group<'_>],
    of: Distribution,
    width: usize,
) -> Option<Vec<String>> {
    layouts
        .iter()
        .map(|layout| layout_lines(layout, groups, of))
        .find(|lines| lines.iter().all(|line| line.chars().count() <= width))
}

/// The lines of the tables of a layout, with an empty line between two tables.
pub(super) fn layout_lines(
    layout: &[&[Column]],
    groups: &[Group<'_>],
    of: Distribution,
) -> Vec<String> {
    let tables: Vec<Vec<String>> =
        layout.iter().map(|columns| run_table(columns, groups, of)).collect();
    tables.join(&String::new())
}

fn run_table(columns: &[Column], groups: &[Group<'_>], of: Distribution) -> Vec<String> {
    let Sheet { heading, blocks, left, .. } = run_sheet(columns, groups, of);
    blocks_under(&heading, &blocks, left)
}

/// A table of runs before it is laid out.
pub(super) fn run_sheet(columns: &[Column], groups: &[Group<'_>], of: Distribution) -> Sheet {
    let heading: Vec<String> =
        columns.iter().map(|c| format!("{}\n{}", c.heading, c.unit)).collect();
    let row = |run: &&Run| columns.iter().map(|column| cell(column, run, of)).collect();
    let blocks: Vec<Block> = groups
        .iter()
        .map(|group| Block {
            title: (groups.len() > 1).then(|| group.title.clone()),
            rows: group.runs.iter().map(row).collect(),
        })
        .collect();
    Sheet { title: String::new(), heading, blocks, left: 0, fixed: 1 }
}

/// Rows of a table under a line of their own.
pub(super) struct Block {
    /// The line; none when there is nothing to tell apart.
    pub(super) title: Option<String>,
    /// Rows of cells.
    pub(super) rows: Vec<Vec<String>>,
}

/// One table of all blocks, so that columns stand under each other, with the titles between.
pub(super) fn blocks_under(heading: &[String], blocks: &[Block], left: usize) -> Vec<String> {
    let rows: Vec<&Vec<String>> = blocks.iter().flat_map(|block| &block.rows).collect();
    let mut lines = aligned(heading, &rows, left).into_iter();
    let heading_lines = heading.iter().map(|cell| cell.lines().count()).max().unwrap_or(0);
    let mut out: Vec<String> = lines.by_ref().take(heading_lines).collect();
    for block in blocks {
        out.extend(block.title.clone());
        out.extend(lines.by_ref().take(block.rows.len()));
    }
    out
}

fn cell(column: &Column, run: &Run, of: Distribution) -> String {
    match column.figure {
        Figure::Run(figure) => figure(run),
        Figure::Latency(figure) => optional(of(run).as_ref().and_then(figure), format_ms),
    }
}

/// The figure as text, or a dash.
pub(super) fn optional(figure: Option<f64>, format: fn(f64) -> String) -> String {
    figure.map_or_else(|| NO_FIGURE.to_owned(), format)
}

/// Three significant digits, as figures of a transaction reach from thousandths to thousands.
pub(super) fn format_per_txn(figure: f64) -> String {
    let decimals = match figure.abs() {
        0.0 => 0,
        small if small < 0.1 => 4,
        small if small < 10.0 => 2,
        small if small < 100.0 => 1,
        _ => 0,
    };
    format!("{figure:.decimals$}")
}

/// Lines of a table without any drawing: the first `left` columns flush left, the others flush
/// right, two blanks between columns.
fn aligned(heading: &[String], rows: &[&Vec<String>], left: usize) -> Vec<String> {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header(heading).add_rows(rows.iter().copied());
    for (index, column) in table.column_iter_mut().enumerate() {
        column.set_padding((if index == 0 { 0 } else { 2 }, 0));
        column.set_cell_alignment(if index < left {
            CellAlignment::Left
        } else {
            CellAlignment::Right
        });
    }
    table.lines().map(|line| line.trim_end().to_owned()).collect()
}
