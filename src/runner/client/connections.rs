//! A client's connections: kept until one is lost and made again, or one for every transaction.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::{Client, ClientEnd, Flight, Stretch, back_off};
use crate::engine::{DbError, Engine, ErrorKind, Preparing, Session};
use crate::runner::recorder::{Outcome, Sample};
use crate::runner::{LossReason, connecting};

/// Where transactions are counted, a client that cannot connect for so long ends: without a deadline
/// it would try for ever.
const LONGEST_OUTAGE: Duration = Duration::from_secs(60);

/// Whether trying again cannot help: the login is refused, or the database is gone.
fn is_permanent(error: &DbError) -> bool {
    // PostgreSQL's classes, then MySQL's numbers.
    error.code().starts_with("28")
        || matches!(error.code(), "3D000" | "1044" | "1045" | "1049" | "1698")
}

impl Stretch {
    /// Of a connection that could not be made ready: where it is not lost the server is there and
    /// refuses the statements.
    fn of_opening(error: DbError) -> Self {
        match error.kind() {
            ErrorKind::Lost => Self::ConnectionLost(error),
            _ => Self::Lost(LossReason::Error(error)),
        }
    }
}

impl Client<'_> {
    /// Runs transactions on `session`, then on connections made anew where one is lost. Without a
    /// session every transaction has a connection of its own. `on_connect` sees every new one.
    pub(crate) async fn run<E: Engine>(
        mut self,
        engine: &E,
        session: Option<E::Session<'_>>,
        on_connect: impl Fn(&E::Conn),
    ) -> ClientEnd {
        let keeps_sessions = session.is_some();
        let mut stretch = match session {
            Some(session) => self.transactions(session).await,
            None => self.one_by_one(engine, &on_connect).await,
        };
        loop {
            let error = match stretch {
                Stretch::Over => return ClientEnd::Over,
                Stretch::Lost(reason) => return self.lost(reason),
                Stretch::ConnectionLost(error) => error,
            };
            let since = *self.without_since.get_or_insert_with(Instant::now);
            if self.remaining == Some(0) {
                return ClientEnd::Over;
            }
            // Without a connection at the window's end a client has not done its part.
            if !self.level.settings.reconnect
                || is_permanent(&error)
                || self.recorder.is_over()
                || (self.remaining.is_some() && since.elapsed() > LONGEST_OUTAGE)
            {
                return self.lost(LossReason::Error(error));
            }
            tokio::time::sleep(back_off(self.attempts)).await;
            self.attempts += 1;
            stretch = if keeps_sessions {
                self.again(engine, &on_connect).await
            } else {
                self.one_by_one(engine, &on_connect).await
            };
        }
    }

    /// Connects again and goes on.
    async fn again<E: Engine>(&mut self, engine: &E, on_connect: &impl Fn(&E::Conn)) -> Stretch {
        let mut conn = match connecting::connect(engine, self.is_alone).await {
            Ok(conn) => conn,
            Err(error) => return Stretch::ConnectionLost(error),
        };
        on_connect(&conn);
        match connecting::open(engine, &mut conn, self.level, Preparing::AtStart).await {
            Ok(session) => {
                self.is_connected();
                self.transactions(session).await
            }
            Err(error) => Stretch::of_opening(error),
        }
    }

    /// Ends a time without a connection.
    fn is_connected(&mut self) {
        self.attempts = 0;
        if let Some(since) = self.without_since.take() {
            self.recorder.disconnected(self.id, since, true);
        }
    }

    fn lost(mut self, reason: LossReason) -> ClientEnd {
        if let Some(since) = self.without_since.take() {
            self.recorder.disconnected(self.id, since, false);
        }
        ClientEnd::Lost(reason)
    }

    /// Transactions that each make a connection, use it and close it.
    async fn one_by_one<E: Engine>(
        &mut self,
        engine: &E,
        on_connect: &impl Fn(&E::Conn),
    ) -> Stretch {
        let recorder = Arc::clone(&self.recorder);
        while self.remaining != Some(0) {
            let flight = match self.level.arrivals.get() {
                None => recorder.start().map(|start| Flight::new(&recorder, start, start)),
                Some(arrivals) => self.next_arrival(arrivals, &recorder).await,
            };
            let Some(flight) = flight else { break };
            if let Err(stretch) = self.connected(engine, flight, on_connect).await {
                return stretch;
            }
        }
        Stretch::Over
    }

    /// One transaction on a connection of its own.
    async fn connected<E: Engine>(
        &mut self,
        engine: &E,
        flight: Flight<'_>,
        on_connect: &impl Fn(&E::Conn),
    ) -> Result<(), Stretch> {
        let script = self.interpreter.choose_script();
        let mut conn = match connecting::connect(engine, self.is_alone).await {
            Ok(conn) => conn,
            Err(error) => {
                self.unconnected(flight, script, &error);
                return Err(Stretch::ConnectionLost(error));
            }
        };
        self.acquiring = Some(flight.start.elapsed());
        on_connect(&conn);
        let opening = connecting::open(engine, &mut conn, self.level, Preparing::AtFirstUse);
        let mut session = match opening.await {
            Ok(session) => session,
            Err(error) => {
                self.unconnected(flight, script, &error);
                return Err(Stretch::of_opening(error));
            }
        };
        self.is_connected();
        self.transaction(&mut session, script, flight, false).await?;
        session.close().await;
        Ok(())
    }

    /// Counts a transaction that came by no session.
    fn unconnected(&mut self, flight: Flight<'_>, script: usize, error: &DbError) {
        self.tell(script, 1, error);
        self.takes_another();
        let sample = Sample {
            client: self.id,
            script,
            intended: flight.intended,
            start: flight.start,
            acquiring: None,
            outcome: Outcome::Failed { error, at: None },
            retried_at: &[],
            statements: &[],
        };
        flight.land(&sample, false);
    }
}
