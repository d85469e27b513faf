//! SQLite's errors: which kind of failure a result code is, and the name that counts and messages
//! show for it.

use std::path::Path;

use rusqlite::{Error, ffi};

use crate::engine::{DbError, ErrorKind};

/// Names of the result codes that a workload can meet: the extended ones first, then the primary
/// ones (their low byte) for all that is not listed.
const NAMES: &[(i32, &str)] = &[
    (ffi::SQLITE_CONSTRAINT_UNIQUE, "SQLITE_CONSTRAINT_UNIQUE"),
    (ffi::SQLITE_CONSTRAINT_PRIMARYKEY, "SQLITE_CONSTRAINT_PRIMARYKEY"),
    (ffi::SQLITE_CONSTRAINT_ROWID, "SQLITE_CONSTRAINT_ROWID"),
    (ffi::SQLITE_CONSTRAINT_NOTNULL, "SQLITE_CONSTRAINT_NOTNULL"),
    (ffi::SQLITE_CONSTRAINT_FOREIGNKEY, "SQLITE_CONSTRAINT_FOREIGNKEY"),
    (ffi::SQLITE_CONSTRAINT_CHECK, "SQLITE_CONSTRAINT_CHECK"),
    (ffi::SQLITE_BUSY_SNAPSHOT, "SQLITE_BUSY_SNAPSHOT"),
    (ffi::SQLITE_BUSY_RECOVERY, "SQLITE_BUSY_RECOVERY"),
    (ffi::SQLITE_ERROR, "SQLITE_ERROR"),
    (ffi::SQLITE_INTERNAL, "SQLITE_INTERNAL"),
    (ffi::SQLITE_PERM, "SQLITE_PERM"),
    (ffi::SQLITE_ABORT, "SQLITE_ABORT"),
    (ffi::SQLITE_BUSY, "SQLITE_BUSY"),
    (ffi::SQLITE_LOCKED, "SQLITE_LOCKED"),
    (ffi::SQLITE_NOMEM, "SQLITE_NOMEM"),
    (ffi::SQLITE_READONLY, "SQLITE_READONLY"),
    (ffi::SQLITE_INTERRUPT, "SQLITE_INTERRUPT"),
    (ffi::SQLITE_IOERR, "SQLITE_IOERR"),
    (ffi::SQLITE_CORRUPT, "SQLITE_CORRUPT"),
    (ffi::SQLITE_NOTFOUND, "SQLITE_NOTFOUND"),
    (ffi::SQLITE_FULL, "SQLITE_FULL"),
    (ffi::SQLITE_CANTOPEN, "SQLITE_CANTOPEN"),
    (ffi::SQLITE_PROTOCOL, "SQLITE_PROTOCOL"),
    (ffi::SQLITE_SCHEMA, "SQLITE_SCHEMA"),
    (ffi::SQLITE_TOOBIG, "SQLITE_TOOBIG"),
    (ffi::SQLITE_CONSTRAINT, "SQLITE_CONSTRAINT"),
    (ffi::SQLITE_MISMATCH, "SQLITE_MISMATCH"),
    (ffi::SQLITE_MISUSE, "SQLITE_MISUSE"),
    (ffi::SQLITE_AUTH, "SQLITE_AUTH"),
    (ffi::SQLITE_RANGE, "SQLITE_RANGE"),
    (ffi::SQLITE_NOTADB, "SQLITE_NOTADB"),
];

/// The low byte of a result code is the primary one.
fn primary(code: i32) -> i32 {
    code & 0xff
}

fn name(code: i32) -> &'static str {
    let find = |wanted: i32| NAMES.iter().find(|(code, _)| *code == wanted);
    find(code).or_else(|| find(primary(code))).map_or("SQLITE_UNKNOWN", |(_, name)| *name)
}

