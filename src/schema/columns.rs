//! Which tables are the schema's own: their names, columns and types, and the comparison with what
//! a database holds. Only tables that compare equal are ever dropped.

use std::collections::BTreeMap;
use std::fmt;

use super::plan::PartitionMethod;

/// A column and the types that the engines give it, as their catalogues write them (PostgreSQL's
/// first, then SQLite's).
type Column = (&'static str, &'static [&'static str]);

/// Integers of any width: `aid` grows with the scale.
const INTEGER: &[&str] = &["integer", "bigint"];

/// The table of `dbload`'s own notes.
pub const STATE_TABLE: &str = "dbload_state";

/// The tables of the TPC-B-like schema, in the order of their names, then `dbload_state`.
const TABLES: &[(&str, &[Column])] = &[
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
            ("mtime", &["timestamp without time zone", "text"]),
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
        STATE_TABLE,
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

/// What a database holds under the schema's names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Existing {
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
    /// Scale factor: the number of branches.
    pub scale: u64,
    /// Partitions of accounts; 0 for a plain table.
    pub partitions: u64,
    /// How accounts are partitioned; absent for a plain table and for methods that dbload has not.
    pub partition_method: Option<PartitionMethod>,
}

impl Found {
    /// From the row of `found.sql`.
    pub fn from_row(row: &[Option<String>]) -> Option<Self> {
        let number = |column: usize| row.get(column)?.as_ref()?.parse().ok();
        let method = row.get(2).cloned().flatten();
        Some(Self {
            scale: number(0)?,
            partitions: number(1)?,
            partition_method: method.and_then(|method| method.parse().ok()),
        })
    }
}

impl Existing {
    /// From the rows of `columns.sql`: table, kind, column, type, in the order of the columns.
    pub fn from_rows(rows: Vec<Vec<Option<String>>>) -> Self {
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
        Self { tables }
    }

    /// Whether a relation of that name exists.
    pub fn has(&self, table: &str) -> bool {
        self.tables.contains_key(table)
    }

    /// Names of all that exists.
    pub fn names(&self) -> Vec<&str> {
        self.tables.keys().map(String::as_str).collect()
    }

    /// Names of what exists, without `dbload_state`, which alone stands in nobody's way.
    pub fn workload_names(&self) -> Vec<String> {
        let names = self.tables.keys().filter(|table| *table != STATE_TABLE);
        names.cloned().collect()
    }

    /// The workload's tables that do not exist.
    pub fn missing(&self) -> Vec<&'static str> {
        let workload = TABLES.iter().filter(|(table, _)| *table != STATE_TABLE);
        workload.map(|(table, _)| *table).filter(|table| !self.has(table)).collect()
    }

    /// Refuses relations that have the schema's names but not its columns. A name that is not the
    /// schema's at all is there because a new table would need it (a partition's name).
    pub fn check_own(&self) -> Result<(), Foreign> {
        for (table, relation) in &self.tables {
            let foreign = |what: String| Foreign { table: table.clone(), what };
            let Some((_, own)) = TABLES.iter().find(|(name, _)| name == table) else {
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
        Existing::from_rows(rows.iter().map(cells).collect())
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
    fn a_stranger_that_holds_a_partitions_name_is_refused() {
        let rows = [["pgbench_accounts_1", "table", "id", "integer"]];
        let message = existing(&rows).check_own().unwrap_err().to_string();
        assert!(message.contains("pgbench_accounts_1"), "{message}");
    }
}
