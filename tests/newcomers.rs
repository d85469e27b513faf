//! What somebody meets in the first hour: another server's port, a script that is wrong, options that
//! have no effect.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::fs;
use std::panic::AssertUnwindSafe;

use common::postgres::Database;
use common::program::{Ended, Place};
use common::results::number;
use common::{on_every_postgres, wait_until};

on_every_postgres![
    a_script_that_always_fails_says_where_and_why_before_anything_else,
    a_scale_that_is_not_the_tables_is_said_to_have_no_effect,
    a_client_of_mysql_is_told_that_the_server_is_postgres,
    two_loads_of_one_database_are_kept_apart,
];

fn dbload(place: &Place, url: &str, args: &str) -> Ended {
    place.dbload(&args.split_whitespace().chain(["--target", url]).collect::<Vec<_>>())
}

fn a_script_that_always_fails_says_where_and_why_before_anything_else(db: &Database) {
    let place = Place::new();
    fs::write(place.path("bad.sql"), "SELECT 1;\nSELECT nope FROM nowhere;\n").unwrap();
    let run = "run --script bad.sql -c 2 -T 1 --warmup 0";
    let ended = dbload(&place, &db.url(), run).expect_code(2);
    let report = "Failed transactions by code\n2 clients: 42P01 x 2\n    \
                  42P01: relation \"nowhere\" does not exist\n    \
                  2 at statement 2 of bad: SELECT nope FROM nowhere\n";
    assert!(ended.stdout.ends_with(report), "{ended}");
    let first = ended.stderr.split("warning: ").nth(1).unwrap_or_default();
    let first = first.split_whitespace().collect::<Vec<_>>().join(" ");
    let why = "2 failed: \"SELECT nope FROM nowhere\" (script bad) met: relation \"nowhere\" does \
               not exist (42P01)";
    assert!(first.contains(why), "{ended}");
    assert!(!ended.stderr.contains("too short"), "{ended}");

    // Before the window, too.
    let run = "run --script bad.sql -c 2 -T 1 --warmup 100ms";
    let ended = dbload(&place, &db.url(), run).expect_code(2);
    let first = ended.stderr.split("warning: ").nth(1).unwrap_or_default();
    let first = first.split_whitespace().collect::<Vec<_>>().join(" ");
    let why = "no transaction committed: relation \"nowhere\" does not exist (42P01) (script bad)";
    assert!(first.contains(why) && !ended.stdout.contains("p99"), "{ended}");
}

fn a_scale_that_is_not_the_tables_is_said_to_have_no_effect(db: &Database) {
    let place = Place::new();
    dbload(&place, &db.url(), "init --scale 1").expect_code(0);
    let other = dbload(&place, &db.url(), "run -s 5 -c 1 -t 5").expect_code(0);
    let said = other.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("--scale 5 has no effect: the tables were loaded at scale 1"), "{other}");
    assert_eq!(number(other.results().run(), "scale"), 1);
    let same = dbload(&place, &db.url(), "run -s 1 -c 1 -t 5").expect_code(0);
    assert!(!same.stderr.contains("has no effect"), "{same}");
}

fn a_client_of_mysql_is_told_that_the_server_is_postgres(db: &Database) {
    let place = Place::new();
    let url = db.url();
    let server = url.split(['@', '/']).find(|part| part.contains("127.0.0.1:")).unwrap();
    let url = format!("mysql://somebody@{server}/x?connect-timeout=1");
    dbload(&place, &url, "run -S -c 1 -t 1").expect_refusal(&[
        server,
        "is a PostgreSQL server",
        "--target postgres://",
    ]);
}

#[test]
fn a_client_of_postgres_is_told_that_the_server_is_another() {
    common::mysql::with_database(|db| {
        let place = Place::new();
        let url = db.url();
        let server = url.split(['@', '/']).find(|part| part.contains("127.0.0.1:")).unwrap();
        for options in ["", "?sslmode=disable", "?sslmode=require"] {
            let url = format!("postgres://somebody@{server}/x{options}");
            dbload(&place, &url, "run -S -c 1 -t 1").expect_refusal(&[
                server,
                "PostgreSQL server",
                "--target mysql://",
            ]);
        }
    });
}

