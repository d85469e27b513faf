//! Fixed results files and the text that a person gets from them. A changed line here is a
//! changed report: look at the difference before accepting it.
//!
//! The files under `data/results` also hold the reader to every document it has ever written.
#![expect(clippy::unwrap_used, reason = "a file that cannot be read is a failed test")]

use dbload::report::csv;
use dbload::report::spark::Marks;
use dbload::report::text::{Look, markdown, report, report_with_series, warnings};
use dbload::result::{Summary, Warning};
use dbload::stats::precision::TooShort;

fn summary(name: &str) -> Summary {
    let path = format!("{}/tests/data/results/{name}.json", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap();
    Summary::from_json(&text).unwrap()
}

/// Report and warnings, as they stand below each other on a terminal.
fn shown(name: &str, width: usize) -> String {
    let summary = summary(name);
    let look = Look { width, statements: true };
    let text = report(&summary, look) + "\n" + &warnings(&summary, width);
    for line in text.lines() {
        let chars = line.chars().count();
        // A URL is kept whole, so that it can be copied.
        assert!(
            line.contains("://") || chars <= width,
            "{chars} characters do not fit into {width}: {line}"
        );
    }
    text
}

#[test]
fn sweep_at_80_columns() {
    insta::assert_snapshot!(shown("sweep", 80));
}

#[test]
fn sweep_at_120_columns() {
    insta::assert_snapshot!(shown("sweep", 120));
}

#[test]
fn sweep_at_40_columns() {
    insta::assert_snapshot!(shown("sweep", 40));
}

/// A run over time for each run of the file: steady, with a dip, with a stall.
fn series(summary: &Summary) -> Vec<Vec<f64>> {
    let rate = |second: u32| match second {
        20..25 => 0.4,
        40 => 0.0,
        _ => 1.0 - 0.02 * f64::from(second % 4),
    };
    summary.runs.iter().map(|run| (0..60).map(|second| run.tps * rate(second)).collect()).collect()
}

#[test]
fn runs_over_time_are_lines_of_marks_that_fit() {
    let summary = summary("sweep");
    let series = series(&summary);
    let shown = |width, marks| {
        let look = Look { width, statements: false };
        let text = report_with_series(&summary, look, &series, marks);
        let section = text.split("\n\n").find(|section| section.starts_with("Throughput over"));
        let section = section.unwrap().to_owned();
        assert!(section.lines().all(|line| line.chars().count() <= width), "{section}");
        section
    };
    for (width, marks, full, stall) in [
        (40, Marks::Blocks, '█', '▁'),
        (80, Marks::Ascii, '#', '_'),
        (200, Marks::Blocks, '█', '▁'),
    ] {
        let section = shown(width, marks);
        let runs = section.lines().filter(|line| line.contains(full) && line.contains(stall));
        assert_eq!(runs.count(), summary.runs.len(), "{section}");
    }
}

#[test]
fn every_run_has_a_row_in_markdown_and_csv() {
    for name in ["sweep", "arms", "failed"] {
        let summary = summary(name);
        assert_eq!(csv::runs(&summary).lines().count(), 1 + summary.runs.len(), "{name}");
        let text = markdown(&summary);
        for table in text.split("\n\n").filter(|part| part.starts_with('|')) {
            let bars = |line: &str| line.replace("\\|", "").matches('|').count();
            let columns = table.lines().next().map(bars);
            assert!(table.lines().all(|line| Some(bars(line)) == columns), "{name}: {table}");
        }
        assert!(text.contains("- warning: ") || summary.warnings.is_empty(), "{name}: {text}");
    }
}

#[test]
fn sweep_as_markdown() {
    insta::assert_snapshot!(markdown(&summary("sweep")));
}

#[test]
fn arms_as_markdown() {
    insta::assert_snapshot!(markdown(&summary("arms")));
}

#[test]
fn arms_as_csv() {
    insta::assert_snapshot!(csv::runs(&summary("arms")));
}

#[test]
fn arms_with_a_rate_and_a_mix_at_80_columns() {
    insta::assert_snapshot!(shown("arms", 80));
}

#[test]
fn arms_with_a_rate_and_a_mix_at_120_columns() {
    insta::assert_snapshot!(shown("arms", 120));
}

#[test]
fn a_run_in_which_everything_failed_at_80_columns() {
    insta::assert_snapshot!(shown("failed", 80));
}

#[test]
fn statements_are_shown_when_they_are_asked_for() {
    let shown = |statements| report(&summary("arms"), Look { width: 80, statements });
    assert!(shown(true).contains("UPDATE pgbench_accounts"));
    assert!(!shown(false).contains("UPDATE pgbench_accounts"));
    assert!(shown(false).contains("simple-update"), "scripts of a mix are always shown");
}

#[test]
fn a_summary_that_is_read_and_written_again_is_the_same_document() {
    for name in ["sweep", "arms", "failed"] {
        let path = format!("{}/tests/data/results/{name}.json", env!("CARGO_MANIFEST_DIR"));
        let before: serde_json::Value =
            serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        let after: serde_json::Value =
            serde_json::from_str(&summary(name).to_json().unwrap()).unwrap();
        assert_eq!(before, after, "{name}");
    }
}

#[test]
fn every_warning_says_what_to_change() {
    let all = [
        Warning::ClientsOverBranches { clients: 64, branches: 1 },
        Warning::TooShort(TooShort::Checkpoints { window_s: 60.0, period_s: 300.0 }),
        Warning::TooShort(TooShort::Autocorrelation { window_s: 60.0, tau_s: 12.3 }),
        Warning::TooShort(TooShort::Dips { window_s: 60.0, period_s: 25.0 }),
        Warning::WorkerBusy { busy_pct: 91.4, workers: 2 },
        Warning::SimpleProtocol {
            script: "mine".to_owned(),
            why: "line 3 has a variable inside a literal".to_owned(),
        },
        Warning::Saturated { count: 2 },
        Warning::Unfinished { unfinished: 3, longest_s: 2.5 },
        Warning::ClientsLost { lost: 1, clients: 8, why: "value out of range (22003)".to_owned() },
        Warning::NotMonitored { why: "permission denied for view pg_stat_wal (42501)".to_owned() },
        Warning::NothingCommitted {
            failed: 12,
            why: "\"SELECT x\" (script mine) met: no x (42703)".to_owned(),
        },
        Warning::ScaleIgnored { asked: 10, holds: 1 },
        Warning::WorkersIgnored { workers: 4 },
        Warning::Interrupted,
        Warning::Accounting { terms: "started 10, committed 8, failed 1, unfinished 0".to_owned() },
        Warning::NothingMatched {
            statement: "UPDATE sbtest:{table} SET k=k+1 WHERE id=:id".to_owned(),
            count: 4711,
            others: 2,
        },
        Warning::KeysBeyondTable { asked: 100_000, holds: 10_000 },
        Warning::TablesRemade { left_pct: 12.3, added_pct: 0.0 },
        Warning::NotSettled { why: "must be superuser (42501)".to_owned() },
        Warning::NotWritten { why: "out/summary.json could not be written".to_owned() },
    ];
    let lines: Vec<String> = all.iter().map(ToString::to_string).collect();
    insta::assert_snapshot!(lines.join("\n"));
}
