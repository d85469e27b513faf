//! The SQL of the schema: files under `sql/`, embedded in the binary, with a few `{words}` filled
//! in. A statement ends with a semicolon at the end of a line; lines that start with `--` are
//! comments.

use std::ops::RangeInclusive;

use super::Schema;
use crate::embedded;
use crate::script::Dialect;

/// The files of one schema for one engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SchemaSql {
    schema: Schema,
    dialect: Dialect,
}

impl SchemaSql {
    /// The files of `schema` for an engine.
    pub fn new(schema: Schema, dialect: Dialect) -> Self {
        Self { schema, dialect }
    }

    /// The TPC-B-like schema's files for an engine.
    pub fn tpcb(dialect: Dialect) -> Self {
        Self::new(Schema::Tpcb, dialect)
    }

    /// The schema.
    pub fn schema(self) -> Schema {
        self.schema
    }

    /// The engine.
    pub fn dialect(self) -> Dialect {
        self.dialect
    }

    /// The engine's name in sentences.
    pub fn engine_name(self) -> &'static str {
        self.dialect.name()
    }

    /// Whether `char(n)` is stored padded with blanks.
    pub fn pads_char(self) -> bool {
        self.dialect != Dialect::Sqlite
    }

    /// Whether tables can have a fill factor, partitions, tablespaces, and be unlogged.
    pub fn has_storage_options(self) -> bool {
        self.dialect == Dialect::Postgres
    }

    /// The text of a step; a step that the engine does not need has no file and is empty.
    pub fn text(self, step: &str) -> &'static str {
        let (schema, engine) = (self.schema.key(), self.dialect.key());
        embedded::text(&format!("sql/{schema}/{engine}/{step}.sql")).unwrap_or_default()
    }

    /// The statements of a step, first to last, with `{name}` replaced by its value.
    pub fn statements(self, step: &str, values: &[(&str, &str)]) -> Vec<String> {
        let mut text = String::new();
        for line in self.text(step).lines().filter(|line| !line.trim_start().starts_with("--")) {
            text.push_str(line.trim_end());
            text.push('\n');
        }
        for (name, value) in values {
            text = text.replace(&format!("{{{name}}}"), value);
        }
        let statements = text.split(";\n").map(str::trim);
        statements.filter(|statement| !statement.is_empty()).map(str::to_owned).collect()
    }

    /// The statements of a step for each of `tables`, whose number is `{n}`.
    pub fn for_tables(
        self,
        step: &str,
        tables: RangeInclusive<u32>,
        values: &[(&str, &str)],
    ) -> Vec<String> {
        let of_table = |n: u32| {
            let n = n.to_string();
            let values: Vec<_> = values.iter().copied().chain([("n", n.as_str())]).collect();
            self.statements(step, &values)
        };
        tables.flat_map(of_table).collect()
    }

    /// The one statement of a step.
    pub fn statement(self, step: &str) -> String {
        self.statements(step, &[]).into_iter().next().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_go_and_statements_end_at_the_end_of_a_line() {
        let statements = SchemaSql::tpcb(Dialect::Postgres).statements("vacuum", &[]);
        assert_eq!(statements.len(), 4, "{statements:?}");
        assert!(statements.iter().all(|statement| statement.starts_with("vacuum analyze ")));
    }

    #[test]
    fn words_in_braces_are_replaced() {
        let values = [("index_tablespace", " using index tablespace \"fast\"")];
        let statements = SchemaSql::tpcb(Dialect::Postgres).statements("index", &values);
        assert_eq!(
            statements[0],
            "alter table pgbench_branches add primary key (bid) using index tablespace \"fast\""
        );
    }

    #[test]
    fn a_step_that_an_engine_does_not_need_is_empty() {
        assert!(SchemaSql::tpcb(Dialect::Sqlite).statements("index", &[]).is_empty());
        assert!(SchemaSql::tpcb(Dialect::Sqlite).statement("index").is_empty());
    }
}
