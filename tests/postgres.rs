//! `dbload run` on PostgreSQL: sweeps, exact numbers of transactions, and what remains when a run
//! is interrupted or the server stands still.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::fs;
use std::thread::sleep;
use std::time::Duration;

use common::postgres::Database;
use common::program::{Ended, Place, send};
use common::results::{Results, number, read_intervals};
use common::{on_every_postgres, wait_until};
use rustix::process::Signal;

on_every_postgres![
    a_sweep_of_six_levels_is_complete_and_adds_up,
    transactions_leaves_exactly_that_many_rows_per_client,
    history_is_truncated_before_a_level_unless_told_not_to,
    a_mix_counts_each_of_its_scripts,
    statements_of_a_pipeline_have_their_rows_and_the_time_of_their_answers,
    sigint_in_the_third_of_six_levels_keeps_what_was_measured,
    sigint_leaves_the_rows_that_were_committed_and_at_most_the_unfinished_ones,
    sigterm_ends_with_143_and_a_report,
    a_stopped_server_shows_as_seconds_of_zero,
    a_statement_beyond_the_grace_time_is_cancelled_and_unfinished,
    init_leaves_existing_tables_alone_unless_told_to_replace_them,
    replace_refuses_a_table_of_that_name_with_other_columns,
    missing_tables_are_refused_with_the_command_that_makes_them,
    a_results_folder_that_cannot_be_written_is_refused_before_anything_is_touched,
    rounds_repeat_the_whole_sweep,
    clean_removes_what_init_made_and_nothing_else,
    more_clients_than_the_server_accepts_are_refused_before_anything_is_measured,
    workers_share_the_clients_and_tell_how_evenly,
    a_load_leaves_nothing_for_a_vacuum_to_do,
];

/// Runs dbload on the database; `args` are written as on a command line.
fn dbload(db: &Database, place: &Place, args: &str) -> Ended {
    place.dbload(&with_target(db, args))
}

fn with_target(db: &Database, args: &str) -> Vec<String> {
    let args = args.split_whitespace().map(str::to_owned);
    args.chain(["--target".to_owned(), db.url()]).collect()
}

fn a_sweep_of_six_levels_is_complete_and_adds_up(db: &Database) {
    let place = Place::new();
    let init = dbload(db, &place, "init --scale 3 --jobs 2").expect_code(0);
    for step in ["create", "load", "vacuum", "keys"] {
        assert!(init.output().contains(step), "no time of the step {step}\n{init}");
    }
    let run = "run --clients 2,4,8,16,32,64 --duration 1s --interval 250ms";
    let ended = dbload(db, &place, run).expect_code(0);
    let results = ended.results();
    results.assert_consistent();
    assert_eq!(results.levels(), [2, 4, 8, 16, 32, 64]);
    assert_eq!(results.summary["complete"], true);
    assert_eq!(results.summary["arms"][0]["engine"], "postgres");
    let version = db.sql("SHOW server_version");
    let reported = results.summary["arms"][0]["server_version"].as_str().unwrap();
    assert!(reported.contains(version.split(' ').next().unwrap()), "{reported}, {version}");
    for run in results.runs() {
        assert!(number(run, "transactions") > 0, "{run}");
        assert_eq!(run["protocol"], "prepared");
        assert!((run["duration_s"].as_f64().unwrap() - 1.0).abs() < 0.01, "{run}");
        assert_eq!(results.intervals_of(run).len(), 4);
        assert_latencies_are_ordered(run);
    }
    dbload(db, &place, "verify").expect_code(0);
}

fn assert_latencies_are_ordered(run: &serde_json::Value) {
    let keys = ["min", "p50", "p90", "p95", "p99", "p99_9", "p99_99", "max"];
    let values: Vec<f64> =
        keys.iter().map(|key| run["latency_ms"][key].as_f64().expect("a latency")).collect();
    assert!(values[0] > 0.0 && values.is_sorted(), "{keys:?} are {values:?}");
}

fn transactions_leaves_exactly_that_many_rows_per_client(db: &Database) {
    let place = Place::new();
    dbload(db, &place, "init --scale 8").expect_code(0);
    db.pgbench(&["-n", "-t", "25"]);
    let run = "run -n --clients 8 --transactions 1000";
    let results = dbload(db, &place, run).expect_code(0).results();
    results.assert_consistent();
    assert_eq!(db.rows("pgbench_history"), 8025);
    assert_eq!(number(results.run(), "transactions"), 8000);
    assert_eq!(number(results.run(), "unfinished"), 0);
    assert_eq!(number(&results.run()["failed"], "total"), 0);
    let by_client = db.number("SELECT sum(delta) FROM pgbench_history");
    assert_eq!(by_client, db.number("SELECT sum(abalance) FROM pgbench_accounts"));
}