fn kind(code: i32, text: &str) -> ErrorKind {
    match primary(code) {
        ffi::SQLITE_BUSY | ffi::SQLITE_LOCKED => ErrorKind::Busy,
        ffi::SQLITE_INTERRUPT => ErrorKind::Cancelled,
        ffi::SQLITE_CONSTRAINT => match code {
            ffi::SQLITE_CONSTRAINT_UNIQUE
            | ffi::SQLITE_CONSTRAINT_PRIMARYKEY
            | ffi::SQLITE_CONSTRAINT_ROWID => ErrorKind::Duplicate,
            _ => ErrorKind::Other,
        },
        // There is no code of its own for it.
        ffi::SQLITE_ERROR if text.starts_with("no such table") => ErrorKind::MissingTable,
        _ => ErrorKind::Other,
    }
}

/// What SQLite leaves for the reader to guess.
fn advice(code: i32) -> &'static str {
    match primary(code) {
        ffi::SQLITE_BUSY => {
            ": another connection held the lock longer than the busy timeout \
             (raise it with ?busy_timeout=30s)"
        }
        ffi::SQLITE_FULL => ": the disk is full, or the file may not grow further",
        ffi::SQLITE_IOERR => ": the operating system reported a failure (see its log)",
        ffi::SQLITE_CORRUPT => ": the file is damaged; load it again with `dbload init --replace`",
        ffi::SQLITE_READONLY => ": the file or its folder cannot be written",
        ffi::SQLITE_CANTOPEN => " (its folder must exist, and both must be readable)",
        ffi::SQLITE_NOTADB => ": name another file",
        _ => "",
    }
}

/// The failure that `error` is.
pub(super) fn from_sqlite(error: &Error) -> DbError {
    let (kind, code, text) = parts(error);
    DbError::new(kind, code, text)
}

/// Why the database `path` cannot be opened.
pub(super) fn cannot_open(path: &Path, error: &Error) -> DbError {
    let (_, code, text) = parts(error);
    let path = path.display();
    let text = format!("cannot open the SQLite database {path}: {text}");
    DbError::new(ErrorKind::Connect, code, text)
}

fn parts(error: &Error) -> (ErrorKind, &'static str, String) {
    let (code, text) = match error {
        Error::SqliteFailure(failure, text) => {
            (failure.extended_code, text.clone().unwrap_or_else(|| failure.to_string()))
        }
        Error::SqlInputError { error, msg, .. } => (error.extended_code, msg.clone()),
        other => return (ErrorKind::Other, "", other.to_string()),
    };
    (kind(code, &text), name(code), text + advice(code))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure(code: i32, text: &str) -> DbError {
        from_sqlite(&Error::SqliteFailure(ffi::Error::new(code), Some(text.to_owned())))
    }

    #[test]
    fn locks_are_busy_and_can_be_tried_again() {
        for code in [ffi::SQLITE_BUSY, ffi::SQLITE_LOCKED, ffi::SQLITE_BUSY_SNAPSHOT] {
            let error = failure(code, "database is locked");
            assert_eq!(error.kind(), ErrorKind::Busy);
            assert!(error.is_retriable());
        }
        assert_eq!(failure(ffi::SQLITE_BUSY_SNAPSHOT, "x").code(), "SQLITE_BUSY_SNAPSHOT");
    }

    #[test]
    fn only_doubled_keys_are_duplicates() {
        let unique = failure(ffi::SQLITE_CONSTRAINT_PRIMARYKEY, "UNIQUE constraint failed: t.id");
        assert_eq!(unique.kind(), ErrorKind::Duplicate);
        let null = failure(ffi::SQLITE_CONSTRAINT_NOTNULL, "NOT NULL constraint failed: t.id");
        assert_eq!(null.kind(), ErrorKind::Other);
    }

    #[test]
    fn an_unlisted_extended_code_has_the_name_of_its_primary_one() {
        let error = failure(ffi::SQLITE_IOERR_FSYNC, "disk I/O error");
        assert_eq!(error.code(), "SQLITE_IOERR");
        assert!(error.to_string().contains("operating system"), "{error}");
        assert_eq!(name(200), "SQLITE_UNKNOWN");
    }
}
