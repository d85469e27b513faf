//! What `dbload verify` finds in the sysbench tables. Their workloads keep no sums, but most of
//! them keep the number of rows: an update changes none, and a delete is followed by an insert of
//! the same id in the same transaction. So the rows up to the loaded size are all there, and none
//! beyond it, unless the workloads `delete` and `insert` ran, whose effect nobody can know. Pure.

use crate::schema::check::{BadCell, Check, Origin, VerifyReport, number};

/// The row of `dbload_sbtest_state` about one table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableState {
    /// The table's number.
    pub number: i128,
    /// Who wrote the row.
    pub origin: Origin,
    /// Seed of the rows; 0 when another tool loaded them.
    pub seed: i128,
    /// Rows when it was loaded; the ids that workloads use.
    pub table_size: i128,
    /// Rows up to id `table_size` that there should be.
    pub low: i128,
    /// Rows beyond it that there should be.
    pub high: i128,
    /// A workload ran that deletes rows for good.
    pub deletes: bool,
    /// A workload ran that adds rows.
    pub inserts: bool,
    /// The table was made anew since, so that the row speaks of another.
    pub void: bool,
}

impl TableState {
    /// From a row of `state_read.sql`.
    pub fn from_row(row: &[Option<String>]) -> Result<Self, BadCell> {
        let cell = |column| number(row, column, "state_read.sql");
        Ok(Self {
            number: cell(0)?,
            origin: Origin::from_name(row.get(1).and_then(Option::as_deref)),
            seed: cell(2)?,
            table_size: cell(3)?,
            low: cell(4)?,
            high: cell(5)?,
            deletes: cell(6)? != 0,
            inserts: cell(7)? != 0,
            void: cell(8)? != 0,
        })
    }

    /// The row about a table that another tool loaded, with an id for each row.
    pub fn foreign(number: u32, table_size: u64) -> Self {
        let (number, table_size) = (number.into(), table_size.into());
        let (low, high) = (table_size, 0);
        Self { number, origin: Origin::Run, table_size, low, high, ..Self::nothing() }
    }

    /// The row that accepts what was counted.
    pub fn rebased(counted: &Counted, table_size: i128, seed: i128) -> Self {
        let Counted { number, low, high, .. } = *counted;
        Self { number, origin: Origin::Rebase, seed, table_size, low, high, ..Self::nothing() }
    }

    fn nothing() -> Self {
        Self {
            number: 0,
            origin: Origin::Run,
            seed: 0,
            table_size: 0,
            low: 0,
            high: 0,
            deletes: false,
            inserts: false,
            void: false,
        }
    }
}

/// The rows of one table as of one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Counted {
    /// The table's number.
    pub number: i128,
    /// Rows up to id `table_size`.
    pub low: i128,
    /// Rows beyond it.
    pub high: i128,
    /// The greatest id; 0 when there is no row.
    pub last: i128,
}

impl Counted {
    /// From the row of `check.sql`.
    pub fn from_row(row: &[Option<String>]) -> Result<Self, BadCell> {
        let cell = |column| number(row, column, "check.sql");
        Ok(Self { number: cell(0)?, low: cell(1)?, high: cell(2)?, last: cell(3)? })
    }
}

/// Compares what was counted with what the notes let expect; tables without notes were loaded by
/// another tool.
pub fn report(tables: &[(Counted, Option<TableState>)]) -> VerifyReport {
    let mut checks = Vec::new();
    let (mut deleted, mut inserted, mut unknown) = (false, false, false);
    for (counted, state) in tables {
        let n = counted.number;
        let Some(state) = state.as_ref().filter(|state| !state.void) else {
            unknown = true;
            let rows = counted.low + counted.high;
            checks.push(check(format!("rows of sbtest{n}"), "the greatest id", counted.last, rows));
            continue;
        };
        let size = state.table_size;
        if state.deletes {
            deleted = true;
        } else {
            let rule = if state.low == size { "table size" } else { "as accepted" };
            let what = format!("rows of sbtest{n} with an id up to {size}");
            checks.push(check(what, rule, state.low, counted.low));
        }
        if state.inserts {
            inserted = true;
        } else {
            let rule = if state.high == 0 { "none" } else { "as accepted" };
            let what = format!("rows of sbtest{n} with an id over {size}");
            checks.push(check(what, rule, state.high, counted.high));
        }
    }
    let mut notes = Vec::new();
    if deleted {
        notes.push("not checked: loaded rows, since the workload delete ran".to_owned());
    }
    if inserted {
        notes
            .push("not checked: rows beyond the loaded ones, since the workload insert ran".into());
    }
    if unknown {
        notes.push(
            "tables that another tool loaded are taken to have had an id for each row".into(),
        );
    }
    if checks.iter().any(|check| !check.holds()) {
        notes.push(
            "rows are missing or too many: something else than the workloads changed them, or a \
             deleted row was not inserted again"
                .to_owned(),
        );
        notes.push(
            "`dbload verify --rebase` accepts the present rows, `dbload init --replace` loads again"
                .to_owned(),
        );
    }
    VerifyReport { checks, notes }
}

fn check(what: String, rule: &str, expected: i128, actual: i128) -> Check {
    Check { what, rule: rule.to_owned(), expected, actual }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state() -> TableState {
        TableState {
            number: 1,
            origin: Origin::Init,
            seed: 1,
            table_size: 100,
            low: 100,
            high: 0,
            deletes: false,
            inserts: false,
            void: false,
        }
    }

    fn counted() -> Counted {
        Counted { number: 1, low: 100, high: 0, last: 100 }
    }

    fn of(counted: Counted, state: Option<TableState>) -> VerifyReport {
        report(&[(counted, state)])
    }

    #[test]
    fn a_table_as_it_was_loaded_is_clean() {
        assert_eq!(
            of(counted(), Some(state())).to_string(),
            "ok   rows of sbtest1 with an id up to 100 = table size: 100\n\
             ok   rows of sbtest1 with an id over 100 = none: 0\n\
             verified: every check holds"
        );
    }

    #[test]
    fn a_row_that_was_deleted_and_not_inserted_again_is_off() {
        let report = of(Counted { low: 99, ..counted() }, Some(state()));
        assert!(!report.is_clean());
        assert!(report.to_string().contains("expected 100, found 99, 1 less"), "{report}");
    }

    #[test]
    fn after_delete_and_insert_the_rows_that_they_change_are_not_checked() {
        let changed = Counted { low: 60, high: 5, ..counted() };
        let after = TableState { deletes: true, inserts: true, ..state() };
        let report = of(changed.clone(), Some(after));
        assert!(report.is_clean() && report.checks.is_empty() && report.notes.len() == 2);
        let after = TableState { deletes: true, ..state() };
        assert!(!of(changed, Some(after)).is_clean());
    }

    #[test]
    fn another_tools_table_has_an_id_for_each_row() {
        assert!(of(counted(), None).is_clean());
        let hole = Counted { low: 99, ..counted() };
        assert!(!of(hole.clone(), None).is_clean());
        assert!(!of(hole.clone(), Some(TableState { void: true, ..state() })).is_clean());
        assert!(of(hole.clone(), Some(TableState::rebased(&hole, 100, 1))).is_clean());
    }
}