#[test]
fn mariadb_is_called_by_its_name_and_nothing_is_vacuumed_there() {
    common::mysql::with_database(|db| {
        let place = Place::new();
        let loaded = dbload(&place, &db.url(), "init --scale 1").expect_code(0);
        let said = loaded.output();
        assert!(said.contains("analyzing...") && !said.contains("vacuum"), "{loaded}");
        let version = db.sql("SELECT version()");
        let ran = dbload(&place, &db.url(), "run -S -c 1 -t 5").expect_code(0);
        let target = ran.stdout.split("workload").next().unwrap();
        assert_eq!(target.contains("MySQL"), !version.contains("MariaDB"), "{version}: {ran}");
        assert!(target.contains(version.trim()), "{ran}");
    });
}

#[test]
fn workers_are_said_to_have_no_effect_on_sqlite() {
    let place = Place::new();
    dbload(&place, "sqlite:t.sqlite", "init --scale 1").expect_code(0);
    let ended = dbload(&place, "sqlite:t.sqlite", "run -S -c 1 -t 5 -j 3").expect_code(0);
    assert!(ended.stderr.contains("--workers 3 has no effect on SQLite"), "{ended}");
}

#[test]
fn a_refused_load_leaves_no_file_of_sqlite() {
    let place = Place::new();
    let huge = dbload(&place, "sqlite:huge.sqlite", "init --scale 20000000");
    huge.expect_refusal(&["nothing was touched"]);
    assert!(place.files().is_empty(), "{:?}", place.files());
}

#[test]
fn help_is_found_where_it_is_looked_for() {
    let place = Place::new();
    for args in [&["run", "--help"][..], &["help", "run"], &["run", "-h"], &["run", "-?"]] {
        let help = place.dbload(args).expect_code(0).stdout;
        assert!(help.contains("Usage: dbload run") && help.contains("--session-sql"), "{help}");
    }
    assert!(place.dbload(&["-h"]).expect_code(0).stdout.contains("Usage: dbload <COMMAND>"));
    assert!(place.files().is_empty(), "{:?}", place.files());
}

fn two_loads_of_one_database_are_kept_apart(db: &Database) {
    let place = Place::new();
    dbload(&place, &db.url(), "init --scale 1").expect_code(0);
    let other = db.sibling();
    std::thread::scope(|scope| {
        // Stands in the way of the first load until it is cut off, which is an error to psql.
        scope.spawn(|| {
            let hold = "BEGIN; LOCK pgbench_accounts; SELECT pg_sleep(60)";
            std::panic::catch_unwind(AssertUnwindSafe(|| db.sql(hold)))
        });
        let locked = "SELECT count(*) FROM pg_locks JOIN pg_class ON oid = relation \
                      WHERE relname = 'pgbench_accounts' AND mode = 'AccessExclusiveLock' AND granted";
        wait_until("the lock", || db.number(locked) == 1);
        let args = ["init", "--scale", "2", "--replace", "--target", &db.url()];
        let first = place.start(&args);
        let claimed = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND granted \
                       AND database = (SELECT oid FROM pg_database WHERE datname = current_database())";
        wait_until("the first load's claim", || db.number(claimed) == 1);
        dbload(&place, &db.url(), "init --scale 3 --replace")
            .expect_refusal(&["another dbload is loading", "nothing was touched"]);
        // Another database is another matter.
        dbload(&place, &other.url(), "init --scale 1").expect_code(0);
        db.sql(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE '%sleep(60%' \
                AND datname = current_database() AND pid <> pg_backend_pid()",
        );
        first.wait().expect_code(0);
    });
    assert_eq!(db.rows("pgbench_branches"), 2);
    dbload(&place, &db.url(), "init --scale 1 --replace").expect_code(0);
    dbload(&place, &db.url(), "verify").expect_code(0);
}
