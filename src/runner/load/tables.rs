//! The tables over their life, apart from the load: what exists, what a run finds, the cleaning
//! before a level, the check, and the end.

pub(crate) mod sbtest;
mod tpcb;

use super::error::LoadError;
use crate::engine::{Admin, DbError};
use crate::schema::check::VerifyReport;
use crate::schema::columns::{Existing, Found};
use crate::schema::files::SchemaSql;
use crate::schema::{Schema, ddl};
use crate::script::Dialect;

/// What exists under the schema's names, and under those that `partitions` new partitions need.
pub(crate) async fn existing<A: Admin>(
    admin: &mut A,
    sql: SchemaSql,
    partitions: u32,
) -> Result<Existing, LoadError> {
    let partitions = partitions.to_string();
    let statements = sql.statements("columns", &[("partitions", &partitions)]);
    let rows = admin.rows(&statements.concat()).await;
    let schema = sql.schema();
    rows.map(|rows| Existing::from_rows(schema, rows))
        .map_err(LoadError::doing("looking for existing tables"))
}

/// The schemas of which tables exist.
pub(crate) async fn present<A: Admin>(
    admin: &mut A,
    dialect: Dialect,
) -> Result<Vec<Schema>, LoadError> {
    let mut present = Vec::new();
    for schema in Schema::ALL {
        let existing = existing(admin, SchemaSql::new(schema, dialect), 0).await?;
        if !existing.workload_names().is_empty() {
            present.push(schema);
        }
    }
    Ok(present)
}

/// The tables as a run finds them. Fails when one is missing, or when their load never ended.
pub(crate) async fn find<A: Admin>(admin: &mut A, sql: SchemaSql) -> Result<Found, LoadError> {
    match sql.schema() {
        Schema::Tpcb => Ok(tpcb::find(admin, sql).await?.0),
        Schema::Sbtest => Ok(sbtest::find(admin, sql).await?.0),
    }
}

/// What exists, where all of it is there and the schema's own: what is not is neither measured nor
/// emptied.
async fn complete<A: Admin>(admin: &mut A, sql: SchemaSql) -> Result<Existing, LoadError> {
    let existing = existing(admin, sql, 0).await?;
    let missing = existing.missing();
    if !missing.is_empty() {
        return Err(LoadError::Missing { missing, init: sql.schema().init_command() });
    }
    existing.check_own().map_err(LoadError::Foreign)?;
    Ok(existing)
}

async fn first_row<A: Admin>(
    admin: &mut A,
    statement: &str,
    doing: &'static str,
) -> Result<Option<Vec<Option<String>>>, LoadError> {
    let rows = admin.rows(statement).await.map_err(LoadError::doing(doing))?;
    Ok(rows.into_iter().next())
}

/// Runs statements one after the other (some may not be in a block with others). On failure the
/// block that they may have opened is undone.
pub(crate) async fn run<A: Admin>(admin: &mut A, statements: &[String]) -> Result<(), DbError> {
    for statement in statements {
        if let Err(error) = admin.batch(statement).await {
            // Outside of a block this fails or warns; the first error is the one to tell.
            let _ = admin.batch("rollback").await;
            return Err(error);
        }
    }
    Ok(())
}

/// Cleans up before a level of a built-in workload, as pgbench does before a run: short tables
/// vacuumed, history emptied. What the removed rows had added to the balances is noted in the same
/// transaction, so that `verify` still holds. May run at any time, as often as wanted, also while
/// other sessions work.
pub(crate) async fn before_level<A: Admin>(admin: &mut A, sql: SchemaSql) -> Result<(), LoadError> {
    let state_create = sql.statement("state_create");
    let statements = sql.statements("before_run", &[("state_create", &state_create)]);
    run(admin, &statements)
        .await
        .map_err(LoadError::doing("vacuuming and emptying pgbench_history before the level"))
}

/// Checks the tables with a full scan. With `rebase` their present state is accepted as the new
/// base first.
pub(crate) async fn verify<A: Admin>(
    admin: &mut A,
    sql: SchemaSql,
    rebase: bool,
) -> Result<VerifyReport, LoadError> {
    match sql.schema() {
        Schema::Tpcb => tpcb::verify(admin, sql, rebase).await,
        Schema::Sbtest => sbtest::verify(admin, sql, rebase).await,
    }
}

/// Refuses tables that have the schema's names but not its columns.
pub(crate) async fn check_own<A: Admin>(admin: &mut A, sql: SchemaSql) -> Result<(), LoadError> {
    existing(admin, sql, 0).await?.check_own().map_err(LoadError::Foreign)
}

/// Drops the schema's tables and the table of notes, and nothing else: a table of one of the names with
/// other columns makes it refuse. Returns the names of what was dropped.
pub(crate) async fn clean<A: Admin>(
    admin: &mut A,
    sql: SchemaSql,
) -> Result<Vec<String>, LoadError> {
    let existing = existing(admin, sql, 0).await?;
    existing.check_own().map_err(LoadError::Foreign)?;
    let names: Vec<String> = existing.names().into_iter().map(str::to_owned).collect();
    if !names.is_empty() {
        let mut statements = vec!["begin".to_owned()];
        statements.extend(ddl::drop(sql, &existing));
        statements.push("commit".to_owned());
        statements.extend(sql.statements("after_drop", &[]));
        run(admin, &statements).await.map_err(LoadError::doing("dropping the tables"))?;
    }
    Ok(names)
}
