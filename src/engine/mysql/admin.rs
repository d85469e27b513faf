//! Everything on a MySQL or MariaDB server that is not measured: schema, loading, facts.
//!
//! Rows are loaded by `LOAD DATA LOCAL` from memory, or by long INSERT statements where the server
//! does not allow that.

use std::ops::Range;
use std::pin::pin;

use bytes::Bytes;
use futures_util::stream;
use mysql_async::prelude::Queryable;
use mysql_async::{Conn, Row};
use tokio::sync::mpsc;

use super::error::{NO_LOCAL_INFILE, from_driver};
use super::session::cells;
use crate::engine::monitor::{MonitorQuery, Reading};
use crate::engine::tab_text::TabText;
use crate::engine::{Admin, DbError, ErrorKind, ServerFacts};
use crate::schema::{RowWriter, TableRows};

/// One row about the server.
const FACTS: &str = include_str!("../../../sql/admin/mysql/facts.sql");
/// Settings that can change the figures.
const SETTINGS: &str = include_str!("../../../sql/admin/mysql/settings.sql");
/// Character sets in which our rows, all of them ASCII, are other bytes than those that are sent.
const WIDE_CHARACTER_SETS: [&str; 4] = ["ucs2", "utf16", "utf16le", "utf32"];
/// Said before a load where the server allows no LOAD DATA LOCAL.
const NO_LOAD_DATA: &str = "the server does not allow LOAD DATA LOCAL (local_infile is off): \
                            loading by INSERT, which takes longer";
/// Bytes of an INSERT statement: a fraction of the smallest `max_allowed_packet` in use, 16 MiB.
const INSERT_BYTES: usize = 512 * 1024;
/// Pieces of rows that may wait for the server to take them.
const PIECES: usize = 2;

/// A connection for administration.
pub(crate) struct MySqlAdmin {
    conn: Conn,
    is_socket: bool,
    /// Set when the server refused LOAD DATA LOCAL.
    inserts: bool,
    /// The character set that rows are loaded as; known with the first load.
    load_character_set: Option<&'static str>,
    /// Made for the server's version at the first reading.
    monitor: Option<MonitorQuery>,
}

impl MySqlAdmin {
    pub(super) fn new(conn: Conn, is_socket: bool) -> Self {
        Self { conn, is_socket, inserts: false, load_character_set: None, monitor: None }
    }

    /// Streams rows into LOAD DATA LOCAL. Returns the rows that were written.
    async fn load_data(
        &mut self,
        table: &TableRows,
        range: Range<u64>,
        done: &dyn Fn(u64),
    ) -> mysql_async::Result<u64> {
        let sql = load_statement(table, self.load_character_set().await?);
        let (pieces, mut taken) = mpsc::channel::<Bytes>(PIECES);
        self.conn.set_infile_handler(async move {
            let next = stream::poll_fn(move |cx| taken.poll_recv(cx).map(|piece| piece.map(Ok)));
            Ok(Box::pin(next) as mysql_async::InfileData)
        });
        let produced = async {
            let mut text = TabText::default();
            let mut unreported = 0;
            for index in range {
                table.write_row(index, &mut text);
                unreported += 1;
                if text.is_full() {
                    if pieces.send(text.take()).await.is_err() {
                        return;
                    }
                    done(unreported);
                    unreported = 0;
                }
            }
            if pieces.send(text.take()).await.is_ok() {
                done(unreported);
            }
            drop(pieces);
        };
        {
            let mut produced = pin!(produced);
            let mut loading = pin!(self.conn.query_drop(sql));
            let mut all_sent = false;
            loop {
                tokio::select! {
                    loaded = &mut loading => break loaded?,
                    () = &mut produced, if !all_sent => all_sent = true,
                }
            }
        }
        Ok(self.conn.affected_rows())
    }

