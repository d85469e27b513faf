//! What `dbload verify` finds: row counts, and two sums that every TPC-B-like transaction keeps
//! equal. Every delta goes to one account, one teller, one branch and one row of history, so
//!
//! sum(tbalance) = sum(bbalance), and sum(abalance) = sum(delta) + carried,
//!
//! where carried is what the history rows that `dbload` removed had added. `simple-update` leaves
//! tellers and branches alone, `select-only` everything: both sums still hold. Pure.

use std::fmt;

use serde::Serialize;
use thiserror::Error;

use super::tpcb::{ACCOUNTS_PER_BRANCH, TELLERS_PER_BRANCH};

/// One row of text cells, as an engine returns it.
type TextRow = [Option<String>];

/// A cell that is not what the file of SQL promises.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{file}: column {column} is {found:?}, a whole number was expected")]
pub struct BadCell {
    file: &'static str,
    column: usize,
    found: Option<String>,
}

pub(super) fn number(row: &TextRow, column: usize, file: &'static str) -> Result<i128, BadCell> {
    let found = row.get(column).cloned().flatten();
    let number = found.as_deref().and_then(|text| text.parse().ok());
    number.ok_or(BadCell { file, column: column + 1, found })
}

/// Rows and sums as of one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sums {
    /// Rows of branches.
    pub branches: i128,
    /// Rows of tellers.
    pub tellers: i128,
    /// Rows of accounts.
    pub accounts: i128,
    /// Sum of the branches' balances.
    pub bbalance: i128,
    /// Sum of the tellers' balances.
    pub tbalance: i128,
    /// Sum of the accounts' balances.
    pub abalance: i128,
    /// Sum of the deltas in history.
    pub delta: i128,
}

impl Sums {
    /// From the row of `check.sql`.
    pub fn from_row(row: &TextRow) -> Result<Self, BadCell> {
        let cell = |column| number(row, column, "check.sql");
        Ok(Self {
            branches: cell(0)?,
            tellers: cell(1)?,
            accounts: cell(2)?,
            bbalance: cell(3)?,
            tbalance: cell(4)?,
            abalance: cell(5)?,
            delta: cell(6)?,
        })
    }
}

/// Who wrote the notes on the tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// A load that has not ended.
    Loading,
    /// A load that has ended.
    Init,
    /// The first run on tables that another tool loaded.
    Run,
    /// `verify --rebase`.
    Rebase,
}

impl Origin {
    /// The origin of that name. One that is not known is taken for a load that has not ended.
    pub fn from_name(name: Option<&str>) -> Self {
        let known = [Self::Init, Self::Run, Self::Rebase];
        known.into_iter().find(|origin| Some(origin.name()) == name).unwrap_or(Self::Loading)
    }

    /// As stored.
    pub fn name(self) -> &'static str {
        match self {
            Self::Loading => "loading",
            Self::Init => "init",
            Self::Run => "run",
            Self::Rebase => "rebase",
        }
    }
}

/// The row of `dbload_state`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct State {
    /// Who wrote it.
    pub origin: Origin,
    /// Branches when it was written.
    pub scale: i128,
    /// Sum of the deltas of removed history rows.
    pub carried: i128,
    /// sum(tbalance) - sum(bbalance) that was accepted.
    pub tellers_ahead: i128,
    /// Truncations of history by other tools.
    pub other_truncations: i128,
    /// The tables were made anew since, so that the row speaks of others.
    pub void: bool,
}

impl State {
    /// From the row of `state_read.sql`.
    pub fn from_row(row: &TextRow) -> Result<Self, BadCell> {
        let cell = |column| number(row, column, "state_read.sql");
        Ok(Self {
            origin: Origin::from_name(row.first().and_then(Option::as_deref)),
            scale: cell(1)?,
            carried: cell(2)?,
            tellers_ahead: cell(3)?,
            other_truncations: cell(4)?,
            void: cell(5)? != 0,
        })
    }

    /// The row that makes `sums` the new base.
    pub fn rebased(sums: &Sums) -> Self {
        Self {
            origin: Origin::Rebase,
            scale: sums.branches,
            carried: sums.abalance - sums.delta,
            tellers_ahead: sums.tbalance - sums.bbalance,
            other_truncations: 0,
            void: false,
        }
    }
}

/// One thing that was compared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Check {
    /// What was counted or added up.
    pub what: String,
    /// What it should be equal to, in words.
    pub rule: String,
    /// What it should be.
    pub expected: i128,
    /// What it is.
    pub actual: i128,
}

