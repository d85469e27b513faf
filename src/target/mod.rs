//! Which database is meant, and how to log in to it.
//!
//! Text and surroundings in, [`NamedTarget`]s out; nothing is connected to. Passwords live in a
//! [`Secret`] and are in no `Display`, `Debug` or error of this folder.

mod env;
mod error;
mod mycnf;
mod mysql;
mod pgpass;
mod postgres;
mod redact;
mod secret;
mod service;
mod sqlite;
mod url;

use std::fmt;

pub use env::Env;
pub use error::TargetError;
pub use mysql::{MySqlHost, MySqlTarget, TlsMode};
pub use postgres::{ChannelBinding, PgHost, PgTarget, RootCert, SslMode};
pub use redact::{redact, redact_args, redact_quoted};
pub use secret::Secret;
pub use sqlite::{JournalMode, SqliteTarget, Synchronous};

/// The environment variable that names the target where the command line does not.
pub const TARGET_VARIABLE: &str = "DBLOAD_TARGET";

use crate::script::Dialect;
use crate::suggest::did_you_mean;
use postgres::Given;
use url::Url;

/// The file that is used when nothing else is named.
pub const DEFAULT_SQLITE_PATH: &str = "dbload.sqlite";

/// A database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// A PostgreSQL server.
    Postgres(PgTarget),
    /// A MySQL or MariaDB server.
    MySql(MySqlTarget),
    /// An SQLite file.
    Sqlite(SqliteTarget),
}

impl Target {
    /// The SQL of its engine.
    pub fn dialect(&self) -> Dialect {
        match self {
            Self::Postgres(_) => Dialect::Postgres,
            Self::MySql(_) => Dialect::Mysql,
            Self::Sqlite(_) => Dialect::Sqlite,
        }
    }

    /// The engine's name: `mariadb` for a target that is named so, else that of its SQL.
    pub fn engine(&self) -> &'static str {
        match self {
            Self::MySql(target) => target.scheme,
            _ => self.dialect().key(),
        }
    }
}

/// The URL, without secrets.
impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Postgres(target) => target.fmt(f),
            Self::MySql(target) => target.fmt(f),
            Self::Sqlite(target) => target.fmt(f),
        }
    }
}

/// A database under the name that results give it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedTarget {
    /// The arm's name.
    pub name: String,
    /// The database.
    pub target: Target,
    /// Where it was named, for the first line of output: `from DBLOAD_TARGET`.
    pub why: String,
    /// What to warn about.
    pub warnings: Vec<String>,
}

/// What the command line says about the target.
#[derive(Debug, Clone, Default)]
pub struct TargetArgs {
    /// Every `--target`.
    pub targets: Vec<String>,
    /// `-h`
    pub host: Option<String>,
    /// `-p`
    pub port: Option<String>,
    /// `-U`
    pub user: Option<String>,
    /// `-d`
    pub database: Option<String>,
    /// The last bare word.
    pub bare: Option<String>,
}

impl TargetArgs {
    /// The databases that are meant, at least one.
    pub fn resolve(&self, env: &Env) -> Result<Vec<NamedTarget>, TargetError> {
        let options = self.options()?;
        if !self.targets.is_empty() {
            if let Some((option, _)) = options.first() {
                return Err(TargetError::Conflict(format!(
                    "{option} and --target exclude each other: put everything into the URL"
                )));
            }
            let mut named = Vec::with_capacity(self.targets.len());
            for text in &self.targets {
                named.push(parse(text, "from --target", env)?);
            }
            refuse_same_names(&named)?;
            return Ok(named);
        }
        if let [(option, text)] = options[..]
            && matches!(option, "-d" | "the database name")
            && text.contains("://")
        {
            return Ok(vec![parse(text, &format!("from {option}"), env)?]);
        }
        if !options.is_empty() {
            return Ok(vec![by_options(&options, env)?]);
        }
        if let Some(text) = env.var(TARGET_VARIABLE) {
            return Ok(vec![parse(text, "from DBLOAD_TARGET", env)?]);
        }
        let signs = ["PGHOST", "PGPORT", "PGDATABASE", "PGUSER", "PGSERVICE"];
        let set: Vec<&str> = signs.into_iter().filter(|name| env.var(name).is_some()).collect();
        if !set.is_empty() {
            let why = format!("from {}", set.join(", "));
            return Ok(vec![postgres_target("postgres".into(), Given::new(), why, env)?]);
        }
        Ok(vec![NamedTarget {
            name: "sqlite".into(),
            target: Target::Sqlite(SqliteTarget::new(DEFAULT_SQLITE_PATH)),
            why: "no --target, no DBLOAD_TARGET and no PG* variable names another".into(),
            warnings: Vec::new(),
        }])
    }

