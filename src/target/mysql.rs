//! A MySQL or MariaDB server as a target.
//!
//! Precedence: the URL, then `MYSQL_PWD`, then `[client]` of `~/.my.cnf`, then defaults. TCP and
//! socket are never exchanged for one another: `localhost` is TCP, a socket is named by its path.
//! Reads the option file; connects to nothing.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use super::env::Env;
use super::error::TargetError;
use super::mycnf;
use super::secret::Secret;
use super::url::{Url, encode, parse_port};
use crate::suggest::did_you_mean;

/// Port of a server that nobody named another one for.
const DEFAULT_PORT: u16 = 3306;
/// How long a connection may take to make.
const DEFAULT_CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// A MySQL or MariaDB server, a database in it and how to log in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MySqlTarget {
    /// `mysql` or `mariadb`, as the URL says.
    pub scheme: &'static str,
    /// Where the server listens.
    pub host: MySqlHost,
    /// The user to log in as.
    pub user: String,
    /// The database.
    pub database: String,
    /// The password, when one is known.
    pub password: Option<Secret>,
    /// Whether a TCP connection is encrypted and the server's certificate looked at.
    pub tls: TlsMode,
    /// The PEM file of trusted certificates; those of the operating system when absent.
    pub ca: Option<PathBuf>,
    /// How long a connection may take to make; `None` is for ever.
    pub connect_timeout: Option<Duration>,
}

/// Where a server listens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MySqlHost {
    /// The path of its Unix socket.
    Socket(PathBuf),
    /// Over TCP.
    Tcp {
        /// Name or address, which the server's certificate has to carry.
        name: String,
        /// The port.
        port: u16,
    },
}

/// The `ssl-mode` of MySQL's own clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum TlsMode {
    /// Never encrypted.
    Disabled,
    /// Encrypted when the server can.
    Preferred,
    /// Always encrypted.
    Required,
    /// And the certificate comes from a trusted authority.
    VerifyCa,
    /// And it is the certificate of that very host.
    VerifyIdentity,
}

const TLS_MODES: [(&str, TlsMode); 5] = [
    ("DISABLED", TlsMode::Disabled),
    ("PREFERRED", TlsMode::Preferred),
    ("REQUIRED", TlsMode::Required),
    ("VERIFY_CA", TlsMode::VerifyCa),
    ("VERIFY_IDENTITY", TlsMode::VerifyIdentity),
];

/// What may stand behind the `?` of a URL, and in the option file.
const PARAMETERS: [&str; 9] = [
    "host",
    "port",
    "user",
    "password",
    "database",
    "socket",
    "ssl-mode",
    "ssl-ca",
    "connect-timeout",
];

/// Values with the place they come from, for messages.
type Given = BTreeMap<String, (String, String)>;

/// The target of a URL, and what to warn about. `shown` is the URL without secrets.
pub(super) fn build(
    url: Url,
    shown: &str,
    env: &Env,
) -> Result<(MySqlTarget, Vec<String>), TargetError> {
    let scheme = if url.scheme == "mariadb" { "mariadb" } else { "mysql" };
    let mut settings = Settings(given_by_url(url, shown)?);
    let mut warnings = Vec::new();
    settings.complete(env, &mut warnings)?;
    let host = settings.host()?;
    let absent = |what: &str, example: &str| TargetError::Setting {
        place: shown.to_owned(),
        problem: format!("no {what} is named: write {scheme}://{example}"),
    };
    let user = settings.get("user").or(env.os_user());
    let user = user.ok_or_else(|| absent("user", "USER@HOST:PORT/DATABASE"))?;
    let database = settings.get("database");
    let database = database.ok_or_else(|| absent("database", "USER@HOST:PORT/DATABASE"))?;
    let names = "DISABLED, PREFERRED, REQUIRED, VERIFY_CA or VERIFY_IDENTITY";
    let target = MySqlTarget {
        scheme,
        host,
        user: user.to_owned(),
        database: database.to_owned(),
        password: settings.get("password").map(Secret::new),
        tls: settings.checked("ssl-mode", TlsMode::Preferred, names, parse_tls_mode)?,
        ca: settings.get("ssl-ca").map(PathBuf::from),
        connect_timeout: settings.checked(
            "connect-timeout",
            Some(DEFAULT_CONNECT_TIMEOUT),
            "a whole number of seconds (0: no limit)",
            parse_timeout,
        )?,
    };
    Ok((target, warnings))
}

