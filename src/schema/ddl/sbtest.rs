//! The sysbench tables.

use super::clause;
use crate::schema::check::Origin;
use crate::schema::columns::Existing;
use crate::schema::files::SchemaSql;
use crate::schema::plan::InitPlan;
use crate::schema::progress::LoadStep;
use crate::schema::sbtest::check::TableState;
use crate::schema::sbtest::table_number;
use crate::script::Dialect;

/// Drops every table of the schema, also beyond those that are made anew: what is left would count
/// as one of the set.
pub(super) fn drop(sql: SchemaSql, existing: &Existing) -> Vec<String> {
    let numbers = existing.names().into_iter().filter_map(table_number);
    let mut statements: Vec<String> =
        numbers.flat_map(|n| sql.for_tables("drop", n..=n, &[])).collect();
    statements.extend(sql.statements("state_drop", &[]));
    statements
}

/// Tables without the keys that are made after the load.
pub(super) fn create(sql: SchemaSql, plan: &InitPlan, tables: u32) -> Vec<String> {
    let storage = match plan.fillfactor {
        100 => String::new(),
        percent => format!(" with (fillfactor = {percent})"),
    };
    let values = [
        ("unlogged", if plan.unlogged { "unlogged " } else { "" }),
        ("storage", &storage),
        ("tablespace", &clause(" tablespace ", plan.tablespace.as_deref())),
    ];
    sql.for_tables("create", 1..=tables, &values)
}

/// See [`super::truncate`].
pub(super) fn truncate(sql: SchemaSql, tables: u32) -> Vec<String> {
    let mut statements = sql.for_tables("truncate", 1..=tables, &[]);
    if !statements.is_empty() {
        statements.insert(0, "begin".to_owned());
    }
    statements
}

/// Statistics come last: they are about the keys, too.
pub(super) fn finish(
    sql: SchemaSql,
    plan: &InitPlan,
    tables: u32,
    table_size: u64,
) -> Vec<(LoadStep, Vec<String>)> {
    let index = plan.index_tablespace.as_deref();
    let rows = table_size.to_string();
    let values = [
        ("table_size", rows.as_str()),
        ("key_tablespace", &clause(" using index tablespace ", index)),
        ("index_tablespace", &clause(" tablespace ", index)),
    ];
    let of_tables = |step| sql.for_tables(step, 1..=tables, &values);
    vec![
        (LoadStep::Keys, of_tables("keys")),
        (LoadStep::Indexes, of_tables("index")),
        (LoadStep::statistics(sql.dialect()), of_tables("vacuum")),
    ]
}

/// See [`super::state`].
pub(super) fn state(
    sql: SchemaSql,
    tables: u32,
    table_size: u64,
    seed: u64,
    origin: Origin,
) -> Vec<String> {
    let size = table_size.into();
    let states = (1..=tables).map(|number| TableState {
        number: number.into(),
        origin,
        // As the column's type has it.
        seed: seed.cast_signed().into(),
        table_size: size,
        low: size,
        high: 0,
        deletes: false,
        inserts: false,
        void: false,
    });
    write_states(sql, states)
}

/// The statements that make `states` the rows of the table of notes.
pub fn write_states(sql: SchemaSql, states: impl IntoIterator<Item = TableState>) -> Vec<String> {
    let mut statements = sql.statements("state_empty", &[]);
    for state in states {
        let values = [
            ("n", state.number.to_string()),
            ("origin", state.origin.name().to_owned()),
            ("seed", state.seed.to_string()),
            ("table_size", state.table_size.to_string()),
            ("low", state.low.to_string()),
            ("high", state.high.to_string()),
            ("deletes", u8::from(state.deletes).to_string()),
            ("inserts", u8::from(state.inserts).to_string()),
        ];
        let values: Vec<_> = values.iter().map(|(name, value)| (*name, value.as_str())).collect();
        statements.extend(sql.statements("state_write", &values));
    }
    statements
}

/// Bytes of one row with its keys, measured on a million rows.
fn row_bytes(dialect: Dialect) -> u64 {
    match dialect {
        Dialect::Postgres => 256,
        Dialect::Mysql => 250,
        Dialect::Sqlite => 222,
    }
}

/// See [`super::estimated_bytes`].
pub(super) fn estimated_bytes(sql: SchemaSql, tables: u32, table_size: u64) -> u64 {
    // A table without rows takes a few pages for itself and its keys.
    let empty_bytes = 64 * 1024;
    u64::from(tables) * (table_size * row_bytes(sql.dialect()) + empty_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::{Schema, SchemaSize, ddl};

    fn plan() -> InitPlan {
        let size = SchemaSize::Sbtest { tables: 2, table_size: 10 };
        InitPlan { size, ..InitPlan::default() }
    }

    fn postgres() -> SchemaSql {
        SchemaSql::new(Schema::Sbtest, Dialect::Postgres)
    }

    #[test]
    fn each_table_has_its_number_in_every_statement() {
        let statements = ddl::create(postgres(), &plan());
        assert_eq!(statements.len(), 2);
        assert!(statements[1].starts_with("create table sbtest2 (id serial,"), "{statements:?}");
        let steps = ddl::finish(postgres(), &plan());
        let keys: Vec<_> =
            steps.iter().map(|(step, statements)| (*step, statements.len())).collect();
        use LoadStep::{Indexes, Keys, Vacuum};
        assert_eq!(keys, [(Keys, 4), (Indexes, 2), (Vacuum, 2)]);
        assert!(steps[1].1[1].contains("k_2 on sbtest2"), "{steps:?}");
    }

    #[test]
    fn every_word_in_braces_is_filled_in() {
        for dialect in Dialect::ALL {
            let sql = SchemaSql::new(Schema::Sbtest, dialect);
            let mut statements = ddl::create(sql, &plan());
            statements.extend(ddl::truncate(sql, &plan()));
            statements.extend(ddl::state(sql, &plan(), Origin::Init));
            statements.extend(ddl::finish(sql, &plan()).into_iter().flat_map(|(_, step)| step));
            for statement in statements {
                assert!(!statement.contains(['{', '}']), "{statement}");
            }
        }
    }

    #[test]
    fn only_tables_that_exist_are_dropped() {
        let row = ["sbtest7", "table", "id", "integer"].map(|cell| Some(cell.to_owned()));
        let existing = Existing::from_rows(Schema::Sbtest, vec![row.to_vec()]);
        let statements = drop(postgres(), &existing);
        assert_eq!(statements, ["drop table sbtest7", "drop table if exists dbload_sbtest_state"]);
    }

    #[test]
    fn storage_options_stand_only_where_they_were_asked_for() {
        assert!(!ddl::create(postgres(), &plan())[0].contains("with"));
        let plan = InitPlan {
            fillfactor: 80,
            unlogged: true,
            tablespace: Some("fast".to_owned()),
            ..plan()
        };
        let create = &ddl::create(postgres(), &plan)[0];
        assert!(create.starts_with("create unlogged table sbtest1"), "{create}");
        assert!(create.ends_with(" with (fillfactor = 80) tablespace \"fast\""), "{create}");
    }
}
