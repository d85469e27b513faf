//! Counters of machine and server beside a run: rows at the edges of the window's intervals, that
//! add up to the figures of the summary.

mod common;

use std::collections::BTreeMap;
use std::path::Path;

use common::program::{Ended, Place};
use common::results::number;

fn dbload(place: &Place, args: &str) -> Ended {
    place.dbload(&args.split_whitespace().collect::<Vec<_>>())
}

/// Rows of a file of samples: name of the column to cell.
fn rows(file: &Path) -> Vec<BTreeMap<String, String>> {
    let mut reader = csv::Reader::from_path(file).expect("a file of samples");
    reader.deserialize().map(|row| row.expect("a row")).collect()
}

fn figure(row: &BTreeMap<String, String>, column: &str) -> f64 {
    row[column].parse().unwrap_or_else(|_| panic!("{column} is {:?}", row[column]))
}

#[test]
fn the_machine_is_sampled_at_the_edges_of_the_window_and_the_rows_add_up() {
    let place = Place::new();
    let args = "run --init --scale 1 --clients 1,2 --warmup 1s --duration 2s --interval 500ms";
    let ended = dbload(&place, args).expect_code(0);
    let results = ended.results();
    let samples = rows(&results.folder.join("host.csv"));
    for (run, clients) in results.runs().iter().zip(["1", "2"]) {
        let rows: Vec<_> = samples.iter().filter(|row| row["clients"] == clients).collect();
        let intervals: Vec<String> = rows.iter().map(|row| row["interval"].clone()).collect();
        assert_eq!(intervals, ["0", "1", "2", "3", "4"], "a sample at every edge, none before");
        assert!(rows[0]["context_switches_delta"].is_empty());
        let host = &run["host"];
        assert_eq!(host["same_machine"], true);
        for column in ["cpu_user_us", "context_switches", "client_user_us", "cpu_idle_us"] {
            let total = host["total"][column].as_f64().expect("a total");
            let deltas: f64 =
                rows[1..].iter().map(|row| figure(row, &format!("{column}_delta"))).sum();
            let between = figure(rows[4], column) - figure(rows[0], column);
            assert!(deltas == total && between == total, "{column}: {deltas} {between} {total}");
        }
        #[expect(clippy::cast_precision_loss, reason = "counts far below 2^53")]
        let transactions = number(run, "transactions") as f64;
        let switches = host["total"]["context_switches"].as_f64().expect("a total") / transactions;
        assert_eq!(host["per_txn"]["context_switches"].as_f64(), Some(switches));
        assert!(host["shares"]["cpu_user"].as_f64() > Some(0.0), "{host}");
    }
    assert!(ended.stdout.contains("Per transaction, on this machine"), "{ended}");
}

#[test]
fn without_a_monitor_nothing_is_sampled() {
    let place = Place::new();
    let args = "run --init --scale 1 --clients 1 --transactions 20 --no-monitor";
    let results = dbload(&place, args).expect_code(0).results();
    assert!(results.run()["host"].is_null() && results.run()["server"].is_null());
    assert!(!results.folder.join("host.csv").exists());
}
