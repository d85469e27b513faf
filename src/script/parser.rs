//! A script's text to steps.
//!
//! Written by hand, as is `expr_parser`: a script is a list of commands without nested syntax, and
//! what pgbench checks early or late must be checked early or late here, too.

use std::sync::Arc;

use super::Dialect;
use super::error::{Fault, ScriptError};
use super::expr::Expr;
use super::expr_parser::{self, Place};
use super::lexer::{End, Form, Scanner, Sql, Use, Word as Token};
use super::program::{
    Amount, Program, SleepUnit, Statement, Step, StepIndex, StmtId, Store, TableSet, Word,
};
use super::render;
use super::variables::{Variables, is_valid_name};
use crate::suggest::did_you_mean;

/// Most words of a meta-command after its name.
const MAX_WORDS: usize = 255;

/// What a script is compiled from and for.
#[derive(Debug, Clone, Copy)]
pub struct Input<'a> {
    /// The file as the user knows it, for messages.
    pub file: &'a str,
    /// The script.
    pub text: &'a str,
    /// Its index in the workload.
    pub script: u32,
    /// The engine's SQL.
    pub dialect: Dialect,
    /// `\shell` and `\setshell` are allowed.
    pub allow_shell: bool,
    /// Tables of a set: how many statements `sbtest:{table}` becomes.
    pub tables: u32,
    /// Extended or prepared protocol was asked for: a statement with too many variables is an
    /// error, not a reason to fall back to simple protocol.
    pub prepared_asked: bool,
}

/// A script, compiled.
#[derive(Debug)]
pub struct Parsed {
    /// Its steps. The `columns` of each [`Store`] are still empty, since
    /// they need the names of all scripts: see [`Prefixes`](super::variables::Prefixes).
    pub program: Program,
    /// Why the script cannot run in extended or prepared protocol, if so.
    pub not_preparable: Option<String>,
}

/// Compiles a script. Variables get slots in `variables`, statements are added to `statements`.
pub fn parse(
    input: &Input<'_>,
    variables: &mut Variables,
    statements: &mut Vec<Statement>,
) -> Result<Parsed, ScriptError> {
    let parser = Parser {
        input: *input,
        scanner: Scanner::new(input.text, input.dialect),
        variables,
        statements,
        steps: Vec::new(),
        blocks: Vec::new(),
        commands: 0,
        last: Last::Other,
        lines: Lines::default(),
        not_preparable: None,
    };
    parser.run().map_err(|fault| ScriptError::at(input.file, input.text, fault))
}

/// The meta-commands by name.
pub(crate) const META_COMMANDS: [&str; 13] = [
    "aset",
    "elif",
    "else",
    "endif",
    "endpipeline",
    "gset",
    "if",
    "set",
    "setshell",
    "shell",
    "sleep",
    "startpipeline",
    "syncpipeline",
];

/// An `\if` whose `\endif` has not come yet.
struct Block {
    /// Offset of the `\if`.
    start: usize,
    has_else: bool,
    /// The condition's jump, which goes to the next branch.
    unless: Option<usize>,
    /// The jumps at the ends of branches, which go to the end of the block.
    ends: Vec<usize>,
}

/// What the command before was, for `\gset`.
enum Last {
    /// An SQL command, in this step.
    Sql(usize),
    Other,
}

/// Counts lines while offsets grow.
#[derive(Default)]
struct Lines {
    offset: usize,
    newlines: u32,
}

impl Lines {
    /// The line of `offset`, from 1.
    fn at(&mut self, text: &str, offset: usize) -> u32 {
        let between = text.as_bytes().get(self.offset..offset).unwrap_or_default();
        let newlines = between.iter().filter(|byte| **byte == b'\n').count();
        self.newlines += u32::try_from(newlines).expect("a script is shorter than 4 GB");
        self.offset = self.offset.max(offset);
        self.newlines + 1
    }
}

struct Parser<'a, 'v> {
    input: Input<'a>,
    scanner: Scanner<'a>,
    variables: &'v mut Variables,
    statements: &'v mut Vec<Statement>,
    steps: Vec<Step>,
    blocks: Vec<Block>,
    /// Commands so far, `\gset` and `\aset` not counted.
    commands: u32,
    last: Last,
    lines: Lines,
    not_preparable: Option<String>,
}

