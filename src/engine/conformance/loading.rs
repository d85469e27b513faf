//! What every engine keeps about loads.

use std::time::Duration;

use super::name_of_table;
use crate::engine::{Admin, Engine};

pub(super) async fn a_claim_keeps_others_out_until_it_is_given_back_or_its_connection_ends<
    E: Engine,
>(
    engine: &E,
) {
    let mut first = engine.admin().await.unwrap();
    let mut second = engine.admin().await.unwrap();
    // The same case runs over this server in another way at the same time.
    while !first.claim().await.unwrap() {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert!(!second.claim().await.unwrap());
    first.release().await;
    while !second.claim().await.unwrap() {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert!(!first.claim().await.unwrap());
    drop(second);
    // What a pool keeps is given back when it is lent again.
    let mut third = engine.admin().await.unwrap();
    while !third.claim().await.unwrap() {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    third.release().await;
}

pub(super) async fn a_load_writes_its_range_and_reports_every_row<E: Engine>(engine: &E) {
    let mut admin = engine.admin().await.unwrap();
    let mut rows = crate::schema::tpcb::tables(2_000, false, false, false).remove(1);
    rows.table = name_of_table("load");
    admin.batch(&format!("drop table if exists {}", rows.table)).await.unwrap();
    let columns = "tid integer primary key, bid integer, tbalance integer, filler varchar(9)";
    admin.batch(&format!("create table {} ({columns})", rows.table)).await.unwrap();
    let reported = std::cell::Cell::new(0);
    let done = |rows| reported.set(reported.get() + rows);
    admin.load(&rows, 5..15_000, &done).await.unwrap();
    assert_eq!(reported.get(), 14_995);
    let columns = "count(*), min(tid), max(tid), max(bid), max(filler)";
    let sql = format!("select {columns} from {}", rows.table);
    let row = admin.rows(&sql).await.unwrap().remove(0);
    let row: Vec<_> = row.iter().map(|cell| cell.as_deref().unwrap_or("NULL")).collect();
    assert_eq!(row, ["14995", "6", "15000", "1500", "NULL"]);
    // A range that breaks the key is an error.
    assert!(admin.load(&rows, 0..10, &done).await.is_err());
}
