//! How clients come by their sessions, on every engine: `--session-sql`, `--connect`.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::fs;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

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
    a_pipelined_transaction_is_one_round_trip,
    a_pipeline_is_said_and_never_compared_silently,
    deadlocks_within_a_pipeline_are_tried_again,
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

/// Counts the Sync messages of all clients that come to a PostgreSQL server through it: each is a
/// round trip.
struct Counting {
    port: u16,
    syncs: Arc<AtomicU64>,
}

impl Counting {
    fn new(server: String) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let syncs = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&syncs);
        thread::spawn(move || {
            for client in listener.incoming() {
                let (client, server) = (client.unwrap(), TcpStream::connect(&server).unwrap());
                let (mut back, mut to_client) =
                    (server.try_clone().unwrap(), client.try_clone().unwrap());
                thread::spawn(move || {
                    let _ = io::copy(&mut back, &mut to_client);
                    let _ = to_client.shutdown(Shutdown::Both);
                });
                let counted = Arc::clone(&counted);
                thread::spawn(move || forward(client, server, &counted));
            }
        });
        Self { port, syncs }
    }

    /// Sync messages since the last call.
    fn syncs(&self) -> u64 {
        self.syncs.swap(0, Ordering::Relaxed)
    }
}

fn forward(mut client: TcpStream, mut server: TcpStream, syncs: &AtomicU64) -> Option<()> {
    // The first message has no tag.
    let mut tag = None;
    loop {
        let mut length = [0; 4];
        client.read_exact(&mut length).ok()?;
        let mut body = vec![0; usize::try_from(u32::from_be_bytes(length)).ok()?.checked_sub(4)?];
        client.read_exact(&mut body).ok()?;
        if tag == Some(b'S') {
            syncs.fetch_add(1, Ordering::Relaxed);
        }
        server.write_all(&[tag.as_slice(), &length, &body].concat()).ok()?;
        let mut next = [0];
        client.read_exact(&mut next).ok()?;
        tag = Some(next[0]);
    }
}

fn a_pipelined_transaction_is_one_round_trip(db: &Database) {
    let place = Place::new();
    dbload(&place, &db.url(), "init --scale 1", &[]).expect_code(0);
    let url = db.url();
    let server = url.split(['@', '/']).find(|part| part.contains("127.0.0.1:")).unwrap();
    let counting = Counting::new(server.to_owned());
    let url = url.replace(server, &format!("127.0.0.1:{}", counting.port)) + "?sslmode=disable";
    let round_trips = |options: &str| {
        let mut counts = [0; 2];
        for (count, transactions) in counts.iter_mut().zip([10, 60]) {
            let run = format!("run -n --no-monitor -c 1 -t {transactions} {options}");
            let results = dbload(&place, &url, &run, &[]).expect_code(0).results();
            results.assert_consistent();
            assert_eq!(number(results.run(), "transactions"), transactions);
            *count = counting.syncs();
        }
        counts[1] - counts[0]
    };
    assert_eq!(round_trips("-M prepared"), 50 * 7);
    assert_eq!(round_trips("-M prepared --pipeline"), 50);
    assert_eq!(round_trips("-M extended --pipeline"), 50);
    assert_eq!(round_trips("-M extended --pipeline --connect"), 50);
    assert_eq!(db.rows("pgbench_history"), 4 * 70);
    dbload(&place, &db.url(), "verify", &[]).expect_code(0);
}

fn a_pipeline_is_said_and_never_compared_silently(db: &Database) {
    let place = Place::new();
    dbload(&place, &db.url(), "init --scale 1", &[]).expect_code(0);
    let run = "run -c 1,2 -t 50 --out";
    let ended = dbload(&place, &db.url(), &format!("{run} piped --pipeline"), &[]).expect_code(0);
    let said = "tpcb-like, scale 1, prepared statements, pipelined: one round trip a transaction";
    assert!(ended.stdout.replace("\n          ", " ").contains(said), "{ended}");
    let results = ended.results();
    results.assert_consistent();
    let run_of = &results.runs()[1];
    assert_eq!((number(run_of, "transactions"), &run_of["pipeline"]), (100, &true.into()));
    for statement in run_of["statements"].as_array().unwrap() {
        assert_eq!(number(statement, "count"), 100, "{statement}");
        // BEGIN and END have no rows.
        let rows = if statement["text"].as_str().unwrap().len() < 6 { 0 } else { 100 };
        assert_eq!(number(statement, "rows"), rows, "{statement}");
    }
    dbload(&place, &db.url(), &format!("{run} plain"), &[]).expect_code(0);
    let refused = place.dbload(&["compare", "piped", "plain"]).expect_code(1);
    let words = ["pipeline: ", "one round trip for each transaction", "a round trip for each"];
    assert!(words.iter().all(|word| refused.stderr.contains(word)), "{refused}");
}

fn deadlocks_within_a_pipeline_are_tried_again(db: &Database) {
    let place = Place::new();
    db.sql("CREATE TABLE pair (id int PRIMARY KEY, n int); INSERT INTO pair VALUES (1, 0), (2, 0)");
    let script = "\\set one random(1, 2)\nBEGIN;\n\
                  UPDATE pair SET n = n + 1 WHERE id = :one;\nSELECT pg_sleep(0.002);\n\
                  UPDATE pair SET n = n + 1 WHERE id = 3 - :one;\nEND;\n";
    fs::write(place.path("pair.sql"), script).unwrap();
    let run = "run --script pair.sql -c 4 -t 25 --max-tries 100 --pipeline --session-sql";
    let sql = "SET deadlock_timeout = '10ms'";
    let words: Vec<&str> = run.split(' ').chain([sql, "--target"]).collect();
    let results = place.dbload(&[words, vec![&db.url()]].concat()).expect_code(0).results();
    results.assert_consistent();
    assert_eq!(db.sql("SELECT string_agg(n::text, ' ') FROM pair"), "100 100");
    assert!(number(results.run(), "retries") > 0, "no deadlock: {}", results.run());
}

#[test]
fn what_cannot_be_one_pipeline_is_refused_with_its_reason() {
    let place = Place::new();
    let refused = |script: &str, url: &str, options: &str, words: &[&str]| {
        fs::write(place.path("s.sql"), script).unwrap();
        let run = format!("run --script s.sql -c 1 -t 1 --pipeline {options}");
        dbload(&place, url, &run, &[]).expect_refusal(&[&["--pipeline"], words].concat());
    };
    // Nothing is connected to.
    let pg = "postgres://nobody@127.0.0.1:1/none";
    refused("SELECT 1 AS a \\gset\nSELECT :a;\n", pg, "", &["script s ", "\\gset"]);
    refused("SELECT 1;\n\\sleep 1 s\n", pg, "", &["\\sleep"]);
    refused("\\startpipeline\nSELECT 1;\n\\endpipeline\n", pg, "", &["of its own"]);
    refused("SELECT 1\\; SELECT 2;\n", pg, "", &["simple protocol only", "\\;"]);
    refused("SELECT 1;\n", pg, "-M simple", &["simple protocol has no pipelines"]);
    refused("SELECT 1;\n", pg, "--connect", &["--protocol extended"]);
    refused("SELECT 1;\n", "mysql://nobody@127.0.0.1:1/none", "", &["PostgreSQL", "mysql"]);
    refused("SELECT 1;\n", "sqlite:none", "", &["PostgreSQL", "sqlite"]);
}
