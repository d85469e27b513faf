//! One contract, the same cases over every engine: SQLite in a temporary folder, PostgreSQL and MySQL
//! where `DBLOAD_TEST_PG_URL` and `DBLOAD_TEST_MYSQL_URL` name servers (else SKIPPED, unless
//! `DBLOAD_REQUIRE` names them), and the simulated one where no table is needed.

mod loading;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use loading::{
    a_claim_keeps_others_out_until_it_is_given_back_or_its_connection_ends,
    a_load_writes_its_range_and_reports_every_row,
};

use super::mysql::MySql;
use super::postgres::Postgres;
use super::sim::{Answer, Sim};
use super::sqlite::Sqlite;
use super::{
    Admin, Block, Canceller, DbError, Engine, ErrorKind, Kept, Preparing, Session, mysql, postgres,
};
use crate::plan::Protocol;
use crate::script::Dialect;
use crate::script::program::StmtId;
use crate::script::value::Value;
use crate::target::{Env, SqliteTarget, Target, TargetArgs};
use crate::workload::source::{Origin, Source};
use crate::workload::{CompileOptions, Workload};

const PROTOCOLS: [Protocol; 3] = [Protocol::Simple, Protocol::Extended, Protocol::Prepared];

/// Makes a test of each case for each engine that has tables, and for clients that wait alone.
macro_rules! conformance {
    ($($case:ident),+ $(,)?) => {
        mod on_sqlite {
            $(#[tokio::test]
            async fn $case() {
                let folder = tempfile::tempdir().unwrap();
                super::$case(&super::sqlite(&folder)).await;
            })+
        }
        conformance!(on_postgres, super::postgres(), $($case),+);
        conformance!(on_postgres_alone, super::postgres().map(super::Alone), $($case),+);
        conformance!(on_mysql, super::mysql(), $($case),+);
        conformance!(on_mysql_alone, super::mysql().map(super::Alone), $($case),+);
    };
    ($module:ident, $engine:expr, $($case:ident),+) => {
        mod $module {
            $(#[tokio::test]
            async fn $case() {
                if let Some(engine) = $engine {
                    super::$case(&engine).await;
                }
            })+
        }
    };
}

conformance![
    blocks_follow_their_verbs,
    rows_are_counted_alike_in_every_protocol,
    kept_rows_carry_names_and_the_last_values,
    text_passes_unchanged,
    big_numbers_pass_unchanged,
    a_variable_without_value_is_null,
    an_error_in_a_block_is_rolled_back_with_the_block,
    failures_have_their_kinds_and_the_session_goes_on,
    a_compound_command_runs_every_statement,
    a_running_statement_is_cancelled,
    a_connection_that_the_server_ended_is_lost,
    a_load_writes_its_range_and_reports_every_row,
    a_claim_keeps_others_out_until_it_is_given_back_or_its_connection_ends,
];

/// An engine whose clients all wait as one does that has its thread to itself.
struct Alone<E>(E);

impl<E: Engine> Engine for Alone<E> {
    const DIALECT: Dialect = E::DIALECT;
    const BLOCKING: bool = E::BLOCKING;
    type Conn = E::Conn;
    type Session<'c> = E::Session<'c>;
    type Admin = E::Admin;
    type Canceller = E::Canceller;

    async fn connect(&self) -> Result<E::Conn, DbError> {
        self.0.connect_alone().await
    }

    fn canceller(&self, conn: &E::Conn) -> E::Canceller {
        self.0.canceller(conn)
    }

    async fn set_up(&self, conn: &mut E::Conn, sql: &str) -> Result<(), DbError> {
        self.0.set_up(conn, sql).await
    }

    async fn open<'c>(
        &'c self,
        conn: &'c mut E::Conn,
        workload: &'c Workload,
        protocol: Protocol,
        preparing: Preparing,
    ) -> Result<E::Session<'c>, DbError> {
        self.0.open(conn, workload, protocol, preparing).await
    }

    async fn admin(&self) -> Result<E::Admin, DbError> {
        self.0.admin().await
    }
}

