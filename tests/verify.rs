//! `dbload verify` on PostgreSQL: the sums of the TPC-B-like tables through every kind of use.

mod common;

use common::on_every_postgres;
use common::postgres::Database;
use common::program::{Ended, Place};

on_every_postgres![
    sums_hold_after_a_load_and_after_every_built_in_workload,
    one_changed_balance_is_found_with_its_amount,
    a_balance_changed_between_runs_is_still_found_after_history_was_truncated,
    a_teller_sum_that_differs_from_the_branches_is_found,
    a_missing_row_is_found,
    a_truncation_by_pgbench_is_named_and_rebase_accepts_it,
    tables_made_by_pgbench_can_be_verified,
    run_verify_checks_at_the_end,
];

/// Runs dbload on the database; `args` are written as on a command line.
fn dbload(db: &Database, args: &str) -> Ended {
    let url = db.url();
    let args = args.split_whitespace().chain(["--target", &url]);
    Place::new().dbload(&args.collect::<Vec<_>>())
}

fn sums_hold_after_a_load_and_after_every_built_in_workload(db: &Database) {
    dbload(db, "init --scale 2 --jobs 2").expect_code(0);
    dbload(db, "verify").expect_code(0);
    for workload in ["tpcb-like", "simple-update", "select-only", "tpcb-like"] {
        dbload(db, &format!("run --workload {workload} -c 4 -t 200")).expect_code(0);
        dbload(db, "verify").expect_code(0);
    }
    dbload(db, "run -N -n -c 4 -t 50").expect_code(0);
    dbload(db, "run -S -c 4 -t 50").expect_code(0);
    dbload(db, "verify").expect_code(0);
}

fn one_changed_balance_is_found_with_its_amount(db: &Database) {
    dbload(db, "init --scale 1").expect_code(0);
    dbload(db, "run -c 2 -t 100").expect_code(0);
    db.sql("UPDATE pgbench_accounts SET abalance = abalance + 1 WHERE aid = 1");
    let ended = dbload(db, "verify").expect_code(2);
    let off: Vec<&str> = ended.stdout.lines().filter(|line| line.starts_with("OFF")).collect();
    assert_eq!(off.len(), 1, "{ended}");
    assert!(off[0].contains("sum(abalance)") && off[0].ends_with("1 more"), "{ended}");
}

fn a_balance_changed_between_runs_is_still_found_after_history_was_truncated(db: &Database) {
    dbload(db, "init --scale 1").expect_code(0);
    dbload(db, "run -c 2 -t 100").expect_code(0);
    db.sql("UPDATE pgbench_accounts SET abalance = abalance - 12345 WHERE aid = 2");
    dbload(db, "run -N -c 2 -t 100").expect_code(0);
    dbload(db, "run -c 2 -t 100").expect_code(0);
    let ended = dbload(db, "verify").expect_code(2);
    assert!(ended.output().replace(',', "").contains("12345"), "{ended}");
}

fn a_teller_sum_that_differs_from_the_branches_is_found(db: &Database) {
    dbload(db, "init --scale 1").expect_code(0);
    db.sql("UPDATE pgbench_tellers SET tbalance = tbalance + 77 WHERE tid = 1");
    let ended = dbload(db, "verify").expect_code(2);
    assert!(ended.output().contains("tbalance") && ended.output().contains("77"), "{ended}");
}

fn a_missing_row_is_found(db: &Database) {
    dbload(db, "init --scale 1").expect_code(0);
    db.sql("DELETE FROM pgbench_accounts WHERE aid = 100000");
    let ended = dbload(db, "verify").expect_code(2);
    assert!(ended.output().contains("pgbench_accounts"), "{ended}");
}

fn a_truncation_by_pgbench_is_named_and_rebase_accepts_it(db: &Database) {
    dbload(db, "init --scale 1").expect_code(0);
    dbload(db, "run -c 2 -t 100").expect_code(0);
    db.pgbench(&["-n", "-c", "2", "-t", "50"]);
    dbload(db, "verify").expect_code(0);

    db.pgbench(&["-c", "2", "-t", "50"]); // truncates the history of the 300 before
    let ended = dbload(db, "verify").expect_code(2);
    assert!(ended.output().contains("history"), "{ended}");
    assert!(ended.output().contains("--rebase"), "{ended}");
    dbload(db, "verify --rebase").expect_code(0);
    dbload(db, "verify").expect_code(0);

    dbload(db, "run -c 2 -t 100").expect_code(0);
    dbload(db, "verify").expect_code(0);
    db.sql("UPDATE pgbench_accounts SET abalance = abalance + 1 WHERE aid = 1");
    dbload(db, "verify").expect_code(2);
}

fn tables_made_by_pgbench_can_be_verified(db: &Database) {
    db.pgbench(&["-i", "-q", "-s", "1"]);
    dbload(db, "verify").expect_code(0);
    db.pgbench(&["-c", "2", "-t", "50"]);
    dbload(db, "verify").expect_code(0);
    dbload(db, "run -c 2 -t 50").expect_code(0);
    dbload(db, "verify").expect_code(0);
}

fn run_verify_checks_at_the_end(db: &Database) {
    dbload(db, "init --scale 1").expect_code(0);
    dbload(db, "run --verify -c 2 -t 50").expect_code(0);
    db.sql("UPDATE pgbench_accounts SET abalance = abalance + 1 WHERE aid = 1");
    let ended = dbload(db, "run --verify -c 2 -t 50").expect_code(2);
    assert!(ended.output().contains("sum(abalance)"), "{ended}");
    assert!(ended.output().contains("results: "), "the results are kept\n{ended}");
}
