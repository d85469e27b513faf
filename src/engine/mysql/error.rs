//! Failures of MySQL and MariaDB as failures of ours: kinds by error number, sentences that say
//! what to do.
//!
//! Never holds a password: the server does not send it back, and ours are not written here.

use std::io;

use mysql_async::{DriverError, Error, IoError, ServerError};

use crate::engine::{DbError, ErrorKind};
use crate::target::MySqlTarget;

/// The server will not prepare a statement of this kind.
pub(super) const NOT_PREPARABLE: &str = "1295";
/// `LOAD DATA LOCAL` is switched off: MariaDB's two numbers, and MySQL's.
pub(super) const NO_LOCAL_INFILE: [u16; 3] = [1148, 4166, 3948];

/// The kind of a server's error.
fn kind_of(code: u16, sqlstate: &str) -> ErrorKind {
    match code {
        1213 => ErrorKind::Deadlock,
        1205 | 3572 => ErrorKind::LockTimeout,
        1020 => ErrorKind::Serialization,
        1022 | 1062 | 1586 => ErrorKind::Duplicate,
        1051 | 1146 => ErrorKind::MissingTable,
        1317 => ErrorKind::Cancelled,
        // Shut down, killed, idle too long: the server hangs up.
        1053 | 1080 | 1152 | 1159 | 1161 | 1184 | 1927 | 3169 | 4031 => ErrorKind::Lost,
        // Wrong login, missing database, no free slot, host not let in.
        1040 | 1044 | 1045 | 1049 | 1129 | 1130 | 1203 | 1226 | 1251 | 1698 | 3118 => {
            ErrorKind::Connect
        }
        _ if sqlstate == "40001" => ErrorKind::Serialization,
        _ => ErrorKind::Other,
    }
}

/// An error of the server's.
pub(super) fn server_error(error: &ServerError) -> DbError {
    let kind = kind_of(error.code, &error.state);
    DbError::new(kind, error.code.to_string(), error.message.as_str())
}

/// Any failure on a connection that stands.
pub(super) fn from_driver(error: &Error) -> DbError {
    match error {
        Error::Server(error) => server_error(error),
        Error::Io(IoError::Io(error)) => lost(error),
        Error::Io(error) => DbError::new(
            ErrorKind::Lost,
            "",
            format!("the connection to the server broke: {error}"),
        ),
        Error::Driver(DriverError::ConnectionClosed) => closed(),
        error => DbError::new(ErrorKind::Other, "", error.to_string()),
    }
}

/// The stream failed.
pub(super) fn lost(error: &io::Error) -> DbError {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => closed(),
        _ => {
            let text = format!("the connection to the server broke: {error}");
            DbError::new(ErrorKind::Lost, "", text)
        }
    }
}

/// The server has hung up.
pub(super) fn closed() -> DbError {
    DbError::new(ErrorKind::Lost, "", "the server closed the connection")
}

/// Why no connection was made.
#[derive(Debug)]
pub(super) enum ConnectFailure {
    /// The time for it was over.
    Timeout,
    /// The trusted certificates could not be read.
    Certificates(String),
    /// Anything that the driver met.
    Driver(Error),
}

impl From<Error> for ConnectFailure {
    fn from(error: Error) -> Self {
        Self::Driver(error)
    }
}

impl ConnectFailure {
    /// Whether the server does not encrypt.
    pub(super) fn is_unencrypted(&self) -> bool {
        matches!(self, Self::Driver(Error::Driver(DriverError::NoClientSslFlagFromServer)))
    }

    /// The first name in a certificate that was refused because it is for other names.
    pub(super) fn name_of_server(&self) -> Option<String> {
        let Self::Driver(Error::Io(error)) = self else { return None };
        let text = error.to_string();
        let (_, names) = text.split_once("only valid for ")?;
        let (kind, rest) = names.split_once('(')?;
        let name = rest.split_once(')')?.0.trim_matches('"');
        // Any label fits a wildcard.
        matches!(kind, "DnsName" | "IpAddress").then(|| name.replacen('*', "any", 1))
    }

    /// Whether the login was refused and a password may change that.
    pub(super) fn wants_password(&self, target: &MySqlTarget) -> bool {
        target.password.is_none()
            && matches!(self, Self::Driver(Error::Server(error)) if error.code == 1045)
    }

