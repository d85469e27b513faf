//! The sysbench tables: what a run finds, and the check of the rows.

use super::{LoadError, complete, first_row, run};
use crate::engine::{Admin, DbError};
use crate::schema::SchemaSize;
use crate::schema::check::{Origin, VerifyReport};
use crate::schema::columns::Found;
use crate::schema::ddl::write_states;
use crate::schema::files::SchemaSql;
use crate::schema::plan::InitPlan;
use crate::schema::sbtest::check::{self, Counted, TableState};
use crate::schema::sbtest::table_name;
use crate::workload::source::RowChange;

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
        let seed = state.as_ref().map_or(0, |state| state.seed);
        let counted = count(admin, sql, n, size).await?;
        let state = if rebase { Some(TableState::rebased(&counted, size, seed)) } else { state };
        tables.push((counted, state));
    }
    let mut report = check::report(&tables);
    if rebase {
        write(admin, sql, tables.into_iter().filter_map(|(_, state)| state)).await?;
        let text = "the present rows are the new base, noted in dbload_sbtest_state";
        report.notes.push(text.to_owned());
    }
    Ok(report)
}

async fn count<A: Admin>(
    admin: &mut A,
    sql: SchemaSql,
    n: u32,
    table_size: i128,
) -> Result<Counted, LoadError> {
    let size = table_size.to_string();
    let statement = sql.for_tables("check", n..=n, &[("table_size", &size)]).concat();
    let row = first_row(admin, &statement, "counting rows").await?;
    Ok(Counted::from_row(&row.ok_or(LoadError::NoRow("check.sql"))?)?)
}

async fn write<A: Admin>(
    admin: &mut A,
    sql: SchemaSql,
    states: impl IntoIterator<Item = TableState>,
) -> Result<(), LoadError> {
    let mut statements = vec!["begin".to_owned(), sql.statement("state_create")];
    statements.extend(write_states(sql, states));
    statements.push("commit".to_owned());
    run(admin, &statements).await.map_err(LoadError::doing("writing dbload_sbtest_state"))
}

/// Notes that the number of rows is about to change, so that `verify` does not miss those that a
/// workload deletes, or wonder at those that it adds.
pub(crate) async fn note_change<A: Admin>(
    admin: &mut A,
    sql: SchemaSql,
    change: RowChange,
) -> Result<(), LoadError> {
    let (_, known) = find(admin, sql).await?;
    let mut states = Vec::new();
    let mut is_new = false;
    for (n, state) in (1..).zip(known) {
        let mut state = match state {
            Some(state) => state,
            None => TableState::foreign(n, last_id(admin, sql, n).await?.unwrap_or(0)),
        };
        let flag = match change {
            RowChange::Deletes => &mut state.deletes,
            RowChange::Inserts => &mut state.inserts,
        };
        is_new |= !*flag;
        *flag = true;
        states.push(state);
    }
    if is_new { write(admin, sql, states).await } else { Ok(()) }
}

/// Tables that workloads have used up: what has become of their rows, and how to make them anew.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct UsedUp {
    /// Of the loaded rows of the worst table, the share that is left.
    pub(crate) left: f64,
    /// Rows added to the worst table, as a share of the loaded ones.
    pub(crate) added: f64,
    /// The tables as they were.
    pub(crate) size: SchemaSize,
    /// The seed of their rows.
    pub(crate) seed: u64,
}

/// More rows than this share, missing or added, and a table is used up: what a test measures on it
/// is no longer what it measures on loaded tables.
const TOLERATED: f64 = 0.1;

/// Whether workloads have used up tables that `dbload` loaded. Counts rows only where a workload
/// ran that changes their number.
pub(crate) async fn used_up<A: Admin>(
    admin: &mut A,
    sql: SchemaSql,
) -> Result<Option<UsedUp>, LoadError> {
    let (found, states) = find(admin, sql).await?;
    let (mut left, mut added, mut seed) = (1.0_f64, 0.0_f64, 0);
    for (n, state) in (1..).zip(states) {
        let Some(state) = state.filter(|state| state.origin == Origin::Init) else {
            return Ok(None);
        };
        seed = state.seed;
        if state.deletes || state.inserts {
            let counted = count(admin, sql, n, state.table_size).await?;
            left = left.min(share(counted.low, state.table_size));
            added = added.max(share(counted.high, state.table_size));
        }
    }
    let is_used_up = left < 1.0 - TOLERATED || added > TOLERATED;
    let seed = i64::try_from(seed).unwrap_or(0).cast_unsigned();
    Ok(is_used_up.then_some(UsedUp { left, added, size: found.size, seed }))
}

/// `plan` with the options that the first table was made with, where an engine has such.
pub(crate) async fn as_made<A: Admin>(
    admin: &mut A,
    sql: SchemaSql,
    plan: InitPlan,
) -> Result<InitPlan, LoadError> {
    let statement = sql.for_tables("options", 1..=1, &[]).concat();
    if statement.is_empty() {
        return Ok(plan);
    }
    let row = first_row(admin, &statement, "looking at the tables' options").await?;
    let mut cells = row.ok_or(LoadError::NoRow("options.sql"))?.into_iter();
    let mut cell = || cells.next().flatten();
    let unlogged = cell().as_deref() == Some("t");
    let fillfactor = cell().and_then(|percent| percent.parse().ok()).unwrap_or(100);
    let (tablespace, index_tablespace) = (cell(), cell());
    Ok(InitPlan { unlogged, fillfactor, tablespace, index_tablespace, ..plan })
}

#[expect(clippy::cast_precision_loss, reason = "a share for a decision and for the eye")]
fn share(rows: i128, of: i128) -> f64 {
    rows as f64 / of.max(1) as f64
}

/// What a list does after each test: vacuum and statistics, then everything onto the disk. Returns
/// what the server did not allow.
pub(crate) async fn settle<A: Admin>(
    admin: &mut A,
    sql: SchemaSql,
    tables: u32,
) -> Result<Option<DbError>, LoadError> {
    let statements = sql.for_tables("vacuum", 1..=tables, &[]);
    run(admin, &statements).await.map_err(LoadError::doing("vacuuming after a test"))?;
    let mut statements = sql.for_tables("flush", 1..=tables, &[]);
    statements.extend(sql.statements("after_test", &[]));
    Ok(run(admin, &statements).await.err())
}
