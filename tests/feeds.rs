//! What other programs read of a run: pgbench's progress lines and logs, beside those of the real
//! pgbench, counters for Prometheus, and JSON on standard output.

mod common;

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;

use common::postgres::with_database;
use common::program::{Ended, Place};
use common::results::{Results, number};
use common::wait_until;

fn dbload(place: &Place, args: &str) -> Ended {
    place.dbload(&args.split_whitespace().collect::<Vec<_>>())
}

/// The lines of the only log in a folder, in columns.
fn log_in(folder: &Path, is_log: impl Fn(&str) -> bool) -> Vec<Vec<String>> {
    let names = std::fs::read_dir(folder).expect("a folder");
    let names =
        names.map(|entry| entry.expect("an entry").file_name().into_string().expect("UTF-8"));
    let logs: Vec<String> = names.filter(|name| is_log(name)).collect();
    let [log] = &logs[..] else { panic!("{logs:?}") };
    let text = std::fs::read_to_string(folder.join(log)).expect("a log");
    text.lines().map(|line| line.split(' ').map(str::to_owned).collect()).collect()
}

fn log_of(results: &Results) -> Vec<Vec<String>> {
    log_in(&results.folder, |name| name.ends_with(".log"))
}

fn integer(text: &str) -> u64 {
    text.parse().unwrap_or_else(|_| panic!("{text:?} is no number"))
}

#[test]
fn the_log_has_every_transaction_of_the_window_in_order() {
    let place = Place::new();
    let args = "run --init --scale 1 -S -c 3 -T 2 -P 0.5 --warmup 500ms -l";
    let results = dbload(&place, args).expect_code(0).results();
    let log = log_of(&results);
    assert_eq!(log.len() as u64, number(results.run(), "transactions"));
    let mut numbers = BTreeMap::new();
    let mut before_us = 0;
    for line in &log {
        assert_eq!(line.len(), 6, "{line:?}");
        let expected = numbers.entry(integer(&line[0])).or_insert(0);
        *expected += 1;
        assert_eq!(integer(&line[1]), *expected, "each client counts its own: {line:?}");
        let end_us = integer(&line[4]) * 1_000_000 + integer(&line[5]);
        assert!(end_us >= before_us, "{line:?} ended before the one above it");
        before_us = end_us;
    }
    assert_eq!(numbers.keys().copied().collect::<Vec<_>>(), [0, 1, 2]);
    let sum_ms: f64 = log.iter().map(|line| line[2].parse::<f64>().expect("us") / 1e3).sum();
    let mean_ms = sum_ms / log.iter().map(|_| 1.0).sum::<f64>();
    let known_ms = results.run()["latency_ms"]["mean"].as_f64().expect("a mean");
    assert!((mean_ms - known_ms).abs() < 0.001, "{mean_ms} {known_ms}: cut off to us");
}

#[test]
fn skipped_arrivals_are_in_the_log_and_numbered() {
    let place = Place::new();
    dbload(&place, "init --scale 1").expect_code(0);
    std::fs::write(place.path("slow.sql"), "\\sleep 30 ms\nSELECT 1;\n").expect("a script");
    let args = "run -f slow.sql -c 1 -T 2 -R 100 -L 50 --warmup 0 -l --max-tries 2";
    let results = dbload(&place, args).expect_code(0).results();
    let log = log_of(&results);
    let skipped = log.iter().filter(|line| line[2] == "skipped").count() as u64;
    assert!(skipped > 0);
    assert_eq!(skipped, number(results.run(), "skipped"));
    assert_eq!(log.len() as u64 - skipped, number(results.run(), "transactions"));
    for (line, expected) in log.iter().zip(1..) {
        assert_eq!(line.len(), 8, "lag and retries, too: {line:?}");
        assert_eq!(integer(&line[1]), expected);
    }
    assert!(log.iter().all(|line| line[2] != "skipped" || integer(&line[6]) > 50_000));
}

#[test]
fn the_aggregated_log_adds_up_with_the_last_stretch() {
    let place = Place::new();
    let args = "run --init --scale 1 -c 2 -T 3 --warmup 0 -l --aggregate-interval 2";
    let results = dbload(&place, args).expect_code(0).results();
    let log = log_of(&results);
    assert!(log.iter().all(|line| line.len() == 15), "{log:?}");
    let sum: u64 = log.iter().map(|line| integer(&line[1])).sum();
    assert_eq!(sum, number(results.run(), "transactions"));
    for pair in log.windows(2) {
        assert_eq!(integer(&pair[1][0]) - integer(&pair[0][0]), 2);
    }
    dbload(&place, "run -c 1 -t 1 --aggregate-interval 2").expect_refusal(&["--log"]);
}

