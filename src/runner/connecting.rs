//! A client's way from nothing to a session that is ready: at the start, after a loss, and with
//! `--connect` for every transaction.

use super::Level;
use crate::engine::{Block, DbError, Engine, ErrorKind, Preparing, Session};

/// Connects a client. `is_alone` says that it has its thread to itself.
pub(super) async fn connect<E: Engine>(engine: &E, is_alone: bool) -> Result<E::Conn, DbError> {
    if is_alone { engine.connect_alone().await } else { engine.connect().await }
}

/// Runs the user's session SQL on a new connection and makes the statements ready.
pub(super) async fn open<'c, E: Engine>(
    engine: &'c E,
    conn: &'c mut E::Conn,
    level: &'c Level,
    preparing: Preparing,
) -> Result<E::Session<'c>, DbError> {
    let settings = &level.settings;
    for sql in &settings.session_sql {
        engine.set_up(conn, sql).await.map_err(|error| of_session_sql(sql, &error))?;
    }
    let session = engine.open(conn, &level.workload, settings.protocol, preparing).await?;
    if session.block() != Block::Idle {
        let open = "it leaves a transaction block open, in which every transaction would run: end \
                    it with COMMIT";
        let sql = settings.session_sql.last().map_or("", String::as_str);
        return Err(of_session_sql(sql, &DbError::new(ErrorKind::Other, "", open)));
    }
    Ok(session)
}

/// The server's error under the name of the option; its kind and its code stay.
fn of_session_sql(sql: &str, error: &DbError) -> DbError {
    let text = format!("--session-sql \"{sql}\": {}", error.text());
    DbError::new(error.kind(), error.code(), text)
}
