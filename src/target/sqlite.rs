//! An SQLite database file as a target: `sqlite:PATH?name=value`.
//!
//! The path is taken as it stands up to the first `?`, without percent escapes.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use super::error::TargetError;
use crate::suggest::did_you_mean;
use crate::units::{BareUnit, parse_duration};

/// How long a statement waits for another connection's lock before it fails with `SQLITE_BUSY`.
const DEFAULT_BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// An SQLite database and the settings of its connections.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SqliteTarget {
    /// The database file.
    pub path: PathBuf,
    /// When data is forced to the disk.
    pub synchronous: Synchronous,
    /// How changes are kept apart until they are committed.
    pub journal_mode: JournalMode,
    /// How long a statement waits for another connection's lock.
    pub busy_timeout: Duration,
}

/// `PRAGMA synchronous`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Synchronous {
    /// Never.
    Off,
    /// At checkpoints; in WAL mode a power failure can lose the last commits.
    Normal,
    /// At every commit: SQLite's own default, and dbload's.
    Full,
    /// As full, and the folder too.
    Extra,
}

/// `PRAGMA journal_mode`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JournalMode {
    /// A write-ahead log: dbload's default, readers and the writer do not wait for each other.
    Wal,
    /// A rollback journal, removed at every commit: SQLite's own default.
    Delete,
    /// A rollback journal, cut to nothing at every commit.
    Truncate,
    /// A rollback journal whose header is overwritten at every commit.
    Persist,
}

const SYNCHRONOUS: [(&str, Synchronous); 4] = [
    ("off", Synchronous::Off),
    ("normal", Synchronous::Normal),
    ("full", Synchronous::Full),
    ("extra", Synchronous::Extra),
];

const JOURNAL_MODES: [(&str, JournalMode); 4] = [
    ("wal", JournalMode::Wal),
    ("delete", JournalMode::Delete),
    ("truncate", JournalMode::Truncate),
    ("persist", JournalMode::Persist),
];

const PARAMETERS: [&str; 3] = ["synchronous", "journal_mode", "busy_timeout"];

impl SqliteTarget {
    /// The database in `path` with default settings.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            synchronous: Synchronous::Full,
            journal_mode: JournalMode::Wal,
            busy_timeout: DEFAULT_BUSY_TIMEOUT,
        }
    }

    /// Parses what follows `sqlite:`; `shown` is the whole text, for messages.
    pub(super) fn parse(text: &str, shown: &str) -> Result<Self, TargetError> {
        let refuse = |problem: String| Err(TargetError::Malformed { url: shown.into(), problem });
        let text = text.strip_prefix("//").unwrap_or(text);
        let (path, query) = text.split_once('?').unwrap_or((text, ""));
        if path == ":memory:" {
            return refuse(
                "every client is a connection of its own, and a database in memory belongs to \
                 one connection: name a file (on a tmpfs such as /dev/shm, if it is to be memory)"
                    .into(),
            );
        }
        if path.is_empty() {
            return refuse("the path is missing: sqlite:PATH".into());
        }
        if path.starts_with("file:") {
            return refuse("SQLite's own file: URLs are not supported: give the path".into());
        }
        let mut target = Self::new(path);
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let Some((key, value)) = pair.split_once('=') else {
                return refuse("after the ? come NAME=VALUE, separated by &".into());
            };
            if let Err(problem) = target.set(key, value) {
                return refuse(problem);
            }
        }
        Ok(target)
    }

    fn set(&mut self, key: &str, value: &str) -> Result<(), String> {
        match key {
            "synchronous" => self.synchronous = pick(key, value, &SYNCHRONOUS)?,
            "journal_mode" => self.journal_mode = pick(key, value, &JOURNAL_MODES)?,
            // As SQLite's own pragma: a bare number is milliseconds.
            "busy_timeout" => {
                self.busy_timeout = parse_duration(value, BareUnit::Milliseconds)
                    .map_err(|error| format!("busy_timeout: {error}"))?;
            }
            _ => {
                let hint = did_you_mean(key, PARAMETERS);
                return Err(format!(
                    "unknown parameter \"{key}\", there are {}{hint}",
                    PARAMETERS.join(", ")
                ));
            }
        }
        Ok(())
    }
}

