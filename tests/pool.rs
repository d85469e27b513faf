//! `--pool`: clients that share fewer connections, on PostgreSQL.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::fs;

use common::on_every_postgres;
use common::postgres::Database;
use common::program::{Ended, Place};
use common::results::number;

on_every_postgres![
    clients_share_the_connections_and_the_sums_hold,
    waiting_for_the_pool_is_a_distribution_of_its_own,
    session_sql_begins_every_connection_of_the_pool,
    results_can_be_kept_in_simple_protocol,
    errors_leave_nothing_on_a_connection_that_is_lent_again,
    connections_that_are_lost_are_made_again,
];

fn dbload(place: &Place, url: &str, args: &str, more: &[&str]) -> Ended {
    let words = args.split_whitespace().chain(["--target", url]).chain(more.iter().copied());
    place.dbload(&words.collect::<Vec<_>>())
}

fn clients_share_the_connections_and_the_sums_hold(db: &Database) {
    let place = Place::new();
    dbload(&place, &db.url(), "init --scale 1", &[]).expect_code(0);
    for protocol in ["prepared", "simple"] {
        let run = format!("run -c 4,16 --pool 3 -t 25 -M {protocol} --verify");
        let ended = dbload(&place, &db.url(), &run, &[]).expect_code(0);
        let results = ended.results();
        results.assert_consistent();
        assert_eq!(results.levels(), [4, 16]);
        for run in results.runs() {
            assert_eq!(number(run, "transactions"), 25 * number(run, "clients"));
            assert_eq!((number(run, "pool"), number(run, "workers")), (3, 1));
            assert!(run["connect_ms"].is_null(), "{run}");
            for statement in run["statements"].as_array().unwrap() {
                let ended = statement["text"].as_str().unwrap().len() < 6;
                let rows = if ended { 0 } else { number(run, "transactions") };
                assert_eq!(number(statement, "rows"), rows, "{statement}");
            }
        }
        assert_eq!(db.rows("pgbench_history"), 16 * 25);
    }
    db.sql("CREATE TABLE pids (pid int)");
    fs::write(place.path("pid.sql"), "INSERT INTO pids VALUES (pg_backend_pid());\n").unwrap();
    let run = "run --script pid.sql -c 12 --pool 4 -t 50";
    let ended = dbload(&place, &db.url(), run, &[]).expect_code(0);
    assert_eq!(db.sql("SELECT count(*), count(DISTINCT pid) FROM pids"), "600|4");
    assert!(ended.stdout.replace("\n          ", " ").contains("sharing a pool of 4 connections"));
}

fn waiting_for_the_pool_is_a_distribution_of_its_own(db: &Database) {
    let place = Place::new();
    fs::write(place.path("nap.sql"), "SELECT pg_sleep(0.01);\n").unwrap();
    let run = |clients: u32| {
        let run = format!("run --script nap.sql -c {clients} --pool 2 -t 20");
        let ended = dbload(&place, &db.url(), &run, &[]).expect_code(0);
        assert!(ended.stdout.contains("\nWaiting for the pool: "), "{ended}");
        ended.results().run().clone()
    };
    let figure = |run: &serde_json::Value, of: &str| run[of]["p50"].as_f64().unwrap();
    // Eight clients on two connections: three wait before each, 10 ms for each of them.
    let eight = run(8);
    assert!(figure(&eight, "pool_wait_ms") > 25.0, "{eight}");
    assert!(figure(&eight, "latency_ms") > 35.0, "{eight}");
    let alone = run(2);
    assert!(figure(&alone, "pool_wait_ms") < figure(&alone, "latency_ms") / 2.0, "{alone}");
}

