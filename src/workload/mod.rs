//! A workload: weighted scripts compiled for one engine, with the text they came from.

pub mod builtin;
mod pipelined;
pub mod source;

use std::collections::HashSet;

use crate::rng::ScriptRng;
use crate::schema::sbtest;
use crate::script::error::Fault;
use crate::script::parser::{self, Input};
use crate::script::program::{Program, Slot, Statement, Step};
use crate::script::value::Value;
use crate::script::variables::{Prefixes, Variables};
use crate::script::{Dialect, ScriptError, is_valid_name};
use crate::suggest::nearest;
use source::Source;

/// Variables that exist without being set. The runner fills them in unless `-D` did.
pub const PRESETS: [&str; 4] = ["scale", "client_id", "random_seed", "default_seed"];

/// Presets of scripts for the sysbench schema, and of those with a set of tables.
const TABLE_PRESETS: [&str; 2] = ["tables", "table_size"];

/// Scripts with weights, compiled for one engine.
#[derive(Debug, Clone)]
pub struct Workload {
    /// What results call it: a built-in's name, a file's stem, or several joined by `+`.
    pub name: String,
    /// The scripts of the mix.
    pub scripts: Vec<WorkloadScript>,
    /// The statements of all scripts; `StmtId` is an index into it.
    pub statements: Vec<Statement>,
    /// Initial values of the variables; `Slot` is an index into it. Presets that differ by client
    /// are filled in by the runner.
    pub variables: Vec<Value>,
    /// Names of the variables, same order.
    pub variable_names: Vec<String>,
    /// Whether `-D` set the variable, same order: such a value beats a preset.
    pub user_defined: Vec<bool>,
}

/// One script of a mix.
#[derive(Debug, Clone)]
pub struct WorkloadScript {
    /// Name as results show it.
    pub name: String,
    /// Relative frequency; 0 is never drawn.
    pub weight: u64,
    /// Compiled steps.
    pub program: Program,
    /// Where the text came from, its bytes and their SHA-256.
    pub source: Source,
    /// Why the script cannot run in extended or prepared protocol, if so.
    pub not_preparable: Option<String>,
}

/// What scripts are compiled for.
#[derive(Debug, Clone, Default)]
pub struct CompileOptions {
    /// The engine's SQL.
    pub dialect: Dialect,
    /// Variables from `-D NAME=VALUE`.
    pub defines: Vec<(String, String)>,
    /// `\shell` and `\setshell` are allowed.
    pub allow_shell: bool,
    /// The user asked for extended or prepared protocol (`-M`), so that more variables in a
    /// statement than it takes are an error rather than a reason for simple protocol.
    pub prepared_asked: bool,
    /// Each script is one pipeline.
    pub pipeline: bool,
    /// The tables that a set `sbtest:{table}` has; not known before the database is looked at.
    pub tables: Option<TableCount>,
}

/// How many tables a set has, and how many rows each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TableCount {
    /// Number of tables.
    pub tables: u32,
    /// Rows of each.
    pub table_size: u64,
}

impl CompileOptions {
    /// How many statements a set becomes: `-D tables=N` beats what is known of the database.
    fn table_count(&self) -> Result<u32, ScriptError> {
        let given = self.defines.iter().rev().find(|(name, _)| name == "tables");
        let Some((_, value)) = given else {
            return Ok(self.tables.map_or(1, |known| known.tables));
        };
        value.parse().ok().filter(|tables| (1..=sbtest::MAX_TABLES).contains(tables)).ok_or_else(
            || {
                let message = format!("a number of tables is 1 to {}", sbtest::MAX_TABLES);
                ScriptError::without_place(format!("-D tables={value}"), message)
            },
        )
    }
}

