//! pgbench works on tables that dbload made, and the other way round; the catalogue entries are
//! the same.

mod common;

use common::on_every_postgres;
use common::postgres::Database;
use common::program::{Ended, Place};
use common::results::number;

on_every_postgres![
    pgbench_runs_on_tables_that_dbload_made,
    dbload_runs_on_tables_that_pgbench_made,
    the_catalogue_is_the_same_for_every_option,
    the_tables_go_to_the_same_tablespace,
    any_number_of_jobs_loads_the_same_rows,
];

/// Options of `dbload init`, and of `pgbench -i` for the same tables.
const OPTIONS: &[(&str, &str)] = &[
    ("--scale 2", "-s 2"),
    ("--scale 1 --jobs 3", "-s 1"),
    ("--scale 1 --fillfactor 80", "-s 1 -F 80"),
    ("--scale 1 --unlogged", "-s 1 --unlogged-tables"),
    ("--scale 1 --foreign-keys", "-s 1 --foreign-keys"),
    ("--scale 1 --partitions 3 --jobs 2", "-s 1 --partitions=3"),
    (
        "--scale 1 --partitions 3 --partition-method hash --fillfactor 90",
        "-s 1 --partitions=3 --partition-method=hash -F 90",
    ),
    (
        "--scale 1 --partitions 2 --partition-method range --foreign-keys",
        "-s 1 --partitions=2 --partition-method=range --foreign-keys",
    ),
];

const COLUMNS: &str = "
    SELECT c.relname, a.attnum, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull
    FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
    WHERE c.relname LIKE 'pgbench%' AND c.relkind IN ('r', 'p') AND a.attnum > 0
    ORDER BY c.relname, a.attnum";

const RELATIONS: &str = "
    SELECT relname, relkind, relpersistence, reloptions, reltablespace <> 0,
           pg_get_partkeydef(oid), pg_get_expr(relpartbound, oid)
    FROM pg_class WHERE relname LIKE 'pgbench%' ORDER BY relname";

const INDEXES: &str = "SELECT indexdef FROM pg_indexes WHERE tablename LIKE 'pgbench%' ORDER BY 1";

const CONSTRAINTS: &str = "
    SELECT conrelid::regclass, conname, pg_get_constraintdef(oid)
    FROM pg_constraint WHERE conrelid::regclass::text LIKE 'pgbench%' ORDER BY 1, 2";

/// Number and content of the rows of each table.
const ROWS: &str = "
    SELECT 'accounts', count(*), sum(hashtext(t::text)) FROM pgbench_accounts t
    UNION ALL SELECT 'tellers', count(*), sum(hashtext(t::text)) FROM pgbench_tellers t
    UNION ALL SELECT 'branches', count(*), sum(hashtext(t::text)) FROM pgbench_branches t
    UNION ALL SELECT 'history', count(*), sum(hashtext(t::text)) FROM pgbench_history t";

/// Whether planner statistics and all-visible pages are there: both tools vacuum and analyse.
const MAINTAINED: &str = "
    SELECT relname, reltuples::bigint, relpages > 0, relallvisible = relpages
    FROM pg_class WHERE relname IN ('pgbench_tellers', 'pgbench_branches') ORDER BY 1";

fn dbload(db: &Database, args: &str) -> Ended {
    dbload_in(&Place::new(), db, args)
}

/// The same, where the results are looked at afterwards.
fn dbload_in(place: &Place, db: &Database, args: &str) -> Ended {
    let url = db.url();
    let args = args.split_whitespace().chain(["--target", &url]);
    place.dbload(&args.collect::<Vec<_>>())
}

/// Fails the test unless both databases hold the same tables and rows.
fn assert_same(ours: &Database, theirs: &Database, options: &str) {
    for query in [COLUMNS, RELATIONS, INDEXES, CONSTRAINTS, ROWS, MAINTAINED] {
        assert_eq!(ours.sql(query), theirs.sql(query), "with {options}:{query}");
    }
}

fn pgbench_runs_on_tables_that_dbload_made(db: &Database) {
    dbload(db, "init --scale 2 --jobs 2").expect_code(0);
    for args in [&["-n", "-T", "3"][..], &["-S", "-T", "1"], &["-N", "-T", "1"]] {
        let report = db.pgbench(&[args, &["-c", "2"]].concat());
        assert!(report.contains("scaling factor: 2"), "{args:?}: {report}");
        assert!(report.contains("failed transactions: 0"), "{args:?}: {report}");
    }
    db.pgbench(&["-M", "prepared", "-c", "2", "-t", "20"]);
}

fn dbload_runs_on_tables_that_pgbench_made(db: &Database) {
    let place = Place::new();
    db.pgbench(&["-i", "-q", "-s", "2"]);
    for workload in ["tpcb-like", "simple-update", "select-only"] {
        for protocol in ["simple", "extended", "prepared"] {
            let args = format!("run --workload {workload} --protocol {protocol} -c 3 -t 40");
            let results = dbload_in(&place, db, &args).expect_code(0).results();
            results.assert_consistent();
            assert_eq!(number(results.run(), "transactions"), 120, "{args}");
            assert_eq!(number(results.run(), "scale"), 2);
            assert_eq!(results.run()["protocol"], protocol);
        }
    }
}

fn the_catalogue_is_the_same_for_every_option(db: &Database) {
    let theirs = db.sibling();
    for (ours, pgbench) in OPTIONS {
        dbload(db, &format!("init --replace {ours}")).expect_code(0);
        let pgbench: Vec<&str> = pgbench.split(' ').collect();
        theirs.pgbench(&[&["-i", "-q"], &pgbench[..]].concat());
        assert_same(db, &theirs, ours);
        dbload(db, "run -c 2 -t 10").expect_code(0);
        dbload(db, "verify").expect_code(0);
    }
}

fn the_tables_go_to_the_same_tablespace(db: &Database) {
    let theirs = db.sibling();
    let name = format!("{}_space", db.name);
    db.sql(&format!("SET allow_in_place_tablespaces = on; CREATE TABLESPACE {name} LOCATION ''"));
    dbload(db, &format!("init --scale 1 --tablespace {name}")).expect_code(0);
    theirs.pgbench(&["-i", "-q", &format!("--tablespace={name}")]);
    assert_same(db, &theirs, "--tablespace");
    dbload(db, "clean").expect_code(0);
    theirs.pgbench(&["-i", "-I", "d"]);
    db.sql(&format!("DROP TABLESPACE {name}"));
}

fn any_number_of_jobs_loads_the_same_rows(db: &Database) {
    let other = db.sibling();
    dbload(db, "init --scale 3 --jobs 1 --seed 7").expect_code(0);
    dbload(&other, "init --scale 3 --jobs 4 --seed 7").expect_code(0);
    assert_eq!(db.sql(ROWS), other.sql(ROWS));
}