    /// What our rows are loaded as. `binary` spares the server to convert them, which is a quarter of
    /// its work; it is right wherever ASCII is stored as ASCII.
    async fn load_character_set(&mut self) -> mysql_async::Result<&'static str> {
        if let Some(known) = self.load_character_set {
            return Ok(known);
        }
        let stored: Option<String> =
            self.conn.query_first("SELECT @@character_set_database").await?;
        let is_wide = stored.is_none_or(|name| WIDE_CHARACTER_SETS.contains(&name.as_str()));
        Ok(*self.load_character_set.insert(if is_wide { "utf8mb4" } else { "binary" }))
    }

    /// Writes rows by INSERT, in one transaction. Returns the rows that were written.
    async fn insert(
        &mut self,
        table: &TableRows,
        range: Range<u64>,
        done: &dyn Fn(u64),
    ) -> mysql_async::Result<u64> {
        self.conn.query_drop("START TRANSACTION").await?;
        let mut values = InsertValues::new(table);
        let (mut written, mut unreported) = (0, 0);
        let end = range.end;
        for index in range {
            table.write_row(index, &mut values);
            unreported += 1;
            if values.text.len() >= INSERT_BYTES || index + 1 == end {
                self.conn.query_drop(values.text.as_str()).await?;
                written += self.conn.affected_rows();
                done(unreported);
                unreported = 0;
                values.clear();
            }
        }
        self.conn.query_drop("COMMIT").await?;
        Ok(written)
    }
}

/// What a load claims: names of locks are those of the whole server, and at most 64 characters.
const CLAIM: &str = "CONCAT('dbload ', LEFT(SHA2(DATABASE(), 256), 40))";

impl Admin for MySqlAdmin {
    async fn claim(&mut self) -> Result<bool, DbError> {
        let rows = self.rows(&format!("SELECT GET_LOCK({CLAIM}, 0)")).await?;
        Ok(rows.iter().flatten().any(|cell| cell.as_deref() == Some("1")))
    }

    async fn release(&mut self) {
        let _ = self.rows(&format!("SELECT RELEASE_LOCK({CLAIM})")).await;
    }

    async fn batch(&mut self, sql: &str) -> Result<(), DbError> {
        self.conn.query_drop(sql).await.map_err(|error| from_driver(&error))
    }

    async fn rows(&mut self, sql: &str) -> Result<Vec<Vec<Option<String>>>, DbError> {
        // The server takes an empty query for an error; the others take it for no rows.
        if sql.is_empty() {
            return Ok(Vec::new());
        }
        let rows: Vec<Row> = self.conn.query(sql).await.map_err(|error| from_driver(&error))?;
        Ok(rows.into_iter().map(cells).collect())
    }

    async fn load(
        &mut self,
        table: &TableRows,
        range: Range<u64>,
        done: &dyn Fn(u64),
    ) -> Result<(), DbError> {
        let sent = range.end.saturating_sub(range.start);
        let mut written = Ok(0);
        if !self.inserts {
            written = self.load_data(table, range.clone(), done).await;
            self.inserts = matches!(&written, Err(mysql_async::Error::Server(error))
                if NO_LOCAL_INFILE.contains(&error.code));
        }
        if self.inserts {
            written = self.insert(table, range, done).await;
            if written.is_err() {
                // Fails only with the connection, and then the server does it.
                let _ = self.conn.query_drop("ROLLBACK").await;
            }
        }
        let written = written.map_err(|error| from_driver(&error))?;
        if written != sent {
            // LOAD DATA LOCAL passes over rows that break a key.
            let text = format!("{}: {sent} rows sent, {written} written", table.table);
            return Err(DbError::new(ErrorKind::Other, "", text));
        }
        Ok(())
    }

    async fn facts(&mut self) -> Result<ServerFacts, DbError> {
        let mut row = self.rows(FACTS).await?.into_iter().next().unwrap_or_default().into_iter();
        let mut next = || row.next().flatten();
        let mut facts = ServerFacts {
            version: next().unwrap_or_default(),
            data_directory: next(),
            log_directory: next(),
            database_bytes: next().and_then(|bytes| bytes.parse().ok()),
            local: next().as_deref() == Some("1"),
            clients_max: next().and_then(|count| count.parse().ok()),
            ..ServerFacts::default()
        };
        for row in self.rows(SETTINGS).await? {
            if let [Some(name), Some(value)] = &row[..] {
                facts.settings.insert(name.clone(), value.clone());
            }
        }
        if facts.settings.get("local_infile").is_some_and(|value| value == "OFF") {
            facts.load_note = Some(NO_LOAD_DATA.to_owned());
        }
        let cipher = self.rows("show session status like 'Ssl_cipher'").await?;
        let is_encrypted = matches!(&cipher[..], [row] if matches!(&row[..],
            [_, Some(cipher)] if !cipher.is_empty()));
        facts.transport = Some(match (self.is_socket, is_encrypted) {
            (true, _) => "socket".to_owned(),
            (false, true) => "tls".to_owned(),
            (false, false) => "tcp".to_owned(),
        });
        Ok(facts)
    }

