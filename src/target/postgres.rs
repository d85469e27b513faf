//! A PostgreSQL server as a target: libpq's parameters, from wherever libpq would take them.
//!
//! Precedence as libpq's: URL or options, then the service file, then the environment, then
//! defaults. Reads the service and password files; connects to nothing.

use std::collections::BTreeMap;
use std::fmt;
use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

use super::env::Env;
use super::error::TargetError;
use super::pgpass;
use super::secret::Secret;
use super::service;
use super::url::{Url, encode, parse_port};
use crate::suggest::did_you_mean;

/// Port of a server that nobody named another one for.
const DEFAULT_PORT: u16 = 5432;
/// How long a connection may take to make; libpq would wait for ever.
const DEFAULT_CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// A PostgreSQL server, a database in it and how to log in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PgTarget {
    /// Where the server listens.
    pub host: PgHost,
    /// Its port; part of a socket's name, too.
    pub port: u16,
    /// The role to log in as.
    pub user: String,
    /// The database.
    pub database: String,
    /// The password, when one is known.
    pub password: Option<Secret>,
    /// Whether the connection is encrypted and the server's certificate looked at.
    pub ssl_mode: SslMode,
    /// The certificates that are trusted.
    pub root_cert: RootCert,
    /// Whether the login is bound to the encrypted connection.
    pub channel_binding: ChannelBinding,
    /// Command-line options for the server process, such as `-c work_mem=64MB`.
    pub options: Option<String>,
    /// The name that the server shows for the connections.
    pub application_name: String,
    /// How long a connection may take to make; `None` is for ever.
    pub connect_timeout: Option<Duration>,
}

/// Where a server listens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PgHost {
    /// The folder of its Unix socket.
    Socket(PathBuf),
    /// A host name or address.
    Tcp {
        /// The name, which the server's certificate has to carry.
        name: String,
        /// The address to use in place of looking the name up.
        address: Option<IpAddr>,
    },
}

/// libpq's `sslmode`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum SslMode {
    /// Never encrypted.
    Disable,
    /// Encrypted when the server insists.
    Allow,
    /// Encrypted when the server can.
    Prefer,
    /// Always encrypted.
    Require,
    /// And the certificate comes from a trusted authority.
    VerifyCa,
    /// And it is the certificate of that very host.
    VerifyFull,
}

/// The certificates that are trusted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RootCert {
    /// None: nothing can be verified.
    None,
    /// Those of a PEM file.
    File(PathBuf),
    /// Those of the operating system.
    System,
}

/// libpq's `channel_binding`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChannelBinding {
    /// Never.
    Disable,
    /// When the server offers it.
    Prefer,
    /// Always.
    Require,
}

/// Every parameter that means something here, with libpq's variable for it.
const PARAMETERS: [(&str, &str); 17] = [
    ("host", "PGHOST"),
    ("hostaddr", "PGHOSTADDR"),
    ("port", "PGPORT"),
    ("dbname", "PGDATABASE"),
    ("user", "PGUSER"),
    ("password", "PGPASSWORD"),
    ("passfile", "PGPASSFILE"),
    ("service", "PGSERVICE"),
    ("sslmode", "PGSSLMODE"),
    ("sslrootcert", "PGSSLROOTCERT"),
    ("channel_binding", "PGCHANNELBINDING"),
    ("options", "PGOPTIONS"),
    ("connect_timeout", "PGCONNECT_TIMEOUT"),
    ("application_name", "PGAPPNAME"),
    ("fallback_application_name", ""),
    ("client_encoding", "PGCLIENTENCODING"),
    ("target_session_attrs", "PGTARGETSESSIONATTRS"),
];

/// Parameters of libpq's that dbload does not act upon; refused, so that nobody relies on them.
const UNSUPPORTED: [&str; 24] = [
    "gssdelegation",
    "gssencmode",
    "gsslib",
    "keepalives",
    "keepalives_count",
    "keepalives_idle",
    "keepalives_interval",
    "krbsrvname",
    "load_balance_hosts",
    "max_protocol_version",
    "min_protocol_version",
    "replication",
    "require_auth",
    "requirepeer",
    "ssl_max_protocol_version",
    "ssl_min_protocol_version",
    "sslcert",
    "sslcompression",
    "sslcrl",
    "sslcrldir",
    "sslkey",
    "sslnegotiation",
    "sslpassword",
    "tcp_user_timeout",
];

/// Parameters with the place they come from, for messages.
pub(super) type Given = BTreeMap<String, (String, String)>;

/// The parameters of a URL. `shown` is the URL without secrets.
pub(super) fn given_by_url(url: Url, shown: &str) -> Result<Given, TargetError> {
    let mut given = Given::new();
    let place = || shown.to_owned();
    for (key, value) in url.query {
        // Written by those who come from JDBC.
        let (key, value) =
            if key == "ssl" && value == "true" { ("sslmode", "require") } else { (&*key, &*value) };
        check_name(key, shown)?;
        given.insert(key.to_owned(), (value.to_owned(), place()));
    }
    // The query wins over the rest of the URL, as with libpq.
    let parts = [
        ("host", url.host),
        ("port", url.port.map(|port| port.to_string())),
        ("user", url.user),
        ("password", url.password.map(|secret| secret.expose().to_owned())),
        ("dbname", url.path),
    ];
    for (key, value) in parts {
        if let Some(value) = value {
            given.entry(key.to_owned()).or_insert_with(|| (value, place()));
        }
    }
    Ok(given)
}