#[tokio::test]
async fn blocks_follow_their_verbs_on_the_simulated_engine() {
    let answer = |_| Answer { takes: Duration::ZERO, result: Ok(1) };
    let engine = Arc::into_inner(Sim::new(answer)).unwrap();
    blocks_follow_their_verbs(&engine).await;
}

fn sqlite(folder: &tempfile::TempDir) -> Sqlite {
    Sqlite::new(SqliteTarget::new(folder.path().join("t.sqlite"))).creating()
}

fn postgres() -> Option<Postgres> {
    match target("DBLOAD_TEST_PG_URL", "pg")? {
        Target::Postgres(target) => {
            Some(Postgres::new(postgres::connect::Connector::new(target).unwrap()))
        }
        other => panic!("{other} is not PostgreSQL"),
    }
}

fn mysql() -> Option<MySql> {
    match target("DBLOAD_TEST_MYSQL_URL", "mysql")? {
        Target::MySql(target) => Some(MySql::new(mysql::connect::Connector::new(target).unwrap())),
        other => panic!("{other} is not MySQL"),
    }
}

fn target(variable: &str, name: &str) -> Option<Target> {
    let Ok(url) = std::env::var(variable) else {
        let wanted = std::env::var("DBLOAD_REQUIRE").unwrap_or_default();
        assert!(!wanted.split(',').any(|wanted| wanted == name), "{variable} is not set");
        println!("SKIPPED: {variable} is not set");
        return None;
    };
    let args = TargetArgs { targets: vec![url], ..TargetArgs::default() };
    Some(args.resolve(&Env::default()).unwrap().remove(0).target)
}

/// The name of a table for a case of the module that runs it.
fn name_of_table(case: &str) -> String {
    let thread = std::thread::current();
    let module = thread.name().and_then(|name| name.rsplit("::").nth(1)).unwrap_or_default();
    format!("dbload_{module}_{case}")
}

/// A new table for a case; the next run of the case replaces it.
async fn table<E: Engine>(engine: &E, case: &str) -> String {
    let name = name_of_table(case);
    let mut admin = engine.admin().await.unwrap();
    admin.batch(&format!("drop table if exists {name}")).await.unwrap();
    let columns = "id integer primary key, n integer, s varchar(40), b bigint";
    admin.batch(&format!("create table {name} ({columns})")).await.unwrap();
    name
}

async fn cell<E: Engine>(engine: &E, sql: &str) -> Option<String> {
    engine.admin().await.unwrap().rows(sql).await.unwrap().remove(0).remove(0)
}

/// A script over the variables `a` and `b`, for a table that it calls `t`.
fn workload<E: Engine>(table: &str, script: &str) -> Workload {
    let script = script.replace(" t ", &format!(" {table} "));
    let source = Source::new("test", &script, Origin::Stdin);
    let define = |name: &str| (name.to_owned(), "0".to_owned());
    let options = CompileOptions {
        dialect: E::DIALECT,
        defines: vec![define("a"), define("b")],
        ..CompileOptions::default()
    };
    Workload::compile("test", vec![(source, 1)], &options).unwrap()
}

/// The variables of `workload` with these values of `a` and `b`.
fn values(workload: &Workload, a: Value, b: Value) -> Vec<Value> {
    let mut values = workload.variables.clone();
    for (name, value) in [("a", a), ("b", b)] {
        if let Some(slot) = workload.slot(name) {
            values[slot.0 as usize] = value;
        }
    }
    values
}

async fn blocks_follow_their_verbs<E: Engine>(engine: &E) {
    // SQLite's file is made with the first table; the simulated engine has none.
    if let Ok(mut admin) = engine.admin().await {
        let table = name_of_table("blocks");
        let _ = admin.batch(&format!("create table if not exists {table} (id integer)")).await;
    }
    let workload = workload::<E>("", "BEGIN;\nSELECT 1;\nEND;\nROLLBACK;\nSTART TRANSACTION;\n");
    for protocol in PROTOCOLS {
        let mut conn = engine.connect().await.unwrap();
        let mut session =
            engine.open(&mut conn, &workload, protocol, Preparing::AtStart).await.unwrap();
        assert_eq!(session.block(), Block::Idle);
        for (statement, block) in [
            (1, Block::Idle),
            (0, Block::Open),
            (1, Block::Open),
            (2, Block::Idle),
            (4, Block::Open),
            (3, Block::Idle),
        ] {
            session.execute(StmtId(statement), &workload.variables, None).await.unwrap();
            assert_eq!(session.block(), block, "{protocol:?}, statement {statement}");
        }
        session.rollback().await.unwrap();
        session.execute(StmtId(0), &workload.variables, None).await.unwrap();
        session.rollback().await.unwrap();
        assert_eq!(session.block(), Block::Idle);
        assert!(!session.in_pipeline());
        session.close().await;
    }
}

