//! The load and the life of the tables on real databases: SQLite files always, and the PostgreSQL
//! server of `DBLOAD_TEST_PG_URL` in `postgres.rs`.

mod postgres;
mod sbtest;

use std::path::PathBuf;
use std::sync::Arc;

use super::tables::{before_level, clean, verify};
use super::*;
use crate::engine::sqlite::Sqlite;
use crate::schema::SchemaSize;
use crate::schema::progress::Silent;
use crate::script::Dialect;
use crate::target::SqliteTarget;

const SQL: fn() -> SchemaSql = || SchemaSql::tpcb(Dialect::Sqlite);

/// A database file in a temporary folder.
struct Bench {
    engine: Arc<Sqlite>,
    path: PathBuf,
    _folder: tempfile::TempDir,
}

impl Bench {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.sqlite");
        let mut target = SqliteTarget::new(&path);
        target.synchronous = crate::target::Synchronous::Off;
        let engine = Arc::new(Sqlite::new(target).creating());
        Self { engine, path, _folder: folder }
    }

    /// With tables of scale 1.
    async fn loaded() -> Self {
        let bench = Self::new();
        bench.init(&InitPlan::default(), false).await.unwrap();
        bench
    }

    async fn init(&self, plan: &InitPlan, reuse: bool) -> Result<Outcome, LoadError> {
        init(&self.engine, SQL(), plan, reuse, &mut Silent).await
    }

    async fn batch(&self, sql: &str) {
        self.engine.admin().await.unwrap().batch(sql).await.unwrap();
    }

    async fn rows(&self, sql: &str) -> String {
        let rows = self.engine.admin().await.unwrap().rows(sql).await.unwrap();
        let line = |row: Vec<Option<String>>| {
            let cells: Vec<_> = row.into_iter().map(|cell| cell.unwrap_or("NULL".into())).collect();
            cells.join("|")
        };
        rows.into_iter().map(line).collect::<Vec<_>>().join("\n")
    }

    /// What a TPC-B-like transaction does.
    async fn transaction(&self, aid: u32, delta: i32) {
        self.batch(&format!(
            "update pgbench_accounts set abalance = abalance + {delta} where aid = {aid};
             update pgbench_tellers set tbalance = tbalance + {delta} where tid = 1;
             update pgbench_branches set bbalance = bbalance + {delta} where bid = 1;
             insert into pgbench_history (tid, bid, aid, delta, mtime)
             values (1, 1, {aid}, {delta}, current_timestamp)"
        ))
        .await;
    }

    async fn verify(&self, rebase: bool) -> crate::schema::check::VerifyReport {
        verify(&mut self.engine.admin().await.unwrap(), SQL(), rebase).await.unwrap()
    }

    async fn before_level(&self) {
        before_level(&mut self.engine.admin().await.unwrap(), SQL()).await.unwrap();
    }
}

/// Remembers what it is told.
#[derive(Default)]
struct Heard {
    steps: Vec<LoadStep>,
    rows: Vec<(u64, u64)>,
    notes: Vec<String>,
}

impl LoadProgress for Heard {
    fn step(&mut self, step: LoadStep) {
        self.steps.push(step);
    }
    fn rows(&mut self, done: u64, total: u64, _: u64) {
        self.rows.push((done, total));
    }
    fn note(&mut self, text: &str) {
        self.notes.push(text.to_owned());
    }
}

