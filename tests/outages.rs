//! Connections that are lost and servers that stand still or are restarted, while a run goes on to
//! its end. `scripts/outages` does the same many times in a row.

mod common;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use common::postgres::Database;
use common::program::{Ended, Place, send};
use common::results::{Results, number, read_intervals};
use common::{on_every_postgres, wait_until};
use rustix::process::Signal;
use serde_json::Value;

/// A server of a test's own, which may be restarted.
struct Server {
    name: &'static str,
    folder: PathBuf,
    url: String,
}

impl Server {
    /// Starts the server `name` if the tests have such a one, named by `variable`.
    fn start(name: &'static str, variable: &str) -> Option<Self> {
        std::env::var_os(variable)?;
        let started = script(&["start", name]).env_remove("DBLOAD_SERVERS_DIR").output();
        let started = started.expect("the script starts");
        let text = String::from_utf8(started.stdout).expect("UTF-8");
        assert!(started.status.success(), "{}", String::from_utf8_lossy(&started.stderr));
        let value = |key: &str| {
            let (_, rest) = text.split_once(&format!("{key}='")).expect(key);
            rest.split_once('\'').expect("a quote").0.to_owned()
        };
        Some(Self { name, folder: value("DBLOAD_SERVERS_DIR").into(), url: value(variable) })
    }

    /// Ends it at once, as a crash would, and starts it again at the same port.
    fn restart(&self) {
        let mut restart = script(&["restart", self.name]);
        restart.env("DBLOAD_SERVERS_DIR", &self.folder).stdout(Stdio::null());
        assert!(restart.status().expect("the script starts").success(), "no restart");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Nothing can be done about a failure here.
        let _ = script(&["stop"]).arg(&self.folder).stderr(Stdio::null()).status();
    }
}

