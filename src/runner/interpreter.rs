//! Walks a script's steps for one client: variables, random draws, statements.

use tokio::time::Instant;

use super::alarm::Alarm;
use super::recorder::StatementSample;
use super::tally::nanoseconds;
use super::{ClientId, LevelSettings, shell};
use crate::engine::{Block, DbError, ErrorKind, Kept, PipelineStep, Session};
use crate::rng::ScriptRng;
use crate::script::expr::{DebugLine, EvalContext, Expr};
use crate::script::is_valid_name;
use crate::script::program::{Slot, Step, StepIndex, StmtId, Store, TableSet, Word};
use crate::script::value::Value;
use crate::workload::Workload;

/// Why a script did not come to its end.
#[derive(Debug)]
pub(crate) enum ScriptFailure {
    /// A statement failed.
    Sql(DbError, StmtId),
    /// A statement of a pipeline failed; which one, the replies do not say.
    Pipeline(DbError),
    /// A meta command failed, or the script left a block open.
    Meta(DbError),
}

impl ScriptFailure {
    /// The error, the statement that met it, and whether the server raised it.
    pub(crate) fn parts(self) -> (DbError, Option<StmtId>, bool) {
        match self {
            Self::Sql(error, stmt) => (error, Some(stmt), true),
            Self::Pipeline(error) => (error, None, true),
            Self::Meta(error) => (error, None, false),
        }
    }
}

/// The statements of a pipeline, whose replies are read at its end.
#[derive(Default)]
struct OpenPipeline {
    /// Samples of the transaction before it.
    before: usize,
    /// When each was sent.
    sent: Vec<Instant>,
    /// Rows of each, from the replies.
    rows: Vec<u64>,
}

impl OpenPipeline {
    /// Gives the samples their time, up to now, and their rows.
    fn complete(&self, samples: &mut [StatementSample]) {
        let now = Instant::now();
        let own = samples.get_mut(self.before..).unwrap_or_default();
        for ((sample, sent), rows) in own.iter_mut().zip(&self.sent).zip(&self.rows) {
            sample.service_ns = nanoseconds(now - *sent);
            sample.rows = *rows;
        }
    }
}

/// A client's variables and random streams.
pub(crate) struct Interpreter<'a> {
    id: ClientId,
    workload: &'a Workload,
    vars: Vec<Value>,
    random: ScriptRng,
    choose: ScriptRng,
    /// Takes what `debug(...)` prints.
    debug: fn(DebugLine),
    /// Rows of the statement at hand, where the script keeps them.
    kept: Vec<Kept>,
    pipeline: OpenPipeline,
    /// Variables and stream as of the first try of a transaction that may be tried again.
    saved_vars: Vec<Value>,
    saved_random: ScriptRng,
}

impl<'a> Interpreter<'a> {
    /// Variables and streams as `settings` seed them; the number of workers plays no part.
    pub(crate) fn new(workload: &'a Workload, settings: &LevelSettings, id: ClientId) -> Self {
        let seeds = settings.seeds.client(id);
        let mut vars = workload.variables.clone();
        let mut preset = |name: &str, value: i64| {
            if let Some(Slot(slot)) = workload.slot(name)
                && vars[slot as usize] == Value::Undefined
            {
                vars[slot as usize] = Value::Int(value);
            }
        };
        preset("client_id", i64::from(id.0));
        preset("scale", settings.scale);
        preset("random_seed", seeds.random_seed);
        preset("default_seed", seeds.default_seed);
        Self {
            id,
            workload,
            vars,
            random: ScriptRng::new(seeds.script),
            choose: ScriptRng::new(seeds.choose),
            debug: settings.debug,
            kept: Vec::new(),
            pipeline: OpenPipeline::default(),
            saved_vars: Vec::new(),
            saved_random: ScriptRng::new(seeds.script),
        }
    }

    /// The client's number.
    pub(crate) fn client(&self) -> u32 {
        self.id.0
    }