impl Workload {
    /// Compiles scripts with their weights. All share one table of variables.
    pub fn compile(
        name: &str,
        scripts: Vec<(Source, u64)>,
        options: &CompileOptions,
    ) -> Result<Self, ScriptError> {
        if scripts.iter().all(|(_, weight)| *weight == 0) {
            let message = "the weights of all scripts are 0, so none could ever run";
            return Err(ScriptError::without_place(name, message));
        }
        let mut variables = Variables::default();
        for preset in PRESETS {
            variables.assign(preset);
        }
        for (define, value) in &options.defines {
            check_define(define, value)?;
            variables.assign(define);
        }
        let mut defaults = Vec::new();
        if scripts.iter().any(|(source, _)| wants_tables(source)) {
            for preset in TABLE_PRESETS {
                variables.assign(preset);
            }
        }
        let tables = options.table_count()?;
        let mut statements = Vec::new();
        let mut compiled = Vec::with_capacity(scripts.len());
        for (index, (source, weight)) in (0..).zip(scripts) {
            add_params(&source, &mut variables, &mut defaults)?;
            let file = source.file();
            let input = Input {
                file: &file,
                text: &source.text,
                script: index,
                dialect: options.dialect,
                allow_shell: options.allow_shell,
                tables,
                prepared_asked: options.prepared_asked,
            };
            let parsed = parser::parse(&input, &mut variables, &mut statements)?;
            let (program, not_preparable) = (parsed.program, parsed.not_preparable);
            let name = source.name.clone();
            compiled.push(WorkloadScript { name, weight, program, source, not_preparable });
        }
        fill_stores(&mut compiled, &variables);
        let stored = stored_slots(&compiled);
        let is_set = |slot: &Slot| variables.is_assigned(*slot) || stored.contains(slot);
        note_unknown_variables(&mut compiled, &statements, &variables, is_set);
        check_table_sets(&compiled, &variables, is_set)?;
        if options.pipeline {
            pipeline_each(&mut compiled, options.dialect)?;
        }

        let mut values = vec![Value::Undefined; variables.names().len()];
        let mut user_defined = vec![false; values.len()];
        if let Some(known) = options.tables {
            let table_size = i64::try_from(known.table_size).unwrap_or(i64::MAX);
            for (preset, value) in TABLE_PRESETS.into_iter().zip([known.tables.into(), table_size])
            {
                if variables.names().iter().any(|name| name == preset) {
                    values[variables.slot(preset).0 as usize] = Value::Int(value);
                }
            }
        }
        for (slot, value) in defaults {
            values[slot.0 as usize] = value;
        }
        for (define, value) in &options.defines {
            let slot = variables.slot(define).0 as usize;
            values[slot] = Value::from_text(value);
            user_defined[slot] = true;
        }
        Ok(Self {
            name: name.to_owned(),
            scripts: compiled,
            statements,
            variables: values,
            variable_names: variables.names().to_vec(),
            user_defined,
        })
    }

    /// The slot of a variable, if a script, a preset or `-D` names it.
    pub fn slot(&self, name: &str) -> Option<Slot> {
        let index = self.variable_names.iter().position(|known| known == name)?;
        u32::try_from(index).ok().map(Slot)
    }

    /// Whether `-D` gave the variable its value.
    pub fn is_user_defined(&self, slot: Slot) -> bool {
        self.user_defined[slot.0 as usize]
    }

    /// The statements as they are written, each with its index in `statements`: of a set of tables
    /// only the first one, at which the executions of all are counted.
    pub fn written(&self) -> impl Iterator<Item = (usize, &Statement)> {
        self.statements.iter().enumerate().filter(|(_, statement)| statement.table <= 1)
    }

    /// Whether a statement is about one of a set of tables.
    pub fn has_table_sets(&self) -> bool {
        self.statements.iter().any(|statement| statement.table > 0)
    }

    /// Whether some script pauses.
    pub fn sleeps(&self) -> bool {
        let mut steps = self.scripts.iter().flat_map(|script| &script.program.steps);
        steps.any(|step| matches!(step, Step::Sleep { .. }))
    }

    /// Draws the script of the next transaction by weight. Draws nothing when there is only one.
    pub fn choose(&self, rng: &mut ScriptRng) -> usize {
        if self.scripts.len() == 1 {
            return 0;
        }
        let total: u64 = self.scripts.iter().map(|script| script.weight).sum();
        let mut drawn = rng.up_to(total.saturating_sub(1));
        for (index, script) in self.scripts.iter().enumerate() {
            if drawn < script.weight {
                return index;
            }
            drawn -= script.weight;
        }
        unreachable!("the draw is below the sum of the weights, which is not 0")
    }

    /// The first reason why a script cannot run in extended or prepared protocol, with its name.
    pub fn not_preparable(&self) -> Option<(&str, &str)> {
        self.scripts
            .iter()
            .find_map(|script| Some((script.name.as_str(), script.not_preparable.as_deref()?)))
    }
}

fn check_define(name: &str, value: &str) -> Result<(), ScriptError> {
    let refuse = |message: &str| {
        Err(ScriptError::without_place(format!("-D {name}={value}"), message.to_owned()))
    };
    if !is_valid_name(name) {
        return refuse("invalid variable name: letters, digits and underscores, no digit first");
    }
    if value.is_empty() { refuse("the value is empty: -D NAME=VALUE") } else { Ok(()) }
}

