//! Which tables are the schema's own: their names, columns and types, and the comparison with what
//! a database holds. Only tables that compare equal are ever dropped.

use std::collections::BTreeMap;
use std::fmt;

use super::plan::PartitionMethod;
use super::sbtest::{self, table_name, table_number};
use super::{Schema, SchemaSize};

/// A column and the types that the engines give it, as their catalogues write them (PostgreSQL's
/// first, then MySQL's where `columns.sql` does not translate it, then SQLite's).
type Column = (&'static str, &'static [&'static str]);

/// Integers of any width: `aid` grows with the scale.
const INTEGER: &[&str] = &["integer", "bigint"];

/// The tables of the TPC-B-like schema, in the order of their names, then `dbload_state`.
const TPCB: &[(&str, &[Column])] = &[
    (
        "pgbench_accounts",
        &[
            ("aid", INTEGER),
            ("bid", INTEGER),
            ("abalance", INTEGER),
            ("filler", &["character(84)", "text"]),
        ],
    ),
    (
        "pgbench_branches",
        &[("bid", INTEGER), ("bbalance", INTEGER), ("filler", &["character(88)", "text"])],
    ),
    (
        "pgbench_history",
        &[
            ("tid", INTEGER),
            ("bid", INTEGER),
            ("aid", INTEGER),
            ("delta", INTEGER),
            ("mtime", &["timestamp without time zone", "datetime", "text"]),
            ("filler", &["character(22)", "text"]),
        ],
    ),
    (
        "pgbench_tellers",
        &[
            ("tid", INTEGER),
            ("bid", INTEGER),
            ("tbalance", INTEGER),
            ("filler", &["character(84)", "text"]),
        ],
    ),
    (
        "dbload_state",
        &[
            ("origin", &["text"]),
            ("scale", INTEGER),
            ("history_id", INTEGER),
            ("history_file", INTEGER),
            ("carried", INTEGER),
            ("tellers_ahead", INTEGER),
            ("other_truncations", INTEGER),
        ],
    ),
];

/// The columns of every table of the sysbench schema.
const SBTEST: &[Column] = &[
    ("id", INTEGER),
    ("k", INTEGER),
    ("c", &["character(120)", "char(120)", "text"]),
    ("pad", &["character(60)", "char(60)", "text"]),
];

/// The columns of `dbload_sbtest_state`.
const SBTEST_STATE: &[Column] = &[
    ("table_number", INTEGER),
    ("table_id", INTEGER),
    ("origin", &["text"]),
    ("seed", INTEGER),
    ("table_size", INTEGER),
    ("low", INTEGER),
    ("high", INTEGER),
    ("deletes", INTEGER),
    ("inserts", INTEGER),
];

/// The columns that the schema's table of that name has.
fn own_columns(schema: Schema, table: &str) -> Option<&'static [Column]> {
    match schema {
        Schema::Tpcb => TPCB.iter().find(|(name, _)| *name == table).map(|(_, columns)| *columns),
        Schema::Sbtest if table == schema.state_table() => Some(SBTEST_STATE),
        Schema::Sbtest => table_number(table).map(|_| SBTEST),
    }
}

/// What a database holds under the schema's names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Existing {
    schema: Schema,
    tables: BTreeMap<String, Relation>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Relation {
    /// `table`, or what else carries the name (a view, an index).
    kind: String,
    columns: Vec<(String, String)>,
}

/// A relation of one of the schema's names that is not the schema's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Foreign {
    table: String,
    what: String,
}

impl fmt::Display for Foreign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is not a table that dbload made: {}", self.table, self.what)
    }
}

/// The loaded tables as a run finds them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The schema and how much there is of it.
    pub size: SchemaSize,
    /// Partitions of accounts; 0 for a plain table.
    pub partitions: u64,
    /// How accounts are partitioned; absent for a plain table and for methods that dbload has not.
    pub partition_method: Option<PartitionMethod>,
}

