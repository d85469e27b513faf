//! On the server of `DBLOAD_TEST_PG_URL`, each test in a database of its own, and against the
//! pgbench of `DBLOAD_TEST_PG_BIN`. Without them a test says SKIPPED, unless `DBLOAD_REQUIRE`
//! names `pg`.

use std::process::Command;

use super::*;
use crate::engine::postgres::Postgres;
use crate::engine::postgres::connect::Connector;
use crate::schema::SchemaSize;
use crate::schema::check::VerifyReport;
use crate::schema::plan::PartitionMethod;
use crate::target::{Env, PgHost, PgTarget, Target, TargetArgs};

const SQL: fn() -> SchemaSql = || SchemaSql::tpcb(Dialect::Postgres);

/// The variable's value; `None` says SKIPPED.
fn required(variable: &str) -> Option<String> {
    let value = std::env::var(variable).ok();
    if value.is_none() {
        let wanted = std::env::var("DBLOAD_REQUIRE").unwrap_or_default();
        assert!(!wanted.split(',').any(|name| name == "pg"), "{variable} is not set");
        println!("SKIPPED: {variable} is not set");
    }
    value
}

/// An empty database, made anew by every test; dropped by `end`.
struct Server {
    engine: Arc<Postgres>,
    target: PgTarget,
    home: Arc<Postgres>,
}

fn engine(target: &PgTarget) -> Arc<Postgres> {
    Arc::new(Postgres::new(Connector::new(target.clone()).unwrap()))
}

impl Server {
    async fn new(name: &str) -> Option<Self> {
        let url = required("DBLOAD_TEST_PG_URL")?;
        let args = TargetArgs { targets: vec![url], ..TargetArgs::default() };
        let Target::Postgres(home) = args.resolve(&Env::default()).unwrap().remove(0).target else {
            panic!("DBLOAD_TEST_PG_URL is not PostgreSQL's");
        };
        let target = PgTarget { database: format!("dbload_load_{name}"), ..home.clone() };
        let server = Self { engine: engine(&target), target, home: engine(&home) };
        server.drop_database().await;
        let create = format!("create database {} template template0", server.target.database);
        server.home.admin().await.unwrap().batch(&create).await.unwrap();
        Some(server)
    }

    async fn drop_database(&self) {
        let drop = format!("drop database if exists {} with (force)", self.target.database);
        self.home.admin().await.unwrap().batch(&drop).await.unwrap();
    }

    async fn end(self) {
        self.drop_database().await;
    }

    async fn init(&self, plan: &InitPlan) -> Result<Outcome, LoadError> {
        init(&self.engine, SQL(), plan, false, &mut Silent).await
    }

    /// With statements that may not share a transaction, one each.
    async fn batch(&self, statements: &[&str]) {
        let mut admin = self.engine.admin().await.unwrap();
        for statement in statements {
            admin.batch(statement).await.unwrap();
        }
    }

    async fn cell(&self, sql: &str) -> String {
        let rows = self.engine.admin().await.unwrap().rows(sql).await.unwrap();
        rows.into_iter().flatten().next().flatten().unwrap_or_default()
    }

    async fn before_level(&self) {
        before_level(&mut self.engine.admin().await.unwrap(), SQL()).await.unwrap();
    }

    async fn verify(&self, rebase: bool) -> VerifyReport {
        verify(&mut self.engine.admin().await.unwrap(), SQL(), rebase).await.unwrap()
    }

    /// What a TPC-B-like transaction does.
    async fn transaction(&self, delta: i32) {
        self.batch(&[&format!(
            "update pgbench_accounts set abalance = abalance + {delta} where aid = 1;
             update pgbench_tellers set tbalance = tbalance + {delta} where tid = 1;
             update pgbench_branches set bbalance = bbalance + {delta} where bid = 1;
             insert into pgbench_history (tid, bid, aid, delta) values (1, 1, 1, {delta})"
        )])
        .await;
    }

    /// Everything of the catalogue that a definition decides, and the rows.
    async fn picture(&self) -> Vec<Vec<Option<String>>> {
        let mut admin = self.engine.admin().await.unwrap();
        let mut picture = Vec::new();
        for sql in [
            "select relname, relkind, relpersistence, reloptions, pg_get_partkeydef(oid),
                    pg_get_expr(relpartbound, oid)
             from pg_class where relname like 'pgbench%' order by 1",
            "select attrelid::regclass, attname, format_type(atttypid, atttypmod), attnotnull
             from pg_attribute join pg_class on pg_class.oid = attrelid
             where relname like 'pgbench%' and attnum > 0 order by attrelid::regclass::text, attnum",
            "select conrelid::regclass, conname, pg_get_constraintdef(oid) from pg_constraint
             where conrelid::regclass::text like 'pgbench%' order by 1::text, 2",
            "select md5(string_agg(a::text, ';' order by aid)), count(*) from pgbench_accounts a",
            "select md5(string_agg(t::text, ';' order by tid)), count(*) from pgbench_tellers t",
            "select md5(string_agg(b::text, ';' order by bid)), count(*) from pgbench_branches b",
        ] {
            picture.extend(admin.rows(sql).await.unwrap());
        }
        picture
    }

