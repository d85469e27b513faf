//! The sysbench tables on SQLite.

use super::*;
use crate::schema::{Schema, SchemaSize};

const SQL: fn() -> SchemaSql = || SchemaSql::new(Schema::Sbtest, Dialect::Sqlite);

fn plan(tables: u32, table_size: u64) -> InitPlan {
    InitPlan { size: SchemaSize::Sbtest { tables, table_size }, seed: 5, ..InitPlan::default() }
}

impl Bench {
    async fn sbtest(&self, plan: &InitPlan) -> Result<Outcome, LoadError> {
        init(&self.engine, SQL(), plan, false, &mut Silent).await
    }

    async fn verify_sbtest(&self, rebase: bool) -> crate::schema::check::VerifyReport {
        verify(&mut self.engine.admin().await.unwrap(), SQL(), rebase).await.unwrap()
    }

    async fn contents(&self) -> String {
        self.rows("select group_concat(id || k || c || pad, ',') from sbtest2 order by id").await
    }
}

#[tokio::test]
async fn tables_rows_and_the_secondary_index_are_made() {
    let bench = Bench::new();
    let mut heard = Heard::default();
    let loaded = init(&bench.engine, SQL(), &plan(2, 3000), false, &mut heard).await.unwrap();
    let Outcome::Loaded(report) = loaded else { panic!("{loaded:?}") };
    assert_eq!(report.rows, 6000);
    use LoadStep::{Analyze, Create, Drop, Indexes, Load};
    assert_eq!(heard.steps, [Drop, Create, Load, Indexes, Analyze]);
    assert!(report.to_string().starts_with("loaded 6000 rows into 2 tables over 1 connection"));
    let counts = "select count(*), min(id), max(id), count(distinct c), min(k) > 0, max(k) <= 3000 \
                  from sbtest2";
    assert_eq!(bench.rows(counts).await, "3000|1|3000|3000|1|1");
    let index = "select name from sqlite_schema where type = 'index' and tbl_name = 'sbtest2'";
    assert_eq!(bench.rows(index).await, "k_2");
    assert!(bench.verify_sbtest(false).await.is_clean());
}

#[tokio::test]
async fn the_same_seed_gives_the_same_rows_and_another_one_does_not() {
    let bench = Bench::new();
    bench.sbtest(&plan(2, 100)).await.unwrap();
    let first = bench.contents().await;
    let replace = InitPlan { replace: true, ..plan(2, 100) };
    bench.sbtest(&replace).await.unwrap();
    assert_eq!(bench.contents().await, first);
    bench.sbtest(&InitPlan { seed: 6, ..replace }).await.unwrap();
    assert_ne!(bench.contents().await, first);
}

#[tokio::test]
async fn the_estimate_is_near_the_size() {
    let bench = Bench::new();
    let plan = plan(1, 100_000);
    let Outcome::Loaded(report) = bench.sbtest(&plan).await.unwrap() else { panic!() };
    let (size, estimate) = (report.size_bytes.unwrap(), ddl::estimated_bytes(SQL(), &plan));
    assert!(size <= estimate && size > estimate * 9 / 10, "{size} bytes, estimated {estimate}");
}

#[tokio::test]
async fn a_missing_row_is_found_and_can_be_accepted() {
    let bench = Bench::new();
    bench.sbtest(&plan(1, 50)).await.unwrap();
    bench.batch("delete from sbtest1 where id = 7; insert into sbtest1 (k) values (1)").await;
    let report = bench.verify_sbtest(false).await;
    assert_eq!(report.checks.iter().filter(|check| !check.holds()).count(), 2, "{report}");
    assert!(bench.verify_sbtest(true).await.is_clean());
    assert!(bench.verify_sbtest(false).await.is_clean());
}

#[tokio::test]
async fn tables_of_a_foreign_shape_are_never_dropped() {
    let bench = Bench::new();
    bench.batch("create table sbtest3 (id integer primary key, k integer, note text)").await;
    let replace = InitPlan { replace: true, ..plan(1, 10) };
    let error = bench.sbtest(&replace).await.unwrap_err().to_string();
    assert!(error.starts_with("sbtest3 is not a table that dbload made"), "{error}");
    let mut admin = bench.engine.admin().await.unwrap();
    assert!(clean(&mut admin, SQL()).await.is_err());
    assert_eq!(bench.rows("select count(*) from sbtest3").await, "0");
}

#[tokio::test]
async fn cleaning_drops_every_table_of_the_set_and_the_notes() {
    let bench = Bench::new();
    bench.sbtest(&plan(3, 10)).await.unwrap();
    let fewer = InitPlan { replace: true, ..plan(2, 10) };
    bench.sbtest(&fewer).await.unwrap();
    let mut admin = bench.engine.admin().await.unwrap();
    let dropped = clean(&mut admin, SQL()).await.unwrap();
    assert_eq!(dropped, ["dbload_sbtest_state", "sbtest1", "sbtest2"]);
    assert_eq!(
        bench.rows("select count(*) from sqlite_schema where name not like 'sqlite%'").await,
        "0"
    );
}
