//! The TPC-B-like tables: what a run finds, and the check of the sums.

use super::{LoadError, complete, first_row, run};
use crate::engine::Admin;
use crate::schema::check::{Origin, State, Sums, VerifyReport};
use crate::schema::columns::Found;
use crate::schema::ddl::write_state;
use crate::schema::files::SchemaSql;

/// See [`super::find`].
pub(super) async fn find<A: Admin>(
    admin: &mut A,
    sql: SchemaSql,
) -> Result<(Found, Option<State>), LoadError> {
    let existing = complete(admin, sql).await?;
    let state = if existing.has_state() { read_state(admin, sql).await? } else { None };
    if state.as_ref().is_some_and(|state| state.origin == Origin::Loading && !state.void) {
        return Err(LoadError::Unfinished { init: sql.schema().init_command() });
    }
    let row = first_row(admin, &sql.statement("found"), "counting branches").await?;
    let found = row.as_deref().and_then(Found::from_row).ok_or(LoadError::NoRow("found.sql"))?;
    if found.size.scale() == Some(0) {
        let (table, init) = ("pgbench_branches".to_owned(), sql.schema().init_command());
        return Err(LoadError::Empty { table, init });
    }
    Ok((found, state))
}

async fn read_state<A: Admin>(admin: &mut A, sql: SchemaSql) -> Result<Option<State>, LoadError> {
    let row = first_row(admin, &sql.statement("state_read"), "reading dbload_state").await?;
    Ok(row.as_deref().map(State::from_row).transpose()?)
}

/// See [`super::verify`].
pub(super) async fn verify<A: Admin>(
    admin: &mut A,
    sql: SchemaSql,
    rebase: bool,
) -> Result<VerifyReport, LoadError> {
    let (_, state) = find(admin, sql).await?;
    let row = first_row(admin, &sql.statement("check"), "adding up the balances").await?;
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