fn history_is_truncated_before_a_level_unless_told_not_to(db: &Database) {
    let place = Place::new();
    dbload(db, &place, "init --scale 1").expect_code(0);
    dbload(db, &place, "run -c 1,2 -t 50").expect_code(0);
    assert_eq!(db.rows("pgbench_history"), 100, "the rows of the last level only");
    dbload(db, &place, "run -n -c 1,2 -t 50").expect_code(0);
    assert_eq!(db.rows("pgbench_history"), 250);
    dbload(db, &place, "verify").expect_code(0);
}

fn a_mix_counts_each_of_its_scripts(db: &Database) {
    let place = Place::new();
    dbload(db, &place, "init --scale 1").expect_code(0);
    let mix = "run --workload tpcb-like@1 --workload select-only@9 -c 2 -t 500";
    let results = dbload(db, &place, mix).expect_code(0).results();
    results.assert_consistent();
    let scripts = results.run()["scripts"].as_array().unwrap();
    let counts: Vec<u64> = scripts.iter().map(|script| number(script, "transactions")).collect();
    assert_eq!(counts.iter().sum::<u64>(), 1000);
    assert_eq!(db.rows("pgbench_history"), counts[0], "{scripts:?}");
    // 1000 draws with p = 0.1: ten standard deviations on each side.
    assert!((10..=200).contains(&counts[0]), "{counts:?}");
}

fn statements_of_a_pipeline_have_their_rows_and_the_time_of_their_answers(db: &Database) {
    let place = Place::new();
    let script = "SELECT 1;\n\\startpipeline\nSELECT 1 WHERE false;\n\\syncpipeline\n\
                  SELECT generate_series(1, 3);\nSELECT pg_sleep(0.02);\n\\endpipeline\n";
    fs::write(place.path("pipe.sql"), script).unwrap();
    let run = "run --script pipe.sql --clients 1 --transactions 20";
    let results = dbload(db, &place, run).expect_code(0).results();
    let statements = results.run()["statements"].as_array().unwrap();
    let rows: Vec<u64> = statements.iter().map(|statement| number(statement, "rows")).collect();
    assert_eq!(rows, [20, 0, 60, 20]);
    for statement in &statements[1..] {
        let shortest = statement["latency_ms"]["min"].as_f64().unwrap();
        assert!(shortest >= 19.5, "all wait for the last answer, within a bucket: {statement}");
    }
    let warnings = results.run()["warnings"].to_string();
    assert!(!warnings.contains("found a row: SELECT generate_series"), "{warnings}");
}

fn sigint_in_the_third_of_six_levels_keeps_what_was_measured(db: &Database) {
    let place = Place::new();
    dbload(db, &place, "init --scale 1").expect_code(0);
    let out = place.path("out");
    let run = "run --clients 1,2,3,4,5,6 --duration 2s --warmup 0 --interval 200ms --out out";
    let running = place.start(&with_target(db, run));
    wait_until("two intervals of the third level", || {
        read_intervals(&out).iter().filter(|row| row.clients == 3).count() >= 2
    });
    running.signal(Signal::INT);
    let ended = running.wait().expect_code(130);

    let results = Results::read(&out);
    results.assert_consistent();
    assert_eq!(results.levels(), [1, 2, 3]);
    assert_eq!(results.summary["complete"], false);
    let complete: Vec<bool> =
        results.runs().iter().map(|run| run["complete"].as_bool().unwrap()).collect();
    assert_eq!(complete, [true, true, false]);
    let partial = &results.runs()[2];
    assert!(number(partial, "transactions") > 0);
    assert!(partial["duration_s"].as_f64().unwrap() < 2.0, "{partial}");
    for clients in ["1", "2", "3"] {
        assert!(
            ended.stdout.lines().any(|line| {
                line.trim_start_matches([' ', '*']).split(' ').next() == Some(clients)
            }),
            "no line for {clients} clients in the report\n{ended}"
        );
    }
    assert!(ended.stdout.contains("not measured to the end"), "{ended}");
    dbload(db, &place, "verify").expect_code(0);
}

fn sigint_leaves_the_rows_that_were_committed_and_at_most_the_unfinished_ones(db: &Database) {
    let place = Place::new();
    dbload(db, &place, "init --scale 1").expect_code(0);
    let out = place.path("out");
    let run = "run --clients 8 --duration 60s --warmup 0 --interval 200ms --out out";
    let running = place.start(&with_target(db, run));
    wait_until("three intervals", || read_intervals(&out).len() >= 3);
    running.signal(Signal::INT);
    running.wait().expect_code(130);

    let results = Results::read(&out);
    results.assert_consistent();
    let committed = number(results.run(), "transactions");
    let unfinished = number(results.run(), "unfinished");
    wait_until("the server to end the sessions", || db.backends().is_empty());
    let rows = db.rows("pgbench_history");
    assert!(unfinished <= 8, "{unfinished} unfinished of 8 clients");
    assert!(
        (committed..=committed + unfinished).contains(&rows),
        "{rows} rows, {committed} committed, {unfinished} unfinished"
    );
}