    /// The name of a script.
    pub(crate) fn script_name(&self, script: usize) -> &str {
        &self.workload.scripts[script].name
    }

    /// Draws the script of the next transaction by weight.
    pub(crate) fn choose_script(&mut self) -> usize {
        self.workload.choose(&mut self.choose)
    }

    /// Remembers variables and stream, so that the next try draws the same values.
    pub(crate) fn save(&mut self) {
        self.saved_vars.clone_from(&self.vars);
        self.saved_random = self.random.clone();
    }

    /// Back to what `save` remembered.
    pub(crate) fn restore(&mut self) {
        self.vars.clone_from(&self.saved_vars);
        self.random = self.saved_random.clone();
    }

    /// Runs a script once, pushing a sample for each statement.
    pub(crate) async fn run<S: Session>(
        &mut self,
        script: usize,
        session: &mut S,
        samples: &mut Vec<StatementSample>,
        alarm: &mut Alarm,
    ) -> Result<(), ScriptFailure> {
        let workload = self.workload;
        let steps = &workload.scripts[script].program.steps;
        let mut at: StepIndex = 0;
        // A statement that follows another at once starts when that one ended: one look at the
        // clock less.
        let mut ended: Option<Instant> = None;
        while let Some(step) = steps.get(at as usize) {
            at += 1;
            match step {
                Step::Set { slot, expr } => {
                    self.vars[slot.0 as usize] = self.evaluate(expr)?;
                }
                Step::Sql { stmt, store, tables } => {
                    let chosen = match tables {
                        None => *stmt,
                        Some(set) => self.table_of(*stmt, set)?,
                    };
                    let sent = ended.unwrap_or_else(Instant::now);
                    if store.is_some() && session.in_pipeline() {
                        return Err(meta(
                            "\\gset and \\aset cannot stand inside a pipeline: its replies are read \
                             at \\endpipeline"
                                .to_owned(),
                        ));
                    }
                    let rows = match store {
                        None => session.execute(chosen, &self.vars, None).await,
                        Some(_) => {
                            self.kept.clear();
                            session.execute(chosen, &self.vars, Some(&mut self.kept)).await
                        }
                    }
                    .map_err(|error| ScriptFailure::Sql(error, *stmt))?;
                    let now = Instant::now();
                    let service_ns = nanoseconds(now - sent);
                    // All tables of a set count as one statement, as it is written.
                    samples.push(StatementSample { stmt: *stmt, service_ns, rows });
                    if session.in_pipeline() {
                        self.pipeline.sent.push(sent);
                    }
                    match store {
                        None => {
                            ended = Some(now);
                            continue;
                        }
                        Some(store) => self.store(*stmt, store)?,
                    }
                }
                Step::JumpUnless { condition, target } => {
                    if !self.holds(condition)? {
                        at = *target;
                    }
                }
                Step::Jump { target } => at = *target,
                Step::Sleep { amount, unit } => {
                    let pause = amount.duration(*unit, &self.vars);
                    let pause = pause.map_err(|error| meta(error.to_string()))?;
                    alarm.sleep(pause).await;
                }
                Step::Fail { message } => return Err(meta(message.clone())),
                Step::Shell { words, store } => self.shell(words, *store).await?,
                Step::StartPipeline => {
                    self.pipeline.before = samples.len();
                    self.pipeline.sent.clear();
                    self.pipeline_step(session, PipelineStep::Start).await?;
                }
                Step::SyncPipeline => self.pipeline_step(session, PipelineStep::Sync).await?,
                Step::EndPipeline => {
                    self.pipeline_step(session, PipelineStep::End).await?;
                    self.pipeline.complete(samples);
                }
            }
            ended = None;
        }
        self.check_closed(script, session)
    }