impl Check {
    /// Whether it holds.
    pub fn holds(&self) -> bool {
        self.expected == self.actual
    }
}

/// What `dbload verify` found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct VerifyReport {
    /// All checks.
    pub checks: Vec<Check>,
    /// What happened, and what to do.
    pub notes: Vec<String>,
}

impl VerifyReport {
    /// Compares `sums` with what `state` (absent: no notes were kept) lets expect.
    pub fn new(sums: &Sums, state: Option<&State>) -> Self {
        let valid = state.filter(|state| !state.void);
        let carried = valid.map_or(0, |state| state.carried);
        let ahead = valid.map_or(0, |state| state.tellers_ahead);
        let scale = valid.map_or(sums.branches, |state| state.scale);
        let check = |what: &str, rule: String, expected, actual| Check {
            what: what.to_owned(),
            rule,
            expected,
            actual,
        };
        let tellers = i128::from(TELLERS_PER_BRANCH);
        let accounts = i128::from(ACCOUNTS_PER_BRANCH);
        let ahead_rule = if ahead == 0 { String::new() } else { format!(" {ahead:+}") };
        let mut checks = vec![
            check("rows of pgbench_branches", "scale".into(), scale, sums.branches),
            check("rows of pgbench_tellers", "10 x scale".into(), tellers * scale, sums.tellers),
            check(
                "rows of pgbench_accounts",
                "100000 x scale".into(),
                accounts * scale,
                sums.accounts,
            ),
            check(
                "sum(tbalance)",
                format!("sum(bbalance){ahead_rule}"),
                sums.bbalance + ahead,
                sums.tbalance,
            ),
            check(
                "sum(abalance)",
                format!("sum(delta) + carried ({} {carried:+})", sums.delta),
                sums.delta + carried,
                sums.abalance,
            ),
        ];
        let truncations = valid.map_or(0, |state| state.other_truncations);
        if truncations > 0 {
            let what = "truncations of pgbench_history by other tools";
            checks.push(check(what, "none".into(), 0, truncations));
        }
        let notes = notes(&checks, state, truncations);
        Self { checks, notes }
    }

    /// Whether every check holds.
    pub fn is_clean(&self) -> bool {
        self.checks.iter().all(Check::holds)
    }
}

/// Explains what is off, and says what to do.
fn notes(checks: &[Check], state: Option<&State>, truncations: i128) -> Vec<String> {
    let mut notes = Vec::new();
    let off = |from: usize, to: usize| checks[from..to].iter().any(|check| !check.holds());
    if off(0, 3) {
        notes.push(
            "rows are missing or too many: load again with `dbload init --replace`".to_owned(),
        );
    }
    if !off(3, checks.len()) {
        return notes;
    }
    let why = match state {
        _ if truncations > 0 => {
            "another tool emptied or rewrote pgbench_history (pgbench empties it before a run): \
             what those rows had added to the balances is not known"
        }
        None => {
            "dbload keeps no notes on these tables (there is no dbload_state), so rows of history \
             that another tool removed are not known"
        }
        Some(state) if state.void => {
            "the tables were made anew since dbload's notes (dbload_state), which do not count any \
             more; rows of history that another tool removed are not known"
        }
        Some(state) if state.origin == Origin::Run => {
            "another tool loaded these tables; rows of history that it removed before dbload's \
             first run are not known"
        }
        Some(_) => "balances or history were changed by something else than the workloads",
    };
    notes.push(why.to_owned());
    notes.push("`dbload verify --rebase` accepts the present sums as the new base".to_owned());
    notes
}

impl fmt::Display for VerifyReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for check in &self.checks {
            let Check { what, rule, expected, actual } = check;
            if check.holds() {
                writeln!(f, "ok   {what} = {rule}: {actual}")?;
            } else {
                let off = actual - expected;
                let (by, side) = (off.abs(), if off > 0 { "more" } else { "less" });
                writeln!(
                    f,
                    "OFF  {what} = {rule}: expected {expected}, found {actual}, {by} {side}"
                )?;
            }
        }
        for note in &self.notes {
            writeln!(f, "note: {note}")?;
        }
        let count = self.checks.iter().filter(|check| !check.holds()).count();
        match count {
            0 if self.checks.is_empty() => f.write_str("nothing could be checked"),
            0 => f.write_str("verified: every check holds"),
            _ => write!(f, "not verified: {count} of {} checks are off", self.checks.len()),
        }
    }
}

#[cfg(test)]
mod tests;
