//! Why a level could not be measured.

use crate::engine::DbError;
use crate::runner::crew::StartError;
use crate::runner::load::LoadError;
use crate::units::plural;

/// Nothing was measured, and why.
#[derive(Debug, thiserror::Error)]
pub(crate) enum MeasureError {
    /// No connection for what comes before a level.
    #[error(transparent)]
    Connect(#[from] DbError),
    /// The tables could not be made ready.
    #[error(transparent)]
    Tables(#[from] LoadError),
    /// A client could not connect or prepare.
    #[error("a client could not start at {}: {error}", plural(*clients, "client"))]
    Client {
        /// Clients of the level.
        clients: u32,
        /// What the database said.
        error: DbError,
    },
    /// A worker could not be started, or ended without a word.
    #[error("a worker could not be started: {0}")]
    Worker(std::io::Error),
    /// A signal came before the window.
    #[error("interrupted before anything was measured")]
    Interrupted,
}

impl MeasureError {
    /// A level of so many clients that did not begin.
    pub(super) fn of_start(error: StartError, clients: u32) -> Self {
        match error {
            StartError::Client(error) => Self::Client { clients, error },
            StartError::Worker(error) => Self::Worker(error),
            StartError::Interrupted => Self::Interrupted,
        }
    }
}
