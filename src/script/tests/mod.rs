//! Tests of the language from text to values: `sql` cuts and renders, `steps` has meta-commands,
//! `expressions` evaluates.

mod expressions;
mod sql;
mod steps;

use super::Dialect;
use super::error::ScriptError;
use super::parser::{Input, Parsed, parse};
use super::program::{Statement, Step};
use super::variables::Variables;

/// A script and what came of it.
struct Compiled {
    steps: Vec<Step>,
    statements: Vec<Statement>,
    variables: Variables,
    not_preparable: Option<String>,
}

fn try_compile(text: &str, dialect: Dialect) -> Result<Compiled, ScriptError> {
    let mut variables = Variables::default();
    let mut statements = Vec::new();
    let input = Input {
        file: "test.sql",
        text,
        script: 0,
        dialect,
        allow_shell: true,
        tables: 3,
        prepared_asked: false,
    };
    let Parsed { program, not_preparable } = parse(&input, &mut variables, &mut statements)?;
    Ok(Compiled { steps: program.steps, statements, variables, not_preparable })
}

fn compile(text: &str) -> Compiled {
    try_compile(text, Dialect::Postgres).unwrap_or_else(|error| panic!("{error}"))
}

/// The error in `text`: (line, column, message).
fn error(text: &str) -> (usize, usize, String) {
    match try_compile(text, Dialect::Postgres) {
        Ok(_) => panic!("no error in {text:?}"),
        Err(error) => (error.line, error.column, error.message),
    }
}
