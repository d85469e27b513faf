//! Counters of machine and server beside a run: rows at the edges of the window's intervals, that
//! add up to the figures of the summary.

mod common;

use std::collections::BTreeMap;
use std::path::Path;

use common::mysql;
use common::postgres::Database;
use common::program::{Ended, Place};
use common::results::{Results, number, read_intervals};
use common::{on_every_postgres, wait_until};
use serde_json::Value;

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
        // A reader of JSON may be off in the last digit.
        let written = host["per_txn"]["context_switches"].as_f64().expect("a figure");
        assert!((written / switches - 1.0).abs() < 1e-12, "{written} {switches}");
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

fn events(results: &Results) -> Vec<Value> {
    let text = std::fs::read_to_string(results.folder.join("events.jsonl")).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).expect("an event")).collect()
}

#[test]
fn sqlite_tells_the_size_of_its_log_and_its_checkpoints() {
    let place = Place::new();
    let args = "run --init --scale 1 --clients 2 --warmup 0 --duration 2s --interval 500ms";
    let results = dbload(&place, args).expect_code(0).results();
    let samples = rows(&results.folder.join("server.csv"));
    assert_eq!(samples.len(), 5);
    assert!(samples.iter().all(|row| figure(row, "database_bytes") > 0.0));
    assert!(samples.iter().all(|row| row["wal_bytes"].is_empty()), "it has no such counter");
    let grown = results.run()["server"]["total"]["checkpoints"].as_f64().expect("checkpoints");
    let counted: u64 = events(&results).iter().map(|event| number(event, "count")).sum();
    #[expect(clippy::cast_precision_loss, reason = "a small count")]
    let counted = counted as f64;
    assert_eq!(counted, grown, "each stretch of checkpoints is an event");
}

fn counters_of_the_server_add_up_and_a_checkpoint_is_an_event(database: &Database) {
    let place = Place::new();
    let url = format!("a={}", database.url());
    let out = place.path("out");
    let init = ["init", "--target", &database.url(), "--scale", "2"];
    place.dbload(&init).expect_code(0);
    let args = ["run", "--target", &url, "-c", "2", "--warmup", "0", "-T", "4", "--out", "out"];
    let running = place.start(&args);
    wait_until("the first interval", || !read_intervals(&out).is_empty());
    database.sql("CHECKPOINT");
    let results = running.wait().expect_code(0).results();

    let samples = rows(&results.folder.join("server.csv"));
    let edges: Vec<&str> = samples.iter().map(|row| row["interval"].as_str()).collect();
    assert_eq!(edges, ["0", "1", "2", "3", "4"]);
    let server = &results.run()["server"];
    let between = figure(&samples[4], "wal_bytes") - figure(&samples[0], "wal_bytes");
    assert_eq!(server["total"]["wal_bytes"].as_f64(), Some(between));
    assert!(server["per_txn"]["wal_bytes"].as_f64() > Some(100.0), "{server}");
    assert!(server["hit_ratio"].as_f64() > Some(0.5), "{server}");

    let all = events(&results);
    let checkpoints: Vec<&Value> =
        all.iter().filter(|event| event["kind"] == "checkpoint").collect();
    let [checkpoint] = checkpoints[..] else { panic!("{all:?}") };
    let second = |key: &str| checkpoint[key].as_f64().expect("a time");
    // The server keeps whole seconds, of which the middle is taken.
    assert!(second("start_s") > 0.4 && second("end_s") < 4.6, "{checkpoint}");
    assert!(second("start_s") <= second("end_s"), "{checkpoint}");
}

#[test]
fn innodb_tells_what_it_wrote_and_flushed() {
    mysql::with_database(|database| {
        let place = Place::new();
        let url = database.url();
        place.dbload(&["init", "--target", &url, "--scale", "2"]).expect_code(0);
        let args = ["run", "--target", &url, "-c", "2", "--warmup", "0", "-T", "3"];
        let ended = place.dbload(&args).expect_code(0);
        let results = ended.results();
        let samples = rows(&results.folder.join("server.csv"));
        let edges: Vec<&str> = samples.iter().map(|row| row["interval"].as_str()).collect();
        assert_eq!(edges, ["0", "1", "2", "3"]);
        let server = &results.run()["server"];
        let columns =
            ["wal_bytes", "data_writes", "data_written_bytes", "pages_flushed", "blocks_hit"];
        for column in columns {
            let between = figure(&samples[3], column) - figure(&samples[0], column);
            assert_eq!(server["total"][column].as_f64(), Some(between), "{column}");
        }
        for moment in ["checkpoint_age_bytes", "history_list_length", "uptime_s"] {
            assert!(figure(&samples[3], moment) >= 0.0);
        }
        assert!(server["per_txn"]["wal_bytes"].as_f64() > Some(100.0), "{server}");
        assert!(ended.stdout.contains("Per transaction, by InnoDB's counters"), "{ended}");
    });
}

on_every_postgres!(counters_of_the_server_add_up_and_a_checkpoint_is_an_event);
