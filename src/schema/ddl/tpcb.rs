//! The TPC-B-like tables.

use super::clause;
use crate::schema::check::{Origin, State};
use crate::schema::files::SchemaSql;
use crate::schema::plan::{InitPlan, PartitionMethod};
use crate::schema::progress::LoadStep;
use crate::schema::tpcb::{ACCOUNTS_PER_BRANCH, BIGINT_FROM_SCALE};
use crate::script::Dialect;

/// Bytes of one scale unit on PostgreSQL: 100,000 accounts of 134 bytes (12.8 MiB with page
/// overhead) and 2.2 MiB of their key.
const POSTGRES_UNIT_BYTES: u64 = 15_700_000;
/// Bytes of one scale unit on MySQL: 100,000 accounts of 121 bytes in pages filled to 15/16.
const MYSQL_UNIT_BYTES: u64 = 13_700_000;
/// Bytes of one scale unit on SQLite: 100,000 accounts of 101 bytes, ordered by their key.
const SQLITE_UNIT_BYTES: u64 = 11_000_000;

/// The statements that make the tables, in order; keys come after the load.
pub(super) fn create(sql: SchemaSql, plan: &InitPlan, scale: u32) -> Vec<String> {
    let partitioned = plan.partitions > 0;
    let fillfactor = plan.fillfactor.to_string();
    let storage = if partitioned {
        format!(" partition by {} (aid)", plan.partition_method)
    } else {
        format!(" with (fillfactor = {fillfactor})")
    };
    let unlogged = if plan.unlogged { "unlogged " } else { "" };
    // PostgreSQL 18 refuses an unlogged partitioned table, and it has no storage anyway.
    let accounts_unlogged = if partitioned { "" } else { unlogged };
    let tablespace = clause(" tablespace ", plan.tablespace.as_deref());
    let aid = if scale >= BIGINT_FROM_SCALE { "bigint" } else { "int" };
    let values = [
        ("unlogged", unlogged),
        ("accounts_unlogged", accounts_unlogged),
        ("aid", aid),
        ("fillfactor", &fillfactor),
        ("storage", &storage),
        ("tablespace", &tablespace),
    ];
    let mut statements = sql.statements("create", &values);
    for n in 1..=u64::from(plan.partitions) {
        statements.extend(partition(sql, plan, scale, n, unlogged));
    }
    statements
}

/// The statement that makes partition `n` (from 1). Ranges are of equal size but the last, and the
/// first and the last are open, so that no `aid` is without a partition.
fn partition(sql: SchemaSql, plan: &InitPlan, scale: u32, n: u64, unlogged: &str) -> Vec<String> {
    let partitions = u64::from(plan.partitions);
    let size = (u64::from(scale) * ACCOUNTS_PER_BRANCH).div_ceil(partitions);
    let from = if n == 1 { "minvalue".to_owned() } else { ((n - 1) * size + 1).to_string() };
    let to = if n == partitions { "maxvalue".to_owned() } else { (n * size + 1).to_string() };
    let step = match plan.partition_method {
        PartitionMethod::Range => "partition_range",
        PartitionMethod::Hash => "partition_hash",
    };
    let values = [
        ("unlogged", unlogged),
        ("n", &n.to_string()),
        ("from", &from),
        ("to", &to),
        ("partitions", &partitions.to_string()),
        ("remainder", &(n - 1).to_string()),
        ("fillfactor", &plan.fillfactor.to_string()),
    ];
    sql.statements(step, &values)
}

/// The order of pgbench: the keys come last.
pub(super) fn finish(sql: SchemaSql, plan: &InitPlan) -> Vec<(LoadStep, Vec<String>)> {
    let foreign_keys = if plan.foreign_keys { sql.statements("foreign_keys", &[]) } else { vec![] };
    vec![
        (LoadStep::statistics(sql.dialect()), sql.statements("vacuum", &[])),
        (LoadStep::Keys, keys(sql, plan)),
        (LoadStep::ForeignKeys, foreign_keys),
    ]
}

/// The statements that make the primary keys.
fn keys(sql: SchemaSql, plan: &InitPlan) -> Vec<String> {
    let tablespace = clause(" using index tablespace ", plan.index_tablespace.as_deref());
    sql.statements("index", &[("index_tablespace", &tablespace)])
}

/// See [`super::state`].
pub(super) fn state(sql: SchemaSql, scale: u32, origin: Origin) -> Vec<String> {
    let scale = scale.into();
    let (carried, tellers_ahead, other_truncations) = (0, 0, 0);
    write_state(
        sql,
        &State { origin, scale, carried, tellers_ahead, other_truncations, void: false },
    )
}

/// The statements that make `state` the one row of `dbload_state`.
pub fn write_state(sql: SchemaSql, state: &State) -> Vec<String> {
    let values = [
        ("origin", state.origin.name()),
        ("scale", &state.scale.to_string()),
        ("carried", &state.carried.to_string()),
        ("tellers_ahead", &state.tellers_ahead.to_string()),
    ];
    sql.statements("state_write", &values)
}