    /// A script must not leave anything open behind it.
    fn check_closed<S: Session>(&self, script: usize, session: &S) -> Result<(), ScriptFailure> {
        if session.in_pipeline() {
            let name = &self.workload.scripts[script].name;
            return Err(meta(format!(
                "script \"{name}\" ended inside a pipeline: end it with \\endpipeline"
            )));
        }
        if session.block() != Block::Idle {
            let name = &self.workload.scripts[script].name;
            return Err(meta(format!(
                "script \"{name}\" ended inside a transaction block: end it with COMMIT or ROLLBACK"
            )));
        }
        Ok(())
    }

    async fn pipeline_step<S: Session>(
        &mut self,
        session: &mut S,
        step: PipelineStep,
    ) -> Result<(), ScriptFailure> {
        self.pipeline.rows.clear();
        let done = session.pipeline(step, &mut self.pipeline.rows).await;
        done.map_err(|error| match error.code() {
            "script" => ScriptFailure::Meta(error),
            _ => ScriptFailure::Pipeline(error),
        })
    }

    /// The statement for the table that a variable chooses.
    fn table_of(&self, first: StmtId, set: &TableSet) -> Result<StmtId, ScriptFailure> {
        set.choose(first, &self.vars).ok_or_else(|| {
            let line = self.workload.statements[first.0 as usize].line;
            let name = &self.workload.variable_names[set.slot.0 as usize];
            let value = &self.vars[set.slot.0 as usize];
            meta(format!(
                "line {line}: the table of :{{{name}}} is \"{value}\", and there are {} tables",
                set.count
            ))
        })
    }

    async fn shell(&mut self, words: &[Word], store: Option<Slot>) -> Result<(), ScriptFailure> {
        let line = shell::command_line(words, &self.vars, &self.workload.variable_names);
        let line = line.map_err(meta)?;
        match store {
            None => shell::run(&line).await.map_err(meta)?,
            Some(slot) => {
                let value = shell::read_integer(&line).await.map_err(meta)?;
                self.vars[slot.0 as usize] = Value::Int(value);
            }
        }
        Ok(())
    }

    fn evaluate(&mut self, expr: &Expr) -> Result<Value, ScriptFailure> {
        expr.eval(&mut self.context()).map_err(|error| meta(error.to_string()))
    }

    fn holds(&mut self, condition: &Expr) -> Result<bool, ScriptFailure> {
        condition.eval_condition(&mut self.context()).map_err(|error| meta(error.to_string()))
    }

    fn context(&mut self) -> EvalContext<'_> {
        EvalContext { vars: &self.vars, rng: &mut self.random, debug: &mut self.debug }
    }

    /// Puts the columns of kept rows into variables, as `\gset` or `\aset` says.
    fn store(&mut self, stmt: StmtId, store: &Store) -> Result<(), ScriptFailure> {
        let line = self.workload.statements[stmt.0 as usize].line;
        let first = if store.all { 0 } else { self.kept.len().saturating_sub(1) };
        for rows in self.kept.get(first..).unwrap_or_default() {
            if !store.all && rows.rows != 1 {
                return Err(meta(format!(
                    "line {line}: \\gset wants exactly one row, the statement returned {}",
                    rows.rows
                )));
            }
            for (column, value) in rows.columns.iter().zip(&rows.last) {
                let name = format!("{}{column}", store.prefix);
                if !is_valid_name(&name) {
                    return Err(meta(format!(
                        "line {line}: column \"{column}\" would become the variable \"{name}\", \
                         which is no name: give it another with AS"
                    )));
                }
                let known = store.columns.iter().find(|(name, _)| name == column);
                if let Some((_, slot)) = known {
                    // NULL becomes an empty text, as in pgbench.
                    let text = value.as_deref().unwrap_or_default();
                    self.vars[slot.0 as usize] = Value::Text(text.into());
                }
            }
        }
        Ok(())
    }
}

fn meta(text: String) -> ScriptFailure {
    ScriptFailure::Meta(DbError::new(ErrorKind::Other, "script", text))
}
