//! Failures of PostgreSQL as failures of ours: kinds by SQLSTATE, sentences that say what to do.
//!
//! Never holds a password: the server does not send it back, and ours are not written here.

use std::error::Error as _;
use std::io;

use super::connect::FOREIGN;
use crate::engine::{DbError, ErrorKind};
use crate::target::PgTarget;

/// The kind of a server's error.
pub(crate) fn kind_of(sqlstate: &str) -> ErrorKind {
    match sqlstate {
        "40001" => ErrorKind::Serialization,
        "40P01" => ErrorKind::Deadlock,
        "55P03" => ErrorKind::LockTimeout,
        "23505" => ErrorKind::Duplicate,
        "42P01" => ErrorKind::MissingTable,
        // Of a timeout set on the server, too: the one who cancelled knows that it did.
        "57014" => ErrorKind::Cancelled,
        // Shut down, crashed, dropped database, idle too long: the server has hung up.
        "57P01" | "57P02" | "57P04" | "57P05" | "25P03" | "25P04" => ErrorKind::Lost,
        // Wrong login, missing database, no free slot, still starting up.
        "28000" | "28P01" | "3D000" | "53300" | "57P03" => ErrorKind::Connect,
        // 08P01 is not among them: a Bind that does not fit is the script's fault.
        "08000" | "08001" | "08003" | "08004" | "08006" | "08007" => ErrorKind::Lost,
        _ => ErrorKind::Other,
    }
}

/// An error that the server reported.
pub(crate) fn server_error(sqlstate: &str, message: impl Into<String>) -> DbError {
    DbError::new(kind_of(sqlstate), sqlstate, message)
}

/// The connection broke.
pub(crate) fn lost(error: &io::Error) -> DbError {
    let text = match error.kind() {
        io::ErrorKind::UnexpectedEof => "the server closed the connection".to_owned(),
        _ => format!("the connection to the server broke: {error}"),
    };
    DbError::new(ErrorKind::Lost, "", text)
}

/// Any failure that the driver reports on a connection that stands.
pub(crate) fn from_driver(error: &tokio_postgres::Error) -> DbError {
    if let Some(reported) = error.as_db_error() {
        let mut text = reported.message().to_owned();
        for more in [reported.detail(), reported.hint()].into_iter().flatten() {
            text.push_str(": ");
            text.push_str(more);
        }
        return server_error(reported.code().code(), text);
    }
    if error.is_closed() {
        return DbError::new(ErrorKind::Lost, "", "the server closed the connection");
    }
    match io_cause(error) {
        Some(cause) => lost(cause),
        None => DbError::new(ErrorKind::Other, "", with_cause(error)),
    }
}

fn io_cause(error: &tokio_postgres::Error) -> Option<&io::Error> {
    error.source()?.downcast_ref()
}

fn with_cause(error: &tokio_postgres::Error) -> String {
    match error.source() {
        Some(cause) => format!("{error}: {cause}"),
        None => error.to_string(),
    }
}

/// Why no connection was made.
#[derive(Debug)]
pub(super) enum ConnectFailure {
    /// The host name could not be looked up.
    Lookup(io::Error),
    /// Nobody listens, or not for us.
    Socket(io::Error),
    /// The time for it was over.
    Timeout,
    /// The server does not encrypt, and that was asked for.
    NoTls,
    /// The encrypted connection failed.
    Tls(io::Error),
    /// The trusted certificates could not be read.
    RootCert(String),
    /// The login failed.
    Login(tokio_postgres::Error),
}

impl From<tokio_postgres::Error> for ConnectFailure {
    fn from(error: tokio_postgres::Error) -> Self {
        Self::Login(error)
    }
}

impl ConnectFailure {
    /// Whether the server asked for a password and there was none.
    pub(super) fn wants_password(&self) -> bool {
        // The driver has no code for it; a test holds its text to this.
        matches!(self, Self::Login(error)
            if error.source().is_some_and(|cause| cause.to_string() == "password missing"))
    }

    /// Whether the server refuses this user over this kind of connection: another kind (encrypted
    /// or not) may be let in.
    pub(super) fn may_depend_on_encryption(&self) -> bool {
        match self {
            Self::Tls(_) | Self::NoTls => true,
            Self::Login(error) => error.code().is_some_and(|code| code.code() == "28000"),
            _ => false,
        }
    }