    async fn reading(&mut self) -> Result<Reading, DbError> {
        let mut query = match self.monitor.take() {
            Some(query) => query,
            None => {
                let rows = self.rows("SELECT VERSION()").await?;
                let text = rows.first().and_then(|row| row.first()?.as_deref()).unwrap_or_default();
                // 9.7.0 is MySQL's, 10.11.6-MariaDB the other's: the files know which is which.
                let version = text.split('.').next().and_then(|major| major.parse().ok());
                match MonitorQuery::new("mysql", version.unwrap_or(0)) {
                    Some(query) => query,
                    None => return Ok(Reading::default()),
                }
            }
        };
        let reading = query.read(self).await;
        self.monitor = Some(query);
        reading
    }
}

fn columns(table: &TableRows) -> String {
    let columns: Vec<String> = table.columns.iter().map(|column| format!("`{column}`")).collect();
    columns.join(", ")
}

fn load_statement(table: &TableRows, character_set: &str) -> String {
    let (name, columns) = (&table.table, columns(table));
    format!(
        "LOAD DATA LOCAL INFILE 'rows' INTO TABLE `{name}` CHARACTER SET {character_set} ({columns})"
    )
}

/// Rows as the values of an INSERT statement.
struct InsertValues {
    text: String,
    /// Length of what comes before the values.
    head: usize,
    is_inside: bool,
}

impl InsertValues {
    fn new(table: &TableRows) -> Self {
        let text = format!("INSERT INTO `{}` ({}) VALUES ", table.table, columns(table));
        Self { head: text.len(), text, is_inside: false }
    }

    fn clear(&mut self) {
        self.text.truncate(self.head);
    }

    fn separate(&mut self) {
        let mark = match self.is_inside {
            true => ", ",
            false if self.text.len() > self.head => ", (",
            false => "(",
        };
        self.text.push_str(mark);
        self.is_inside = true;
    }
}

impl RowWriter for InsertValues {
    fn int(&mut self, value: i64) {
        self.separate();
        self.text.push_str(itoa::Buffer::new().format(value));
    }

    fn text(&mut self, value: &str) {
        self.separate();
        self.text.push('\'');
        for character in value.chars() {
            if matches!(character, '\'' | '\\') {
                self.text.push(character);
            }
            self.text.push(character);
        }
        self.text.push('\'');
    }

    fn null(&mut self) {
        self.separate();
        self.text.push_str("NULL");
    }

    fn end_row(&mut self) {
        self.text.push(')');
        self.is_inside = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::tpcb;

    #[test]
    fn statements_name_their_columns() {
        let tables = tpcb::tables(1, true, false, false);
        assert_eq!(
            load_statement(&tables[1], "binary"),
            "LOAD DATA LOCAL INFILE 'rows' INTO TABLE `pgbench_tellers` CHARACTER SET binary \
             (`tid`, `bid`, `tbalance`)"
        );
        let mut values = InsertValues::new(&tables[0]);
        tables[0].write_row(0, &mut values);
        values.int(-7);
        values.text("o'ha\\ra");
        values.null();
        values.end_row();
        assert_eq!(
            values.text,
            "INSERT INTO `pgbench_branches` (`bid`, `bbalance`) VALUES (1, 0), \
             (-7, 'o''ha\\\\ra', NULL)"
        );
        values.clear();
        tables[0].write_row(1, &mut values);
        assert!(values.text.ends_with("VALUES (2, 0)"), "{}", values.text);
    }
}
