//! One database of any engine, what dbload does on it, and what its server was sent.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::common::program::{Ended, Place};
use crate::common::{mysql, postgres};

/// A database of a test's own.
pub(crate) enum Database<'a> {
    Postgres(&'a postgres::Database),
    MySql(&'a mysql::Database),
    Sqlite(String),
}

/// A database and a folder to run dbload in.
pub(crate) struct Bench<'a> {
    pub(crate) place: Place,
    pub(crate) database: Database<'a>,
}

impl<'a> Bench<'a> {
    pub(crate) fn postgres(database: &'a postgres::Database) -> Self {
        Self { place: Place::new(), database: Database::Postgres(database) }
    }

    pub(crate) fn mysql(database: &'a mysql::Database) -> Self {
        Self { place: Place::new(), database: Database::MySql(database) }
    }

    pub(crate) fn sqlite() -> Self {
        let place = Place::new();
        let path = place.path("t.sqlite").display().to_string();
        Self { place, database: Database::Sqlite(path) }
    }

    pub(crate) fn url(&self) -> String {
        match &self.database {
            Database::Postgres(database) => database.url(),
            Database::MySql(database) => database.url(),
            // What a crash would leave is not what is looked at.
            Database::Sqlite(path) => format!("sqlite:{path}?synchronous=off"),
        }
    }

    /// Rows of a query, in one text.
    pub(crate) fn sql(&self, sql: &str) -> String {
        match &self.database {
            Database::Postgres(database) => database.sql(sql),
            Database::MySql(database) => database.sql(sql).replace('\t', "|"),
            Database::Sqlite(path) => {
                let conn = rusqlite::Connection::open(path).unwrap();
                let mut statement = conn.prepare(sql).unwrap();
                let columns = statement.column_count();
                let rows = statement.query_map([], |row| {
                    let cell = |column| match row.get_ref(column)? {
                        rusqlite::types::ValueRef::Integer(int) => Ok(int.to_string()),
                        other => Ok(other.as_str().unwrap_or_default().to_owned()),
                    };
                    (0..columns).map(cell).collect::<rusqlite::Result<Vec<_>>>()
                });
                let rows: Vec<_> = rows.unwrap().map(|row| row.unwrap().join("|")).collect();
                rows.join("\n")
            }
        }
    }

    /// Runs dbload with these words and the database as its target.
    pub(crate) fn dbload(&self, args: &str) -> Ended {
        let url = self.url();
        let args: Vec<&str> = args.split(' ').chain(["--target", &url]).collect();
        self.place.dbload(&args)
    }

    /// Tables of this number and size.
    #[track_caller]
    pub(crate) fn load(&self, tables: u32, table_size: u32) {
        let size = format!("--tables {tables} --table-size {table_size}");
        self.dbload(&format!("init --workload sysbench {size}")).expect_code(0);
    }

    #[track_caller]
    pub(crate) fn verify(&self) -> Ended {
        self.dbload("verify").expect_code(0)
    }

    /// Runs sysbench with the options of its scripts and driver.
    #[track_caller]
    pub(crate) fn sysbench(&self, args: &str) -> String {
        let url = self.url();
        let (login, rest) = url.split_once("://").unwrap().1.split_once('@').unwrap();
        let (address, name) = rest.split_once('/').unwrap();
        let (host, port) = address.split_once(':').unwrap();
        let (user, password) = login.split_once(':').unwrap_or((login, ""));
        let driver = match self.database {
            Database::Postgres(_) => "pgsql",
            _ => "mysql",
        };
        let mut sysbench = Command::new("sysbench");
        sysbench.arg(format!("--db-driver={driver}"));
        let values =
            [("host", host), ("port", port), ("user", user), ("password", password), ("db", name)];
        for (option, value) in values.into_iter().filter(|(_, value)| !value.is_empty()) {
            sysbench.arg(format!("--{driver}-{option}={value}"));
        }
        let done = sysbench.args(args.split(' ')).output().expect("sysbench starts");
        let text = String::from_utf8_lossy(&done.stdout).into_owned();
        assert!(done.status.success(), "{args}: {text}{}", String::from_utf8_lossy(&done.stderr));
        text
    }