fn session_sql_begins_every_connection_of_the_pool(db: &Database) {
    let place = Place::new();
    db.sql("CREATE TABLE seen (n int)");
    fs::write(place.path("one.sql"), "SELECT 1 / (current_setting('work_mem') = '5MB')::int;\n")
        .unwrap();
    let sql = ["--session-sql", "SET work_mem = '5MB'; INSERT INTO seen VALUES (1)"];
    let run = "run --script one.sql -c 6 --pool 3 -t 10";
    dbload(&place, &db.url(), run, &sql).expect_code(0);
    assert_eq!(db.rows("seen"), 3);
    let refused = |sql: &str, words: &[&str]| {
        let words = [&["--session-sql", sql], words].concat();
        dbload(&place, &db.url(), run, &["--session-sql", sql]).expect_refusal(&words);
    };
    refused("SET work_mme = 1", &["unrecognized configuration parameter", "42704"]);
    refused("BEGIN", &["leaves a transaction block open"]);
}

fn results_can_be_kept_in_simple_protocol(db: &Database) {
    let place = Place::new();
    let script = "SELECT 5 AS five, 'it''s' AS word \\gset\nSELECT 1 WHERE :five = 5;\n\
                  SELECT 1 WHERE :'word' = 'it''s';\n";
    fs::write(place.path("keep.sql"), script).unwrap();
    let run = "run --script keep.sql -c 3 --pool 2 -t 10";
    let results = dbload(&place, &db.url(), &format!("{run} -M simple"), &[]).expect_code(0);
    for statement in results.results().run()["statements"].as_array().unwrap() {
        assert_eq!(number(statement, "rows"), 30, "{statement}");
    }
    dbload(&place, &db.url(), run, &[]).expect_refusal(&["--pool", "\\gset", "--protocol simple"]);
    let refused = |options: &str, words: &[&str]| {
        let run = format!("run -S -c 3 -t 1 {options}");
        dbload(&place, &db.url(), &run, &[]).expect_refusal(words);
    };
    refused("--pool 2 -M extended", &["--pool", "prepared or simple"]);
    refused("--pool 2 --pipeline", &["--pool", "--pipeline"]);
    refused("--pool 2 --connect", &["--pool", "--connect"]);
    refused("--pool 2 --workers 2", &["--pool", "--workers"]);
    refused("--pool 0", &["--pool", "0"]);
    let sqlite = "run -S -c 3 -t 1 --pool 2";
    dbload(&place, "sqlite:t", sqlite, &[]).expect_refusal(&["--pool", "PostgreSQL"]);
}

fn errors_leave_nothing_on_a_connection_that_is_lent_again(db: &Database) {
    let place = Place::new();
    db.sql("CREATE TABLE t (id int)");
    // Half of the transactions fail within their block.
    let script = "\\set zero random(0, 1)\nBEGIN;\nINSERT INTO t VALUES (1);\n\
                  SELECT 1 / :zero;\nEND;\n";
    fs::write(place.path("half.sql"), script).unwrap();
    let run = "run --script half.sql -c 6 --pool 2 -t 40 --ignore-errors 22012";
    let results = dbload(&place, &db.url(), run, &[]).expect_code(0).results();
    results.assert_consistent();
    let (done, failed) = (number(results.run(), "transactions"), &results.run()["failed"]);
    assert_eq!(db.rows("t"), done);
    assert_eq!(done + number(failed, "total"), 240);
    assert_eq!(number(&failed["by_code"], "22012"), number(failed, "total"));
    assert!(done > 0 && number(failed, "total") > 0);
}

fn connections_that_are_lost_are_made_again(db: &Database) {
    let place = Place::new();
    let script = "SELECT 1;\nSELECT pg_terminate_backend(pg_backend_pid()) WHERE random() < 0.1;\n";
    fs::write(place.path("cut.sql"), script).unwrap();
    let run = "run --script cut.sql -c 4 --pool 2 -t 50";
    let results = dbload(&place, &db.url(), run, &[]).expect_code(0).results();
    results.assert_consistent();
    assert!(number(&results.run()["failed"], "total") > 0);
    assert!(number(results.run(), "transactions") > 100, "{}", results.run());
    assert_eq!(number(results.run(), "clients_lost"), 0);
}