    /// The given ones of `-h -p -U -d` and the bare word, with the name that messages use.
    fn options(&self) -> Result<Vec<(&'static str, &str)>, TargetError> {
        if let (Some(database), Some(bare)) = (&self.database, &self.bare) {
            return Err(TargetError::Conflict(format!(
                "the database is named twice: -d \"{}\" and \"{}\"",
                redact(database),
                redact(bare)
            )));
        }
        let options = [
            ("-h", &self.host),
            ("-p", &self.port),
            ("-U", &self.user),
            ("-d", &self.database),
            ("the database name", &self.bare),
        ];
        Ok(options
            .into_iter()
            .filter_map(|(name, value)| Some((name, value.as_deref()?)))
            .collect())
    }
}

fn by_options(options: &[(&'static str, &str)], env: &Env) -> Result<NamedTarget, TargetError> {
    let mut given = Given::new();
    for (option, value) in options {
        let key = match *option {
            "-h" => "host",
            "-p" => "port",
            "-U" => "user",
            _ => "dbname",
        };
        if key == "dbname" && (value.contains("://") || value.contains('=')) {
            return Err(TargetError::Conflict(format!(
                "\"{}\" is no database name: give a URL by --target, without -h, -p and -U",
                redact(value)
            )));
        }
        given.insert(key.into(), ((*value).to_owned(), (*option).to_owned()));
    }
    let names: Vec<&str> = options.iter().map(|(option, _)| *option).collect();
    postgres_target("postgres".into(), given, format!("from {}", names.join(", ")), env)
}

fn postgres_target(
    name: String,
    given: Given,
    why: String,
    env: &Env,
) -> Result<NamedTarget, TargetError> {
    let (target, warnings) = postgres::build(given, env)?;
    Ok(NamedTarget { name, target: Target::Postgres(target), why, warnings })
}

/// Parses `URL` or `NAME=URL`.
fn parse(text: &str, why: &str, env: &Env) -> Result<NamedTarget, TargetError> {
    let (name, text) = split_name(text);
    let shown = redact(text);
    let Some((scheme, rest)) = url::split_scheme(text) else {
        let hint = if text.contains('=') {
            " (libpq's key=value words are not understood here)".to_owned()
        } else if text.contains('@') {
            String::new()
        } else {
            format!(
                " (an SQLite file is sqlite:{text}; a database of the PostgreSQL server that \
                     PGHOST names is the last word of the command, without --target)"
            )
        };
        return Err(TargetError::NotAUrl { given: shown, hint });
    };
    let named = |engine: &str| name.unwrap_or(engine).to_owned();
    match scheme.to_ascii_lowercase().as_str() {
        "postgres" | "postgresql" => {
            let url = Url::parse(text)
                .map_err(|problem| TargetError::Malformed { url: shown.clone(), problem })?;
            let given = postgres::given_by_url(url, &shown)?;
            postgres_target(named("postgres"), given, why.to_owned(), env)
        }
        "sqlite" => Ok(NamedTarget {
            name: named("sqlite"),
            target: Target::Sqlite(SqliteTarget::parse(rest, &shown)?),
            why: why.to_owned(),
            warnings: Vec::new(),
        }),
        engine @ ("mysql" | "mariadb") => {
            let url = Url::parse(text)
                .map_err(|problem| TargetError::Malformed { url: shown.clone(), problem })?;
            let (target, warnings) = mysql::build(url, &shown, env)?;
            let target = Target::MySql(target);
            Ok(NamedTarget { name: named(engine), target, why: why.to_owned(), warnings })
        }
        // Without the slashes it may be USER:PASSWORD@HOST, and then nothing of it may be shown.
        _ if !rest.starts_with("//") && text.contains('@') => {
            Err(TargetError::NotAUrl { given: shown, hint: String::new() })
        }
        other => {
            let known = ["postgres", "postgresql", "sqlite", "mysql", "mariadb"];
            let hint = did_you_mean(other, known);
            Err(TargetError::Scheme { scheme: scheme.to_owned(), hint })
        }
    }
}

/// Splits `NAME=URL` where NAME has the form of a name and a scheme follows.
fn split_name(text: &str) -> (Option<&str>, &str) {
    let is_name = |name: &str| {
        !name.is_empty()
            && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'-'))
    };
    match text.split_once('=') {
        Some((name, url)) if is_name(name) && url::split_scheme(url).is_some() => (Some(name), url),
        _ => (None, text),
    }
}

fn refuse_same_names(named: &[NamedTarget]) -> Result<(), TargetError> {
    for (index, target) in named.iter().enumerate() {
        if named[..index].iter().any(|earlier| earlier.name == target.name) {
            return Err(TargetError::Conflict(format!(
                "two targets are named \"{}\": give each a name of its own, such as \
                 --target old=URL --target new=URL",
                target.name
            )));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