    /// The statements of the one session that sent most while `work` ran, with constants as `?`.
    pub(crate) fn statements_of(&self, work: impl FnOnce()) -> Vec<String> {
        let sent = match &self.database {
            Database::Postgres(database) => postgres_statements(database, work),
            Database::MySql(database) => mysql_statements(database, work),
            Database::Sqlite(_) => panic!("SQLite keeps no log"),
        };
        let session = sent.into_values().max_by_key(Vec::len).unwrap_or_default();
        session.iter().map(|statement| normal(statement)).collect()
    }
}

/// Statements by session.
type Sent = BTreeMap<String, Vec<String>>;

fn postgres_statements(database: &postgres::Database, work: impl FnOnce()) -> Sent {
    let folder = database.sql("SHOW data_directory");
    let log = Path::new(&folder).parent().unwrap().join("log");
    database.sql(&format!("ALTER DATABASE {} SET log_statement = 'all'", database.name));
    let before = fs::read_to_string(&log).unwrap().len();
    work();
    database.sql(&format!("ALTER DATABASE {} RESET log_statement", database.name));
    let text = fs::read_to_string(&log).unwrap();
    let mut sent = Sent::new();
    for line in text[before..].lines() {
        // "2026-12-01 10:00:00.000 UTC [123] LOG:  execute P_1: SELECT ..."
        let Some((prefix, rest)) = line.split_once("] LOG:  ") else { continue };
        let statement = match rest.split_once(": ") {
            Some(("statement", text)) => text,
            Some((kind, text)) if kind.starts_with("execute ") => text,
            _ => continue,
        };
        let session = prefix.rsplit_once('[').unwrap().1.to_owned();
        sent.entry(session).or_default().push(statement.to_owned());
    }
    sent
}

fn mysql_statements(database: &mysql::Database, work: impl FnOnce()) -> Sent {
    database.sql("SET GLOBAL general_log = OFF; TRUNCATE mysql.general_log; SET GLOBAL log_output = 'TABLE'; SET GLOBAL general_log = ON");
    work();
    let rows = database.sql(&format!(
        "SELECT thread_id, replace(argument, '\\n', ' ') FROM mysql.general_log
         WHERE command_type IN ('Query', 'Execute') AND thread_id IN
             (SELECT thread_id FROM mysql.general_log
              WHERE command_type = 'Connect' AND argument LIKE '% on {} %')
         ORDER BY event_time",
        database.name
    ));
    let mut sent = Sent::new();
    for row in rows.lines() {
        let (session, statement) = row.split_once('\t').unwrap();
        sent.entry(session.to_owned()).or_default().push(statement.to_owned());
    }
    sent
}

/// A statement in lower case, with constants and parameters as `?`, tables as `sbtestN`, and one
/// word for each way to open or end a block.
fn normal(statement: &str) -> String {
    let mut text = String::new();
    let mut chars = statement.trim().trim_end_matches(';').chars().peekable();
    let mut in_word = false;
    while let Some(c) = chars.next() {
        match c {
            '\'' => {
                while chars.next().is_some_and(|c| c != '\'') {}
                text.push('?');
            }
            '$' | '0'..='9' if !in_word => {
                while chars.next_if(char::is_ascii_digit).is_some() {}
                text.push('?');
            }
            '0'..='9' if text.ends_with("sbtest") => {
                while chars.next_if(char::is_ascii_digit).is_some() {}
                text.push('N');
            }
            c if c.is_whitespace() => {
                if !text.ends_with(' ') {
                    text.push(' ');
                }
            }
            c => text.push(c.to_ascii_lowercase()),
        }
        in_word = c.is_alphanumeric() || c == '_';
    }
    let text = text.replace(", ", ",");
    match text.as_str() {
        "start transaction" => "begin".to_owned(),
        "end" => "commit".to_owned(),
        _ => text,
    }
}

#[test]
fn statements_are_compared_without_their_values() {
    assert_eq!(
        normal("UPDATE sbtest12 SET k=k+1, c='1-2' WHERE  id=$2;"),
        "update sbtestN set k=k+?,c=? where id=?"
    );
    assert_eq!(normal("START TRANSACTION"), "begin");
}
