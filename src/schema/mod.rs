//! Tables that are loaded: names, row counts, and each row by its number; the plan of a load, the
//! SQL files it runs, what it reports, and what `verify` checks. Pure: no connection, no clock.

pub mod check;
pub mod columns;
pub mod ddl;
pub mod files;
pub mod plan;
pub mod progress;
pub mod sbtest;
mod size;
pub mod tpcb;

pub use size::{Schema, SchemaSize};

/// Takes one row after another, column by column.
pub trait RowWriter {
    /// An integer column.
    fn int(&mut self, value: i64);
    /// A text column.
    fn text(&mut self, value: &str);
    /// A NULL column.
    fn null(&mut self);
    /// The row is complete.
    fn end_row(&mut self);
}

/// A table to be loaded: row `i` is a function of `i` (and the seed), so any range can be written
/// by any connection.
#[derive(Debug, Clone)]
pub struct TableRows {
    /// Table name.
    pub table: String,
    /// Columns that are loaded, in the order in which `write_row` gives them.
    pub columns: &'static [&'static str],
    /// Number of rows.
    pub rows: u64,
    /// The load runs in the transaction that emptied the table, and the engine may write the rows
    /// as visible to everybody (PostgreSQL's `COPY ... (FREEZE)`), which saves the vacuum a rewrite.
    pub freeze: bool,
    /// What the rows hold.
    pub content: RowContent,
}

/// What the rows of a table hold.
#[derive(Debug, Clone)]
pub enum RowContent {
    /// One of the TPC-B-like tables.
    Tpcb(tpcb::Table),
    /// A table of the sysbench schema.
    Sbtest(sbtest::Rows),
}

impl TableRows {
    /// Writes row `index` (from 0).
    pub fn write_row<W: RowWriter>(&self, index: u64, out: &mut W) {
        match &self.content {
            RowContent::Tpcb(table) => table.write_row(index, out),
            RowContent::Sbtest(rows) => rows.write_row(index, out),
        }
    }
}
