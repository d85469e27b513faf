//! The statements that make the tables of a plan: the files of `sql/` with the plan's choices filled
//! in, in the order of a load, and how much space the tables will take.

mod sbtest;
mod tpcb;

use super::check::Origin;
use super::columns::Existing;
use super::files::SchemaSql;
use super::plan::InitPlan;
use super::progress::LoadStep;
use super::{Schema, SchemaSize};

pub use self::sbtest::write_states;
pub use self::tpcb::write_state;

/// The statements that drop what exists of the schema.
pub fn drop(sql: SchemaSql, existing: &Existing) -> Vec<String> {
    match sql.schema() {
        Schema::Tpcb => sql.statements("drop", &[]),
        Schema::Sbtest => sbtest::drop(sql, existing),
    }
}

/// The statements that make the tables, in order.
pub fn create(sql: SchemaSql, plan: &InitPlan) -> Vec<String> {
    match plan.size {
        SchemaSize::Tpcb { scale } => tpcb::create(sql, plan, scale),
        SchemaSize::Sbtest { tables, .. } => sbtest::create(sql, plan, tables),
    }
}

/// The statements that open the transaction in which one connection loads all rows: it empties the
/// tables first, so that the rows can be written frozen. None where that gains nothing.
pub fn truncate(sql: SchemaSql, plan: &InitPlan) -> Vec<String> {
    match plan.size {
        SchemaSize::Tpcb { .. } => sql.statements("truncate", &[]),
        SchemaSize::Sbtest { tables, .. } => sbtest::truncate(sql, tables),
    }
}

/// What comes after the rows, step by step.
pub fn finish(sql: SchemaSql, plan: &InitPlan) -> Vec<(LoadStep, Vec<String>)> {
    let mut steps = match plan.size {
        SchemaSize::Tpcb { .. } => tpcb::finish(sql, plan),
        SchemaSize::Sbtest { tables, table_size } => sbtest::finish(sql, plan, tables, table_size),
    };
    if !plan.vacuum {
        steps.retain(|(step, _)| !matches!(step, LoadStep::Vacuum | LoadStep::Analyze));
    }
    steps.retain(|(_, statements)| !statements.is_empty());
    steps
}

/// The statements that note what is loaded: before the rows and after everything.
pub fn state(sql: SchemaSql, plan: &InitPlan, origin: Origin) -> Vec<String> {
    match plan.size {
        SchemaSize::Tpcb { scale } => tpcb::state(sql, scale, origin),
        SchemaSize::Sbtest { tables, table_size } => {
            sbtest::state(sql, tables, table_size, plan.seed, origin)
        }
    }
}

/// Bytes that the loaded tables and their keys will take, about.
pub fn estimated_bytes(sql: SchemaSql, plan: &InitPlan) -> u64 {
    let full = match plan.size {
        SchemaSize::Tpcb { scale } => tpcb::estimated_bytes(sql, scale),
        SchemaSize::Sbtest { tables, table_size } => {
            sbtest::estimated_bytes(sql, tables, table_size)
        }
    };
    full * 100 / u64::from(plan.fillfactor)
}

/// `words "name"`, or nothing.
fn clause(words: &str, name: Option<&str>) -> String {
    name.map_or(String::new(), |name| format!("{words}\"{}\"", name.replace('"', "\"\"")))
}
