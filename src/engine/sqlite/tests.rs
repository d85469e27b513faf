//! The engine against real files in a temporary folder.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::*;
use crate::engine::{Admin, Block, Kept, Session};
use crate::schema::tpcb;
use crate::script::Dialect;
use crate::script::program::StmtId;
use crate::script::value::Value;
use crate::workload::CompileOptions;
use crate::workload::source::{Origin, Source};

/// An engine over a new file with a table `t (id integer primary key, n integer, s text)`.
struct Bench {
    engine: Sqlite,
    folder: tempfile::TempDir,
}

impl Bench {
    async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut target = SqliteTarget::new(folder.path().join("t.sqlite"));
        target.busy_timeout = Duration::ZERO;
        let engine = Sqlite::new(target).creating();
        let mut admin = engine.admin().await.unwrap();
        admin.batch("create table t (id integer primary key, n integer, s text)").await.unwrap();
        Self { engine, folder }
    }

    async fn rows(&self, sql: &str) -> Vec<Vec<Option<String>>> {
        self.engine.admin().await.unwrap().rows(sql).await.unwrap()
    }
}

/// A script over the variables `a` and `b`, one command a line.
fn workload(script: &str) -> Workload {
    let source = Source::new("test", script, Origin::Stdin);
    let define = |name: &str| (name.to_owned(), "0".to_owned());
    let options = CompileOptions {
        dialect: Dialect::Sqlite,
        defines: vec![define("a"), define("b")],
        ..CompileOptions::default()
    };
    Workload::compile("test", vec![(source, 1)], &options).unwrap()
}

/// The variables of `workload` with these values of `a` and `b`.
fn values(workload: &Workload, a: Value, b: Value) -> Vec<Value> {
    let mut values = workload.variables.clone();
    for (name, value) in [("a", a), ("b", b)] {
        values[workload.slot(name).unwrap().0 as usize] = value;
    }
    values
}

fn ints(workload: &Workload, a: i64, b: i64) -> Vec<Value> {
    values(workload, Value::Int(a), Value::Int(b))
}

/// Runs a future outside of the test's own runtime.
fn block_on<F: Future>(future: F) -> F::Output {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}

const PROTOCOLS: [Protocol; 3] = [Protocol::Simple, Protocol::Extended, Protocol::Prepared];

#[tokio::test]
async fn every_protocol_writes_reads_and_counts_rows() {
    for protocol in PROTOCOLS {
        let bench = Bench::new().await;
        let workload = workload(
            "insert into t (id, n) values (:a, :b);
             update t set n = n + :b where id >= :a;
             select n from t where id >= :a order by id;
             BEGIN;
             END",
        );
        let mut conn = bench.engine.connect().await.unwrap();
        let mut session =
            bench.engine.open(&mut conn, &workload, protocol, Preparing::AtStart).await.unwrap();
        for id in 1..=3 {
            assert_eq!(
                session.execute(StmtId(0), &ints(&workload, id, 10), None).await.unwrap(),
                1
            );
        }
        session.execute(StmtId(3), &ints(&workload, 0, 0), None).await.unwrap();
        assert_eq!(session.block(), Block::Open);
        let mut kept = Vec::new();
        assert_eq!(
            session.execute(StmtId(2), &ints(&workload, 2, 0), Some(&mut kept)).await.unwrap(),
            2
        );
        let expected = Kept {
            rows: 2,
            returns_rows: true,
            columns: vec!["n".into()],
            last: vec![Some("10".into())],
        };
        assert_eq!(kept, [expected], "{protocol:?}");
        session.execute(StmtId(4), &ints(&workload, 0, 0), None).await.unwrap();
        assert_eq!(session.block(), Block::Idle);
    }
}

#[tokio::test]
async fn a_statement_that_changes_no_row_reports_none() {
    let bench = Bench::new().await;
    let workload = workload(
        "insert into t (id) values (:a);
             update t set n = 1 where id = :a;
             create table u (x)",
    );
    let mut conn = bench.engine.connect().await.unwrap();
    let mut session = bench
        .engine
        .open(&mut conn, &workload, Protocol::Extended, Preparing::AtStart)
        .await
        .unwrap();
    assert_eq!(session.execute(StmtId(0), &ints(&workload, 1, 0), None).await.unwrap(), 1);
    assert_eq!(session.execute(StmtId(1), &ints(&workload, 9, 0), None).await.unwrap(), 0);
    let mut kept = Vec::new();
    assert_eq!(
        session.execute(StmtId(2), &ints(&workload, 0, 0), Some(&mut kept)).await.unwrap(),
        0
    );
    assert!(!kept[0].returns_rows);
}