async fn rows_are_counted_alike_in_every_protocol<E: Engine>(engine: &E) {
    let table = table(engine, "rows").await;
    let workload = workload::<E>(
        &table,
        "INSERT INTO t (id, n) VALUES (:a, :b);
         UPDATE t SET n = :b WHERE id >= :a;
         SELECT id FROM t ORDER BY id;
         DELETE FROM t WHERE id >= :a;",
    );
    for protocol in PROTOCOLS {
        let mut conn = engine.connect().await.unwrap();
        let mut session =
            engine.open(&mut conn, &workload, protocol, Preparing::AtStart).await.unwrap();
        for (statement, a, b, rows) in [
            (0, 1, 5, 1),
            (0, 2, 5, 1),
            (1, 1, 6, 2),
            // Found, though they hold the value already.
            (1, 1, 6, 2),
            (1, 9, 6, 0),
            (2, 0, 0, 2),
            (3, 9, 0, 0),
            (3, 1, 0, 2),
            (2, 0, 0, 0),
        ] {
            let vars = values(&workload, Value::Int(a), Value::Int(b));
            let counted = session.execute(StmtId(statement), &vars, None).await.unwrap();
            assert_eq!(counted, rows, "{protocol:?}, statement {statement} with {a}, {b}");
        }
    }
}

async fn kept_rows_carry_names_and_the_last_values<E: Engine>(engine: &E) {
    let table = table(engine, "kept").await;
    let workload = workload::<E>(
        &table,
        "INSERT INTO t (id, n, s) VALUES (1, 5, 'one'), (2, NULL, 'two');
         SELECT id, n AS number, s FROM t ORDER BY id;
         UPDATE t SET n = 7 WHERE id = 1;
         SELECT id FROM t WHERE id = 9;
         DELETE FROM t WHERE id > 0;",
    );
    for protocol in PROTOCOLS {
        let mut conn = engine.connect().await.unwrap();
        let mut session =
            engine.open(&mut conn, &workload, protocol, Preparing::AtStart).await.unwrap();
        let mut kept = Vec::new();
        for statement in 0..5 {
            let vars = &workload.variables;
            session.execute(StmtId(statement), vars, Some(&mut kept)).await.unwrap();
        }
        let text = |text: &str| Some(text.to_owned());
        let names = ["id", "number", "s"].map(str::to_owned).to_vec();
        let last = vec![text("2"), None, text("two")];
        assert_eq!(kept[1], Kept { rows: 2, returns_rows: true, columns: names, last });
        let shapes: Vec<_> = kept.iter().map(|kept| (kept.rows, kept.returns_rows)).collect();
        assert_eq!(shapes, [(0, false), (2, true), (0, false), (0, true), (0, false)]);
    }
}

async fn text_passes_unchanged<E: Engine>(engine: &E) {
    let table = table(engine, "text").await;
    let script = "INSERT INTO t (id, s) VALUES (:a, :b);\nSELECT s FROM t WHERE id = :a;";
    let workload = workload::<E>(&table, script);
    let texts = ["o'hara \\ \"x\" %", "", "gr\u{fc}\u{df}e", "a\nb\tc", "x?y:z $1", "7e3"];
    let mut id = 0;
    for protocol in [Protocol::Extended, Protocol::Prepared] {
        let mut conn = engine.connect().await.unwrap();
        let mut session =
            engine.open(&mut conn, &workload, protocol, Preparing::AtStart).await.unwrap();
        for text in texts {
            id += 1;
            let vars = values(&workload, Value::Int(id), Value::Text(text.into()));
            session.execute(StmtId(0), &vars, None).await.unwrap();
            let mut kept = Vec::new();
            // A number that came as text finds its row.
            let vars = values(&workload, Value::Text(id.to_string().into()), Value::Null);
            session.execute(StmtId(1), &vars, Some(&mut kept)).await.unwrap();
            assert_eq!(kept[0].last, [Some(text.to_owned())], "{protocol:?}");
        }
    }
}