fn script(args: &[&str]) -> Command {
    let mut script = Command::new(Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/servers"));
    script.args(args).stdin(Stdio::null());
    script
}

fn seconds(object: &Value, key: &str) -> f64 {
    object[key].as_f64().unwrap_or_else(|| panic!("no {key} in {object}"))
}

/// Fails the test unless the run went on to its end, has every interval, told of its outages and
/// the tables add up.
fn assert_survived(ended: &Ended, intervals: usize, clients: u64) -> Results {
    let results = ended.results();
    results.assert_consistent();
    let run = results.run();
    assert_eq!(run["complete"], true, "{run}");
    assert_eq!(results.intervals_of(run).len(), intervals, "no interval is missing");
    assert_eq!(number(run, "clients_lost"), 0, "{run}");
    assert!(!run["warnings"].to_string().contains("do not add up"), "{run}");
    let outages = run["outages"].as_array().expect("outages");
    let without: u64 = outages.iter().map(|outage| number(outage, "clients")).sum();
    assert!(without >= clients, "each client was without a connection: {outages:?}");
    for outage in outages {
        assert!(seconds(outage, "start_s") > 0.0, "{outage}");
        // At least the first pause before connecting again.
        assert!(seconds(outage, "length_s") >= 0.01, "{outage}");
    }
    assert!(ended.stdout.contains("without connection: "), "{ended}");
    results
}

/// The kinds of events.
fn kinds(results: &Results) -> BTreeSet<String> {
    let text = std::fs::read_to_string(results.folder.join("events.jsonl")).expect("events");
    let kind = |line: &str| {
        let event: Value = serde_json::from_str(line).expect("an event");
        event["kind"].as_str().expect("a kind").to_owned()
    };
    text.lines().map(kind).collect()
}

/// A run in the middle of which `break_it` happens: the run in the summary, and the kinds of events.
fn run_through(url: &str, break_it: impl FnOnce()) -> (Value, BTreeSet<String>) {
    let place = Place::new();
    place.dbload(&["init", "--target", url, "--scale", "8"]).expect_code(0);
    let args = ["run", "--target", url, "-c", "8", "-T", "6", "--verify", "--out", "out"];
    let running = place.start(&args);
    wait_until("the first interval", || !read_intervals(&place.path("out")).is_empty());
    break_it();
    // --verify finds what was written in part.
    let results = assert_survived(&running.wait().expect_code(0), 6, 8);
    let kinds = kinds(&results);
    for kind in ["error", "reconnect", "outage"] {
        assert!(kinds.contains(kind), "no {kind} in {kinds:?}");
    }
    (results.run().clone(), kinds)
}

fn ended_backends_are_an_outage_and_nothing_is_lost(database: &Database) {
    let (run, _) = run_through(&database.url(), || {
        database.sql(
            "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
             WHERE datname = current_database() AND pid <> pg_backend_pid()",
        );
    });
    // 57P01, or a lost connection where the client was just sending.
    assert!(number(&run["failed"], "total") >= 8, "{run}");
}

#[test]
fn a_postgres_that_crashes_and_comes_back_is_an_outage_and_a_restart() {
    let Some(server) = Server::start("pg18", "DBLOAD_TEST_PG18_URL") else { return };
    let (_, kinds) = run_through(&server.url, || server.restart());
    assert!(kinds.contains("restart"), "{kinds:?}");
}

#[test]
fn a_mariadb_that_is_killed_and_started_is_an_outage_and_a_restart() {
    if std::env::var("DBLOAD_TEST_MYSQL").is_ok_and(|name| name != "mariadb") {
        return;
    }
    let Some(server) = Server::start("mariadb", "DBLOAD_TEST_MYSQL_URL") else { return };
    let (_, kinds) = run_through(&server.url, || server.restart());
    assert!(kinds.contains("restart"), "{kinds:?}");
}

const RATE: u64 = 200;
const SECONDS: u64 = 8;

fn a_server_that_stands_still_is_in_the_response_time_alone(database: &Database) {
    let place = Place::new();
    let url = database.url();
    place.dbload(&["init", "--target", &url, "--scale", "1"]).expect_code(0);
    let args = format!(
        "run --workload select-only -c 2 --rate {RATE} --arrival constant --warmup 0 -T {SECONDS} \
         -l --out out --no-monitor --target {url}"
    );
    let running = place.start(&args.split_whitespace().collect::<Vec<_>>());
    wait_until("the first interval", || !read_intervals(&place.path("out")).is_empty());
    let backends = database.backends();
    backends.iter().for_each(|pid| send(*pid, Signal::STOP));
    std::thread::sleep(Duration::from_secs(2));
    backends.iter().for_each(|pid| send(*pid, Signal::CONT));
    let results = running.wait().expect_code(0).results();
    let run = results.run();
    assert!(!run["warnings"].to_string().contains("do not add up"), "{run}");
    assert_eq!(number(&run["failed"], "total"), 0);
    assert_eq!(run["outages"], serde_json::json!([]), "nobody lost a connection");

    // A quarter of the arrivals came while the server stood still, and waited up to 2 s for it; two
    // transactions were in flight.
    let (service, response) = (&run["latency_ms"], &run["response_ms"]);
    assert!(seconds(response, "p90") > 800.0, "{response}");
    assert!(seconds(response, "max") > 1900.0, "{response}");
    assert!(seconds(service, "max") > 1900.0, "{service}");
    let log = log_of(&results);
    let slow = log.iter().filter(|line| line.service_us > 1_000_000).count();
    assert!(slow <= 2, "{slow} of two clients were in flight for so long");

    // The schedule has exactly so many arrivals, and each is somewhere.
    let terms = ["transactions", "unfinished", "queued_at_end", "skipped"];
    let seen: u64 = terms.map(|term| number(run, term)).iter().sum();
    assert_eq!(seen, RATE * SECONDS, "{run}");
    // None was shifted: each has its place on the grid, none has another one's.
    let first_us = log.iter().map(|line| line.intended_us).min().expect("a transaction");
    let gap_us = 1_000_000 / RATE;
    let mut places = BTreeSet::new();
    for line in &log {
        // What is logged is cut off to microseconds, in both terms.
        let since_us = line.intended_us - first_us + gap_us / 2;
        let off_us = (since_us % gap_us).abs_diff(gap_us / 2);
        assert!(off_us <= 3, "an arrival {off_us} us beside its time");
        assert!(places.insert(since_us / gap_us), "two arrivals at one time");
    }
    assert_eq!(places.len() as u64, number(run, "transactions"));
    assert!(places.last() < Some(&(RATE * SECONDS)), "one after the end");
}

/// A committed transaction of the log.
struct Logged {
    intended_us: u64,
    service_us: u64,
}

fn log_of(results: &Results) -> Vec<Logged> {
    let files = std::fs::read_dir(&results.folder).expect("the results");
    let log = files.map(|entry| entry.expect("an entry").path());
    let log = log.filter(|path| path.extension().is_some_and(|ending| ending == "log"));
    let text: String = log.map(|path| std::fs::read_to_string(path).expect("a log")).collect();
    let logged = |line: &str| {
        let words: Vec<u64> = line.split(' ').map(|word| word.parse().expect("a number")).collect();
        let [_client, _number, time_us, _script, seconds, us, lag_us] = words[..] else {
            panic!("{line}")
        };
        Logged { intended_us: seconds * 1_000_000 + us - time_us, service_us: time_us - lag_us }
    };
    text.lines().map(logged).collect()
}

on_every_postgres!(
    ended_backends_are_an_outage_and_nothing_is_lost,
    a_server_that_stands_still_is_in_the_response_time_alone,
);
