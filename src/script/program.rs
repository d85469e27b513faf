//! A compiled script: what the client loop walks through, without look-ups by name.
//!
//! Variables are slots in one table per client, shared by all scripts of a workload; statements are
//! numbered over the whole workload. Pure data, made by `parser` and `render`, read by the runner
//! and the engines.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use super::expr::Expr;
use super::value::Value;

/// Index of a variable in a client's table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Slot(pub u32);

/// Index of a statement in [`crate::workload::Workload::statements`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StmtId(pub u32);

/// Index of a step in a program.
pub type StepIndex = u32;

/// One instruction of a script. Blocks (`\if` and so on) are compiled to jumps.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// `\set VAR EXPR`
    Set {
        /// The variable.
        slot: Slot,
        /// Its new value.
        expr: Expr,
    },
    /// An SQL command.
    Sql {
        /// The command.
        stmt: StmtId,
        /// What becomes of its rows.
        store: Option<Store>,
        /// Which of several tables it is about: the statements from `stmt` on, one for each.
        tables: Option<TableSet>,
    },
    /// Goes on at `target` unless `condition` is true (`\if`, `\elif`).
    JumpUnless {
        /// The condition.
        condition: Expr,
        /// The first step of the next branch.
        target: StepIndex,
    },
    /// Goes on at `target`.
    Jump {
        /// A later step, or the end.
        target: StepIndex,
    },
    /// `\sleep`
    Sleep {
        /// How much.
        amount: Amount,
        /// Of what.
        unit: SleepUnit,
    },
    /// `\shell` and `\setshell`: words with variables substituted, a command line.
    Shell {
        /// The command line, to be joined by blanks.
        words: Vec<Word>,
        /// Where `\setshell` puts the integer that the command prints.
        store: Option<Slot>,
    },
    /// `\startpipeline`
    StartPipeline,
    /// `\syncpipeline`
    SyncPipeline,
    /// `\endpipeline`
    EndPipeline,
    /// A meta-command whose error pgbench finds only when it runs; so do we.
    Fail {
        /// What is wrong.
        message: String,
    },
}

/// A statement for one of several tables, `sbtest:{table}`: a table's name is no parameter, so there
/// is a statement for each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TableSet {
    /// The variable that holds the table's number, from 1.
    pub slot: Slot,
    /// How many tables there are.
    pub count: u32,
    /// Offset of the use in the script, for messages.
    pub offset: usize,
}

impl TableSet {
    /// The statement for the table that the variable names; `first` is that of table 1. Nothing
    /// when there is no such table.
    pub fn choose(&self, first: StmtId, vars: &[Value]) -> Option<StmtId> {
        let number = match vars.get(self.slot.0 as usize)? {
            Value::Int(number) => u32::try_from(*number).ok()?,
            Value::Text(text) => text.parse().ok()?,
            _ => return None,
        };
        (1..=self.count).contains(&number).then(|| StmtId(first.0 + number - 1))
    }
}

/// What `\gset` or `\aset` does with the rows of a command.
#[derive(Debug, Clone, PartialEq)]
pub struct Store {
    /// `\gset` wants exactly one row of the last statement; `\aset` takes every statement of a
    /// compound, ignores empty ones and keeps the last row.
    pub all: bool,
    /// (column name, slot) pairs: the names any script mentions that start with the prefix, the
    /// prefix taken off, sorted. Columns that no script mentions are not kept.
    pub columns: Arc<[(String, Slot)]>,
    /// The prefix as written, for messages.
    pub prefix: String,
}

/// The argument of `\sleep`.
#[derive(Debug, Clone, PartialEq)]
pub enum Amount {
    /// A constant.
    Constant(i64),
    /// A variable.
    Variable(Slot),
}

/// Why `\sleep` does not know how long.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SleepError {
    /// The variable has no value.
    #[error("\\sleep: undefined variable")]
    Undefined,
    /// The variable's text does not start with a number.
    #[error("\\sleep: invalid sleep time \"{0}\": must be an integer")]
    NotANumber(String),
}

impl Amount {
    /// How long to sleep. A variable's text is read up to its first character that is no digit
    /// (`2.7` is 2); a negative amount is no time.
    pub fn duration(&self, unit: SleepUnit, vars: &[Value]) -> Result<Duration, SleepError> {
        let amount = match self {
            Self::Constant(amount) => *amount,
            Self::Variable(slot) => match vars.get(slot.0 as usize) {
                None | Some(Value::Undefined) => return Err(SleepError::Undefined),
                Some(Value::Int(amount)) => *amount,
                Some(other) => leading_int(&other.to_string())?,
            },
        };
        let amount = u64::try_from(amount).unwrap_or_default();
        Ok(match unit {
            SleepUnit::Us => Duration::from_micros(amount),
            SleepUnit::Ms => Duration::from_millis(amount),
            SleepUnit::S => Duration::from_secs(amount),
        })
    }
}