fn sigterm_ends_with_143_and_a_report(db: &Database) {
    let place = Place::new();
    dbload(db, &place, "init --scale 1").expect_code(0);
    let out = place.path("out");
    let running = place
        .start(&with_target(db, "run -c 2 --duration 60s --warmup 0 --interval 200ms --out out"));
    wait_until("an interval", || !read_intervals(&out).is_empty());
    running.signal(Signal::TERM);
    let ended = running.wait().expect_code(143);
    Results::read(&out).assert_consistent();
    assert!(ended.stdout.contains("tps"), "{ended}");
}

fn a_stopped_server_shows_as_seconds_of_zero(db: &Database) {
    let place = Place::new();
    dbload(db, &place, "init --scale 1").expect_code(0);
    let out = place.path("out");
    let run = "run -S --clients 4 --duration 10s --warmup 0 --interval 1s --out out";
    let running = place.start(&with_target(db, run));
    wait_until("two intervals", || read_intervals(&out).len() >= 2);
    // The sessions of this database: other tests use the same server.
    let backends = db.backends();
    for &pid in &backends {
        send(pid, Signal::STOP);
    }
    sleep(Duration::from_secs(3));
    let written_meanwhile = read_intervals(&out).iter().any(|row| row.transactions == 0);
    for &pid in &backends {
        send(pid, Signal::CONT);
    }
    let ended = running.wait().expect_code(0);
    assert!(backends.len() >= 4, "{backends:?}");
    assert!(written_meanwhile, "the rows of the stall came only after it\n{ended}");

    let results = Results::read(&out);
    results.assert_consistent();
    assert_eq!(results.intervals.len(), 10, "{:?}", results.intervals);
    let empty = results.intervals.iter().filter(|row| row.transactions == 0).count();
    assert!((2..=3).contains(&empty), "{empty} seconds of 0 in {:?}", results.intervals);
    let stall_s = results.run()["variance"]["stall_s"].as_f64().unwrap();
    assert!((2.0..=4.0).contains(&stall_s), "stall_s is {stall_s}");
    let slowest_ms = results.run()["latency_ms"]["max"].as_f64().unwrap();
    assert!(slowest_ms > 2900.0, "the stalled transactions took {slowest_ms} ms");
}

fn a_statement_beyond_the_grace_time_is_cancelled_and_unfinished(db: &Database) {
    let place = Place::new();
    dbload(db, &place, "init --scale 1").expect_code(0);
    fs::write(place.path("slow.sql"), "SELECT pg_sleep(60);\n").unwrap();
    fs::write(place.path("fast.sql"), "SELECT 1;\n").unwrap();
    // Drawn from both scripts, every client soon stands in the slow one.
    let run =
        "run --script slow.sql@1 --script fast.sql@20 -c 3 --duration 2s --warmup 0 --grace 1s";
    let ended = dbload(db, &place, run).expect_code(0);
    let results = ended.results();
    results.assert_consistent();
    assert_eq!(number(results.run(), "unfinished"), 3, "{ended}");
    wait_until("the server to end the sessions", || db.backends().is_empty());
}

/// What would differ if the tables had been made again.
const IDENTITY: &str =
    "SELECT relname, oid, relfilenode FROM pg_class WHERE relname LIKE 'pgbench%' ORDER BY 1";

fn init_leaves_existing_tables_alone_unless_told_to_replace_them(db: &Database) {
    let place = Place::new();
    dbload(db, &place, "init --scale 1").expect_code(0);
    let before = db.sql(IDENTITY);
    dbload(db, &place, "init --scale 1").expect_refusal(&["pgbench_", "--replace"]);
    dbload(db, &place, "run --init --scale 2 -c 1 -t 5").expect_refusal(&["scale", "--replace"]);
    assert_eq!(db.sql(IDENTITY), before);
    dbload(db, &place, "run -n --init --scale 1 -c 1 -t 5").expect_code(0);
    assert_eq!(db.sql(IDENTITY), before);
    dbload(db, &place, "init --scale 2 --replace").expect_code(0);
    assert_ne!(db.sql(IDENTITY), before);
    assert_eq!(db.rows("pgbench_branches"), 2);
}