impl<'a> Parser<'a, '_> {
    fn run(mut self) -> Result<Parsed, Fault> {
        loop {
            let (sql, end) = self.scanner.sql();
            if sql.is_command() {
                self.sql(&sql)?;
            }
            match end {
                End::Semicolon => {}
                End::Backslash => self.meta()?,
                End::Text => break,
            }
        }
        if let Some(block) = self.blocks.last() {
            return Err(Fault::new(block.start, "\\if without matching \\endif"));
        }
        if self.commands == 0 {
            return Err(Fault::new(0, "the script is empty: it has no command"));
        }
        let program = Program { steps: self.steps };
        Ok(Parsed { program, not_preparable: self.not_preparable })
    }

    fn sql(&mut self, sql: &Sql) -> Result<(), Fault> {
        let Input { script, dialect, .. } = self.input;
        let line = self.lines.at(self.input.text, sql.start);
        let uses = sql.uses();
        if self.input.prepared_asked && uses.len() > render::MAX_USES {
            let message = format!(
                "too many arguments: a statement can use variables {} times at most in extended \
                 and prepared protocol",
                render::MAX_USES
            );
            return Err(Fault::new(sql.start, message));
        }
        let tables = self.table_set(sql, &uses)?;
        let index = u32::try_from(self.statements.len()).expect("a script is shorter than 4 GB");
        let numbers = tables.map_or(0..=0, |set| 1..=set.count);
        for table in numbers {
            let place = render::Place { script, line, table };
            let rendered = render::statement(sql, &uses, place, dialect, self.variables);
            if self.not_preparable.is_none() {
                self.not_preparable = rendered.obstacle.map(|why| format!("line {line}: {why}"));
            }
            self.statements.push(rendered.statement);
        }
        self.steps.push(Step::Sql { stmt: StmtId(index), store: None, tables });
        self.commands += 1;
        self.last = Last::Sql(self.steps.len() - 1);
        Ok(())
    }

    /// The set of tables that a command is about, where it names one.
    fn table_set(&mut self, sql: &Sql, uses: &[Use]) -> Result<Option<TableSet>, Fault> {
        let mut found: Option<(&str, TableSet)> = None;
        for one in uses {
            let offset = sql.start + one.start;
            match (one.form, found) {
                (Form::NoTable, _) => {
                    let message = "a table of a set is written NAME:{VARIABLE}, as in \
                                   sbtest:{table}: a variable's name in braces, nothing else";
                    return Err(Fault::new(offset, message));
                }
                (Form::Table, None) => {
                    let name = one.name(&sql.text);
                    let slot = self.variables.slot(name);
                    found = Some((name, TableSet { slot, count: self.input.tables, offset }));
                }
                (Form::Table, Some((first, _))) if first != one.name(&sql.text) => {
                    let message = format!(
                        "a command has one table of a set, here that of {{{first}}}: use the same \
                         variable, or two commands"
                    );
                    return Err(Fault::new(offset, message));
                }
                _ => {}
            }
        }
        Ok(found.map(|(_, set)| set))
    }

    /// A meta-command, after its backslash.
    fn meta(&mut self) -> Result<(), Fault> {
        let backslash = self.scanner.position() - 1;
        let Some(name) = self.scanner.word() else { return Ok(()) };
        let lower = name.text.to_ascii_lowercase();
        if !matches!(lower.as_str(), "gset" | "aset") {
            self.commands += 1;
        }
        match lower.as_str() {
            "set" => self.set(name)?,
            "if" | "elif" => self.condition(name, &lower, backslash)?,
            "else" | "endif" => {
                self.no_words(&lower)?;
                if lower == "else" { self.else_branch(name)? } else { self.end_if(name)? }
            }
            "gset" | "aset" => return self.store(name, lower == "aset"),
            "sleep" => self.sleep(name)?,
            "shell" | "setshell" => self.shell(name, lower == "setshell")?,
            "startpipeline" => self.pipeline(name, &lower, Step::StartPipeline)?,
            "syncpipeline" => self.pipeline(name, &lower, Step::SyncPipeline)?,
            "endpipeline" => self.pipeline(name, &lower, Step::EndPipeline)?,
            _ => {
                let hint = did_you_mean(&lower, META_COMMANDS);
                let message = format!("invalid command \\{}{hint}", name.text);
                return Err(Fault::new(backslash, message));
            }
        }
        self.last = Last::Other;
        Ok(())
    }

    /// The words up to the end of the line.
    fn words(&mut self, command: &str) -> Result<Vec<Token<'a>>, Fault> {
        let mut words = Vec::new();
        while let Some(word) = self.scanner.word() {
            if words.len() == MAX_WORDS {
                let message =
                    format!("too many arguments in command \\{command}: at most {MAX_WORDS}");
                return Err(Fault::new(word.start, message));
            }
            words.push(word);
        }
        Ok(words)
    }

    fn no_words(&mut self, command: &str) -> Result<(), Fault> {
        match self.words(command)?.first() {
            None => Ok(()),
            Some(word) => {
                let message = format!("unexpected argument in command \\{command}: {}", word.text);
                Err(Fault::new(word.start, message))
            }
        }
    }

    fn expression(&mut self, text_allowed: bool) -> Result<Expr, Fault> {
        let place = Place { script: self.input.script, command: self.commands };
        let start = self.scanner.position();
        let (expr, end) =
            expr_parser::parse(self.input.text, start, text_allowed, place, self.variables)?;
        self.scanner.set_position(end);
        Ok(expr)
    }

    fn set(&mut self, command: Token<'_>) -> Result<(), Fault> {
        let Some(name) = self.scanner.word() else {
            let message = "missing argument in command \\set: \\set VARIABLE EXPRESSION";
            return Err(Fault::new(command.start, message));
        };
        let expr = self.expression(true)?;
        self.steps.push(if is_valid_name(name.text) {
            Step::Set { slot: self.variables.assign(name.text), expr }
        } else {
            invalid_name(name.text)
        });
        Ok(())
    }

    fn next_step(&self) -> StepIndex {
        StepIndex::try_from(self.steps.len()).expect("a script is shorter than 4 GB")
    }

    /// Ends the branch before: its end jumps to the end of the block, its condition to here.
    fn end_branch(&mut self, command: Token<'_>) -> Result<(), Fault> {
        let step = self.steps.len();
        let Some(block) = self.blocks.last_mut() else {
            let message = format!("\\{} without matching \\if", command.text);
            return Err(Fault::new(command.start, message));
        };
        if block.has_else {
            let message = format!("\\{} after \\else", command.text);
            return Err(Fault::new(command.start, message));
        }
        block.ends.push(step);
        let unless = block.unless.take();
        self.steps.push(Step::Jump { target: 0 });
        if let Some(unless) = unless {
            self.land(unless);
        }
        Ok(())
    }

    /// Lets the jump in step `from` go to the step that comes next.
    fn land(&mut self, from: usize) {
        let here = self.next_step();
        match &mut self.steps[from] {
            Step::Jump { target } | Step::JumpUnless { target, .. } => *target = here,
            other => unreachable!("{other:?} is no jump"),
        }
    }

    fn condition(&mut self, command: Token<'_>, name: &str, start: usize) -> Result<(), Fault> {
        let condition = self.expression(false)?;
        if name == "elif" {
            self.end_branch(command)?;
        } else {
            self.blocks.push(Block { start, has_else: false, unless: None, ends: Vec::new() });
        }
        let step = self.steps.len();
        if let Some(block) = self.blocks.last_mut() {
            block.unless = Some(step);
        }
        self.steps.push(Step::JumpUnless { condition, target: 0 });
        Ok(())
    }

    fn else_branch(&mut self, command: Token<'_>) -> Result<(), Fault> {
        self.end_branch(command)?;
        if let Some(block) = self.blocks.last_mut() {
            block.has_else = true;
        }
        Ok(())
    }

    fn end_if(&mut self, command: Token<'_>) -> Result<(), Fault> {
        let Some(block) = self.blocks.pop() else {
            return Err(Fault::new(command.start, "\\endif without matching \\if"));
        };
        for jump in block.ends.into_iter().chain(block.unless) {
            self.land(jump);
        }
        Ok(())
    }

    fn store(&mut self, command: Token<'_>, all: bool) -> Result<(), Fault> {
        let words = self.words(command.text)?;
        if let Some(extra) = words.get(1) {
            let message = format!("too many arguments in command \\{}", command.text);
            return Err(Fault::new(extra.start, message));
        }
        let prefix = words.first().map_or("", |word| word.text).to_owned();
        let store = match self.last {
            Last::Sql(step) => match &mut self.steps[step] {
                Step::Sql { store, .. } if store.is_none() => Some(store),
                _ => None,
            },
            Last::Other => None,
        };
        let Some(store) = store else {
            let message = format!("\\{} must follow an SQL command", command.text);
            return Err(Fault::new(command.start, message));
        };
        *store = Some(Store { all, columns: Arc::default(), prefix });
        Ok(())
    }

    fn sleep(&mut self, command: Token<'_>) -> Result<(), Fault> {
        let words = self.words("sleep")?;
        let Some(&first) = words.first() else {
            let message = "missing argument in command \\sleep: \\sleep NUMBER|:VARIABLE [us|ms|s]";
            return Err(Fault::new(command.start, message));
        };
        if let Some(extra) = words.get(2) {
            return Err(Fault::new(extra.start, "too many arguments in command \\sleep"));
        }
        let mut unit = words.get(1).copied();
        let amount = if let Some(name) = first.text.strip_prefix(':') {
            Amount::Variable(self.variables.slot(name))
        } else {
            let signed = usize::from(first.text.starts_with(['+', '-']));
            let digits = first.text[signed..].bytes().take_while(u8::is_ascii_digit).count();
            let (number, rest) = first.text.split_at(signed + digits);
            if digits == 0 || (unit.is_some() && !rest.is_empty()) {
                let message = format!("invalid sleep time \"{}\": must be an integer", first.text);
                return Err(Fault::new(first.start, message));
            }
            if unit.is_none() && !rest.is_empty() {
                unit = Some(Token { text: rest, start: first.start + signed + digits });
            }
            // Digits beyond 64 bits: a sleep without end either way.
            let limit = if number.starts_with('-') { i64::MIN } else { i64::MAX };
            Amount::Constant(number.parse().unwrap_or(limit))
        };
        let unit = match unit {
            None => SleepUnit::S,
            Some(word) => match word.text.to_ascii_lowercase().as_str() {
                "us" => SleepUnit::Us,
                "ms" => SleepUnit::Ms,
                "s" => SleepUnit::S,
                _ => {
                    let message =
                        format!("unrecognized time unit \"{}\": must be us, ms or s", word.text);
                    return Err(Fault::new(word.start, message));
                }
            },
        };
        self.steps.push(Step::Sleep { amount, unit });
        Ok(())
    }

    fn shell(&mut self, command: Token<'_>, sets: bool) -> Result<(), Fault> {
        let words = self.words(command.text)?;
        let (name, words) = match words.as_slice() {
            [name, words @ ..] if sets => (Some(*name), words),
            words => (None, words),
        };
        if words.is_empty() {
            let wanted = if sets { "VARIABLE COMMAND ..." } else { "COMMAND ..." };
            let message =
                format!("missing argument in command \\{0}: \\{0} {wanted}", command.text);
            return Err(Fault::new(command.start, message));
        }
        if !self.input.allow_shell {
            let message = format!(
                "\\{} runs a program on this machine: give --allow-shell if you trust the script",
                command.text
            );
            return Err(Fault::new(command.start, message));
        }
        let words = words
            .iter()
            .map(|word| match word.text.strip_prefix(':') {
                Some(rest) if rest.starts_with(':') => Word::Literal(rest.to_owned()),
                Some(name) => Word::Variable(self.variables.slot(name)),
                None => Word::Literal(word.text.to_owned()),
            })
            .collect();
        self.steps.push(match name {
            Some(name) if !is_valid_name(name.text) => invalid_name(name.text),
            name => {
                let store = name.map(|name| self.variables.assign(name.text));
                Step::Shell { words, store }
            }
        });
        Ok(())
    }

    fn pipeline(&mut self, command: Token<'_>, name: &str, step: Step) -> Result<(), Fault> {
        self.no_words(name)?;
        if self.input.dialect != Dialect::Postgres {
            let message = format!(
                "\\{name} needs PostgreSQL: {} has no pipelines",
                self.input.dialect.name()
            );
            return Err(Fault::new(command.start, message));
        }
        self.steps.push(step);
        Ok(())
    }
}

/// pgbench finds a bad name when the command runs, so we do.
fn invalid_name(name: &str) -> Step {
    Step::Fail {
        message: format!(
            "invalid variable name \"{name}\": letters, digits and underscores, no digit first"
        ),
    }
}