    /// The sentence for whoever wanted the connection.
    pub(super) fn into_error(self, target: &MySqlTarget) -> DbError {
        let place = target.place();
        let text = match &self {
            Self::Timeout => {
                let seconds = target.connect_timeout.unwrap_or_default().as_secs();
                format!(
                    "{place} did not answer within {seconds} s: is it a MySQL or MariaDB server, \
                     does a firewall drop packets? (connect-timeout sets the time)"
                )
            }
            Self::Certificates(problem) => problem.clone(),
            Self::Driver(_) if self.is_unencrypted() => format!(
                "the server on {place} does not encrypt connections, and ssl-mode={} asks for it",
                target.tls
            ),
            Self::Driver(Error::Server(error)) => return refused(error, target),
            Self::Driver(Error::Io(IoError::Tls(error))) => {
                encryption_sentence(&place, &error.to_string())
            }
            Self::Driver(Error::Io(IoError::Io(error))) => socket_sentence(error, target),
            Self::Driver(Error::Driver(DriverError::UnknownAuthPlugin { name })) => format!(
                "the server on {place} wants user \"{}\" to log in by the plugin {name}, which \
                 dbload does not have: use an account with caching_sha2_password or \
                 mysql_native_password",
                target.user
            ),
            Self::Driver(error) => format!("the login on {place} failed: {error}"),
        };
        DbError::new(ErrorKind::Connect, "", text)
    }
}

fn socket_sentence(error: &io::Error, target: &MySqlTarget) -> String {
    let place = target.place();
    match error.kind() {
        io::ErrorKind::ConnectionRefused => {
            format!("no server answers on {place}: is it running, is the port right?")
        }
        io::ErrorKind::NotFound if target.is_socket() => {
            format!("no server has its socket at {place}: is it running, is the path right?")
        }
        io::ErrorKind::UnexpectedEof => format!(
            "{place} closed the connection during the login: is it a MySQL or MariaDB server?"
        ),
        // rustls reports what is wrong with a certificate as an error of the stream.
        io::ErrorKind::InvalidData => encryption_sentence(&place, &error.to_string()),
        _ => match error.raw_os_error() {
            None if !target.is_socket() => {
                format!("the host of {place} cannot be looked up: {error}")
            }
            _ => format!("no connection to {place}: {error}"),
        },
    }
}

/// The driver and rustls have different types for the same error; its text is one.
fn encryption_sentence(place: &str, error: &str) -> String {
    let hint = match error {
        _ if error.contains("UnknownIssuer") => {
            ": no trusted authority made the server's certificate; name its authority's with ssl-ca"
        }
        _ if error.contains("not valid for name") => {
            ": use a name of the certificate as the host, or ssl-mode=VERIFY_CA"
        }
        _ => "",
    };
    format!("the encrypted connection to {place} failed: {error}{hint}")
}

fn refused(error: &ServerError, target: &MySqlTarget) -> DbError {
    let place = target.place();
    let (user, database, message) = (&target.user, &target.database, &error.message);
    let text = match error.code {
        1045 | 1698 if target.password.is_none() => format!(
            "the server on {place} refused user \"{user}\" without a password: put it into the \
             URL, MYSQL_PWD or ~/.my.cnf ({message})"
        ),
        1045 | 1698 => {
            format!("the server on {place} refused the password for user \"{user}\": {message}")
        }
        1044 => {
            format!("the server on {place} keeps user \"{user}\" out of \"{database}\": {message}")
        }
        1049 => format!(
            "database \"{database}\" does not exist on {place}: create it with `CREATE DATABASE \
             {database}`"
        ),
        1040 | 1203 | 1226 => format!(
            "the server on {place} has no free connection: {message}; use fewer clients or raise \
             its max_connections"
        ),
        _ => format!("the server on {place} refused the connection: {message}"),
    };
    DbError::new(ErrorKind::Connect, error.code.to_string(), text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_follow_the_error_number() {
        for (code, state, kind) in [
            (1213, "40001", ErrorKind::Deadlock),
            (1205, "HY000", ErrorKind::LockTimeout),
            (1020, "HY000", ErrorKind::Serialization),
            (3101, "40001", ErrorKind::Serialization),
            (1062, "23000", ErrorKind::Duplicate),
            (1146, "42S02", ErrorKind::MissingTable),
            (1317, "70100", ErrorKind::Cancelled),
            (1927, "70100", ErrorKind::Lost),
            (1045, "28000", ErrorKind::Connect),
            (1049, "42000", ErrorKind::Connect),
            (1064, "42000", ErrorKind::Other),
        ] {
            assert_eq!(kind_of(code, state), kind, "{code}");
        }
    }
}
