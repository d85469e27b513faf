//! The cases of `tests/data/sysbench.jsonl`, what users of sysbench have met: each is run here, is
//! held by a test elsewhere, or concerns what dbload has not, with the reason.

use std::collections::BTreeSet;
use std::fs;

use serde_json::Value as Json;

use crate::bench::Bench;
use crate::common::{mysql, postgres};

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
    ("SB-41", statements_that_find_nothing_are_warned_about),
    ("SB-44", tables_that_exist_are_refused_with_the_way_out),
    ("SB-58", a_run_of_errors_ends_in_time_and_fails),
    ("SB-59", any_text_survives_simple_protocol),
];

/// Cases that other tests hold.
const ELSEWHERE: &[(&str, &str)] = &[
    ("SB-09", "distributions.rs: the bell of random_gaussian; special's bell is sysbench's"),
    ("SB-19", "postgres.rs: backends killed, server restarted"),
    ("SB-23", "runner/tests.rs: an ignored code goes on, another error ends the client"),
    ("SB-24", "runner/tests.rs: a rollback comes before each further try"),
    ("SB-26", "runner/tests.rs: committed, retried and failed are counted apart"),
    ("SB-27", "mysql.rs: a server that is killed; runner/tests.rs: connections made again"),
    ("SB-28", "runner/tests.rs: failures by code, with samples"),
    ("SB-29", "stats/histogram.rs: quantiles in order, up to an hour, within 0.1 %"),
    ("SB-31", "sqlite.rs: --json is one document"),
    ("SB-35", "runner/tests.rs: what ends in the warm-up is in no interval"),
    ("SB-43", "histogram_logs.rs: counts and quantiles from the written histograms"),
    ("SB-48", "postgres.rs: a table that goes ends the clients, and the report is printed"),
    ("SB-49", "sqlite.rs: the last, partial interval is a row, and the rows add up"),
    ("SB-52", "distributions.rs: zipfian, plain and scattered"),
    ("SB-53", "distributions.rs: pareto and special"),
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
    if matches!(bench.database, crate::bench::Database::Postgres(_)) {
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
        crate::bench::Database::Postgres(_) => "23505",
        crate::bench::Database::MySql(_) => "1062",
        crate::bench::Database::Sqlite(_) => "SQLITE_CONSTRAINT_PRIMARYKEY",
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