#[tokio::test]
async fn parameters_are_bound_by_type_and_text_that_is_an_integer_as_one() {
    let bench = Bench::new().await;
    let workload = workload("select typeof(:a), :a");
    let mut conn = bench.engine.connect().await.unwrap();
    let mut session = bench
        .engine
        .open(&mut conn, &workload, Protocol::Prepared, Preparing::AtStart)
        .await
        .unwrap();
    for (value, kind, text) in [
        (Value::Int(-7), "integer", Some("-7")),
        (Value::Bool(true), "integer", Some("1")),
        (Value::Double(1.5), "real", Some("1.5")),
        (Value::Text("42".into()), "integer", Some("42")),
        (Value::Text("4 2".into()), "text", Some("4 2")),
        (Value::Null, "null", None),
        (Value::Undefined, "null", None),
    ] {
        let mut kept = Vec::new();
        session
            .execute(StmtId(0), &values(&workload, value, Value::Null), Some(&mut kept))
            .await
            .unwrap();
        assert_eq!(kept[0].last, [Some(kind.to_owned()), text.map(str::to_owned)]);
    }
}

#[tokio::test]
async fn in_simple_protocol_an_undefined_variable_stays_as_written() {
    let bench = Bench::new().await;
    let workload = workload("select ':a'");
    let mut conn = bench.engine.connect().await.unwrap();
    let mut session = bench
        .engine
        .open(&mut conn, &workload, Protocol::Simple, Preparing::AtStart)
        .await
        .unwrap();
    let mut kept = Vec::new();
    let vars = values(&workload, Value::Undefined, Value::Undefined);
    session.execute(StmtId(0), &vars, Some(&mut kept)).await.unwrap();
    assert_eq!(kept[0].last, [Some(":a".to_owned())]);
}

#[tokio::test]
async fn a_compound_command_runs_every_statement_and_keeps_rows_of_each() {
    let bench = Bench::new().await;
    let workload = workload("insert into t (id) values (:a)\\; select :b, 5");
    let mut conn = bench.engine.connect().await.unwrap();
    let mut session = bench
        .engine
        .open(&mut conn, &workload, Protocol::Simple, Preparing::AtStart)
        .await
        .unwrap();
    let mut kept = Vec::new();
    assert_eq!(
        session.execute(StmtId(0), &ints(&workload, 1, 3), Some(&mut kept)).await.unwrap(),
        2
    );
    assert_eq!(kept.len(), 2);
    assert_eq!(kept[1].last, [Some("3".to_owned()), Some("5".to_owned())]);
}

#[tokio::test]
async fn begin_takes_the_write_lock_so_that_a_second_one_is_busy() {
    let bench = Bench::new().await;
    let workload = workload("begin");
    let mut first = bench.engine.connect().await.unwrap();
    let mut second = bench.engine.connect().await.unwrap();
    let mut first = bench
        .engine
        .open(&mut first, &workload, Protocol::Prepared, Preparing::AtStart)
        .await
        .unwrap();
    let mut second = bench
        .engine
        .open(&mut second, &workload, Protocol::Simple, Preparing::AtStart)
        .await
        .unwrap();
    first.execute(StmtId(0), &workload.variables, None).await.unwrap();
    let error = second.execute(StmtId(0), &workload.variables, None).await.unwrap_err();
    assert_eq!((error.kind(), error.code()), (ErrorKind::Busy, "SQLITE_BUSY"));
    assert_eq!(second.block(), Block::Idle);
    first.rollback().await.unwrap();
    assert_eq!(first.block(), Block::Idle);
    second.execute(StmtId(0), &workload.variables, None).await.unwrap();
}

#[tokio::test]
async fn a_rollback_undoes_the_block_and_is_harmless_outside_one() {
    let bench = Bench::new().await;
    let workload = workload(
        "BEGIN;
             insert into t (id) values (:a)",
    );
    let mut conn = bench.engine.connect().await.unwrap();
    let mut session = bench
        .engine
        .open(&mut conn, &workload, Protocol::Prepared, Preparing::AtStart)
        .await
        .unwrap();
    session.rollback().await.unwrap();
    session.execute(StmtId(0), &ints(&workload, 1, 0), None).await.unwrap();
    session.execute(StmtId(1), &ints(&workload, 1, 0), None).await.unwrap();
    let error = session.execute(StmtId(1), &ints(&workload, 1, 0), None).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Duplicate);
    assert_eq!(error.code(), "SQLITE_CONSTRAINT_PRIMARYKEY");
    assert_eq!(session.block(), Block::Open);
    session.rollback().await.unwrap();
    assert_eq!(bench.rows("select count(*) from t").await, [[Some("0".to_owned())]]);
}

#[tokio::test]
async fn what_cannot_be_prepared_is_refused_at_once_for_a_built_in_and_later_for_a_users_script() {
    let bench = Bench::new().await;
    let mut workload = workload("select * from absent");
    let mut conn = bench.engine.connect().await.unwrap();
    let mut session = bench
        .engine
        .open(&mut conn, &workload, Protocol::Prepared, Preparing::AtStart)
        .await
        .unwrap();
    let error = session.execute(StmtId(0), &workload.variables, None).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::MissingTable);
    bench.engine.admin().await.unwrap().batch("create table absent (x)").await.unwrap();
    session.execute(StmtId(0), &workload.variables, None).await.unwrap();
    drop(session);
    bench.engine.admin().await.unwrap().batch("drop table absent").await.unwrap();
    workload.scripts[0].source.origin = Origin::Embedded;
    // A connection that never saw the table; the first one would find out only when it executes.
    let mut conn = bench.engine.connect().await.unwrap();
    let refused =
        bench.engine.open(&mut conn, &workload, Protocol::Prepared, Preparing::AtStart).await;
    assert_eq!(refused.err().unwrap().kind(), ErrorKind::MissingTable);
}