/// The number at the start of `text`.
fn leading_int(text: &str) -> Result<i64, SleepError> {
    let trimmed = text.trim_start();
    let signed = usize::from(trimmed.starts_with(['+', '-']));
    let digits = trimmed[signed..].bytes().take_while(u8::is_ascii_digit).count();
    if digits == 0 {
        return Err(SleepError::NotANumber(text.to_owned()));
    }
    // Digits beyond 64 bits: a sleep without end either way.
    let limit = if trimmed.starts_with('-') { i64::MIN } else { i64::MAX };
    Ok(trimmed[..signed + digits].parse().unwrap_or(limit))
}

/// The unit of `\sleep`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SleepUnit {
    /// Microseconds.
    Us,
    /// Milliseconds.
    Ms,
    /// Seconds.
    S,
}

/// A word of a shell command.
#[derive(Debug, Clone, PartialEq)]
pub enum Word {
    /// As it stands.
    Literal(String),
    /// The value of a variable.
    Variable(Slot),
}

/// A piece of a statement's text, for simple protocol, which substitutes text.
#[derive(Debug, Clone, PartialEq)]
pub enum Part {
    /// As it stands.
    Text(String),
    /// A variable.
    Variable {
        /// Its slot.
        slot: Slot,
        /// Its name: while it is undefined the text stays `:name`.
        name: String,
    },
    /// A variable as a quoted literal, `:'name'`.
    Literal {
        /// Its slot.
        slot: Slot,
        /// Its name, as above.
        name: String,
        /// A backslash in a literal escapes, and is doubled.
        backslash: bool,
    },
}

/// What a statement does, by its first word; decides how it is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StatementKind {
    /// SELECT, TABLE, VALUES, WITH without a writing verb.
    Read,
    /// INSERT, UPDATE, DELETE, MERGE, REPLACE, COPY.
    Write,
    /// Opens a transaction block.
    Begin,
    /// Ends a transaction block and keeps its work.
    Commit,
    /// Ends a transaction block and undoes its work.
    Rollback,
    /// Anything else.
    Other,
}

/// One SQL command of a script, rendered for one engine.
#[derive(Debug, Clone, PartialEq)]
pub struct Statement {
    /// Index of the script in the workload.
    pub script: u32,
    /// Line in the script, from 1.
    pub line: u32,
    /// The command as written, without the final semicolon.
    pub text: String,
    /// For simple protocol: the engine's text in pieces.
    pub parts: Vec<Part>,
    /// For extended and prepared protocol: the engine's text with placeholders.
    pub sql: String,
    /// The number of its table, from 1, in a set of statements for several tables; else 0.
    pub table: u32,
    /// The variable of each placeholder, in order (`$1` first).
    pub params: Box<[Slot]>,
    /// How it is counted.
    pub kind: StatementKind,
    /// Statements in the command: 1, or more for a `\;` compound.
    pub statements: u32,
}

impl Statement {
    /// Appends the text for simple protocol, with the variables' values in it. An undefined
    /// variable stays as it is written.
    pub fn write_text(&self, vars: &[Value], out: &mut String) {
        for part in &self.parts {
            match part {
                Part::Text(text) => out.push_str(text),
                Part::Variable { slot, name } => match &vars[slot.0 as usize] {
                    Value::Undefined => {
                        out.push(':');
                        out.push_str(name);
                    }
                    Value::Int(value) => out.push_str(itoa::Buffer::new().format(*value)),
                    // Writing to a String cannot fail.
                    value => drop(write!(out, "{value}")),
                },
                Part::Literal { slot, name, backslash } => {
                    write_literal(&vars[slot.0 as usize], name, *backslash, out);
                }
            }
        }
    }
}

/// `'value'`, with its quotes doubled.
fn write_literal(value: &Value, name: &str, backslash: bool, out: &mut String) {
    let start = match value {
        Value::Undefined => {
            // Writing to a String cannot fail.
            let _ = write!(out, ":'{name}'");
            return;
        }
        Value::Null => return out.push_str("NULL"),
        value => {
            out.push('\'');
            let start = out.len();
            let _ = write!(out, "{value}");
            start
        }
    };
    let is_special = |c: char| c == '\'' || (c == '\\' && backslash);
    if out[start..].contains(is_special) {
        let text = out.split_off(start);
        for c in text.chars() {
            if is_special(c) {
                out.push(c);
            }
            out.push(c);
        }
    }
    out.push('\'');
}

/// A script, compiled.
#[derive(Debug, Clone, PartialEq)]
pub struct Program {
    /// The steps, first to last.
    pub steps: Vec<Step>,
}