    /// The sentence for whoever wanted the connection.
    pub(super) fn into_error(self, target: &PgTarget) -> DbError {
        let place = target.place();
        let text = match &self {
            Self::Lookup(error) => format!("the host of {place} cannot be looked up: {error}"),
            Self::Socket(error) => socket_sentence(error, target),
            Self::Timeout => {
                let seconds = target.connect_timeout.unwrap_or_default().as_secs();
                format!(
                    "{place} did not answer within {seconds} s: is it a PostgreSQL server, does a \
                     firewall drop packets? (connect_timeout sets the time)"
                )
            }
            Self::NoTls => format!(
                "the server on {place} does not encrypt connections, and sslmode={} asks for it",
                target.ssl_mode
            ),
            Self::Tls(error) => format!("the encrypted connection to {place} failed: {error}"),
            Self::RootCert(problem) => problem.clone(),
            Self::Login(_) if self.wants_password() => format!(
                "the server on {place} wants a password for user \"{}\", and none is known: put \
                 it into ~/.pgpass or PGPASSWORD",
                target.user
            ),
            Self::Login(error) => return login_error(error, target),
        };
        DbError::new(ErrorKind::Connect, "", text)
    }
}

fn socket_sentence(error: &io::Error, target: &PgTarget) -> String {
    let place = target.place();
    let is_socket = target.socket_path().is_some();
    match error.kind() {
        io::ErrorKind::ConnectionRefused => {
            format!("no server answers on {place}: is it running, is the port right?")
        }
        io::ErrorKind::NotFound if is_socket => format!(
            "no server has its socket at {place}: is it running, are folder and port right? \
             (-h 127.0.0.1 goes over TCP)"
        ),
        io::ErrorKind::InvalidData => format!("{place} is no PostgreSQL server: {error}"),
        _ => format!("no connection to {place}: {error}"),
    }
}

fn login_error(error: &tokio_postgres::Error, target: &PgTarget) -> DbError {
    let place = target.place();
    let (user, database) = (&target.user, &target.database);
    let Some(reported) = error.as_db_error() else {
        let text = match io_cause(error) {
            // A server of another kind hangs up, or says what the driver takes for nonsense.
            Some(cause)
                if matches!(
                    cause.kind(),
                    io::ErrorKind::ConnectionReset | io::ErrorKind::InvalidData
                ) =>
            {
                format!(
                    "the login on {place} failed: {cause}: is it a PostgreSQL server? ({FOREIGN})"
                )
            }
            Some(cause) if cause.kind() != io::ErrorKind::UnexpectedEof => {
                format!("the login on {place} failed: {cause}")
            }
            None if error.to_string().contains("unexpected message") => {
                format!(
                    "the login on {place} failed: {error}: is it a PostgreSQL server? ({FOREIGN})"
                )
            }
            None if !error.is_closed() => {
                format!("the login on {place} failed: {}", with_cause(error))
            }
            _ => format!(
                "{place} closed the connection during the login: is it a PostgreSQL server? ({FOREIGN})"
            ),
        };
        return DbError::new(ErrorKind::Connect, "", text);
    };
    let message = reported.message();
    let code = reported.code().code();
    let text = match code {
        "28P01" => format!(
            "the server on {place} refused the password for user \"{user}\": check the one in the \
             URL, in PGPASSWORD or in ~/.pgpass"
        ),
        "28000" => format!("the server on {place} refused user \"{user}\": {message}"),
        "3D000" => format!(
            "database \"{database}\" does not exist on {place}: create it with `createdb {database}`"
        ),
        "53300" => format!(
            "the server on {place} has no free connection: {message}; use fewer clients or raise \
             its max_connections"
        ),
        _ => format!("the server on {place} refused the connection: {message}"),
    };
    DbError::new(ErrorKind::Connect, code, text)
}

/// The codec refuses a text that holds a zero byte, and one of 2 GiB or more.
pub(super) fn unsendable(error: &io::Error) -> DbError {
    DbError::new(ErrorKind::Other, "", format!("the statement cannot be sent: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_follow_the_sqlstate() {
        for (code, kind) in [
            ("40001", ErrorKind::Serialization),
            ("40P01", ErrorKind::Deadlock),
            ("55P03", ErrorKind::LockTimeout),
            ("23505", ErrorKind::Duplicate),
            ("42P01", ErrorKind::MissingTable),
            ("57014", ErrorKind::Cancelled),
            ("57P01", ErrorKind::Lost),
            ("08006", ErrorKind::Lost),
            ("28P01", ErrorKind::Connect),
            ("3D000", ErrorKind::Connect),
            ("22012", ErrorKind::Other),
            ("", ErrorKind::Other),
        ] {
            assert_eq!(kind_of(code), kind, "{code}");
        }
    }
}
