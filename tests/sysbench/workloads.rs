//! Every workload with 1 and 8 clients: it commits, nothing fails that is not expected, and the
//! tables are as they should be.

use crate::bench::{Bench, Database};
use crate::common::{mysql, postgres};

/// Each with whether it changes the number of rows.
const WORKLOADS: &[&str] = &[
    "point-select",
    "read-only",
    "update-inlist",
    "update-index",
    "update-nonindex",
    "update-one",
    "update-zipf",
    "write-only",
    "read-write-range10",
    "read-write-range100",
    "delete",
    "insert",
];

/// Seconds of each run: more for a thorough test.
fn seconds() -> String {
    std::env::var("DBLOAD_TEST_SECONDS").unwrap_or_else(|_| "1".to_owned())
}

fn every_workload_runs_clean(bench: &Bench<'_>) {
    bench.load(2, 2000);
    for workload in WORKLOADS {
        let options = format!("--clients 1,8 --duration {} --warmup 0 --verify", seconds());
        let ended = bench.dbload(&format!("run --workload {workload} {options}")).expect_code(0);
        let results = ended.results();
        assert_eq!(results.levels(), [1, 8], "{workload}");
        results.assert_consistent();
        for run in results.runs() {
            assert!(run["transactions"].as_u64().unwrap() > 0, "{workload}\n{ended}");

            // Two clients may delete and insert the same id at once; nothing else may fail.
            let codes = run["failed"]["by_code"].as_object().unwrap();
            let duplicate = ["23505", "1062", "SQLITE_CONSTRAINT_PRIMARYKEY"];
            assert!(codes.keys().all(|code| duplicate.contains(&code.as_str())), "{run}");
            assert_eq!(run["tables"], 2);
            assert_eq!(run["table_size"], 2000);
        }
    }
    bench.verify();
}

#[test]
fn every_workload_runs_clean_on_sqlite() {
    every_workload_runs_clean(&Bench::sqlite());
}

#[test]
fn every_workload_runs_clean_on_postgresql_15() {
    postgres::with_database("PG15", |db| every_workload_runs_clean(&Bench::postgres(db)));
}

#[test]
fn every_workload_runs_clean_on_postgresql_18() {
    postgres::with_database("PG18", |db| every_workload_runs_clean(&Bench::postgres(db)));
}

#[test]
fn every_workload_runs_clean_on_mysql() {
    mysql::with_database(|db| every_workload_runs_clean(&Bench::mysql(db)));
}

const WRITE_HEAVY: [&str; 10] = [
    "update-inlist",
    "update-index",
    "update-nonindex",
    "update-one",
    "update-zipf",
    "write-only",
    "read-write-range10",
    "read-write-range100",
    "delete",
    "insert",
];

/// The list in its order, and tables made anew for the second round, whose first tests need the rows
/// that the first one deleted.
fn write_heavy_runs_as_a_list(bench: &Bench<'_>) {
    bench.load(1, 50);
    let options = "--rounds 2 --clients 2 --transactions 100 --ignore-errors duplicate";
    let ended = bench.dbload(&format!("run --workload write-heavy {options}")).expect_code(0);
    let results = ended.results();
    let names: Vec<&str> =
        results.runs().iter().map(|run| run["workload"].as_str().unwrap()).collect();
    assert_eq!(names, [WRITE_HEAVY, WRITE_HEAVY].concat());
    let made_anew = |run: &serde_json::Value| {
        let warnings = run["warnings"].as_array().unwrap();
        warnings.iter().any(|text| text.as_str().unwrap().contains("made anew"))
    };
    let anew: Vec<usize> = (0..20).filter(|index| made_anew(&results.runs()[*index])).collect();
    assert_eq!(anew, [10], "{ended}");
    bench.verify();
}

#[test]
fn write_heavy_runs_as_a_list_on_sqlite() {
    write_heavy_runs_as_a_list(&Bench::sqlite());
}