#[tokio::test]
async fn a_missing_table_and_a_missing_file_are_told_apart() {
    let bench = Bench::new().await;
    let workload = workload("select * from absent");
    let mut conn = bench.engine.connect().await.unwrap();
    let mut session = bench
        .engine
        .open(&mut conn, &workload, Protocol::Extended, Preparing::AtStart)
        .await
        .unwrap();
    let error = session.execute(StmtId(0), &workload.variables, None).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::MissingTable);
    let absent = bench.folder.path().join("absent.sqlite");
    let engine = Sqlite::new(SqliteTarget::new(&absent));
    let error = engine.connect().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Connect);
    assert!(error.to_string().contains("dbload init"), "{error}");
    assert!(!absent.exists());
}

#[tokio::test]
async fn a_file_that_is_no_database_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notes.txt");
    std::fs::write(&path, "not a database, and long enough to be read as a header").unwrap();
    let error = Sqlite::new(SqliteTarget::new(&path)).creating().connect().await.unwrap_err();
    assert_eq!((error.kind(), error.code()), (ErrorKind::Connect, "SQLITE_NOTADB"));
    assert!(error.to_string().contains("notes.txt"), "{error}");
}

#[test]
fn a_running_statement_is_interrupted_from_another_thread() {
    let bench = block_on(Bench::new());
    let endless = "with recursive n(i) as (select 1 union all select i + 1 from n) \
                   select count(*) from n";
    let workload = workload(endless);
    let mut conn = block_on(bench.engine.connect()).unwrap();
    let canceller = bench.engine.canceller(&conn);
    let mut session =
        block_on(bench.engine.open(&mut conn, &workload, Protocol::Prepared, Preparing::AtStart))
            .unwrap();
    let ended = AtomicBool::new(false);
    std::thread::scope(|threads| {
        threads.spawn(|| {
            // An interrupt before the statement began would be lost: they go on until one arrives.
            while !ended.load(Ordering::Relaxed) {
                block_on(canceller.cancel());
                std::thread::yield_now();
            }
        });
        let executed = block_on(session.execute(StmtId(0), &workload.variables, None));
        ended.store(true, Ordering::Relaxed);
        assert_eq!(executed.unwrap_err().kind(), ErrorKind::Cancelled);
    });
}

#[tokio::test]
async fn a_load_writes_its_range_in_one_transaction_and_reports_every_row() {
    let bench = Bench::new().await;
    let mut admin = bench.engine.admin().await.unwrap();
    admin
        .batch("create table pgbench_tellers (tid integer primary key, bid integer, tbalance integer, filler text)")
        .await
        .unwrap();
    let tellers = &tpcb::tables(2_000, false, false, false)[1];
    let reported = std::cell::Cell::new(0);
    let done = |rows| reported.set(reported.get() + rows);
    admin.load(tellers, 5..15_000, &done).await.unwrap();
    assert_eq!(reported.get(), 14_995);
    let rows = bench
        .rows("select count(*), min(tid), max(tid), max(bid), max(filler) from pgbench_tellers");
    let row = &rows.await[0];
    let row: Vec<_> = row.iter().map(|cell| cell.as_deref().unwrap_or("NULL")).collect();
    assert_eq!(row, ["14995", "6", "15000", "1500", "NULL"]);
    // The same rows again break the key; nothing of the second range stays.
    let error = admin.load(tellers, 0..10, &done).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Duplicate);
    let rows = bench.rows("select count(*) from pgbench_tellers where tid < 6").await;
    assert_eq!(rows, [[Some("0".to_owned())]]);
}

#[tokio::test]
async fn facts_tell_the_version_and_the_settings_of_the_target() {
    let folder = tempfile::tempdir().unwrap();
    let mut target = SqliteTarget::new(folder.path().join("t.sqlite"));
    target.synchronous = crate::target::Synchronous::Normal;
    let facts = Sqlite::new(target).creating().admin().await.unwrap().facts().await.unwrap();
    assert_eq!(facts.version, rusqlite::version());
    assert_eq!(facts.settings["journal_mode"], "wal");
    assert_eq!(facts.settings["synchronous"], "normal");
    assert!(facts.local);
    assert!(facts.database_bytes.is_some());
    let folder = folder.path().canonicalize().unwrap();
    assert_eq!(facts.data_directory.as_deref(), folder.to_str());
}

#[tokio::test]
async fn a_file_in_which_nothing_was_stored_is_taken_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.sqlite");
    let engine = Sqlite::new(SqliteTarget::new(&path)).creating();
    let admin = engine.admin().await.unwrap();
    assert!(path.exists());
    drop(admin);
    assert!(!path.exists());
    let mut admin = engine.admin().await.unwrap();
    admin.batch("create table t (x)").await.unwrap();
    drop(admin);
    assert!(path.exists());
}
