//! The sysbench tables: what a run finds, and the check of the rows.

use super::{LoadError, complete, first_row, run};
use crate::engine::Admin;
use crate::schema::SchemaSize;
use crate::schema::check::{Origin, VerifyReport};
use crate::schema::columns::Found;
use crate::schema::ddl::write_states;
use crate::schema::files::SchemaSql;
use crate::schema::sbtest::check::{self, Counted, TableState};
use crate::schema::sbtest::table_name;

/// See [`super::find`]. The size is that of the smallest table: a key that it has, all have.
pub(super) async fn find<A: Admin>(
    admin: &mut A,
    sql: SchemaSql,
) -> Result<(Found, Vec<Option<TableState>>), LoadError> {
    let existing = complete(admin, sql).await?;
    let tables = existing.last_sbtest();
    let mut known = Vec::new();
    if existing.has_state() {
        let rows = admin.rows(&sql.statement("state_read")).await;
        for row in rows.map_err(LoadError::doing("reading dbload_sbtest_state"))? {
            known.push(TableState::from_row(&row)?);
        }
    }
    known.retain(|state| !state.void);
    let mut states = Vec::new();
    let mut table_size = u64::MAX;
    for n in 1..=tables {
        let state = known.iter().find(|state| state.number == n.into()).cloned();
        if state.as_ref().is_some_and(|state| state.origin == Origin::Loading) {
            return Err(LoadError::Unfinished { init: sql.schema().init_command() });
        }
        let size = match &state {
            Some(state) => u64::try_from(state.table_size).ok(),
            None => last_id(admin, sql, n).await?,
        };
        let size = size.unwrap_or(0);
        if size == 0 {
            let (table, init) = (table_name(n), sql.schema().init_command());
            return Err(LoadError::Empty { table, init });
        }
        table_size = table_size.min(size);
        states.push(state);
    }
    let size = SchemaSize::Sbtest { tables, table_size };
    Ok((Found { size, partitions: 0, partition_method: None }, states))
}

async fn last_id<A: Admin>(
    admin: &mut A,
    sql: SchemaSql,
    n: u32,
) -> Result<Option<u64>, LoadError> {
    let statement = sql.for_tables("found", n..=n, &[]).concat();
    let row = first_row(admin, &statement, "looking for the last id").await?;
    let id = row.into_iter().flatten().next().flatten().and_then(|id| id.parse().ok());
    id.map(Some).ok_or(LoadError::NoRow("found.sql"))
}

/// See [`super::verify`].
pub(super) async fn verify<A: Admin>(
    admin: &mut A,
    sql: SchemaSql,
    rebase: bool,
) -> Result<VerifyReport, LoadError> {
    let (found, states) = find(admin, sql).await?;
    let SchemaSize::Sbtest { table_size, .. } = found.size else {
        return Err(LoadError::NoRow("found.sql"));
    };
    let mut tables = Vec::new();
    for (n, state) in (1..).zip(states) {
        let size = state.as_ref().map_or(i128::from(table_size), |state| state.table_size);
        let text = size.to_string();
        let statement = sql.for_tables("check", n..=n, &[("table_size", &text)]).concat();
        let row = first_row(admin, &statement, "counting rows").await?;
        let counted = Counted::from_row(&row.ok_or(LoadError::NoRow("check.sql"))?)?;
        let state = if rebase { Some(TableState::rebased(&counted, size)) } else { state };
        tables.push((counted, state));
    }
    let mut report = check::report(&tables);
    if rebase {
        let mut statements = vec!["begin".to_owned(), sql.statement("state_create")];
        statements.extend(write_states(sql, tables.into_iter().filter_map(|(_, state)| state)));
        statements.push("commit".to_owned());
        let doing = LoadError::doing("writing dbload_sbtest_state");
        run(admin, &statements).await.map_err(doing)?;
        let text = "the present rows are the new base, noted in dbload_sbtest_state";
        report.notes.push(text.to_owned());
    }
    Ok(report)
}