#[tokio::test]
async fn a_load_makes_the_rows_of_the_scale_and_tells_every_one() {
    let bench = Bench::new();
    let mut heard = Heard::default();
    let plan = InitPlan { size: SchemaSize::Tpcb { scale: 2 }, jobs: 3, ..InitPlan::default() };
    let outcome = init(&bench.engine, SQL(), &plan, false, &mut heard).await.unwrap();
    let Outcome::Loaded(report) = outcome else { panic!("{outcome:?}") };
    assert_eq!((report.size, report.rows, report.jobs), (plan.size, 200_022, 1));
    let size = report.size_bytes.unwrap();
    let estimate = ddl::estimated_bytes(SQL(), &plan);
    assert!(size < estimate && size > estimate * 8 / 10, "{size} bytes, estimated {estimate}");
    use LoadStep::{Analyze, Create, Drop, Load};
    assert_eq!(heard.steps, [Drop, Create, Load, Analyze]);
    assert_eq!(heard.steps, report.steps.iter().map(|step| step.step).collect::<Vec<_>>());
    assert_eq!(heard.rows.last(), Some(&(200_022, 200_022)));
    assert!(heard.notes[0].contains("one writer"), "{:?}", heard.notes);
    let counts = "select (select count(*) from pgbench_branches), \
                  (select count(*) from pgbench_tellers), (select count(*) from pgbench_history)";
    assert_eq!(bench.rows(counts).await, "2|20|0");
    let accounts = "select bid, count(*), min(aid), max(aid), sum(abalance), min(length(filler)) \
                    from pgbench_accounts group by bid";
    assert_eq!(bench.rows(accounts).await, "1|100000|1|100000|0|84\n2|100000|100001|200000|0|84");
    assert_eq!(bench.rows("pragma journal_mode").await, "wal");
}

#[tokio::test]
async fn existing_tables_are_refused_without_replace_and_made_anew_with_it() {
    let bench = Bench::loaded().await;
    bench.transaction(1, 5).await;
    let error = bench.init(&InitPlan::default(), false).await.unwrap_err().to_string();
    assert_eq!(
        error,
        "pgbench_accounts, pgbench_branches, pgbench_history, pgbench_tellers already exist; \
         nothing was touched: --replace drops and loads them again"
    );
    assert_eq!(bench.rows("select sum(abalance) from pgbench_accounts").await, "5");
    let plan = InitPlan { replace: true, ..InitPlan::default() };
    bench.init(&plan, false).await.unwrap();
    assert_eq!(bench.rows("select sum(abalance) from pgbench_accounts").await, "0");
}

#[tokio::test]
async fn replace_refuses_a_table_of_the_name_with_other_columns_and_touches_nothing() {
    let bench = Bench::new();
    bench.batch("create table pgbench_tellers (tid integer, name text)").await;
    bench.batch("create table pgbench_history (x)").await;
    let plan = InitPlan { replace: true, ..InitPlan::default() };
    for error in [
        bench.init(&plan, false).await.unwrap_err(),
        clean(&mut bench.engine.admin().await.unwrap(), SQL()).await.unwrap_err(),
    ] {
        let error = error.to_string();
        assert!(error.starts_with("pgbench_history is not a table that dbload made"), "{error}");
        assert!(error.contains("no column \"tid\""), "{error}");
    }
    let tables = "select group_concat(name) from sqlite_schema";
    assert_eq!(bench.rows(tables).await, "pgbench_tellers,pgbench_history");
}

#[tokio::test]
async fn tables_of_the_same_scale_are_used_again_when_allowed_and_another_scale_is_refused() {
    let bench = Bench::loaded().await;
    let outcome = bench.init(&InitPlan::default(), true).await.unwrap();
    let Outcome::Reused(found) = outcome else { panic!("{outcome:?}") };
    assert_eq!(
        found,
        Found { size: SchemaSize::Tpcb { scale: 1 }, partitions: 0, partition_method: None }
    );
    let plan = InitPlan { size: SchemaSize::Tpcb { scale: 2 }, ..InitPlan::default() };
    let error = bench.init(&plan, true).await.unwrap_err().to_string();
    assert!(error.contains("of scale 1, not scale 2") && error.contains("--replace"), "{error}");
}

#[tokio::test]
async fn a_load_that_was_interrupted_is_neither_found_nor_used_again() {
    let bench = Bench::loaded().await;
    bench.batch("update dbload_state set origin = 'loading'").await;
    let error = bench.init(&InitPlan::default(), true).await.unwrap_err();
    assert!(matches!(error, LoadError::Unfinished { .. }), "{error}");
    let found = find(&mut bench.engine.admin().await.unwrap(), SQL()).await;
    assert!(found.unwrap_err().to_string().contains("--replace"));
}

#[tokio::test]
async fn tables_without_branches_have_no_scale_and_are_refused() {
    let bench = Bench::loaded().await;
    bench.batch("delete from pgbench_branches").await;
    let error = find(&mut bench.engine.admin().await.unwrap(), SQL()).await.unwrap_err();
    assert!(matches!(error, LoadError::Empty { .. }), "{error}");
}

