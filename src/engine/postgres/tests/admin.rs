//! Administration against a real server: loading, rows, facts, the pool.

use std::cell::Cell;

use super::super::admin::{AdminPool, PgAdmin};
use super::super::connect::Connector;
use super::{encrypting, trusting};
use crate::engine::{Admin, ErrorKind};
use crate::schema::{TableRows, tpcb};
use crate::target::{PgTarget, Secret, SslMode};

fn pool(target: &PgTarget) -> AdminPool {
    AdminPool::new(Connector::new(target.clone()).unwrap())
}

async fn value(admin: &mut PgAdmin, sql: &str) -> String {
    admin.rows(sql).await.unwrap().remove(0).remove(0).unwrap()
}

/// A connection with empty tables that nobody else sees.
async fn with_tables(target: &PgTarget) -> PgAdmin {
    let mut admin = pool(target).admin().await.unwrap();
    admin
        .batch(
            "CREATE TEMP TABLE pgbench_branches (bid int PRIMARY KEY, bbalance int);
             CREATE TEMP TABLE pgbench_tellers (tid int, bid int, tbalance int);
             CREATE TEMP TABLE pgbench_accounts (aid int, bid int, abalance int, filler char(84))",
        )
        .await
        .unwrap();
    admin
}

fn tables(freeze: bool) -> Vec<TableRows> {
    tpcb::tables(1, true, freeze, false)
}

#[tokio::test]
async fn rows_arrive_whole_and_progress_adds_up() {
    let Some(target) = trusting() else { return };
    let mut admin = with_tables(&target).await;
    let counted = Cell::new(0);
    let count = |rows| counted.set(counted.get() + rows);
    for table in tables(false) {
        let middle = table.rows / 3;
        admin.load(&table, middle..table.rows, &count).await.unwrap();
        admin.load(&table, 0..middle, &count).await.unwrap();
        admin.load(&table, 5..5, &count).await.unwrap();
    }
    assert_eq!(counted.get(), 100_011);
    let sums = "SELECT count(*), count(DISTINCT aid), min(aid), max(aid), sum(abalance),
                       min(length(filler::text)) FROM pgbench_accounts";
    let row: Vec<String> =
        admin.rows(sums).await.unwrap().remove(0).into_iter().flatten().collect();
    assert_eq!(row, ["100000", "100000", "1", "100000", "0", "0"]);
    assert_eq!(value(&mut admin, "SELECT count(*) FROM pgbench_tellers").await, "10");
}

#[tokio::test]
async fn rows_are_frozen_in_the_transaction_that_emptied_the_table() {
    let Some(target) = trusting() else { return };
    let mut admin = with_tables(&target).await;
    let tables = tables(true);
    let truncate = "TRUNCATE pgbench_branches, pgbench_tellers, pgbench_accounts";
    admin.batch(&format!("BEGIN; {truncate}")).await.unwrap();
    for table in &tables {
        admin.load(table, 0..table.rows, &|_| ()).await.unwrap();
    }
    admin.batch("COMMIT").await.unwrap();
    assert_eq!(value(&mut admin, "SELECT count(*) FROM pgbench_accounts").await, "100000");
    let error = admin.load(&tables[2], 0..10, &|_| ()).await.unwrap_err();
    assert_eq!(error.code(), "55000", "{error}");
}

#[tokio::test]
async fn a_load_that_the_server_refuses_says_why_and_leaves_nothing() {
    let Some(target) = trusting() else { return };
    let pool = pool(&target);
    let mut keeper = pool.admin().await.unwrap();
    let name = format!("dbload_test_load_{}", std::process::id());
    keeper
        .batch(&format!("CREATE TABLE {name} (bid int PRIMARY KEY, bbalance int)"))
        .await
        .unwrap();
    let branches = TableRows { table: name.clone(), rows: 100_000, ..tables(false).remove(0) };
    keeper.load(&branches, 50..51, &|_| ()).await.unwrap();
    let absent = TableRows { table: "no \"such\" table".into(), ..branches.clone() };
    let frozen = TableRows { freeze: true, ..branches.clone() };
    for (table, kind, code, words) in [
        (&branches, ErrorKind::Duplicate, "23505", "(bid)=(51)"),
        (&absent, ErrorKind::MissingTable, "42P01", "no \"such\" table"),
        (&frozen, ErrorKind::Other, "55000", "FREEZE"),
    ] {
        let mut admin = pool.admin().await.unwrap();
        let error = admin.load(table, 0..100_000, &|_| ()).await.unwrap_err();
        assert_eq!((error.kind(), error.code()), (kind, code), "{error}");
        assert!(error.to_string().contains(words), "{error}");
        // The same connection is not used again: its state is not known for sure.
        assert_eq!(admin.batch("SELECT 1").await.unwrap_err().kind(), ErrorKind::Lost);
    }
    assert_eq!(value(&mut keeper, &format!("SELECT count(*) FROM {name}")).await, "1");
    keeper.batch(&format!("DROP TABLE {name}")).await.unwrap();
}

