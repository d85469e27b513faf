//! How clients come by their sessions, on every engine: `--session-sql`, `--connect`.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::fs;

use common::on_every_postgres;
use common::postgres::Database;
use common::program::{Ended, Place};
use common::results::number;

on_every_postgres![
    session_sql_holds_for_every_client_and_for_nobody_else,
    session_sql_that_the_server_refuses_ends_the_run_before_it_measures,
    session_sql_runs_again_on_a_connection_that_is_made_again,
    a_connection_for_every_transaction_as_in_pgbench,
    statements_are_prepared_as_they_are_reached_on_a_connection_of_one_transaction,
    session_sql_runs_for_every_transaction_that_connects,
    clients_join_one_after_the_other,
];

/// Runs dbload on a target; of `args` those that hold blanks are words of their own.
fn dbload(place: &Place, url: &str, args: &str, more: &[&str]) -> Ended {
    let words = args.split_whitespace().chain(["--target", url]).chain(more.iter().copied());
    place.dbload(&words.collect::<Vec<_>>())
}

fn session_sql_holds_for_every_client_and_for_nobody_else(db: &Database) {
    let place = Place::new();
    dbload(&place, &db.url(), "init --scale 1", &[]).expect_code(0);
    // Divides by zero where the setting is another.
    let script = "SELECT 1 / (current_setting('work_mem') = '5MB')::int;\n\
                  SELECT 1 / (current_setting('app.who') = 'it''s me')::int;\n";
    fs::write(place.path("look.sql"), script).unwrap();
    let sql =
        ["--session-sql", "SET work_mem = '5MB'", "--session-sql", "SET app.who = 'it''s me'"];
    let run = "run --script look.sql --clients 3 --transactions 20";
    let ended = dbload(&place, &db.url(), run, &sql).expect_code(0);
    assert!(ended.stdout.contains("session   SET work_mem = '5MB'\n"), "{ended}");
    let results = ended.results();
    results.assert_consistent();
    let run = results.run();
    assert_eq!(number(run, "transactions"), 60);
    assert_eq!(run["session_sql"], serde_json::json!([sql[1], sql[3]]));
    // The connection that checks is another one, and would not be allowed to.
    let role = ["--session-sql", "SET default_transaction_read_only = on", "--verify"];
    dbload(&place, &db.url(), "run -S -c 1 -t 5", &role).expect_code(0);
}

fn session_sql_that_the_server_refuses_ends_the_run_before_it_measures(db: &Database) {
    let place = Place::new();
    dbload(&place, &db.url(), "init --scale 1", &[]).expect_code(0);
    let refused = |sql: &str, words: &[&str]| {
        let run = dbload(&place, &db.url(), "run -c 2 -t 5", &["--session-sql", sql]);
        run.expect_refusal(&[&["--session-sql", sql], words].concat());
    };
    refused("SET work_mme = 1", &["unrecognized configuration parameter \"work_mme\"", "42704"]);
    refused("BEGIN", &["leaves a transaction block open"]);
    refused(" ", &["empty"]);
    assert!(place.files().is_empty(), "{:?}", place.files());
}

fn session_sql_runs_again_on_a_connection_that_is_made_again(db: &Database) {
    let place = Place::new();
    let script = "SELECT 1 / (current_setting('work_mem') = '5MB')::int;\n\
                  SELECT pg_terminate_backend(pg_backend_pid()) WHERE random() < 0.1;\n";
    fs::write(place.path("cut.sql"), script).unwrap();
    let sql = ["--session-sql", "SET work_mem = '5MB'"];
    let run = "run --script cut.sql --clients 2 --transactions 100";
    let results = dbload(&place, &db.url(), run, &sql).expect_code(0).results();
    results.assert_consistent();
    let failed = &results.run()["failed"];
    assert!(number(failed, "total") > 0, "{failed}");
    assert!(failed["by_code"].get("22012").is_none(), "ran without its session SQL: {failed}");
}