impl Found {
    /// From the row of the TPC-B-like `found.sql`.
    pub fn from_row(row: &[Option<String>]) -> Option<Self> {
        let number = |column: usize| row.get(column)?.as_ref()?.parse().ok();
        let method = row.get(2).cloned().flatten();
        Some(Self {
            size: SchemaSize::Tpcb { scale: u32::try_from(number(0)?).unwrap_or(u32::MAX) },
            partitions: number(1)?,
            partition_method: method.and_then(|method| method.parse().ok()),
        })
    }
}

impl Existing {
    /// From the rows of `columns.sql`: table, kind, column, type, in the order of the columns.
    pub fn from_rows(schema: Schema, rows: Vec<Vec<Option<String>>>) -> Self {
        let mut tables: BTreeMap<String, Relation> = BTreeMap::new();
        for row in rows {
            let mut cells = row.into_iter().map(Option::unwrap_or_default);
            let mut cell = || cells.next().unwrap_or_default();
            let (table, kind, column, kind_of_column) = (cell(), cell(), cell(), cell());
            let relation = tables.entry(table).or_default();
            relation.kind = kind;
            if !column.is_empty() {
                relation.columns.push((column, kind_of_column.to_lowercase()));
            }
        }
        Self { schema, tables }
    }

    /// Whether a relation of that name exists.
    pub fn has(&self, table: &str) -> bool {
        self.tables.contains_key(table)
    }

    /// Names of all that exists.
    pub fn names(&self) -> Vec<&str> {
        self.tables.keys().map(String::as_str).collect()
    }

    /// Whether there are notes of `dbload`'s own.
    pub fn has_state(&self) -> bool {
        self.has(self.schema.state_table())
    }

    /// Names of what exists, without the table of notes, which alone stands in nobody's way.
    pub fn workload_names(&self) -> Vec<String> {
        let state = self.schema.state_table();
        let names = self.tables.keys().filter(|table| *table != state);
        names.cloned().collect()
    }

    /// The greatest number of a sysbench table; 0 when there is none.
    pub fn last_sbtest(&self) -> u32 {
        self.tables.keys().filter_map(|name| table_number(name)).max().unwrap_or(0)
    }

    /// The workload's tables that do not exist. Of the sysbench tables, those with gaps before
    /// them count as the set.
    pub fn missing(&self) -> Vec<String> {
        let names: Vec<String> = match self.schema {
            Schema::Tpcb => {
                let state = self.schema.state_table();
                TPCB.iter()
                    .map(|(table, _)| *table)
                    .filter(|table| *table != state)
                    .map(str::to_owned)
                    .collect()
            }
            // A stranger's high number must not become a list of all those below it.
            Schema::Sbtest => {
                (1..=self.last_sbtest().clamp(1, sbtest::MAX_TABLES)).map(table_name).collect()
            }
        };
        names.into_iter().filter(|table| !self.has(table)).collect()
    }

    /// Refuses relations that have the schema's names but not its columns. A name that is not the
    /// schema's at all is there because a new table would need it (a partition's name).
    pub fn check_own(&self) -> Result<(), Foreign> {
        for (table, relation) in &self.tables {
            let foreign = |what: String| Foreign { table: table.clone(), what };
            let Some(own) = own_columns(self.schema, table) else {
                return Err(foreign("the partitions of pgbench_accounts need its name".to_owned()));
            };
            if relation.kind != "table" {
                return Err(foreign(format!("it is a {}", relation.kind)));
            }
            compare(&relation.columns, own).map_err(foreign)?;
        }
        Ok(())
    }
}