fn pick<T: Copy>(key: &str, value: &str, allowed: &[(&str, T)]) -> Result<T, String> {
    match allowed.iter().find(|(name, _)| name.eq_ignore_ascii_case(value)) {
        Some((_, choice)) => Ok(*choice),
        None => {
            let names: Vec<&str> = allowed.iter().map(|(name, _)| *name).collect();
            Err(format!("{key} is \"{value}\", allowed is one of {}", names.join(", ")))
        }
    }
}

impl Synchronous {
    /// The name that the pragma takes.
    pub fn name(self) -> &'static str {
        name_of(self, &SYNCHRONOUS)
    }
}

impl JournalMode {
    /// The name that the pragma takes.
    pub fn name(self) -> &'static str {
        name_of(self, &JOURNAL_MODES)
    }
}

fn name_of<T: PartialEq + Copy>(value: T, names: &[(&'static str, T)]) -> &'static str {
    names.iter().find(|(_, known)| *known == value).map(|(name, _)| *name).expect("all are listed")
}

/// The URL, with what differs from the defaults.
impl fmt::Display for SqliteTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sqlite:{}", self.path.display())?;
        let mut query = Vec::new();
        if self.synchronous != Synchronous::Full {
            query.push(format!("synchronous={}", self.synchronous.name()));
        }
        if self.journal_mode != JournalMode::Wal {
            query.push(format!("journal_mode={}", self.journal_mode.name()));
        }
        if self.busy_timeout != DEFAULT_BUSY_TIMEOUT {
            query.push(format!("busy_timeout={}ms", self.busy_timeout.as_millis()));
        }
        if query.is_empty() { Ok(()) } else { write!(f, "?{}", query.join("&")) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<SqliteTarget, String> {
        SqliteTarget::parse(text, "URL").map_err(|error| error.to_string())
    }

    #[test]
    fn a_path_alone_has_the_defaults() {
        let target = parse("a b%20c.db").unwrap();
        assert_eq!(target, SqliteTarget::new("a b%20c.db"));
        assert_eq!(target.synchronous, Synchronous::Full);
        assert_eq!(target.to_string(), "sqlite:a b%20c.db");
        assert_eq!(parse("///abs/x.db").unwrap().path, PathBuf::from("/abs/x.db"));
        assert_eq!(parse("//x.db").unwrap().path, PathBuf::from("x.db"));
    }

    #[test]
    fn settings_come_back_in_the_url() {
        let text = "x.db?synchronous=off&journal_mode=delete&busy_timeout=250ms";
        let target = parse(text).unwrap();
        assert_eq!(target.synchronous, Synchronous::Off);
        assert_eq!(target.journal_mode, JournalMode::Delete);
        assert_eq!(target.busy_timeout, Duration::from_millis(250));
        assert_eq!(target.to_string(), format!("sqlite:{text}"));
        assert_eq!(parse("x?busy_timeout=2m").unwrap().busy_timeout, Duration::from_secs(120));
        assert_eq!(parse("x?synchronous=NORMAL").unwrap().synchronous, Synchronous::Normal);
    }

    #[test]
    fn what_cannot_be_is_refused_with_a_reason() {
        for (text, words) in [
            (":memory:", "belongs to one connection"),
            ("", "path is missing"),
            ("?synchronous=off", "path is missing"),
            ("file:x.db", "give the path"),
            ("x?synchronous", "NAME=VALUE"),
            ("x?synchronos=off", "did you mean \"synchronous\"?"),
            ("x?synchronous=on", "off, normal, full, extra"),
            ("x?journal_mode=off", "wal, delete, truncate, persist"),
            ("x?busy_timeout=soon", "is not a duration"),
            ("x?busy_timeout=5y", "is not a duration"),
        ] {
            let problem = parse(text).unwrap_err();
            assert!(problem.starts_with("in URL: ") && problem.contains(words), "{problem}");
        }
    }
}