/// Tells each `\gset` and `\aset` which columns some script wants.
fn fill_stores(scripts: &mut [WorkloadScript], variables: &Variables) {
    let mut prefixes = Prefixes::new(variables);
    for step in scripts.iter_mut().flat_map(|script| &mut script.program.steps) {
        if let Step::Sql { store: Some(store), .. } = step {
            store.columns = prefixes.columns(&store.prefix);
        }
    }
}

/// Whether `:tables` and `:table_size` have values in a script.
fn wants_tables(source: &Source) -> bool {
    source.header().schema.as_deref() == Some("sbtest") || source.text.contains(":{")
}

/// The variables that a script's header sets. Within a header the first line about a variable
/// counts; two scripts of a mix, which share their variables, must agree.
fn add_params(
    source: &Source,
    variables: &mut Variables,
    defaults: &mut Vec<(Slot, Value)>,
) -> Result<(), ScriptError> {
    let mut own: Vec<Slot> = Vec::new();
    for param in source.header().params {
        let slot = variables.assign(&param.name);
        if own.contains(&slot) {
            continue;
        }
        own.push(slot);
        let value = Value::from_text(&param.default);
        match defaults.iter().find(|(known, _)| *known == slot) {
            None => defaults.push((slot, value)),
            Some((_, other)) if *other == value => {}
            Some((_, other)) => {
                let message = format!(
                    "the scripts of a mix share their variables, and another one has {} = {other}, \
                     not {value}: run them one after the other",
                    param.name
                );
                return Err(ScriptError::without_place(source.file(), message));
            }
        }
    }
    Ok(())
}

/// The variables that some `\gset` or `\aset` fills.
fn stored_slots(scripts: &[WorkloadScript]) -> HashSet<Slot> {
    let stores = scripts.iter().flat_map(|script| &script.program.steps).filter_map(|step| {
        let Step::Sql { store: Some(store), .. } = step else { return None };
        Some(&store.columns)
    });
    stores.flat_map(|columns| columns.iter().map(|(_, slot)| *slot)).collect()
}

/// `; did you mean :name?`, where a known variable has a near name.
fn near_variable(name: &str, variables: &Variables) -> Option<String> {
    let known = variables.names().iter().map(String::as_str);
    nearest(name, known.filter(|known| *known != name)).map(|near| format!("did you mean :{near}?"))
}

/// A statement with a variable that nothing sets would be sent NULL for it; in simple protocol its
/// text stays, which is what a text such as `a:b` needs.
fn note_unknown_variables(
    scripts: &mut [WorkloadScript],
    statements: &[Statement],
    variables: &Variables,
    is_set: impl Fn(&Slot) -> bool,
) {
    for statement in statements {
        let script = &mut scripts[statement.script as usize];
        if script.not_preparable.is_some() {
            continue;
        }
        let unknown = statement.params.iter().find(|slot| !is_set(slot));
        script.not_preparable = unknown.map(|slot| {
            let name = variables.name(*slot);
            let near = near_variable(name, variables).map(|near| format!(" ({near})"));
            let near = near.unwrap_or_default();
            format!("line {}: nothing sets the variable :{name}{near}", statement.line)
        });
    }
}

/// Makes one pipeline of each script.
fn pipeline_each(scripts: &mut [WorkloadScript], dialect: Dialect) -> Result<(), ScriptError> {
    let refused = |message| ScriptError::without_place("--pipeline", message);
    if dialect != Dialect::Postgres {
        let name = dialect.name();
        return Err(refused(format!(
            "it needs PostgreSQL: {name} answers each statement before the next"
        )));
    }
    for script in scripts {
        let refused =
            |why| refused(format!("the script {} cannot be sent as one: {why}", script.name));
        script.program = pipelined::pipelined(script).map_err(refused)?;
    }
    Ok(())
}

/// Refuses a table that is chosen by a variable which nothing sets.
fn check_table_sets(
    scripts: &[WorkloadScript],
    variables: &Variables,
    is_set: impl Fn(&Slot) -> bool,
) -> Result<(), ScriptError> {
    for script in scripts {
        for step in &script.program.steps {
            let Step::Sql { tables: Some(set), .. } = step else { continue };
            if is_set(&set.slot) {
                continue;
            }
            let name = variables.name(set.slot);
            let hint = near_variable(name, variables).unwrap_or_else(|| {
                format!("choose a table first: \\set {name} random(1, :tables)")
            });
            let message =
                format!("nothing sets the variable {name}, which chooses a table; {hint}");
            let fault = Fault::new(set.offset, message);
            return Err(ScriptError::at(&script.source.file(), &script.source.text, fault));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
