//! `docs/output.md` names every field that dbload writes, and no field that it does not.

#![expect(clippy::unwrap_used, reason = "a file that cannot be read is a failed test")]

use std::collections::{BTreeMap, BTreeSet};

use dbload::plan::Protocol;
use dbload::report::csv::{RATIO_COLUMNS, RUN_COLUMNS};
use dbload::report::samples::LEADING;
use dbload::result::comparison::{Comparison, LevelComparison, Verdict};
use dbload::result::counters::{HOST, HostCounters, SERVER, ServerCounters};
use dbload::result::environment::{self, Machine, Storage};
use dbload::result::interval::HEADER;
use dbload::result::probe::{Probe, ProbeFlush, ProbeIo};
use dbload::result::run::{
    Failed, FailureSample, Outage, Script, Statement, StatementRates, WorkerShare,
};
use dbload::result::summary::{Arm, Program, SCHEMA};
use dbload::result::{Dip, DipEvents, Environment, Event, LatencyMs, Run, Summary, Variance};
use serde_json::Value;

/// The text of `docs/output.md` from one heading to the next of the same rank or above.
fn section(heading: &str) -> String {
    let path = format!("{}/docs/output.md", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).unwrap();
    let rank = heading.bytes().take_while(|&b| b == b'#').count();
    let ends = |line: &str| {
        let hashes = line.bytes().take_while(|&b| b == b'#').count();
        (1..=rank).contains(&hashes)
    };
    let mut lines = text.lines().skip_while(|line| *line != heading);
    assert!(lines.next().is_some(), "docs/output.md has no heading {heading}");
    lines.take_while(|line| !ends(line)).collect::<Vec<_>>().join("\n")
}

/// Words in backquotes, taken apart at dots, without the brackets of a list.
fn named_in(text: &str) -> BTreeSet<String> {
    text.split('`')
        .skip(1)
        .step_by(2)
        .flat_map(|code| code.split('.'))
        .map(|name| name.trim_end_matches("[]").to_owned())
        .collect()
}

/// Names in the first cells of the section's tables.
fn fields_in(text: &str) -> BTreeSet<String> {
    let first_cells = text.lines().filter_map(|line| line.strip_prefix("| ")?.split(" |").next());
    first_cells.flat_map(named_in).collect()
}

/// The names in the first cells of the section's tables, in their order.
fn columns_in(section: &str) -> Vec<String> {
    let cells = section.lines().filter_map(|line| line.strip_prefix("| `")?.split(" |").next());
    cells.flat_map(|cell| cell.split(", ")).map(|name| name.trim_matches('`').to_owned()).collect()
}

/// Every key of a document, at any depth. Keys of maps with free names (settings, codes) are
/// prefixed with `free:` in the fixture and left out.
fn keys_of(value: &Value, keys: &mut BTreeSet<String>) {
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                if !key.starts_with("free:") {
                    keys.insert(key.clone());
                }
                keys_of(value, keys);
            }
        }
        Value::Array(list) => list.iter().for_each(|value| keys_of(value, keys)),
        _ => {}
    }
}

fn free<V>(value: V) -> BTreeMap<String, V> {
    BTreeMap::from([("free:name".to_owned(), value)])
}

fn storage() -> Storage {
    Storage { geometry: free(String::new()), ..Storage::default() }
}

fn full_probe() -> Probe {
    Probe {
        read: Some(ProbeIo::default()),
        write: Some(ProbeIo::default()),
        flush: Some(ProbeFlush::default()),
        ..Probe::default()
    }
}

fn full_server() -> ServerCounters {
    ServerCounters { total: free(1.0), per_txn: free(1.0), hit_ratio: Some(1.0), waits: free(1.0) }
}

fn full_script() -> Script {
    Script {
        name: String::new(),
        weight: 1,
        source: String::new(),
        file: String::new(),
        sha256: String::new(),
        transactions: 1,
        tps: 1.0,
        failed: 0,
        retried: 0,
        retries: 0,
        latency_ms: LatencyMs::default(),
    }
}

fn full_statement() -> Statement {
    Statement {
        script: String::new(),
        n: 1,
        text: String::new(),
        count: 1,
        rows: 1,
        failed: 0,
        retries: 0,
        latency_ms: LatencyMs::default(),
    }
}

/// A run in which nothing is absent or empty.
fn full_run() -> Run {
    let latency = LatencyMs::default();
    Run {
        arm: String::new(),
        round: 1,
        workload: String::new(),
        scale: Some(1),
        tables: Some(1),
        table_size: Some(1),
        clients: 1,
        workers: 1,
        worker_shares: vec![WorkerShare { transactions: 1, busy: Some(1.0) }],
        protocol: Protocol::Prepared,
        pipeline: true,
        session_sql: vec![],
        rate_per_s: Some(1.0),
        ramp_s: Some(1.0),
        duration_s: 1.0,
        asked_s: Some(1.0),
        asked_transactions: Some(1),
        transactions: 1,
        tps: 1.0,
        ci_tps: Some([1.0, 1.0]),
        ess: Some(1.0),
        hlog: Some(String::new()),
        latency_ms: latency,
        response_ms: Some(latency),
        lag_ms: Some(latency),
        connect_ms: Some(latency),
        pool: Some(1),
        pool_wait_ms: Some(latency),
        schedule_error_ms: Some(latency),
        failed: Failed {
            total: 1,
            by_code: free(1),
            samples: vec![FailureSample { code: String::new(), text: String::new() }],
        },
        retried: 0,
        retries: 0,
        clients_lost: 0,
        skipped: 0,
        late: Some(0),
        unfinished: 0,
        queued_at_end: Some(0),
        outages: vec![Outage { start_s: 0.0, length_s: 0.0, clients: 1 }],
        statements_per_s: Some(StatementRates::default()),
        scripts: vec![full_script()],
        statements: vec![full_statement()],
        variance: Variance {
            dips: vec![Dip { start_s: 0.0, length_s: 0.0, depth_pct: 0.0 }],
            dip_events: vec![DipEvents { kind: String::new(), coincident: 1, covered: 1.0 }],
            ..Variance::default()
        },
        host: Some(HostCounters {
            same_machine: true,
            total: free(1.0),
            per_txn: free(1.0),
            shares: free(1.0),
        }),
        server: Some(full_server()),
        client_cpu_us_per_txn: Some(1.0),
        warnings: vec![],
        complete: true,
        unknown: vec![],
    }
}

