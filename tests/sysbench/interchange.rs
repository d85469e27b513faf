//! sysbench 1.0.20 runs on tables that dbload loaded, and the other way round.

use crate::bench::Bench;
use crate::common::{mysql, postgres};

const OPTIONS: &str = "--tables=2 --table-size=1000 --events=200 --time=0 --threads=4";

fn sysbench_runs_on_tables_that_dbload_loaded(bench: &Bench<'_>) {
    bench.load(2, 1000);
    // One thread where an id is deleted and inserted again: sysbench ends at the first duplicate key on MySQL.
    let alone = OPTIONS.replace("--threads=4", "--threads=1");
    for script in ["oltp_read_write", "oltp_write_only"] {
        bench.sysbench(&format!("{alone} {script} run"));
    }
    for script in ["oltp_read_only", "oltp_update_index", "oltp_update_non_index"] {
        bench.sysbench(&format!("{OPTIONS} {script} run"));
    }
    bench.verify();
    bench.sysbench(&format!("{OPTIONS} oltp_insert run"));
    // The sequences go on after the last id.
    let added = "select min(id) > 1000 from (select id from sbtest1 order by id desc limit 1) x";
    assert!(["t", "1"].contains(&bench.sql(added).as_str()));
    bench.dbload("verify").expect_code(2);
    bench.dbload("verify --rebase").expect_code(0);
}

fn dbload_runs_on_tables_that_sysbench_loaded(bench: &Bench<'_>) {
    bench.sysbench("--tables=2 --table-size=1000 oltp_read_write prepare");
    for workload in ["point-select", "read-write", "write-only", "update-zipf", "insert", "delete"]
    {
        let run = format!("run --workload {workload} --clients 4 --transactions 50 --verify");
        let ended = bench.dbload(&run).expect_code(0);
        let results = ended.results();
        let run = results.run();
        assert_eq!((&run["tables"], &run["table_size"]), (&2.into(), &1000.into()), "{workload}");
    }
    bench.verify();
    let dropped = bench.dbload("clean").expect_code(0);
    assert!(dropped.stdout.contains("sbtest1, sbtest2"), "{dropped}");
}

#[test]
fn sysbench_runs_on_tables_that_dbload_loaded_on_postgresql_15() {
    postgres::with_database("PG15", |db| {
        sysbench_runs_on_tables_that_dbload_loaded(&Bench::postgres(db));
    });
}

#[test]
fn sysbench_runs_on_tables_that_dbload_loaded_on_postgresql_18() {
    postgres::with_database("PG18", |db| {
        sysbench_runs_on_tables_that_dbload_loaded(&Bench::postgres(db));
    });
}

#[test]
fn sysbench_runs_on_tables_that_dbload_loaded_on_mysql() {
    mysql::with_database(|db| sysbench_runs_on_tables_that_dbload_loaded(&Bench::mysql(db)));
}

#[test]
fn dbload_runs_on_tables_that_sysbench_loaded_on_postgresql_15() {
    postgres::with_database("PG15", |db| {
        dbload_runs_on_tables_that_sysbench_loaded(&Bench::postgres(db));
    });
}

#[test]
fn dbload_runs_on_tables_that_sysbench_loaded_on_postgresql_18() {
    postgres::with_database("PG18", |db| {
        dbload_runs_on_tables_that_sysbench_loaded(&Bench::postgres(db));
    });
}

#[test]
fn dbload_runs_on_tables_that_sysbench_loaded_on_mysql() {
    mysql::with_database(|db| dbload_runs_on_tables_that_sysbench_loaded(&Bench::mysql(db)));
}

/// k, c and pad are random in the same way: the shares of the hot band, and the shape of the texts.
fn the_rows_look_like_those_of_sysbench(bench: &Bench<'_>) {
    let hot = "select count(*) from sbtest1 where k between 4950 and 5051";
    let shape = "select count(*) from sbtest1 where length(c) = 119 and length(pad) = 59";
    let counts = || (bench.sql(hot).parse::<i64>().unwrap(), bench.sql(shape));
    bench.sysbench("--table-size=10000 oltp_read_write prepare");
    let theirs = counts();
    bench.dbload("init --workload sysbench --replace").expect_code(0);
    let ours = counts();
    assert_eq!(ours.1, theirs.1);
    // Three of four rows; four standard deviations of the difference are 250.
    assert!((ours.0 - theirs.0).abs() < 250, "{} and {}", ours.0, theirs.0);
}

#[test]
fn the_rows_look_like_those_of_sysbench_on_postgresql() {
    postgres::with_database("PG18", |db| {
        the_rows_look_like_those_of_sysbench(&Bench::postgres(db));
    });
}

#[test]
fn the_rows_look_like_those_of_sysbench_on_mysql() {
    mysql::with_database(|db| the_rows_look_like_those_of_sysbench(&Bench::mysql(db)));
}
