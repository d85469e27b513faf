//! The rows of the TPC-B-like schema: pgbench's tables, so that either tool runs on what the other
//! one loaded. Nothing in them is random, so every seed gives the same rows.

use super::{RowContent, RowWriter, TableRows};

/// Tellers of one branch.
pub const TELLERS_PER_BRANCH: u64 = 10;
/// Accounts of one branch.
pub const ACCOUNTS_PER_BRANCH: u64 = 100_000;
/// From this scale on, `aid` is a bigint (an int would hold up to scale 21474, but pgbench changes
/// here).
pub const BIGINT_FROM_SCALE: u32 = 20_000;
/// The largest scale: `tid` is an int on every engine, and there are ten tellers a branch.
pub const MAX_SCALE: u32 = 214_748_364;
/// What `char(84)` makes of an empty string; engines that do not pad get it written out, so that an
/// account takes about the same space everywhere.
const BLANKS: &str =
    "                                                                                    ";

/// A table that is loaded (history starts empty).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Table {
    /// `pgbench_branches`
    Branches,
    /// `pgbench_tellers`
    Tellers,
    /// `pgbench_accounts`
    Accounts {
        /// Whether the engine stores an empty `filler` as 84 blanks by itself.
        pads: bool,
    },
}

impl Table {
    /// Writes row `index` (from 0).
    pub fn write_row<W: RowWriter>(self, index: u64, out: &mut W) {
        out.int(key(index));
        match self {
            Self::Branches => out.int(0),
            Self::Tellers => {
                out.int(key(index / TELLERS_PER_BRANCH));
                out.int(0);
            }
            Self::Accounts { pads } => {
                out.int(key(index / ACCOUNTS_PER_BRANCH));
                out.int(0);
                out.text(if pads { "" } else { BLANKS });
            }
        }
        out.end_row();
    }
}

/// Keys start at 1.
#[expect(clippy::cast_possible_wrap, reason = "at most MAX_SCALE * ACCOUNTS_PER_BRANCH, 2e13")]
fn key(index: u64) -> i64 {
    index as i64 + 1
}

/// The tables that are loaded, in loading order. `freeze` and `partitioned` decide which of them
/// are written frozen: a partitioned table cannot be.
pub fn tables(scale: u32, pads: bool, freeze: bool, partitioned: bool) -> Vec<TableRows> {
    let branches = u64::from(scale);
    let table = |table: &str, columns, rows, freeze, content| TableRows {
        table: table.to_owned(),
        columns,
        rows,
        freeze,
        content: RowContent::Tpcb(content),
    };
    vec![
        table("pgbench_branches", &["bid", "bbalance"], branches, freeze, Table::Branches),
        table(
            "pgbench_tellers",
            &["tid", "bid", "tbalance"],
            branches * TELLERS_PER_BRANCH,
            freeze,
            Table::Tellers,
        ),
        table(
            "pgbench_accounts",
            &["aid", "bid", "abalance", "filler"],
            branches * ACCOUNTS_PER_BRANCH,
            freeze && !partitioned,
            Table::Accounts { pads },
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows as the text of `COPY`.
    #[derive(Default)]
    struct CopyText(String);

    impl RowWriter for CopyText {
        fn int(&mut self, value: i64) {
            self.text(&value.to_string());
        }
        fn text(&mut self, value: &str) {
            if !self.0.is_empty() && !self.0.ends_with('\n') {
                self.0.push('\t');
            }
            self.0.push_str(value);
        }
        fn null(&mut self) {
            self.text("\\N");
        }
        fn end_row(&mut self) {
            self.0.push('\n');
        }
    }

    fn row(table: usize, index: u64, pads: bool) -> String {
        let mut out = CopyText::default();
        tables(2, pads, true, false)[table].write_row(index, &mut out);
        out.0
    }

    #[test]
    fn keys_start_at_one_and_branches_own_ten_tellers_and_a_hundred_thousand_accounts() {
        assert_eq!(row(0, 1, true), "2\t0\n");
        assert_eq!(row(1, 9, true), "10\t1\t0\n");
        assert_eq!(row(1, 10, true), "11\t2\t0\n");
        assert_eq!(row(2, 99_999, true), "100000\t1\t0\t\n");
        assert_eq!(row(2, 100_000, true), "100001\t2\t0\t\n");
    }

    #[test]
    fn an_engine_without_padding_gets_the_84_blanks_of_char_84() {
        assert_eq!(row(2, 0, false), format!("1\t1\t0\t{:84}\n", ""));
    }

    #[test]
    fn rows_follow_the_scale_and_a_partitioned_table_is_not_frozen() {
        let tables = tables(3, true, true, true);
        let got: Vec<_> = tables.iter().map(|t| (t.table.as_str(), t.rows, t.freeze)).collect();
        assert_eq!(
            got,
            [
                ("pgbench_branches", 3, true),
                ("pgbench_tellers", 30, true),
                ("pgbench_accounts", 300_000, false)
            ]
        );
    }

    #[test]
    fn the_largest_scale_keeps_tellers_in_an_int() {
        assert!(u64::from(MAX_SCALE) * TELLERS_PER_BRANCH <= u64::from(i32::MAX.unsigned_abs()));
    }
}