#[tokio::test]
async fn missing_tables_say_how_to_make_them() {
    let bench = Bench::loaded().await;
    bench.batch("drop table pgbench_history").await;
    let error = find(&mut bench.engine.admin().await.unwrap(), SQL()).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "pgbench_history is missing: `dbload init --scale N` makes the tables"
    );
}

#[tokio::test]
async fn what_sqlite_cannot_do_is_refused_and_leaves_no_file() {
    let bench = Bench::new();
    let plan = InitPlan { unlogged: true, ..InitPlan::default() };
    let error = bench.init(&plan, false).await.unwrap_err().to_string();
    assert_eq!(error, "--unlogged is for PostgreSQL: SQLite has no unlogged tables");
    // Enough for any disk of today.
    let plan = InitPlan { size: SchemaSize::Tpcb { scale: 200_000_000 }, ..InitPlan::default() };
    let error = bench.init(&plan, false).await.unwrap_err();
    assert!(matches!(error, LoadError::NoSpace { .. }), "{error}");
    assert!(!bench.path.exists());
}

#[tokio::test]
async fn sums_hold_over_truncations_of_dbloads_own() {
    let bench = Bench::loaded().await;
    bench.transaction(1, 100).await;
    bench.before_level().await;
    assert_eq!(bench.rows("select count(*) from pgbench_history").await, "0");
    bench.transaction(2, -30).await;
    assert!(bench.verify(false).await.is_clean());
    bench.before_level().await;
    bench.before_level().await;
    let report = bench.verify(false).await;
    assert!(report.is_clean(), "{report}");
    assert_eq!(bench.rows("select origin, carried from dbload_state").await, "init|70");
}

#[tokio::test]
async fn an_update_from_outside_is_off_by_one_and_a_rebase_accepts_it() {
    let bench = Bench::loaded().await;
    bench.transaction(1, 100).await;
    bench.batch("update pgbench_accounts set abalance = abalance + 1 where aid = 1").await;
    let report = bench.verify(false).await;
    assert!(!report.is_clean());
    assert!(report.to_string().contains("expected 100, found 101, 1 more"), "{report}");
    assert!(bench.verify(true).await.is_clean());
    bench.transaction(3, 7).await;
    let report = bench.verify(false).await;
    assert!(report.is_clean(), "{report}");
}

#[tokio::test]
async fn the_first_level_on_tables_of_another_tool_makes_the_notes() {
    let bench = Bench::loaded().await;
    bench.batch("drop table dbload_state").await;
    bench.transaction(1, 9).await;
    assert!(bench.verify(false).await.is_clean());
    bench.before_level().await;
    assert!(bench.verify(false).await.is_clean());
    assert_eq!(bench.rows("select origin, scale, carried from dbload_state").await, "run|1|9");
}

#[tokio::test]
async fn a_level_that_cannot_be_prepared_leaves_no_open_transaction() {
    let bench = Bench::loaded().await;
    bench
        .batch(
            "create trigger no before delete on pgbench_history \
                 begin select raise(abort, 'kept'); end",
        )
        .await;
    bench.transaction(1, 9).await;
    let mut admin = bench.engine.admin().await.unwrap();
    let error = before_level(&mut admin, SQL()).await.unwrap_err().to_string();
    assert!(error.contains("emptying pgbench_history") && error.contains("kept"), "{error}");
    admin.batch("begin; commit").await.unwrap();
    assert!(bench.verify(false).await.is_clean());
}

#[tokio::test]
async fn clean_drops_the_schemas_tables_and_says_which() {
    let bench = Bench::loaded().await;
    bench.batch("create table mine (x)").await;
    let mut admin = bench.engine.admin().await.unwrap();
    let dropped = clean(&mut admin, SQL()).await.unwrap();
    assert_eq!(
        dropped,
        [
            "dbload_state",
            "pgbench_accounts",
            "pgbench_branches",
            "pgbench_history",
            "pgbench_tellers"
        ]
    );
    let left = "select group_concat(name) from sqlite_schema where name not like 'sqlite_%'";
    assert_eq!(bench.rows(left).await, "mine");
    assert!(std::fs::metadata(&bench.path).unwrap().len() < 1_000_000);
    assert_eq!(clean(&mut admin, SQL()).await.unwrap(), [""; 0]);
}