fn given_by_url(url: Url, shown: &str) -> Result<Given, TargetError> {
    let mut given = Given::new();
    for (key, value) in url.query {
        // Both spellings are common: MySQL's own options know - and _ as the same.
        let key = key.replace('_', "-");
        let key = if key == "sslmode" { "ssl-mode".to_owned() } else { key };
        if !PARAMETERS.contains(&key.as_str()) {
            let hint = did_you_mean(&key, PARAMETERS);
            let problem = format!("unknown parameter \"{key}\"{hint}");
            return Err(TargetError::Setting { place: shown.to_owned(), problem });
        }
        given.insert(key, (value, shown.to_owned()));
    }
    let parts = [
        ("host", url.host),
        ("port", url.port.map(|port| port.to_string())),
        ("user", url.user),
        ("password", url.password.map(|secret| secret.expose().to_owned())),
        ("database", url.path),
    ];
    for (key, value) in parts {
        if let Some(value) = value {
            given.entry(key.to_owned()).or_insert_with(|| (value, shown.to_owned()));
        }
    }
    given.retain(|_, (value, _)| !value.is_empty());
    Ok(given)
}

struct Settings(Given);

impl Settings {
    /// Adds what the environment and the option file say.
    fn complete(&mut self, env: &Env, warnings: &mut Vec<String>) -> Result<(), TargetError> {
        let names_server = ["host", "port", "socket"].iter().any(|key| self.0.contains_key(*key));
        if let Some(password) = env.var("MYSQL_PWD") {
            let value = (password.to_owned(), "MYSQL_PWD".to_owned());
            self.0.entry("password".into()).or_insert(value);
        }
        let Some(file) = env.in_home(".my.cnf") else { return Ok(()) };
        let place = file.display().to_string();
        for (key, value) in mycnf::client_options(&file, warnings)? {
            // The server is named as a whole: a socket of the file beside a host of the URL would
            // be another server.
            let is_server = matches!(key.as_str(), "host" | "port" | "socket");
            if PARAMETERS.contains(&key.as_str()) && !(is_server && names_server) {
                self.0.entry(key).or_insert_with(|| (value, place.clone()));
            }
        }
        Ok(())
    }

    fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key).map(|(value, _)| value.as_str())
    }

    fn checked<T>(
        &self,
        key: &str,
        default: T,
        allowed: &str,
        parse: impl Fn(&str) -> Option<T>,
    ) -> Result<T, TargetError> {
        let Some((value, place)) = self.0.get(key) else { return Ok(default) };
        parse(value).ok_or_else(|| TargetError::Setting {
            place: place.clone(),
            problem: format!("{key} is \"{value}\", allowed is {allowed}"),
        })
    }

    fn host(&self) -> Result<MySqlHost, TargetError> {
        let port = self.checked("port", DEFAULT_PORT, "a number from 1 to 65535", parse_port)?;
        Ok(match (self.get("socket"), self.get("host")) {
            (Some(path), None | Some("localhost")) => MySqlHost::Socket(path.into()),
            (Some(path), Some(host)) => {
                let problem = format!(
                    "both a host (\"{host}\") and a socket (\"{path}\") are named: leave one out"
                );
                return Err(TargetError::Setting { place: self.0["socket"].1.clone(), problem });
            }
            (None, Some(host)) if host.starts_with('/') => MySqlHost::Socket(host.into()),
            (None, host) => MySqlHost::Tcp { name: host.unwrap_or("localhost").to_owned(), port },
        })
    }
}

fn parse_tls_mode(text: &str) -> Option<TlsMode> {
    let text = text.to_ascii_uppercase().replace('-', "_");
    TLS_MODES.iter().find(|(name, _)| *name == text).map(|(_, mode)| *mode)
}

fn parse_timeout(text: &str) -> Option<Option<Duration>> {
    let seconds: u64 = text.parse().ok()?;
    Some((seconds > 0).then(|| Duration::from_secs(seconds)))
}

impl fmt::Display for TlsMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, _) = TLS_MODES.iter().find(|(_, mode)| mode == self).expect("all are listed");
        f.write_str(name)
    }
}

impl MySqlTarget {
    /// Whether connections go through a Unix socket.
    pub fn is_socket(&self) -> bool {
        matches!(self.host, MySqlHost::Socket(_))
    }

    /// The server as messages name it: `HOST:PORT`, or the path of its socket.
    pub fn place(&self) -> String {
        match &self.host {
            MySqlHost::Socket(path) => path.display().to_string(),
            MySqlHost::Tcp { name, port } if name.contains(':') => format!("[{name}]:{port}"),
            MySqlHost::Tcp { name, port } => format!("{name}:{port}"),
        }
    }
}

/// The URL without its password.
impl fmt::Display for MySqlTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (user, database) = (encode(&self.user, ""), encode(&self.database, ""));
        let mut query = Vec::new();
        write!(f, "{}://{user}@", self.scheme)?;
        match &self.host {
            MySqlHost::Socket(path) => query.push(("socket", path.display().to_string())),
            MySqlHost::Tcp { .. } => f.write_str(&self.place())?,
        }
        write!(f, "/{database}")?;
        if self.tls != TlsMode::Preferred {
            query.push(("ssl-mode", self.tls.to_string()));
        }
        for (index, (key, value)) in query.iter().enumerate() {
            let mark = if index == 0 { '?' } else { '&' };
            write!(f, "{mark}{key}={}", encode(value, "/:"))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