    /// Runs pgbench on the database.
    fn pgbench(&self, folder: &str, args: &[&str]) {
        let host = match &self.target.host {
            PgHost::Socket(path) => path.display().to_string(),
            PgHost::Tcp { name, .. } => name.clone(),
        };
        let port = self.target.port.to_string();
        let output = Command::new(format!("{folder}/pgbench"))
            .args(["-h", &host, "-p", &port, "-U", &self.target.user])
            .args(args)
            .arg(&self.target.database)
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}

#[tokio::test]
async fn the_tables_are_those_of_pgbench() {
    let Some(server) = Server::new("pgbench").await else { return };
    let Some(folder) = required("DBLOAD_TEST_PG_BIN") else { return };
    let replace = || InitPlan { replace: true, ..InitPlan::default() };
    let partitions = |partitions, partition_method| InitPlan {
        partitions,
        partition_method,
        fillfactor: 90,
        ..replace()
    };
    let everything = InitPlan { unlogged: true, foreign_keys: true, fillfactor: 50, ..replace() };
    for (plan, args) in [
        (replace(), &[][..]),
        (everything, &["--unlogged-tables", "--foreign-keys", "-F", "50"][..]),
        (partitions(3, PartitionMethod::Range), &["--partitions=3", "-F", "90"][..]),
        (
            partitions(2, PartitionMethod::Hash),
            &["--partitions=2", "--partition-method=hash", "-F", "90"][..],
        ),
    ] {
        server.init(&plan).await.unwrap();
        let ours = server.picture().await;
        server.pgbench(&folder, &[&["-i", "-q"], args].concat());
        assert_eq!(ours, server.picture().await, "{args:?}");
    }
    server.end().await;
}

#[tokio::test]
async fn the_rows_are_the_same_whatever_the_jobs() {
    let Some(server) = Server::new("jobs").await else { return };
    let plan =
        InitPlan { size: SchemaSize::Tpcb { scale: 2 }, replace: true, ..InitPlan::default() };
    let outcome = server.init(&InitPlan { jobs: 3, ..plan.clone() }).await.unwrap();
    let Outcome::Loaded(report) = outcome else { panic!("{outcome:?}") };
    assert_eq!((report.rows, report.jobs), (200_022, 3));
    let size = report.size_bytes.unwrap();
    let estimate = ddl::estimated_bytes(SQL(), &plan);
    assert!(size < estimate * 11 / 10 && size > estimate * 9 / 10, "{size}, not {estimate}");
    let several = server.picture().await;
    server.init(&plan).await.unwrap();
    assert_eq!(several, server.picture().await);
    server.end().await;
}

#[tokio::test]
async fn a_failed_load_leaves_no_lock_behind() {
    let Some(server) = Server::new("failed").await else { return };
    // Tables that can be made but not filled: each gets a constraint that the first row breaks.
    server
        .batch(&[
            "create function refuse() returns event_trigger language plpgsql as $$ begin \
             if to_regclass('pgbench_branches') is not null then \
             execute 'alter table pgbench_branches add check (bid <> 1)'; end if; end $$",
            "create event trigger refuse on ddl_command_end when tag in ('CREATE TABLE') \
             execute function refuse()",
        ])
        .await;
    let error = server.init(&InitPlan::default()).await.unwrap_err().to_string();
    assert!(error.starts_with("loading rows: ") && error.contains("check constraint"), "{error}");
    server.batch(&["drop event trigger refuse"]).await;
    let found = find(&mut server.engine.admin().await.unwrap(), SQL()).await;
    assert!(matches!(found, Err(LoadError::Unfinished { .. })), "{found:?}");
    let plan = InitPlan { replace: true, ..InitPlan::default() };
    server.init(&plan).await.unwrap();
    server.end().await;
}

#[tokio::test]
async fn tables_that_cannot_be_dropped_are_still_there() {
    let Some(server) = Server::new("depend").await else { return };
    server.init(&InitPlan::default()).await.unwrap();
    server.batch(&["create view rich as select * from pgbench_accounts where abalance > 0"]).await;
    let plan = InitPlan { replace: true, ..InitPlan::default() };
    let error = server.init(&plan).await.unwrap_err().to_string();
    assert!(error.starts_with("dropping tables: ") && error.contains("rich"), "{error}");
    assert!(server.verify(false).await.is_clean());
    server.end().await;
}

#[tokio::test]
async fn what_the_server_cannot_do_is_refused_before_anything_is_touched() {
    let Some(server) = Server::new("refused").await else { return };
    server
        .batch(&[
            "create table pgbench_accounts_2 (x int)",
            "create view pgbench_history as select 1",
        ])
        .await;
    let plan = InitPlan { partitions: 2, replace: true, ..InitPlan::default() };
    let refused = async |plan: InitPlan| server.init(&plan).await.unwrap_err().to_string();
    let error = refused(plan.clone()).await;
    assert!(error.starts_with("pgbench_accounts_2 is not a table that dbload made"), "{error}");
    server.batch(&["drop table pgbench_accounts_2"]).await;
    let error = refused(plan).await;
    assert!(error.starts_with("pgbench_history is not") && error.contains("a view"), "{error}");
    server.batch(&["drop view pgbench_history"]).await;
    let nowhere = Some("no such place".to_owned());
    let error = refused(InitPlan { tablespace: nowhere.clone(), ..InitPlan::default() }).await;
    assert_eq!(error, "there is no tablespace \"no such place\"; nothing was touched");
    let error = refused(InitPlan { index_tablespace: nowhere, ..InitPlan::default() }).await;
    assert!(error.contains("no such place"), "{error}");
    assert_eq!(
        server.cell("select count(*) from pg_class where relname like 'pgbench%'").await,
        "0"
    );
    server.end().await;
}

#[tokio::test]
async fn a_truncation_by_another_tool_is_noticed_and_can_be_accepted() {
    let Some(server) = Server::new("truncated").await else { return };
    server.init(&InitPlan::default()).await.unwrap();
    server.transaction(11).await;
    server.before_level().await;
    server.transaction(4).await;
    assert!(server.verify(false).await.is_clean());
    server.batch(&["truncate pgbench_history"]).await;
    let text = server.verify(false).await.to_string();
    assert!(text.contains("expected 11, found 15, 4 more"), "{text}");
    assert!(text.contains("another tool emptied or rewrote pgbench_history"), "{text}");
    // A level of dbload's own does not wipe out what happened.
    server.before_level().await;
    let text = server.verify(false).await.to_string();
    assert!(text.contains("another tool emptied or rewrote pgbench_history"), "{text}");
    assert!(server.verify(true).await.is_clean());
    server.transaction(-3).await;
    server.before_level().await;
    let report = server.verify(false).await;
    assert!(report.is_clean(), "{report}");
    server.end().await;
}

#[tokio::test]
async fn notes_on_tables_that_were_made_anew_are_void() {
    let Some(server) = Server::new("anew").await else { return };
    server.init(&InitPlan::default()).await.unwrap();
    server.transaction(5).await;
    server.before_level().await;
    server
        .batch(&[
            "drop table pgbench_history",
            "create table pgbench_history (tid int, bid int, aid int, delta int, mtime timestamp, \
             filler char(22))",
            "update pgbench_accounts set abalance = 0 where aid = 1",
        ])
        .await;
    assert!(server.verify(false).await.is_clean());
    server.transaction(7).await;
    server.before_level().await;
    assert!(server.verify(false).await.is_clean());
    assert_eq!(server.cell("select origin || carried from dbload_state").await, "run7");
    server.end().await;
}

#[tokio::test]
async fn a_level_is_prepared_only_when_sessions_that_write_history_have_ended() {
    let Some(server) = Server::new("waits").await else { return };
    server.init(&InitPlan::default()).await.unwrap();
    let mut writer = server.engine.admin().await.unwrap();
    writer
        .batch(
            "begin; update pgbench_accounts set abalance = 8 where aid = 1; \
             insert into pgbench_history (delta) values (8)",
        )
        .await
        .unwrap();
    let writing = async {
        // Commits once the other one waits.
        let waiting = "select 1 from pg_locks where not granted \
                       and relation = 'pgbench_history'::regclass";
        while writer.rows(waiting).await.unwrap().is_empty() {}
        writer.batch("commit").await.unwrap();
    };
    tokio::join!(server.before_level(), writing);
    assert_eq!(server.cell("select carried from dbload_state").await, "8");
    assert!(server.verify(false).await.is_clean());
    server.end().await;
}

#[tokio::test]
async fn partitions_are_found() {
    let Some(server) = Server::new("partitions").await else { return };
    let partition_method = PartitionMethod::Hash;
    let plan = InitPlan { partitions: 2, partition_method, ..InitPlan::default() };
    server.init(&plan).await.unwrap();
    let found = find(&mut server.engine.admin().await.unwrap(), SQL()).await.unwrap();
    let expected = Found {
        size: SchemaSize::Tpcb { scale: 1 },
        partitions: 2,
        partition_method: Some(partition_method),
    };
    assert_eq!(found, expected);
    let dropped = clean(&mut server.engine.admin().await.unwrap(), SQL()).await.unwrap();
    assert_eq!(dropped.len(), 5);
    assert_eq!(
        server.cell("select count(*) from pg_class where relname like 'pgbench%'").await,
        "0"
    );
    server.end().await;
}