/// Says what differs.
fn compare(found: &[(String, String)], own: &[Column]) -> Result<(), String> {
    for (name, types) in own {
        match found.iter().find(|(found, _)| found == name) {
            None => return Err(format!("it has no column \"{name}\"")),
            Some((_, found)) if !types.contains(&found.as_str()) => {
                let own = types.join(" or ");
                return Err(format!("its column \"{name}\" is {found}, the schema's is {own}"));
            }
            Some(_) => {}
        }
    }
    for (name, _) in found {
        if !own.iter().any(|(own, _)| own == name) {
            return Err(format!("it has a column \"{name}\", which the schema has not"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn existing(rows: &[[&str; 4]]) -> Existing {
        let cells = |row: &[&str; 4]| row.iter().map(|cell| Some((*cell).to_owned())).collect();
        Existing::from_rows(Schema::Tpcb, rows.iter().map(cells).collect())
    }

    const BRANCHES: [[&str; 4]; 3] = [
        ["pgbench_branches", "table", "bid", "integer"],
        ["pgbench_branches", "table", "bbalance", "integer"],
        ["pgbench_branches", "table", "filler", "character(88)"],
    ];

    #[test]
    fn tables_with_the_schemas_columns_are_its_own() {
        let existing = existing(&BRANCHES);
        assert_eq!(existing.check_own(), Ok(()));
        assert_eq!(existing.names(), ["pgbench_branches"]);
        assert_eq!(existing.missing(), ["pgbench_accounts", "pgbench_history", "pgbench_tellers"]);
    }

    #[test]
    fn a_missing_an_extra_and_a_retyped_column_are_each_named() {
        let message = |rows: &[[&str; 4]]| existing(rows).check_own().unwrap_err().to_string();
        assert_eq!(
            message(&BRANCHES[..2]),
            "pgbench_branches is not a table that dbload made: it has no column \"filler\""
        );
        let mut rows = BRANCHES.to_vec();
        rows.push(["pgbench_branches", "table", "city", "text"]);
        assert!(message(&rows).ends_with("a column \"city\", which the schema has not"));
        let mut rows = BRANCHES.to_vec();
        rows[1][3] = "numeric";
        assert!(
            message(&rows).ends_with("\"bbalance\" is numeric, the schema's is integer or bigint")
        );
    }

    #[test]
    fn a_view_of_a_tables_name_is_refused() {
        let mut rows = BRANCHES;
        rows.iter_mut().for_each(|row| row[1] = "view");
        let message = existing(&rows).check_own().unwrap_err().to_string();
        assert!(message.ends_with("it is a view"), "{message}");
    }

    #[test]
    fn sysbench_tables_are_known_by_number_and_a_gap_is_missing() {
        let rows = |tables: &[&str]| -> Vec<Vec<Option<String>>> {
            let columns = |table: &&str| {
                [
                    [*table, "table", "id", "integer"],
                    [*table, "table", "k", "integer"],
                    [*table, "table", "c", "character(120)"],
                    [*table, "table", "pad", "character(60)"],
                ]
                .map(|row| row.map(|cell| Some(cell.to_owned())).to_vec())
            };
            tables.iter().flat_map(columns).collect()
        };
        let of = |tables: &[&str]| Existing::from_rows(Schema::Sbtest, rows(tables));
        let existing = of(&["sbtest1", "sbtest3"]);
        assert_eq!(existing.check_own(), Ok(()));
        assert_eq!(existing.missing(), ["sbtest2"]);
        assert_eq!(of(&[]).missing(), ["sbtest1"]);
        let mut foreign = rows(&["sbtest1"]);
        foreign[3][3] = Some("character(61)".to_owned());
        let message = Existing::from_rows(Schema::Sbtest, foreign).check_own().unwrap_err();
        assert!(message.to_string().contains("\"pad\" is character(61)"), "{message}");
    }

    #[test]
    fn a_stranger_that_holds_a_partitions_name_is_refused() {
        let rows = [["pgbench_accounts_1", "table", "id", "integer"]];
        let message = existing(&rows).check_own().unwrap_err().to_string();
        assert!(message.contains("pgbench_accounts_1"), "{message}");
    }
}