async fn big_numbers_pass_unchanged<E: Engine>(engine: &E) {
    let table = table(engine, "numbers").await;
    let script = "INSERT INTO t (id, b) VALUES (:a, :b);\nSELECT b FROM t WHERE id = :a;";
    let workload = workload::<E>(&table, script);
    let mut id = 0;
    for protocol in PROTOCOLS {
        let mut conn = engine.connect().await.unwrap();
        let mut session =
            engine.open(&mut conn, &workload, protocol, Preparing::AtStart).await.unwrap();
        for number in [i64::MIN, -1, 0, i64::from(u32::MAX) + 1, i64::MAX] {
            id += 1;
            let vars = values(&workload, Value::Int(id), Value::Int(number));
            session.execute(StmtId(0), &vars, None).await.unwrap();
            let mut kept = Vec::new();
            session.execute(StmtId(1), &vars, Some(&mut kept)).await.unwrap();
            assert_eq!(kept[0].last, [Some(number.to_string())], "{protocol:?}");
        }
    }
}

async fn a_variable_without_value_is_null<E: Engine>(engine: &E) {
    let table = table(engine, "null").await;
    let script = "INSERT INTO t (id, n) VALUES (:a, :b);\nSELECT n FROM t WHERE id = :a;";
    let workload = workload::<E>(&table, script);
    let mut id = 0;
    for protocol in [Protocol::Extended, Protocol::Prepared] {
        let mut conn = engine.connect().await.unwrap();
        let mut session =
            engine.open(&mut conn, &workload, protocol, Preparing::AtStart).await.unwrap();
        for nothing in [Value::Null, Value::Undefined] {
            id += 1;
            let vars = values(&workload, Value::Int(id), nothing);
            session.execute(StmtId(0), &vars, None).await.unwrap();
            let mut kept = Vec::new();
            session.execute(StmtId(1), &vars, Some(&mut kept)).await.unwrap();
            assert_eq!(kept[0].last, [None]);
        }
    }
}

async fn an_error_in_a_block_is_rolled_back_with_the_block<E: Engine>(engine: &E) {
    let table = table(engine, "rollback").await;
    let workload = workload::<E>(&table, "BEGIN;\nINSERT INTO t (id) VALUES (:a);\nEND;\n");
    let count = format!("select count(*) from {table}");
    for protocol in PROTOCOLS {
        let mut conn = engine.connect().await.unwrap();
        let mut session =
            engine.open(&mut conn, &workload, protocol, Preparing::AtStart).await.unwrap();
        let vars = values(&workload, Value::Int(1), Value::Null);
        session.execute(StmtId(0), &vars, None).await.unwrap();
        session.execute(StmtId(1), &vars, None).await.unwrap();
        let error = session.execute(StmtId(1), &vars, None).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Duplicate, "{error}");
        assert!(!error.is_retriable() && !error.code().is_empty(), "{error}");
        assert_ne!(session.block(), Block::Idle, "{protocol:?}");
        session.rollback().await.unwrap();
        assert_eq!(session.block(), Block::Idle);
        assert_eq!(cell(engine, &count).await.as_deref(), Some("0"), "{protocol:?}");
        for statement in 0..3 {
            session.execute(StmtId(statement), &vars, None).await.unwrap();
        }
        assert_eq!(cell(engine, &count).await.as_deref(), Some("1"), "{protocol:?}");
        engine.admin().await.unwrap().batch(&format!("delete from {table}")).await.unwrap();
    }
}

