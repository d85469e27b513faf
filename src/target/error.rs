//! What can be wrong with the description of a database.
//!
//! No variant ever holds a password: URLs come in with their secrets already taken out.

/// Why it is not clear which database is meant.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TargetError {
    /// The text is no URL at all.
    #[error(
        "\"{given}\" is no database URL: write postgres://USER@HOST:PORT/DATABASE, \
         mysql://USER@HOST:PORT/DATABASE or sqlite:PATH{hint}"
    )]
    NotAUrl {
        /// What was given, without secrets.
        given: String,
        /// A further sentence, or nothing.
        hint: String,
    },
    /// The scheme is not one that dbload knows.
    #[error(
        "\"{scheme}:\" is no engine of dbload's: postgres:, mysql:, mariadb:, sqlite: are{hint}"
    )]
    Scheme {
        /// The scheme as given.
        scheme: String,
        /// Near name, or nothing.
        hint: String,
    },
    /// The URL breaks the grammar.
    #[error("in {url}: {problem}")]
    Malformed {
        /// What was given, without secrets.
        url: String,
        /// What is wrong and what to do.
        problem: String,
    },
    /// A parameter is unknown, unsupported or has a bad value.
    #[error("{place}: {problem}")]
    Setting {
        /// Where it was given: a URL without secrets, the name of a variable, of an option, a file.
        place: String,
        /// What is wrong and what to do.
        problem: String,
    },
    /// Two ways of naming the database at once.
    #[error("{0}")]
    Conflict(String),
    /// A service or password file cannot be used.
    #[error("{path}: {problem}")]
    File {
        /// The file.
        path: String,
        /// What is wrong and what to do.
        problem: String,
    },
}
