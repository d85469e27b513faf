//! The histogram logs of a run, read by two programs of others: they must find in them what
//! `summary.json` says. `eval "$(scripts/readers)"` fetches the programs; without them a test
//! prints SKIPPED, unless `DBLOAD_REQUIRE` holds `hdr`.

mod common;

use std::collections::BTreeMap;
use std::env;
use std::process::Command;

use common::program::Place;
use common::results::{Results, number};
use serde_json::Value;

/// Count, p50, p99 and maximum in nanoseconds.
type Figures = [u64; 4];

#[expect(clippy::print_stderr, reason = "a test that did not run must say so")]
fn reader(variable: &str) -> Option<String> {
    let found = env::var(variable).ok();
    let required = env::var("DBLOAD_REQUIRE").is_ok_and(|list| list.split(',').any(|e| e == "hdr"));
    assert!(found.is_some() || !required, "{variable} is not set, and DBLOAD_REQUIRE asks for it");
    if found.is_none() {
        eprintln!("SKIPPED: {variable} is not set (see scripts/readers)");
    }
    found
}

/// What a reader prints about a log, by tag.
fn read(program: &str, script: &str, log: &std::path::Path) -> BTreeMap<String, Figures> {
    let script = format!("{}/tests/data/readers/{script}", env!("CARGO_MANIFEST_DIR"));
    let done = Command::new(program).arg(script).arg(log).output().expect("the reader starts");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let text = String::from_utf8(done.stdout).expect("UTF-8");
    let line = |line: &str| {
        let (tag, figures) = line.split_once(' ').expect("a tag and figures");
        let figures: Vec<u64> =
            figures.split(' ').map(|figure| figure.parse().expect("a whole number")).collect();
        (tag.to_owned(), figures.try_into().expect("four figures"))
    };
    text.lines().map(line).collect()
}

/// A time of `summary.json` in nanoseconds.
fn nanoseconds(ms: &Value) -> u64 {
    let ns = ms.as_f64().expect("a time") * 1e6;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a rounded time")]
    let whole = ns.round() as u64;
    whole
}

fn figures(count: &Value, latency: &Value) -> Figures {
    let of = |name: &str| nanoseconds(&latency[name]);
    [count.as_u64().expect("a count"), of("p50"), of("p99"), of("max")]
}

/// What a reader should find.
fn expected(results: &Results) -> BTreeMap<String, Figures> {
    let run = results.run();
    let transactions = &run["transactions"];
    let mut all = BTreeMap::from([
        ("txn.service".to_owned(), figures(transactions, &run["latency_ms"])),
        ("txn.response".to_owned(), figures(transactions, &run["response_ms"])),
    ]);
    for (statement, number) in run["statements"].as_array().expect("statements").iter().zip(1..) {
        let found = figures(&statement["count"], &statement["latency_ms"]);
        all.insert(format!("stmt.{number}"), found);
    }
    all
}

fn assert_a_run_is_read_as(program: &str, script: &str) {
    let place = Place::new();
    // A round number of transactions: the readers round the rank of a percentile differently.
    let args = "run --init --scale 1 --workload simple-update --clients 2 --rate 400 \
                --transactions 500 --interval 500ms";
    let ended = place.dbload(&args.split_whitespace().collect::<Vec<_>>()).expect_code(0);
    let results = ended.results();
    assert_eq!(number(results.run(), "transactions"), 1000);
    let name = results.run()["hlog"].as_str().expect("a log");
    assert_eq!(name, "sqlite-r1-c2-simple-update.hlog");
    assert_eq!(read(program, script, &results.folder.join(name)), expected(&results));
    for kind in ["service", "response"] {
        let table = name.replace("hlog", &format!("{kind}.hgrm"));
        let table = std::fs::read_to_string(results.folder.join(table)).expect("a table");
        let total = format!("Total count    = {:>12}]", number(results.run(), "transactions"));
        assert!(table.contains(&total), "{table}");
    }
}

#[test]
fn the_python_package_reads_a_log_as_the_summary_says() {
    if let Some(python) = reader("DBLOAD_TEST_HDR_PYTHON") {
        assert_a_run_is_read_as(&python, "read.py");
    }
}

#[test]
fn the_npm_package_reads_a_log_as_the_summary_says() {
    if reader("DBLOAD_TEST_HDR_NODE").is_some() {
        assert_a_run_is_read_as("node", "read.js");
    }
}