#[test]
fn write_heavy_runs_as_a_list_on_postgresql() {
    postgres::with_database("PG18", |db| write_heavy_runs_as_a_list(&Bench::postgres(db)));
}

#[test]
fn tables_made_anew_keep_the_options_they_were_made_with() {
    postgres::with_database("PG18", |db| {
        let bench = Bench::postgres(db);
        let options = "--table-size 50 --unlogged --fillfactor 70";
        bench.dbload(&format!("init --workload sysbench {options}")).expect_code(0);
        let made = "select relpersistence, reloptions from pg_class where relname = 'sbtest1'";
        assert_eq!(bench.sql(made), "u|{fillfactor=70}");
        bench.dbload("run --workload delete -c 1 -t 100").expect_code(0);
        let ended = bench.dbload("run --workload update-one -c 1 -t 1").expect_code(0);
        assert!(ended.output().contains("made anew"), "{ended}");
        assert_eq!(bench.sql("select count(*) from sbtest1"), "50");
        assert_eq!(bench.sql(made), "u|{fillfactor=70}");
    });
}

#[test]
fn write_heavy_runs_as_a_list_on_mysql() {
    mysql::with_database(|db| write_heavy_runs_as_a_list(&Bench::mysql(db)));
}

#[test]
fn tables_of_another_tool_are_never_made_anew() {
    let bench = Bench::sqlite();
    bench.load(1, 50);
    let Database::Sqlite(path) = &bench.database else { panic!("not SQLite") };
    let conn = rusqlite::Connection::open(path).unwrap();
    conn.execute_batch("drop table dbload_sbtest_state").unwrap();
    drop(conn);
    bench.dbload("run --workload delete --clients 1 --transactions 200").expect_code(0);
    let left = bench.sql("select count(*) from sbtest1");
    let ended = bench.dbload("run --workload delete --clients 1 --transactions 1").expect_code(0);
    assert!(!ended.output().contains("anew"), "{ended}");
    assert!(left.parse::<u32>().unwrap() < 25, "{left}");
}

#[test]
fn keys_outside_the_tables_are_warned_about() {
    let bench = Bench::sqlite();
    bench.load(1, 100);
    let options = "--clients 1 --transactions 20";
    let ended = bench.dbload(&format!("run --workload update-index --table-size 1M {options}"));
    assert!(ended.stderr.contains("--table-size 1000000 is more than the 100 rows"), "{ended}");
    let conn = rusqlite::Connection::open(bench.place.path("t.sqlite")).unwrap();
    conn.execute_batch("update sbtest1 set id = id + 1000").unwrap();
    let ended = bench.dbload(&format!("run --workload point-select {options}")).expect_code(0);
    let text = ended.stderr.replace(char::is_whitespace, " ");
    assert!(text.contains("none of 20 executions found a row"), "{ended}");
}

#[test]
fn what_the_options_ask_for_must_be_there() {
    let bench = Bench::sqlite();
    bench.load(2, 100);
    let refused = |args: &str, words: &[&str]| bench.dbload(args).expect_refusal(words);
    refused("run --workload write-only --tables 3", &["--tables 3", "holds 2"]);
    refused("run --workload write-heavy --workload insert", &["write-heavy", "alone"]);
    refused("run --workload write-only --workload tpcb-like", &["different schemas"]);
    refused("run --workload tpcb-like --tables 2", &["missing", "dbload init --scale N"]);
    let mix = "run --workload read-write-range10 --workload read-write-range100";
    refused(mix, &["range_size"]);
    let ended = bench.dbload("run --workload read-write -D range_size=3 -t 10 -c 1 -r --json");
    let ended = ended.expect_code(0);
    let summary: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
    let statements = summary["runs"][0]["statements"].as_array().unwrap();
    let range = statements.iter().find(|s| s["text"].as_str().unwrap().contains("BETWEEN"));
    let rows = range.unwrap()["rows"].as_u64().unwrap();
    assert!((20..=30).contains(&rows), "{rows} rows of ten ranges of three");
}