#[test]
fn session_sql_on_mysql() {
    common::mysql::with_database(|db| {
        let place = Place::new();
        let script = "SELECT cast(@@lock_wait_timeout AS char) INTO @a;\n\
                      SELECT 1 FROM information_schema.schemata WHERE @a = '7' AND @b = 8 LIMIT 1;\n";
        fs::write(place.path("look.sql"), script).unwrap();
        let sql = ["--session-sql", "SET SESSION lock_wait_timeout = 7; SET @b = 8"];
        let run = "run --script look.sql --clients 2 --transactions 10";
        let results = dbload(&place, &db.url(), run, &sql).expect_code(0).results();
        assert_eq!(number(&results.run()["statements"][1], "rows"), 20);
        let wrong = ["--session-sql", "SET SESSION no_such_thing = 1"];
        dbload(&place, &db.url(), run, &wrong).expect_refusal(&["no_such_thing", "1193"]);
        let open = ["--session-sql", "START TRANSACTION"];
        dbload(&place, &db.url(), run, &open).expect_refusal(&["leaves a transaction block open"]);
    });
}

#[test]
fn session_sql_on_sqlite() {
    let place = Place::new();
    let url = "sqlite:t.sqlite";
    dbload(&place, url, "init --scale 1", &[]).expect_code(0);
    fs::write(place.path("look.sql"), "SELECT 1 FROM mine.t;\n").unwrap();
    let sql = ["--session-sql", "ATTACH ':memory:' AS mine; CREATE TABLE mine.t AS SELECT 1 AS a"];
    let run = "run --script look.sql --clients 2 --transactions 10";
    let results = dbload(&place, url, run, &sql).expect_code(0).results();
    assert_eq!(number(&results.run()["statements"][0], "rows"), 20);
    dbload(&place, url, run, &["--session-sql", "PRAGM x"]).expect_refusal(&["near \"PRAGM\""]);
    dbload(&place, url, run, &["--session-sql", "BEGIN"]).expect_refusal(&["block open"]);
}

/// Every transaction of these had a backend of its own, and both of its statements the same.
fn a_connection_for_every_transaction_as_in_pgbench(db: &Database) {
    let place = Place::new();
    db.sql("CREATE TABLE pids (pid int, client int)");
    let script = "INSERT INTO pids VALUES (pg_backend_pid(), :client_id);\n\
                  INSERT INTO pids VALUES (pg_backend_pid(), :client_id);\n";
    fs::write(place.path("pid.sql"), script).unwrap();
    let backends = "SELECT count(DISTINCT pid) || ' ' || count(DISTINCT client) || ' ' || count(*) \
                    FROM pids";
    for protocol in ["simple", "extended", "prepared"] {
        let run = format!("run --script pid.sql -C -M {protocol} -c 3 -t 20 -j 2");
        let ended = dbload(&place, &db.url(), &run, &[]).expect_code(0);
        assert_eq!(db.sql(backends), "60 3 120", "{protocol}");
        db.sql("TRUNCATE pids");
        let results = ended.results();
        results.assert_consistent();
        let run = results.run();
        assert!(ended.stdout.contains("a new connection for every"), "{ended}");
        assert!(ended.stdout.contains("\nConnecting: "), "{ended}");
        let (whole, connect) = (&run["latency_ms"], &run["connect_ms"]);
        for figure in ["min", "mean", "p50", "max"] {
            let (whole, connect) = (whole[figure].as_f64(), connect[figure].as_f64());
            assert!(0.0 < connect.unwrap() && connect < whole, "{figure}: {run}");
        }
        assert_eq!(run["outages"], serde_json::json!([]));
    }
    let script = place.path("pid.sql").display().to_string();
    let said = db.pgbench(&["-n", "-C", "-c", "3", "-t", "20", "-f", &script]);
    assert!(said.contains("average connection time"), "{said}");
    assert_eq!(db.sql(backends), "60 3 120");
    let kept = dbload(&place, &db.url(), "run --script pid.sql -c 1 -t 1", &[]).expect_code(0);
    assert!(kept.results().run()["connect_ms"].is_null());
}