/// See [`super::estimated_bytes`].
pub(super) fn estimated_bytes(sql: SchemaSql, scale: u32) -> u64 {
    let unit = match sql.dialect() {
        Dialect::Postgres => POSTGRES_UNIT_BYTES,
        Dialect::Mysql => MYSQL_UNIT_BYTES,
        Dialect::Sqlite => SQLITE_UNIT_BYTES,
    };
    u64::from(scale) * unit
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::SchemaSize;
    use crate::schema::ddl::{create, estimated_bytes};

    fn postgres(plan: &InitPlan) -> Vec<String> {
        create(SchemaSql::tpcb(Dialect::Postgres), plan)
    }

    #[test]
    fn plain_tables_have_the_fill_factor_and_history_has_none() {
        let statements = postgres(&InitPlan { fillfactor: 80, ..InitPlan::default() });
        assert_eq!(statements.len(), 4);
        assert!(
            statements[0].starts_with("create table pgbench_history (tid int, bid int, aid int,")
        );
        assert!(!statements[0].contains("fillfactor"));
        for statement in &statements[1..] {
            assert!(statement.ends_with(" with (fillfactor = 80)"), "{statement}");
        }
    }

    #[test]
    fn from_scale_20000_on_account_numbers_are_bigint() {
        let count = |scale| {
            let statements =
                postgres(&InitPlan { size: SchemaSize::Tpcb { scale }, ..InitPlan::default() });
            statements.iter().filter(|statement| statement.contains("aid bigint")).count()
        };
        assert_eq!((count(19_999), count(20_000)), (0, 2));
    }

    #[test]
    fn every_word_in_braces_is_filled_in() {
        for (partitions, method) in
            [(0, PartitionMethod::Range), (2, PartitionMethod::Range), (2, PartitionMethod::Hash)]
        {
            let plan = InitPlan { partitions, partition_method: method, ..InitPlan::default() };
            for dialect in [Dialect::Postgres, Dialect::Sqlite] {
                let sql = SchemaSql::tpcb(dialect);
                for statement in create(sql, &plan).iter().chain(&keys(sql, &plan)) {
                    assert!(!statement.contains(['{', '}']), "{statement}");
                }
            }
        }
    }

    #[test]
    fn ranges_are_of_equal_size_and_open_at_both_ends() {
        let plan = InitPlan { partitions: 3, ..InitPlan::default() };
        let statements = postgres(&plan);
        assert!(statements[2].ends_with(" partition by range (aid)"), "{}", statements[2]);
        let bounds: Vec<_> = statements[4..]
            .iter()
            .map(|statement| {
                let from = statement.find("from (").unwrap();
                &statement[from..statement.find(" with").unwrap()]
            })
            .collect();
        assert_eq!(
            bounds,
            ["from (minvalue) to (33335)", "from (33335) to (66669)", "from (66669) to (maxvalue)"]
        );
    }

    #[test]
    fn hash_partitions_count_from_remainder_0() {
        let partition_method = PartitionMethod::Hash;
        let plan = InitPlan { partitions: 2, partition_method, ..InitPlan::default() };
        let statements = postgres(&plan);
        assert!(statements[5].contains("pgbench_accounts_2 "));
        assert!(statements[5].contains("(modulus 2, remainder 1) with (fillfactor = 100)"));
    }

    #[test]
    fn an_unlogged_partitioned_table_is_unlogged_in_its_partitions() {
        let plan = InitPlan { unlogged: true, partitions: 1, ..InitPlan::default() };
        let statements = postgres(&plan);
        let unlogged: Vec<_> =
            statements.iter().map(|statement| statement.starts_with("create unlogged")).collect();
        assert_eq!(unlogged, [true, true, false, true, true]);
    }

    #[test]
    fn names_of_tablespaces_are_quoted() {
        let plan = InitPlan {
            tablespace: Some("a\"b".to_owned()),
            index_tablespace: Some("C".to_owned()),
            ..InitPlan::default()
        };
        assert!(postgres(&plan)[0].ends_with(" tablespace \"a\"\"b\""));
        let keys = keys(SchemaSql::tpcb(Dialect::Postgres), &plan);
        assert!(keys[2].ends_with("add primary key (aid) using index tablespace \"C\""));
    }

    #[test]
    fn a_lower_fill_factor_takes_more_space() {
        let sql = SchemaSql::tpcb(Dialect::Postgres);
        let plan =
            InitPlan { size: SchemaSize::Tpcb { scale: 2 }, fillfactor: 50, ..InitPlan::default() };
        assert_eq!(estimated_bytes(sql, &plan), 4 * POSTGRES_UNIT_BYTES);
    }
}