async fn failures_have_their_kinds_and_the_session_goes_on<E: Engine>(engine: &E) {
    let table = table(engine, "kinds").await;
    let script = "SELECT * FROM dbload_absent;\nSELEC 1;\nSELECT n FROM t WHERE id = 1;\n";
    let workload = workload::<E>(&table, script);
    for protocol in PROTOCOLS {
        let mut conn = engine.connect().await.unwrap();
        let mut session =
            engine.open(&mut conn, &workload, protocol, Preparing::AtStart).await.unwrap();
        let vars = &workload.variables;
        for (statement, kind) in [(0, ErrorKind::MissingTable), (1, ErrorKind::Other)] {
            let error = session.execute(StmtId(statement), vars, None).await.unwrap_err();
            assert_eq!(error.kind(), kind, "{protocol:?}: {error}");
            assert!(!error.text().is_empty() && !error.code().is_empty(), "{error}");
            assert_eq!(session.block(), Block::Idle);
            assert_eq!(session.execute(StmtId(2), vars, None).await.unwrap(), 0);
        }
    }
}

async fn a_compound_command_runs_every_statement<E: Engine>(engine: &E) {
    let table = table(engine, "compound").await;
    let script = "INSERT INTO t (id) VALUES (:a)\\; SELECT id, 5 FROM t WHERE id = :a;\n";
    let workload = workload::<E>(&table, script);
    let mut conn = engine.connect().await.unwrap();
    let mut session =
        engine.open(&mut conn, &workload, Protocol::Simple, Preparing::AtStart).await.unwrap();
    let vars = values(&workload, Value::Int(3), Value::Null);
    let mut kept = Vec::new();
    session.execute(StmtId(0), &vars, Some(&mut kept)).await.unwrap();
    assert_eq!(kept.len(), 2);
    assert_eq!(kept[1].last, [Some("3".to_owned()), Some("5".to_owned())]);
    // Its second statement is not run after the first has failed.
    let mut kept = Vec::new();
    let error = session.execute(StmtId(0), &vars, Some(&mut kept)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Duplicate);
    session.rollback().await.unwrap();
    assert_eq!(session.block(), Block::Idle);
}

async fn a_running_statement_is_cancelled<E: Engine>(engine: &E) {
    let _ = table(engine, "cancel").await;
    let endless = match E::DIALECT {
        Dialect::Postgres => "SELECT pg_sleep(60);",
        Dialect::Mysql => {
            "SELECT count(*) FROM information_schema.collations a, information_schema.collations b,
             information_schema.collations c, information_schema.collations d;"
        }
        Dialect::Sqlite => {
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n;"
        }
    };
    let workload = workload::<E>("", &format!("{endless}\nSELECT 1;\n"));
    let mut conn = engine.connect().await.unwrap();
    let canceller = engine.canceller(&conn);
    let mut session =
        engine.open(&mut conn, &workload, Protocol::Prepared, Preparing::AtStart).await.unwrap();
    let ended = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&ended);
    let cancelling = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        // A request before the statement began is lost: again until one arrives.
        while !seen.load(Ordering::Relaxed) {
            runtime.block_on(canceller.cancel());
            std::thread::sleep(Duration::from_millis(20));
        }
    });
    let done = session.execute(StmtId(0), &workload.variables, None).await;
    ended.store(true, Ordering::Relaxed);
    cancelling.join().unwrap();
    assert_eq!(done.unwrap_err().kind(), ErrorKind::Cancelled);
    // The last request may come late and hit one statement more.
    let _ = session.execute(StmtId(1), &workload.variables, None).await;
    session.execute(StmtId(1), &workload.variables, None).await.unwrap();
}

async fn a_connection_that_the_server_ended_is_lost<E: Engine>(engine: &E) {
    let end = match E::DIALECT {
        Dialect::Postgres => "SELECT pg_terminate_backend(pg_backend_pid());",
        Dialect::Mysql => "KILL CONNECTION_ID();",
        Dialect::Sqlite => return,
    };
    let workload = workload::<E>("", &format!("{end}\nSELECT 1;\n"));
    let mut conn = engine.connect().await.unwrap();
    let mut session =
        engine.open(&mut conn, &workload, Protocol::Simple, Preparing::AtStart).await.unwrap();
    let _ = session.execute(StmtId(0), &workload.variables, None).await;
    let error = session.execute(StmtId(1), &workload.variables, None).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Lost, "{error}");
    session.close().await;
}