/// Numbers as `#`, so that only the shape is left.
fn shape(line: &str) -> String {
    let mut shape = String::new();
    for c in line.chars() {
        let c = if c.is_ascii_digit() { '#' } else { c };
        if c != '#' || !shape.ends_with('#') {
            shape.push(c);
        }
    }
    shape
}

fn progress_shapes(talk: &str) -> Vec<String> {
    talk.lines().filter(|line| line.starts_with("progress: ")).map(shape).collect()
}

#[test]
fn progress_and_logs_have_the_shape_of_pgbenchs() {
    with_database("PG18", |database| {
        let place = Place::new();
        let bin = std::env::var("DBLOAD_TEST_PG18_BIN").expect("set with the URL");
        dbload(&place, &format!("init --scale 2 --target {}", database.url())).expect_code(0);
        let folder = place.path("pgbench");
        std::fs::create_dir(&folder).expect("a folder");
        for options in
            ["", "-R 100", "-R 100 -L 200", "-R 100 -L 200 --max-tries 3", "--max-tries 3"]
        {
            for aggregate in ["", " --aggregate-interval 1"] {
                let options = format!("-n -c 2 -T 2 -P 1 -l{aggregate} {options}");
                let done = std::process::Command::new(Path::new(&bin).join("pgbench"))
                    .args(options.split_whitespace())
                    .arg(database.url())
                    .current_dir(&folder)
                    .output()
                    .expect("pgbench starts");
                assert!(done.status.success(), "{options}: {done:?}");
                let theirs = log_in(&folder, |name| name.starts_with("pgbench_log."));
                for file in std::fs::read_dir(&folder).expect("a folder") {
                    std::fs::remove_file(file.expect("an entry").path()).expect("removed");
                }
                let args = format!(
                    "run {options} --warmup 0 --progress-format pgbench --target {}",
                    database.url()
                );
                let ended = dbload(&place, &args).expect_code(0);
                let ours = log_of(&ended.results());
                let columns = |log: &[Vec<String>]| log.first().map(Vec::len);
                assert_eq!(columns(&ours), columns(&theirs), "{options}");
                let (mine, known) = (
                    progress_shapes(&ended.stderr),
                    progress_shapes(&String::from_utf8_lossy(&done.stderr)),
                );
                assert_eq!(mine.len(), 2, "a line for each interval, the last included: {ended}");
                assert_eq!(mine.first(), known.first(), "{options}");
            }
        }
    });
}

fn get(address: &str, path: &str) -> String {
    let Ok(mut stream) = TcpStream::connect(address) else { return String::new() };
    let request = format!("GET {path} HTTP/1.1\r\nHost: {address}\r\n\r\n");
    stream.write_all(request.as_bytes()).expect("sent");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    answer
}

#[test]
fn counters_are_served_while_the_run_goes_on() {
    let place = Place::new();
    dbload(&place, "init --scale 1").expect_code(0);
    let free = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = free.local_addr().expect("an address").port();
    let refused = dbload(&place, &format!("run -c 1 -t 1 --prometheus {port}"));
    refused.expect_refusal(&["--prometheus", &port.to_string(), "in use"]);
    drop(free);

    let args = format!("run -c 2 -T 4 -P 0.5 --warmup 0 --prometheus {port}");
    let running = place.start(&args.split_whitespace().collect::<Vec<_>>());
    let address = format!("127.0.0.1:{port}");
    let counted = || {
        let answer = get(&address, "/metrics");
        let line = answer.lines().find(|line| line.starts_with("dbload_transactions_total{"));
        line.map_or(0, |line| integer(line.rsplit(' ').next().expect("a value")))
    };
    wait_until("the first interval", || counted() > 0);
    let early = counted();
    wait_until("the next interval", || counted() > early);
    assert!(get(&address, "/").starts_with("HTTP/1.1 404"));
    let answer = get(&address, "/metrics");
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4"));
    let count = answer.lines().find(|line| line.starts_with("dbload_service_seconds_count{"));
    assert!(count.is_some(), "{answer}");
    let results = running.wait().expect_code(0).results();
    assert!(early < number(results.run(), "transactions"));
}

#[test]
fn json_is_alone_on_standard_output_and_progress_goes_on_beside_it() {
    let place = Place::new();
    let args = "run --init --scale 1 -c 1 -T 1 --warmup 0 --json";
    let ended = dbload(&place, args).expect_code(0);
    let document: serde_json::Value = serde_json::from_str(&ended.stdout).expect("JSON, alone");
    assert_eq!(document["schema"], "dbload/summary/1");
    assert!(ended.stderr.contains(" tps "), "{ended}");
    let quiet = dbload(&place, "run -c 1 -T 1 --warmup 0 --json --quiet").expect_code(0);
    assert!(!quiet.stderr.contains(" tps "), "{quiet}");
}
