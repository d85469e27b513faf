//! pgbench's script language: text to steps, statements and expressions.
//!
//! `lexer` cuts a script into SQL commands and meta-command words, `parser` makes steps of them,
//! `expr_parser` compiles expressions, `render` writes statements for an engine. What comes out,
//! `program` and `expr`, is what clients run. Pure: no files, no clock, no engine.

pub mod error;
pub mod expr;
mod expr_lexer;
mod expr_parser;
mod function;
mod lexer;
mod number;
pub mod parser;
pub mod program;
mod render;
pub mod value;
pub mod variables;

pub use error::ScriptError;
pub use variables::is_valid_name;

/// The SQL of an engine, as far as it differs for scripts: placeholders and transaction verbs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Dialect {
    /// PostgreSQL.
    #[default]
    Postgres,
    /// MySQL and MariaDB.
    Mysql,
    /// SQLite.
    Sqlite,
}

impl Dialect {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Postgres, Self::Mysql, Self::Sqlite];

    /// The engine's name in options, files and results.
    pub fn key(self) -> &'static str {
        match self {
            Self::Postgres => "postgres",
            Self::Mysql => "mysql",
            Self::Sqlite => "sqlite",
        }
    }

    /// The engine's name in messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Postgres => "PostgreSQL",
            Self::Mysql => "MySQL",
            Self::Sqlite => "SQLite",
        }
    }
}

/// The names of the functions that expressions can call.
pub fn function_names() -> impl Iterator<Item = &'static str> {
    function::FUNCTIONS.iter().map(|entry| entry.name)
}

/// The names of the meta-commands, without their backslash.
pub fn meta_command_names() -> impl Iterator<Item = &'static str> {
    parser::META_COMMANDS.into_iter()
}

#[cfg(test)]
mod tests;