fn full_comparison() -> Comparison {
    Comparison {
        baseline: String::new(),
        arm: String::new(),
        workload: String::new(),
        metric: String::new(),
        rounds: 8,
        paired: true,
        ratio: 1.0,
        ci_low: None,
        ci_high: None,
        p: None,
        p_holm: None,
        verdict: Verdict::Undetected,
        sentence: String::new(),
        margin: 0.03,
        mde: None,
        rounds_needed: None,
        levels: vec![LevelComparison {
            clients: 1,
            ratio: 1.0,
            ci_low: None,
            ci_high: None,
            p: None,
            p_holm: None,
        }],
    }
}

/// A summary in which nothing is absent or empty.
fn full_summary() -> Summary {
    Summary {
        schema: SCHEMA.to_owned(),
        dbload: Program { version: String::new(), command_line: String::new() },
        seed: 1,
        plan_hash: String::new(),
        complete: true,
        warnings: vec![],
        arms: vec![Arm {
            name: String::new(),
            target: String::new(),
            engine: String::new(),
            transport: None,
            server_version: None,
            settings: free(String::new()),
            storage: Some(storage()),
        }],
        runs: vec![full_run()],
        comparisons: vec![full_comparison()],
        probes: vec![full_probe()],
        probe_comparisons: vec![full_comparison()],
    }
}

fn full_environment() -> Environment {
    Environment {
        schema: environment::SCHEMA.to_owned(),
        machine: Machine::default(),
        storage: free(Some(storage())),
    }
}

#[test]
fn every_key_of_summary_json_is_defined() {
    let summary = serde_json::to_value(full_summary()).unwrap();
    let mut keys = BTreeSet::new();
    keys_of(&summary, &mut keys);
    let named = named_in(&(section("## `summary.json`") + &section("## `environment.json`")));
    let missing: Vec<_> = keys.difference(&named).collect();
    assert!(missing.is_empty(), "docs/output.md does not define {missing:?}");
}

#[test]
fn no_field_is_defined_that_summary_json_does_not_have() {
    let summary = serde_json::to_value(full_summary()).unwrap();
    let mut keys = BTreeSet::new();
    keys_of(&summary, &mut keys);
    let defined = fields_in(&section("## `summary.json`"));
    let foreign: Vec<_> = defined.difference(&keys).collect();
    assert!(foreign.is_empty(), "docs/output.md defines {foreign:?}, which is not written");
}

#[test]
fn columns_of_intervals_csv_are_defined_in_their_order() {
    assert_eq!(columns_in(&section("## `intervals.csv`")), HEADER);
}

#[test]
fn columns_of_the_printed_csv_are_defined_in_their_order() {
    assert_eq!(columns_in(&section("## Reports as CSV")), RUN_COLUMNS);
    assert_eq!(columns_in(&section("### Ratios as CSV")), RATIO_COLUMNS);
}

#[test]
fn columns_of_host_csv_are_defined_in_their_order() {
    let leading = LEADING.map(str::to_owned).into_iter();
    let figures = HOST.iter().map(|column| column.name.to_owned());
    assert_eq!(columns_in(&section("## `host.csv`")), leading.chain(figures).collect::<Vec<_>>());
}

#[test]
fn columns_of_server_csv_are_defined_in_their_order() {
    let leading = LEADING.map(str::to_owned).into_iter();
    let figures = SERVER.iter().map(|column| column.name.to_owned());
    let expected: Vec<_> = leading.chain(figures).chain(["waits".to_owned()]).collect();
    assert_eq!(columns_in(&section("## `server.csv`")), expected);
}

#[test]
fn keys_of_events_jsonl_are_those_defined() {
    let event = Event {
        arm: String::new(),
        round: 1,
        workload: String::new(),
        clients: 1,
        kind: String::new(),
        subject: None,
        start_s: 0.0,
        end_s: None,
        time: String::new(),
        count: 1,
        text: None,
    };
    let mut keys = BTreeSet::new();
    keys_of(&serde_json::to_value(event).unwrap(), &mut keys);
    let defined: BTreeSet<String> = columns_in(&section("## `events.jsonl`")).into_iter().collect();
    assert_eq!(defined, keys);
}

#[test]
fn keys_of_environment_json_are_those_defined() {
    let mut keys = BTreeSet::new();
    keys_of(&serde_json::to_value(full_environment()).unwrap(), &mut keys);
    assert_eq!(fields_in(&section("## `environment.json`")), keys);
}

#[test]
fn the_versions_that_are_defined_are_those_that_are_written() {
    assert!(section("## `summary.json`").contains(&format!("`{SCHEMA}`")));
    assert!(section("## `environment.json`").contains(&format!("`{}`", environment::SCHEMA)));
}
