//! The TPC-B-like tables over their life, apart from the load: what exists, what a run finds, the
//! cleaning before a level, the check of the sums, and the end.

use super::error::LoadError;
use crate::engine::{Admin, DbError};
use crate::schema::check::{Origin, State, Sums, VerifyReport};
use crate::schema::columns::{Existing, Found, STATE_TABLE};
use crate::schema::files::SchemaSql;

/// What exists under the schema's names, and under those that `partitions` new partitions need.
pub(crate) async fn existing<A: Admin>(
    admin: &mut A,
    sql: SchemaSql,
    partitions: u32,
) -> Result<Existing, LoadError> {
    let partitions = partitions.to_string();
    let statements = sql.statements("columns", &[("partitions", &partitions)]);
    let rows = admin.rows(&statements.concat()).await;
    rows.map(Existing::from_rows).map_err(LoadError::doing("looking for existing tables"))
}

/// The tables as a run finds them. Fails when one is missing, or when their load never ended.
pub(crate) async fn find<A: Admin>(
    admin: &mut A,
    sql: SchemaSql,
) -> Result<(Found, Option<State>), LoadError> {
    let existing = existing(admin, sql, 0).await?;
    let missing = existing.missing();
    if !missing.is_empty() {
        return Err(LoadError::Missing(missing));
    }
    // What is not the schema's own is neither measured nor emptied.
    existing.check_own().map_err(LoadError::Foreign)?;
    let state = if existing.has(STATE_TABLE) { read_state(admin, sql).await? } else { None };
    if state.as_ref().is_some_and(|state| state.origin == Origin::Loading && !state.void) {
        return Err(LoadError::Unfinished);
    }
    let row = first_row(admin, sql, "found", "counting branches").await?;
    let found = row.as_deref().and_then(Found::from_row).ok_or(LoadError::NoRow("found.sql"))?;
    if found.scale == 0 {
        return Err(LoadError::Empty);
    }
    Ok((found, state))
}

async fn read_state<A: Admin>(admin: &mut A, sql: SchemaSql) -> Result<Option<State>, LoadError> {
    let row = first_row(admin, sql, "state_read", "reading dbload_state").await?;
    Ok(row.as_deref().map(State::from_row).transpose()?)
}

async fn first_row<A: Admin>(
    admin: &mut A,
    sql: SchemaSql,
    step: &str,
    doing: &'static str,
) -> Result<Option<Vec<Option<String>>>, LoadError> {
    let rows = admin.rows(&sql.statement(step)).await.map_err(LoadError::doing(doing))?;
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

/// Checks row counts and sums with a full scan. With `rebase` the present sums are accepted as the
/// new base first.
pub(crate) async fn verify<A: Admin>(
    admin: &mut A,
    sql: SchemaSql,
    rebase: bool,
) -> Result<VerifyReport, LoadError> {
    let (_, state) = find(admin, sql).await?;
    let row = first_row(admin, sql, "check", "adding up the balances").await?;
    let sums = Sums::from_row(&row.ok_or(LoadError::NoRow("check.sql"))?)?;
    if !rebase {
        return Ok(VerifyReport::new(&sums, state.as_ref()));
    }
    let state = State::rebased(&sums);
    let mut statements = vec!["begin".to_owned(), sql.statement("state_create")];
    statements.extend(write_state(sql, &state));
    statements.push("commit".to_owned());
    run(admin, &statements).await.map_err(LoadError::doing("writing dbload_state"))?;
    let mut report = VerifyReport::new(&sums, Some(&state));
    report.notes.push("the present sums are the new base, noted in dbload_state".to_owned());
    Ok(report)
}

/// The statements that make `state` the one row of `dbload_state`.
pub(super) fn write_state(sql: SchemaSql, state: &State) -> Vec<String> {
    let values = [
        ("origin", state.origin.name()),
        ("scale", &state.scale.to_string()),
        ("carried", &state.carried.to_string()),
        ("tellers_ahead", &state.tellers_ahead.to_string()),
    ];
    sql.statements("state_write", &values)
}

/// Drops the schema's tables and `dbload_state`, and nothing else: a table of one of the names with
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
        statements.extend(sql.statements("drop", &[]));
        statements.push("commit".to_owned());
        statements.extend(sql.statements("after_drop", &[]));
        run(admin, &statements).await.map_err(LoadError::doing("dropping the tables"))?;
    }
    Ok(names)
}