fn replace_refuses_a_table_of_that_name_with_other_columns(db: &Database) {
    let place = Place::new();
    db.sql("CREATE TABLE pgbench_accounts (mine text)");
    let before = db.sql(IDENTITY);
    dbload(db, &place, "init --scale 1 --replace").expect_refusal(&["pgbench_accounts"]);
    assert_eq!(db.sql(IDENTITY), before);
    dbload(db, &place, "clean").expect_refusal(&["pgbench_accounts"]);
    assert_eq!(db.sql(IDENTITY), before);
}

fn missing_tables_are_refused_with_the_command_that_makes_them(db: &Database) {
    let place = Place::new();
    dbload(db, &place, "run -c 1 -T 1").expect_refusal(&["dbload init"]);
    dbload(db, &place, "run -S -c 1 -T 1").expect_refusal(&["dbload init"]);
    dbload(db, &place, "verify").expect_refusal(&["dbload init"]);
    assert!(place.files().is_empty(), "{:?}", place.files());
}

fn a_results_folder_that_cannot_be_written_is_refused_before_anything_is_touched(db: &Database) {
    let place = Place::new();
    dbload(db, &place, "init --scale 1").expect_code(0);
    dbload(db, &place, "run -c 1 -t 20").expect_code(0);
    fs::write(place.path("file"), "").unwrap();
    // Below a file there is no folder, not even for root.
    dbload(db, &place, "run -c 1 -t 20 --out file/results").expect_refusal(&["file/results"]);
    assert_eq!(db.rows("pgbench_history"), 20, "the history was truncated");
}

fn rounds_repeat_the_whole_sweep(db: &Database) {
    let place = Place::new();
    dbload(db, &place, "init --scale 1").expect_code(0);
    let ended = dbload(db, &place, "run -c 1,2 -t 20 --rounds 2").expect_code(0);
    let results = ended.results();
    results.assert_consistent();
    assert_eq!(results.levels(), [1, 2, 1, 2]);
    let rounds: Vec<u64> = results.runs().iter().map(|run| number(run, "round")).collect();
    assert_eq!(rounds, [1, 1, 2, 2]);
}

fn clean_removes_what_init_made_and_nothing_else(db: &Database) {
    let place = Place::new();
    db.sql("CREATE TABLE mine (id int)");
    dbload(db, &place, "init --scale 1").expect_code(0);
    dbload(db, &place, "run -c 1 -t 5").expect_code(0);
    dbload(db, &place, "clean").expect_code(0);
    let tables = db.sql("SELECT relname FROM pg_class WHERE relkind = 'r' AND oid >= 16384");
    assert_eq!(tables, "mine");
}

fn more_clients_than_the_server_accepts_are_refused_before_anything_is_measured(db: &Database) {
    let place = Place::new();
    dbload(db, &place, "init --scale 1 --quiet").expect_code(0);
    let refused = dbload(db, &place, "run --clients 2,9000 --duration 1s");
    refused.expect_refusal(&["9000 clients", "accepts", "max_connections"]);
    assert!(place.files().is_empty(), "{:?}", place.files());
}

fn workers_share_the_clients_and_tell_how_evenly(db: &Database) {
    let place = Place::new();
    dbload(db, &place, "init --scale 1").expect_code(0);
    let run = "run --workload select-only --workers 2 --warmup 0 --interval 250ms";
    let ended = dbload(db, &place, &format!("{run} --clients 1,4 --duration 1s")).expect_code(0);
    let results = ended.results();
    let shares = |run: usize| results.runs()[run]["worker_shares"].as_array().unwrap();
    assert!(shares(0).is_empty(), "one client has one worker");
    assert_eq!(shares(1).len(), 2);
    let sum: u64 = shares(1).iter().map(|share| number(share, "transactions")).sum();
    assert_eq!(sum, number(&results.runs()[1], "transactions"));
    for share in shares(1) {
        let busy = share["busy"].as_f64().unwrap();
        assert!(number(share, "transactions") > 0 && busy > 0.0 && busy <= 1.1, "{share}");
    }
    assert!(ended.stdout.contains("4 clients: 2 workers, each "), "{ended}");
}

/// As `pgbench -i` leaves it: every row is known to be visible to all, whatever the connections.
fn a_load_leaves_nothing_for_a_vacuum_to_do(db: &Database) {
    let place = Place::new();
    for jobs in [1, 2] {
        dbload(db, &place, &format!("init --replace --scale 2 --jobs {jobs}")).expect_code(0);
        let plan = db.sql(
            "set enable_seqscan = off; set enable_bitmapscan = off;
             explain (analyze, costs off, timing off) select count(aid) from pgbench_accounts",
        );
        assert!(plan.contains("Index Only Scan"), "{plan}");
        assert!(plan.contains("Heap Fetches: 0"), "{jobs} jobs: {plan}");
    }
}
