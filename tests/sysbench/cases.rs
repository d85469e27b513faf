//! The cases of `tests/data/sysbench.jsonl`, what users of sysbench have met: each is run here, is
//! held by a test elsewhere, or concerns what dbload has not, with the reason.

use std::collections::BTreeSet;
use std::fs;

use serde_json::Value as Json;

use crate::bench::{Bench, Database};
use crate::common::program::Ended;
use crate::common::results::{Results, read_intervals};
use crate::common::{mysql, postgres, wait_until};

const CASES: &str = include_str!("../data/sysbench.jsonl");

/// A case on a database of its own.
type Case = fn(&Bench<'_>);

/// Cases that run on every engine.
const HERE: &[(&str, Case)] = &[
    ("SB-05", an_unknown_option_is_refused_with_a_near_name),
    ("SB-06", transactions_alone_have_no_limit_of_time),
    ("SB-08", a_file_of_a_workloads_name_is_no_script),
    ("SB-12", the_seed_and_not_the_jobs_decides_the_rows),
    ("SB-15", two_runs_without_a_seed_draw_different_ones),
    ("SB-17", a_null_follows_a_value_in_the_same_parameter),
    ("SB-18", an_integer_is_fetched_as_one_in_every_protocol),
    ("SB-20", keys_that_the_database_chooses_fit_their_column),
    ("SB-21", a_key_inserted_twice_is_counted_and_the_run_goes_on),
    ("SB-23", an_error_that_is_ignored_is_counted_and_the_run_goes_on),
    ("SB-28", failures_are_counted_by_code_with_a_sample_of_each),
    ("SB-41", statements_that_find_nothing_are_warned_about),
    ("SB-44", tables_that_exist_are_refused_with_the_way_out),
    ("SB-48", a_table_that_goes_ends_the_clients_and_the_report_is_printed),
    ("SB-49", the_last_partial_interval_is_a_row),
    ("SB-58", a_run_of_errors_ends_in_time_and_fails),
    ("SB-59", any_text_survives_simple_protocol),
];

/// Cases that other tests hold.
const ELSEWHERE: &[(&str, &str)] = &[
    ("SB-09", "distributions.rs: gaussian_draws_fit; special's bell is sysbench's gaussian"),
    ("SB-19", "failures.rs: clients_of_postgresql_come_back_from_whatever_ends_their_sessions"),
    ("SB-24", "failures.rs: half_a_transaction_is_never_committed_by_the_next_try"),
    ("SB-26", "failures.rs: a_crowd_on_ten_rows_ends_in_time_and_is_counted_apart"),
    ("SB-27", "failures.rs: clients_of_mysql_prepare_again_on_a_server_that_was_away"),
    ("SB-29", "stats/histogram.rs: quantiles in order, up to an hour, within 0.1 %"),
    ("SB-31", "sqlite.rs: json_prints_the_summary_document_and_nothing_else"),
    ("SB-35", "runner/recorder/tests.rs: the_warm_up_is_in_no_count"),
    ("SB-43", "histogram_logs.rs: counts and quantiles from the written histograms"),
    ("SB-52", "distributions.rs: zipfian_draws_fit, scattered_zipfian_keeps_the_frequencies"),
    ("SB-53", "distributions.rs: pareto_draws_fit, special_puts_three_of_four_draws"),
    ("SB-60", "statements.rs, beside this file"),
];

/// Cases about what dbload has not.
const NOT_OFFERED: &[(&str, &str)] = &[
    ("SB-03", "there is no file of options for a run: the command line says it all"),
    ("SB-04", "as SB-03"),
    ("SB-37", "there are no reports at points in time: each interval is a row of a file"),
    ("SB-40", "there is no limit on the start: the talk says how long connecting took"),
    ("SB-45", "a table without its primary key is not one that the workloads are about"),
    ("SB-50", "as SB-37"),
    ("SB-55", "vmstat is not read: the counters come from the kernel at the window's ends"),
    ("SB-56", "as SB-55"),
];

#[test]
fn every_case_has_its_place() {
    let ids: BTreeSet<String> = CASES
        .lines()
        .map(|line| serde_json::from_str::<Json>(line).unwrap()["id"].as_str().unwrap().to_owned())
        .collect();
    let here = HERE.iter().map(|(id, _)| *id);
    let placed: Vec<&str> =
        here.chain(ELSEWHERE.iter().chain(NOT_OFFERED).map(|(id, _)| *id)).collect();
    let known: BTreeSet<String> = placed.iter().map(|id| (*id).to_owned()).collect();
    assert_eq!(known, ids);
    assert_eq!(placed.len(), ids.len(), "a case has two places");
}

#[test]
fn the_cases_hold_on_sqlite() {
    for (_, case) in HERE {
        case(&Bench::sqlite());
    }
}

#[test]
fn the_cases_hold_on_postgresql() {
    for (_, case) in HERE {
        if let Some(database) = postgres::Database::create("PG18") {
            case(&Bench::postgres(&database));
        }
    }
}

#[test]
fn the_cases_hold_on_mysql() {
    for (_, case) in HERE {
        mysql::with_database(|db| case(&Bench::mysql(db)));
    }
}

/// A script in the folder of `bench`.
fn script(bench: &Bench<'_>, text: &str) -> String {
    let path = bench.place.path("script.sql");
    fs::write(&path, text).unwrap();
    path.display().to_string()
}

fn an_unknown_option_is_refused_with_a_near_name(bench: &Bench<'_>) {
    for args in ["run --tabel-size 5 --workload insert", "run --workload insert --tabel-size 5"] {
        bench.dbload(args).expect_refusal(&["--tabel-size", "--table-size"]);
    }
    bench.dbload("run --workload tpcb-like --fsync").expect_refusal(&["--fsync"]);
}

fn transactions_alone_have_no_limit_of_time(bench: &Bench<'_>) {
    bench.load(1, 100);
    let ended = bench.dbload("run --workload point-select -c 2 -t 300").expect_code(0);
    assert_eq!(ended.results().run()["transactions"], 600);
}

fn a_file_of_a_workloads_name_is_no_script(bench: &Bench<'_>) {
    bench.load(1, 100);
    fs::write(bench.place.path("point-select"), "no script at all (").unwrap();
    let ended = bench.dbload("run --workload point-select -c 1 -t 5").expect_code(0);
    assert_eq!(ended.results().run()["scripts"][0]["source"], "embedded");
}

fn the_seed_and_not_the_jobs_decides_the_rows(bench: &Bench<'_>) {
    let rows = |options: &str| {
        let load = "init --workload sysbench --replace --table-size 1000";
        bench.dbload(&format!("{load} {options}")).expect_code(0);
        bench.sql("select id, k, c, pad from sbtest1 order by id")
    };
    let first = rows("--seed 1 --jobs 1");
    assert!(first == rows("--seed 1 --jobs 1") && first == rows("--seed 1 --jobs 4"));
    assert!(first != rows("--seed 2 --jobs 1"));
}

fn two_runs_without_a_seed_draw_different_ones(bench: &Bench<'_>) {
    bench.load(1, 100);
    let seed = || {
        let ended = bench.dbload("run --workload point-select -c 1 -t 1").expect_code(0);
        ended.results().summary["seed"].as_u64().unwrap()
    };
    assert_ne!(seed(), seed());
}

fn a_null_follows_a_value_in_the_same_parameter(bench: &Bench<'_>) {
    bench.load(1, 10);
    let file = script(
        bench,
        "\\set a 2\n\\set b random_string(xy)\nINSERT INTO sbtest1 (id, k, c) VALUES (11, :a, :'b');\n\
         \\set a NULL\n\\set id 12\n\
         INSERT INTO sbtest1 (id, k, c) SELECT :id, 7, 'nul' FROM sbtest1 WHERE id = 1 AND :a IS NULL;",
    );
    let run = format!("run -c 1 -t 1 -M prepared -f {file}");
    if matches!(bench.database, Database::Postgres(_)) {
        // PostgreSQL infers no type for a parameter that is only compared with NULL.
        let text = fs::read_to_string(&file).unwrap().replace(":a IS NULL", ":a::int IS NULL");
        fs::write(&file, text).unwrap();
    }
    bench.dbload(&run).expect_code(0);
    assert_eq!(bench.sql("select k from sbtest1 where id > 10 order by id"), "2\n7");
}

fn an_integer_is_fetched_as_one_in_every_protocol(bench: &Bench<'_>) {
    bench.load(1, 10);
    let file = script(
        bench,
        "SELECT id AS one FROM sbtest1 WHERE id = 1 \\gset\n\\if :one + 1 <> 2\n\
         SELECT nothing_of_the_kind;\n\\endif",
    );
    for protocol in ["simple", "extended", "prepared"] {
        bench.dbload(&format!("run -c 1 -t 3 -M {protocol} -f {file}")).expect_code(0);
    }
}

fn keys_that_the_database_chooses_fit_their_column(bench: &Bench<'_>) {
    bench.load(1, 10);
    bench.dbload("run --workload insert -c 4 -t 500").expect_code(0);
    assert_eq!(bench.sql("select count(*) from sbtest1"), "2010");
}

fn a_key_inserted_twice_is_counted_and_the_run_goes_on(bench: &Bench<'_>) {
    bench.load(1, 20);
    let file = script(
        bench,
        "\\set id random(1, 20)\nDELETE FROM sbtest1 WHERE id=:id;\n\
         INSERT INTO sbtest1 (id, k) VALUES (:id, 1);\nINSERT INTO sbtest1 (id, k) VALUES (:id, 1);",
    );
    let run = format!("run -c 4 -t 50 -f {file}");
    // 0, or 2 where not one transaction committed: another client must delete in between.
    let ended = bench.dbload(&format!("{run} --ignore-errors duplicate"));
    let results = ended.results();
    assert_eq!(results.run()["clients_lost"], 0, "{ended}");
    let failed = &results.run()["failed"];
    let code = match bench.database {
        Database::Postgres(_) => "23505",
        Database::MySql(_) => "1062",
        Database::Sqlite(_) => "SQLITE_CONSTRAINT_PRIMARYKEY",
    };
    assert!(failed["by_code"][code].as_u64().unwrap() > 150, "{failed}");
    let ended = bench.dbload(&run).expect_code(2);
    assert_eq!(ended.results().run()["clients_lost"], 4, "{ended}");
    assert!(bench.sql("select count(*) from sbtest1").parse::<u32>().unwrap() <= 20);
}

fn statements_that_find_nothing_are_warned_about(bench: &Bench<'_>) {
    bench.load(1, 100);
    let file = script(bench, "UPDATE sbtest1 SET id = id + 1000000;");
    bench.dbload(&format!("run -c 1 -t 1 -f {file}")).expect_code(0);
    let ended = bench.dbload("run --workload point-select -c 1 -t 20").expect_code(0);
    let text = ended.stderr.replace(char::is_whitespace, " ");
    assert!(text.contains("none of 20 executions found a row"), "{ended}");
}

fn tables_that_exist_are_refused_with_the_way_out(bench: &Bench<'_>) {
    bench.load(2, 10);
    let load = "init --workload sysbench --tables 2 --table-size 10 --jobs 2";
    bench.dbload(load).expect_refusal(&["sbtest1, sbtest2", "--replace"]);
}

fn a_run_of_errors_ends_in_time_and_fails(bench: &Bench<'_>) {
    bench.load(1, 10);
    let file = script(bench, "SELECT * FROM there_is_no_such_table;");
    let options = "-c 2 -T 1 --warmup 0 --continue-on-error";
    let ended = bench.dbload(&format!("run {options} -f {file}")).expect_code(2);
    let results = ended.results();
    assert_eq!(results.run()["transactions"], 0);
    assert!(results.run()["failed"]["total"].as_u64().unwrap() > 0, "{ended}");
}

fn any_text_survives_simple_protocol(bench: &Bench<'_>) {
    bench.load(1, 1);
    let text = r#"it's a \ and a \' and "quotes""#;
    let file = script(bench, "UPDATE sbtest1 SET c = :'text' WHERE id = 1;");
    let url = bench.url();
    for protocol in ["simple", "prepared"] {
        let define = format!("text={text}");
        let args = ["run", "-c", "1", "-t", "1", "-M", protocol, "-f", &file, "-D", &define];
        let args = [&args[..], &["--target", &url]].concat();
        bench.place.dbload(&args).expect_code(0);
        // The client of MySQL shows a backslash as two.
        let stored = bench.sql("select c from sbtest1 where id = 1").replace("\\\\", "\\");
        assert_eq!(stored.trim_end(), text, "{protocol}");
    }
}

/// The codes of a missing table, as each server has them.
fn missing_table(bench: &Bench<'_>) -> &'static str {
    match bench.database {
        Database::Postgres(_) => "42P01",
        Database::MySql(_) => "1146",
        Database::Sqlite(_) => "SQLITE_ERROR",
    }
}

/// Starts a run of a second and a half, and drops its table meanwhile.
fn run_and_drop(bench: &Bench<'_>, out: &str, args: &str) -> Ended {
    bench.dbload("init --workload sysbench --table-size 100 --replace").expect_code(0);
    let url = bench.url();
    let args = format!("run --workload update-nonindex -c 2 -P 0.1 --warmup 0 --out {out} {args}");
    let args: Vec<&str> = args.split(' ').chain(["--target", &url]).collect();
    let running = bench.place.start(&args);
    let folder = bench.place.path(out);
    wait_until("three intervals", || read_intervals(&folder).len() >= 3);
    bench.sql("drop table sbtest1");
    running.wait()
}

fn an_error_that_is_ignored_is_counted_and_the_run_goes_on(bench: &Bench<'_>) {
    let code = missing_table(bench);
    let ended = run_and_drop(bench, "out", &format!("-T 1.5 --ignore-errors {code}"));
    let ended = ended.expect_code(0);
    let results = Results::read(&bench.place.path("out"));
    results.assert_consistent();
    let run = results.run();
    assert_eq!(run["clients_lost"], 0, "{ended}");
    assert!(run["transactions"].as_u64() > Some(0), "{ended}");
    assert!(run["failed"]["by_code"][code].as_u64() > Some(1), "{ended}");
}

fn a_table_that_goes_ends_the_clients_and_the_report_is_printed(bench: &Bench<'_>) {
    let ended = run_and_drop(bench, "out", "-T 60").expect_code(2);
    let results = Results::read(&bench.place.path("out"));
    results.assert_consistent();
    let run = results.run();
    assert_eq!(run["clients_lost"], 2, "{ended}");
    assert_eq!(run["complete"], false, "{ended}");
    assert!(run["transactions"].as_u64() > Some(0), "{ended}");
    assert_eq!(run["failed"]["by_code"][missing_table(bench)], 2, "{ended}");
    assert!(ended.stdout.contains("tps") && ended.stderr.contains("sbtest1"), "{ended}");
}

fn failures_are_counted_by_code_with_a_sample_of_each(bench: &Bench<'_>) {
    bench.load(1, 10);
    let file = script(
        bench,
        "\\set kind random(1, 2)\n\\if :kind = 1\nINSERT INTO sbtest1 (id, k) VALUES (1, 1);\n\
         \\else\nSELECT 1 FROM there_is_no_such_table;\n\\endif",
    );
    let run =
        format!("run -c 1 -t 60 --ignore-errors duplicate,{} -f {file}", missing_table(bench));
    let ended = bench.dbload(&run).expect_code(2);
    let results = ended.results();
    let failed = &results.run()["failed"];
    let by_code = failed["by_code"].as_object().unwrap();
    assert_eq!(by_code.len(), 2, "{failed}");
    let sum: u64 = by_code.values().map(|count| count.as_u64().unwrap()).sum();
    assert_eq!((sum, failed["total"].as_u64()), (60, Some(60)), "{failed}");
    let samples = failed["samples"].as_array().unwrap();
    let sampled: BTreeSet<&str> =
        samples.iter().map(|sample| sample["code"].as_str().unwrap()).collect();
    assert_eq!(sampled, by_code.keys().map(String::as_str).collect());
    for code in by_code.keys() {
        assert!(ended.stdout.contains(code), "{code}\n{ended}");
    }
}

fn the_last_partial_interval_is_a_row(bench: &Bench<'_>) {
    bench.load(1, 100);
    let run = "run --workload point-select -c 2 -T 1 -P 0.4 --warmup 0";
    let results = bench.dbload(run).expect_code(0).results();
    results.assert_consistent();
    let rows: Vec<(f64, bool)> =
        results.intervals.iter().map(|row| (row.length_s, row.partial)).collect();
    assert_eq!(rows, [(0.4, false), (0.4, false), (0.2, true)]);
}
