//! A client's way from nothing to a session that is ready: at the start, after a loss, and with
//! `--connect` and `--pool` for every transaction.

use super::Level;
use crate::engine::{Block, DbError, Engine, Preparing, Session};

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
        engine.set_up(conn, sql).await.map_err(|error| error.in_session_sql(sql))?;
    }
    let session = engine.open(conn, &level.workload, settings.protocol, preparing).await?;
    if session.block() != Block::Idle {
        let sql = settings.session_sql.last().map_or("", String::as_str);
        return Err(DbError::open_block_of_session_sql(sql));
    }
    Ok(session)
}