#[tokio::test]
async fn a_load_that_is_given_up_leaves_nothing() {
    let Some(target) = trusting() else { return };
    let pool = pool(&target);
    let mut keeper = pool.admin().await.unwrap();
    let name = format!("dbload_test_abandon_{}", std::process::id());
    keeper.batch(&format!("CREATE TABLE {name} (bid int, bbalance int)")).await.unwrap();
    let branches = TableRows { table: name.clone(), rows: 1_000_000, ..tables(false).remove(0) };
    let mut admin = pool.admin().await.unwrap();
    let halfway = tokio::sync::Notify::new();
    let done = |_| halfway.notify_one();
    let loading = admin.load(&branches, 0..1_000_000, &done);
    tokio::select! {
        result = loading => panic!("it was to be given up: {result:?}"),
        () = halfway.notified() => {}
    }
    drop(admin);
    let mut admin = pool.admin().await.unwrap();
    assert_eq!(value(&mut admin, &format!("SELECT count(*) FROM {name}")).await, "0");
    keeper.batch(&format!("DROP TABLE {name}")).await.unwrap();
}

#[tokio::test]
async fn rows_are_text_and_null_is_none() {
    let Some(target) = trusting() else { return };
    let mut admin = pool(&target).admin().await.unwrap();
    let rows = admin.rows("SELECT 1, NULL, 'x' UNION ALL SELECT 2, 'y', ''").await.unwrap();
    let text = |text: &str| Some(text.to_owned());
    assert_eq!(rows, [[text("1"), None, text("x")], [text("2"), text("y"), text("")]]);
    assert!(admin.rows("SELECT 1 WHERE false").await.unwrap().is_empty());
}

#[tokio::test]
async fn a_connection_comes_back_from_the_pool_as_new() {
    let Some(target) = trusting() else { return };
    let pool = pool(&target);
    let mut admin = pool.admin().await.unwrap();
    let pid = value(&mut admin, "SELECT pg_backend_pid()").await;
    admin.batch("SET work_mem = '3MB'; BEGIN; SELECT txid_current()").await.unwrap();
    drop(admin);
    let mut admin = pool.admin().await.unwrap();
    assert_eq!(value(&mut admin, "SELECT pg_backend_pid()").await, pid);
    assert_ne!(value(&mut admin, "SHOW work_mem").await, "3MB");
    assert_eq!(value(&mut admin, "SELECT txid_current_if_assigned() IS NULL").await, "t");
}

#[tokio::test]
async fn a_connection_that_the_server_ends_is_lost_and_replaced() {
    let Some(target) = trusting() else { return };
    let pool = pool(&target);
    let mut admin = pool.admin().await.unwrap();
    let mut other = pool.admin().await.unwrap();
    let pid = value(&mut admin, "SELECT pg_backend_pid()").await;
    other.batch(&format!("SELECT pg_terminate_backend({pid})")).await.unwrap();
    let error = admin.batch("SELECT pg_sleep(10)").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Lost, "{error}");
    drop(admin);
    let mut admin = pool.admin().await.unwrap();
    assert_ne!(value(&mut admin, "SELECT pg_backend_pid()").await, pid);
}

#[tokio::test]
async fn the_pools_refusals_are_the_connections() {
    let Some(target) = encrypting() else { return };
    let target = PgTarget { password: Some(Secret::new("hunter3wrong")), ..target };
    let error = pool(&target).admin().await.unwrap_err();
    assert_eq!((error.kind(), error.code()), (ErrorKind::Connect, "28P01"));
    assert!(error.to_string().contains("refused the password"), "{error}");
}

#[tokio::test]
async fn a_server_tells_what_it_is() {
    for mut target in [trusting(), encrypting()].into_iter().flatten() {
        target.options = Some("-c synchronous_commit=off -c app.secret=hunter2".into());
        let mut admin = pool(&target).admin().await.unwrap();
        let facts = admin.facts().await.unwrap();
        assert!(facts.version.starts_with(|c: char| c.is_ascii_digit()), "{facts:?}");
        assert_eq!(facts.settings["synchronous_commit"], "off");
        for name in ["fsync", "full_page_writes", "data_checksums", "shared_buffers"] {
            assert!(facts.settings.contains_key(name), "{name}: {facts:?}");
        }
        for name in ["port", "application_name", "TimeZone", "lc_messages", "app.secret"] {
            assert!(!facts.settings.contains_key(name), "{name}: {facts:?}");
        }
        assert!(facts.database_bytes.unwrap() > 1_000_000, "{facts:?}");
        assert!(facts.data_directory.is_some() && facts.clients_max.unwrap() > 1, "{facts:?}");
        assert!(facts.local, "{facts:?}");
    }
}

#[tokio::test]
async fn a_plain_user_learns_less_and_may_have_fewer_connections() {
    let Some(owner) = encrypting() else { return };
    let mut admin = pool(&owner).admin().await.unwrap();
    let user = format!("dbload_test_{}", std::process::id());
    let create = format!("CREATE ROLE {user} LOGIN PASSWORD 'hunter2' CONNECTION LIMIT 3");
    admin.batch(&create).await.unwrap();
    let target = PgTarget {
        user: user.clone(),
        password: Some(Secret::new("hunter2")),
        ssl_mode: SslMode::Require,
        ..owner
    };
    let plain = pool(&target);
    let facts = plain.admin().await.unwrap().facts().await;
    drop(plain);
    admin.batch(&format!("DROP ROLE {user}")).await.unwrap();
    let facts = facts.unwrap();
    assert_eq!((facts.data_directory, facts.clients_max), (None, Some(3)));
}