/// Refuses a name that is no parameter, or none that dbload acts upon.
pub(super) fn check_name(key: &str, place: &str) -> Result<(), TargetError> {
    if PARAMETERS.iter().any(|(known, _)| *known == key) {
        return Ok(());
    }
    let problem = if UNSUPPORTED.contains(&key) {
        format!("dbload does not support libpq's parameter \"{key}\": leave it out")
    } else {
        let hint = did_you_mean(key, PARAMETERS.iter().map(|(known, _)| *known));
        format!("unknown parameter \"{key}\"{hint}")
    };
    Err(TargetError::Setting { place: place.to_owned(), problem })
}

/// A target, and what to warn about.
pub(super) fn build(given: Given, env: &Env) -> Result<(PgTarget, Vec<String>), TargetError> {
    let mut warnings = Vec::new();
    let settings = Settings::gather(given, env)?;
    let host = settings.host(env)?;
    let port = settings.checked("port", DEFAULT_PORT, "a number from 1 to 65535", parse_port)?;
    let user = match settings.get("user").or(env.os_user()) {
        Some(user) => user.to_owned(),
        None => {
            return Err(TargetError::Setting {
                place: "user".into(),
                problem: "no user is named and the operating system knows none: give -U".into(),
            });
        }
    };
    let database = settings.get("dbname").unwrap_or(&user).to_owned();
    let password = match settings.get("password") {
        Some(password) => Some(Secret::new(password)),
        None => {
            let file = settings.get("passfile").map(PathBuf::from).or(env.in_home(".pgpass"));
            let wanted = pgpass::Wanted { host: &host, port, database: &database, user: &user };
            file.and_then(|file| pgpass::look_up(&file, &wanted, &mut warnings))
        }
    };
    settings.refuse_other("client_encoding", &["UTF8", "utf8", "UTF-8", "utf-8", "auto"])?;
    settings.refuse_other("target_session_attrs", &["any"])?;
    let (ssl_mode, root_cert) = settings.ssl(env)?;
    let target = PgTarget {
        host,
        port,
        user,
        database,
        password,
        ssl_mode,
        root_cert,
        channel_binding: settings.checked(
            "channel_binding",
            ChannelBinding::Prefer,
            "disable, prefer or require",
            parse_channel_binding,
        )?,
        options: settings.get("options").map(str::to_owned),
        application_name: settings
            .get("application_name")
            .or(settings.get("fallback_application_name"))
            .unwrap_or("dbload")
            .to_owned(),
        connect_timeout: settings.checked(
            "connect_timeout",
            Some(DEFAULT_CONNECT_TIMEOUT),
            "a whole number of seconds",
            parse_timeout,
        )?,
    };
    Ok((target, warnings))
}

/// The parameters of all sources, the strongest source's value for each.
struct Settings(Given);

impl Settings {
    fn gather(mut given: Given, env: &Env) -> Result<Self, TargetError> {
        let from_env = |key: &str| {
            let (_, var) = PARAMETERS.iter().find(|(known, _)| *known == key)?;
            Some((env.var(var)?.to_owned(), (*var).to_owned()))
        };
        given.retain(|_, (value, _)| !value.is_empty());
        if let Some((name, place)) = given.get("service").cloned().or_else(|| from_env("service")) {
            for (key, value) in service::look_up(&name, &place, env)? {
                given.entry(key).or_insert(value);
            }
        }
        // libpq would follow PGHOSTADDR even then, and measure one server under another's name.
        let host_is_named = given.contains_key("host");
        for (key, _) in PARAMETERS {
            if key == "hostaddr" && host_is_named {
                continue;
            }
            if let Some(value) = from_env(key) {
                given.entry(key.to_owned()).or_insert(value);
            }
        }
        Ok(Self(given))
    }

    fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key).map(|(value, _)| value.as_str())
    }

    fn refusal(&self, key: &str, allowed: &str) -> TargetError {
        let (value, place) = &self.0[key];
        TargetError::Setting {
            place: place.clone(),
            problem: format!("{key} is \"{value}\", allowed is {allowed}"),
        }
    }

    fn checked<T>(
        &self,
        key: &str,
        default: T,
        allowed: &str,
        parse: impl Fn(&str) -> Option<T>,
    ) -> Result<T, TargetError> {
        match self.get(key) {
            None => Ok(default),
            Some(value) => parse(value).ok_or_else(|| self.refusal(key, allowed)),
        }
    }

    fn refuse_other(&self, key: &str, allowed: &[&str]) -> Result<(), TargetError> {
        match self.get(key) {
            Some(value) if !allowed.contains(&value) => Err(self.refusal(key, allowed[0])),
            _ => Ok(()),
        }
    }

    fn host(&self, env: &Env) -> Result<PgHost, TargetError> {
        let address =
            self.checked("hostaddr", None, "one IP address", |text| text.parse().ok().map(Some))?;
        let host = match (self.get("host"), address) {
            (Some(host), _) if host.contains(',') => {
                return Err(self.refusal("host", "one host (give one --target for each)"));
            }
            (Some(host), _) if host.starts_with('/') => PgHost::Socket(host.into()),
            (Some(name), address) => PgHost::Tcp { name: name.to_owned(), address },
            (None, Some(ip)) => PgHost::Tcp { name: ip.to_string(), address },
            (None, None) => match env.socket_folder() {
                Some(folder) => PgHost::Socket(folder.to_owned()),
                None => PgHost::Tcp { name: "localhost".into(), address: None },
            },
        };
        Ok(host)
    }

    fn ssl(&self, env: &Env) -> Result<(SslMode, RootCert), TargetError> {
        let system = self.get("sslrootcert") == Some("system");
        let default = if system { SslMode::VerifyFull } else { SslMode::Prefer };
        let names = "disable, allow, prefer, require, verify-ca or verify-full";
        let mode = self.checked("sslmode", default, names, parse_ssl_mode)?;
        if system && mode != SslMode::VerifyFull {
            // Anybody can have a certificate from a public authority for a name of their own.
            return Err(self.refusal("sslmode", "verify-full, because of sslrootcert=system"));
        }
        let standard = env.in_home(".postgresql/root.crt").filter(|file| file.is_file());
        let root = match self.get("sslrootcert") {
            Some("system") => RootCert::System,
            Some(file) => RootCert::File(file.into()),
            None => standard.map_or(RootCert::None, RootCert::File),
        };
        if mode >= SslMode::VerifyCa && root == RootCert::None {
            return Err(TargetError::Setting {
                place: format!("sslmode={mode}"),
                problem: "no trusted certificates: name their file with sslrootcert, put it into \
                          ~/.postgresql/root.crt, or give sslrootcert=system"
                    .into(),
            });
        }
        Ok((mode, root))
    }
}

const SSL_MODES: [(&str, SslMode); 6] = [
    ("disable", SslMode::Disable),
    ("allow", SslMode::Allow),
    ("prefer", SslMode::Prefer),
    ("require", SslMode::Require),
    ("verify-ca", SslMode::VerifyCa),
    ("verify-full", SslMode::VerifyFull),
];

fn parse_ssl_mode(text: &str) -> Option<SslMode> {
    SSL_MODES.iter().find(|(name, _)| *name == text).map(|(_, mode)| *mode)
}

/// Zero and negative numbers are libpq's way of saying "no limit".
fn parse_timeout(text: &str) -> Option<Option<Duration>> {
    let seconds: i32 = text.parse().ok()?;
    Some(u64::try_from(seconds).ok().filter(|s| *s > 0).map(Duration::from_secs))
}

fn parse_channel_binding(text: &str) -> Option<ChannelBinding> {
    match text {
        "disable" => Some(ChannelBinding::Disable),
        "prefer" => Some(ChannelBinding::Prefer),
        "require" => Some(ChannelBinding::Require),
        _ => None,
    }
}

impl fmt::Display for SslMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, _) = SSL_MODES.iter().find(|(_, mode)| mode == self).expect("all are listed");
        f.write_str(name)
    }
}

impl PgTarget {
    /// The path of the server's Unix socket, when it is reached by one.
    pub fn socket_path(&self) -> Option<PathBuf> {
        match &self.host {
            PgHost::Socket(folder) => Some(folder.join(format!(".s.PGSQL.{}", self.port))),
            PgHost::Tcp { .. } => None,
        }
    }

    /// The server as messages name it: `HOST:PORT`, or the path of its socket.
    pub fn place(&self) -> String {
        match &self.host {
            PgHost::Socket(folder) => format!("{}/.s.PGSQL.{}", folder.display(), self.port),
            PgHost::Tcp { name, .. } if name.contains(':') => format!("[{name}]:{}", self.port),
            PgHost::Tcp { name, .. } => format!("{name}:{}", self.port),
        }
    }
}

/// The URL without its password.
impl fmt::Display for PgTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let database = encode(&self.database, "");
        write!(f, "postgres://{}@", encode(&self.user, ""))?;
        let mut query = Vec::new();
        match &self.host {
            PgHost::Socket(folder) => {
                write!(f, "/{database}")?;
                query.push(("host", folder.display().to_string()));
                if self.port != DEFAULT_PORT {
                    query.push(("port", self.port.to_string()));
                }
            }
            PgHost::Tcp { address, .. } => {
                write!(f, "{}/{database}", self.place())?;
                query.extend(address.map(|address| ("hostaddr", address.to_string())));
            }
        }
        if self.ssl_mode != SslMode::Prefer {
            query.push(("sslmode", self.ssl_mode.to_string()));
        }
        query.extend(self.options.clone().map(|options| ("options", options)));
        for (index, (key, value)) in query.iter().enumerate() {
            let mark = if index == 0 { '?' } else { '&' };
            write!(f, "{mark}{key}={}", encode(value, "/:"))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