fn statements_are_prepared_as_they_are_reached_on_a_connection_of_one_transaction(db: &Database) {
    let place = Place::new();
    // All that this connection has prepared: not the statement after it.
    let script = "SELECT 1 / (count(*) = 1)::int FROM pg_prepared_statements;\nSELECT 2;\n";
    fs::write(place.path("look.sql"), script).unwrap();
    dbload(&place, &db.url(), "run --script look.sql -C -c 1 -t 10", &[]).expect_code(0);
    let kept = script.replace("= 1)", "= 2)");
    fs::write(place.path("kept.sql"), kept).unwrap();
    dbload(&place, &db.url(), "run --script kept.sql -c 1 -t 10", &[]).expect_code(0);
}

fn session_sql_runs_for_every_transaction_that_connects(db: &Database) {
    let place = Place::new();
    db.sql("CREATE TABLE seen (at timestamptz DEFAULT now())");
    fs::write(place.path("one.sql"), "SELECT 1;\n").unwrap();
    let sql = ["--session-sql", "INSERT INTO seen DEFAULT VALUES"];
    dbload(&place, &db.url(), "run --script one.sql -C -c 2 -t 15", &sql).expect_code(0);
    assert_eq!(db.rows("seen"), 32, "30 transactions, and each client's first connection");
}

#[test]
fn a_connection_for_every_transaction_on_mysql() {
    common::mysql::with_database(|db| {
        let place = Place::new();
        db.sql("CREATE TABLE ids (id BIGINT)");
        fs::write(place.path("id.sql"), "INSERT INTO ids VALUES (connection_id());\n").unwrap();
        let run = "run --script id.sql -C -c 3 -t 20 -j 2";
        let results = dbload(&place, &db.url(), run, &[]).expect_code(0).results();
        results.assert_consistent();
        assert_eq!(db.number("SELECT count(DISTINCT id) FROM ids"), 60);
        assert!(results.run()["connect_ms"]["mean"].as_f64().unwrap() > 0.0);
    });
}

#[test]
fn a_connection_for_every_transaction_on_sqlite() {
    let place = Place::new();
    dbload(&place, "sqlite:t.sqlite", "init --scale 1", &[]).expect_code(0);
    // A second transaction on the same connection would find the table.
    fs::write(place.path("temp.sql"), "CREATE TEMP TABLE mine AS SELECT 1;\n").unwrap();
    let run = "run --script temp.sql -C -c 2 -t 20";
    let ended = dbload(&place, "sqlite:t.sqlite", run, &[]).expect_code(0);
    assert_eq!(number(ended.results().run(), "transactions"), 40);
}

fn clients_join_one_after_the_other(db: &Database) {
    let place = Place::new();
    db.sql("CREATE TABLE seen (client int, at timestamptz)");
    let script = "INSERT INTO seen VALUES (:client_id, clock_timestamp());\n\\sleep 20 ms\n";
    fs::write(place.path("seen.sql"), script).unwrap();
    let run = "run --script seen.sql -c 4 --ramp 2s --warmup 0 -T 1";
    let ended = dbload(&place, &db.url(), run, &[]).expect_code(0);
    let order = "SELECT string_agg(client::text, '' ORDER BY first) FROM \
                 (SELECT client, min(at) AS first FROM seen GROUP BY client) x";
    assert_eq!(db.sql(order), "0123");
    let results = ended.results();
    results.assert_consistent();
    assert_eq!(results.run()["ramp_s"], 2.0);
    assert!(ended.stdout.contains("joining over 2 s"), "{ended}");
    assert!(ended.stderr.contains("1s after 2s of ramp and 0s of warm-up"), "{ended}");
    assert!(ended.stderr.contains("(ramp)") && !ended.stderr.contains("(warm-up)"), "{ended}");
}
