//! `dbload run`: options in, levels measured one after the other, results written as they come.

mod feeds;
mod request;
mod sessions;
mod several;
mod tables;

use std::sync::Arc;

use anyhow::{Context, bail};

use super::engines::{OnEngine, Pooling, on_engine};
use super::signals::Signals;
use super::tables::init_plan;
use super::{Exit, targets, this_program};
use crate::cli::{LoadArgs, RunArgs};
use crate::engine::{Engine, ServerFacts};
use crate::measure::{Feeds, Sweep, Upkeep, environment};
use crate::plan::{Protocol, RunPlan};
use crate::report::{Output, ResultFolder, Style, Talk, html, report_width, text};
use crate::result::Environment;
use crate::result::environment::SCHEMA as ENVIRONMENT_SCHEMA;
use crate::result::summary::Arm;
use crate::result::{Summary, Warning};
use crate::runner::limits::allow_files;
use crate::runner::load::tables as loaded;
use crate::schema::check::VerifyReport;
use crate::schema::columns;
use crate::schema::files::SchemaSql;
use crate::schema::plan::InitPlan;
use crate::schema::{Schema, SchemaSize};
use crate::script::Dialect;
use crate::target::{Env, NamedTarget};
use crate::workload::{TableCount, Workload};

use request::{Choices, Found, Workloads};
use tables::{Prepared, prepare};

pub(super) use several::{hex, measure_cell};

/// What a workload needs of a database.
pub(super) struct Needs {
    /// What results call it.
    pub(super) name: String,
    /// The built-in tables that it is at home on.
    pub(super) schema: Option<Schema>,
    /// The tables whose number it must know.
    pub(super) table_set: Option<Schema>,
}

/// Reads the workload that the options name, and says what it needs.
pub(super) fn needs(args: &LoadArgs, dialect: Dialect) -> anyhow::Result<Needs> {
    let workloads = request::workloads(args, dialect, None)?;
    let schema = request::choices(args, &workloads)?.schema;
    let has_sets = workloads.each.iter().any(|workload| workload.has_table_sets());
    Ok(Needs { name: workloads.name, schema, table_set: has_sets.then_some(Schema::Sbtest) })
}

/// Measures what the options ask for.
pub(crate) async fn run(args: RunArgs, env: &Env, signals: &Signals) -> anyhow::Result<Exit> {
    let targets = targets(&args.target, env)?;
    let mut talk = Talk::stderr(Style::of_stderr(args.talk.quiet));
    for named in &targets {
        talk.say(&format!("target: {} ({})", named.target, named.why));
        for warning in &named.warnings {
            talk.insist(&format!("warning: {warning}"));
        }
    }
    let feeds = feeds::feeds(&args, &mut talk).await?;
    let [named] = &targets[..] else {
        return several::several(&args, &targets, &feeds, signals, &mut talk).await;
    };
    let mut job = Job::new(&args, named, signals, &mut talk)?;
    job.feeds = feeds;
    on_engine(&named.target, args.init, job).await
}

/// A run before it has touched anything: what can be checked without a connection has been.
struct Job<'a> {
    args: &'a RunArgs,
    named: &'a NamedTarget,
    signals: &'a Signals,
    talk: &'a mut Talk,
    workloads: Workloads,
    choices: Choices,
    sql: SchemaSql,
    feeds: Feeds,
    /// Takes the results of a cell, which is not reported by itself.
    sink: Option<&'a mut Option<Summary>>,
}

impl<'a> Job<'a> {
    fn new(
        args: &'a RunArgs,
        named: &'a NamedTarget,
        signals: &'a Signals,
        talk: &'a mut Talk,
    ) -> anyhow::Result<Self> {
        if args.tables.replace && !args.init {
            bail!("--replace is of no use without --init");
        }
        let dialect = named.target.dialect();
        let workloads = request::workloads(&args.load, dialect, None)?;
        let choices = request::choices(&args.load, &workloads)?;
        sessions::check(args, dialect, &workloads, &choices)?;
        request::check_ignored(&args.errors.ignore_errors)?;
        let schema = tables::schema(&choices, &workloads);
        if args.init && schema == Schema::Tpcb && args.load.scale.is_none() {
            bail!("run --init needs a scale: add --scale N (1 is 100,000 accounts)");
        }
        let sql = SchemaSql::new(schema, dialect);
        Ok(Self {
            args,
            named,
            signals,
            talk,
            workloads,
            choices,
            sql,
            feeds: Feeds::default(),
            sink: None,
        })
    }

    fn folder(&self) -> anyhow::Result<ResultFolder> {
        Ok(match &self.args.results.out {
            Some(path) => ResultFolder::create(path)?,
            None => ResultFolder::create_default(&self.workloads.name, jiff::Timestamp::now())?,
        })
    }

    /// Connects, loads where that is asked for, and looks whether everything is there. Nothing when a
    /// signal came.
    async fn make_ready<E: Engine>(&mut self, engine: &Arc<E>) -> anyhow::Result<Option<Ready>> {
        let most = self.args.load.clients.0.iter().copied().max().unwrap_or(0);
        let most = self.args.sessions.pool.unwrap_or(most);
        let workers = self.args.load.workers.unwrap_or_else(request::default_workers);
        allow_files::<E>(most, workers)?;
        let prepared = self.signals.or_interrupted(prepare(self.args, engine, self.sql, self.talk));
        let Some(prepared) = prepared.await else { return Ok(None) };
        let Prepared { facts, found } = prepared?;
        if let Some(max) = facts.clients_max.filter(|max| *max < most) {
            let (what, less) = match self.args.sessions.pool {
                Some(pool) => (format!("--pool {pool}"), "a smaller pool"),
                None => (format!("{most} clients"), "fewer clients"),
            };
            bail!(
                "{what}: the server accepts {max} connections of this user: take {less}, or raise \
                 its max_connections"
            );
        }
        let scale = self.scale(found.as_ref())?;
        let tables = tables::table_count(self.args, self.sql.schema(), found.as_ref())?;
        if self.sql.schema() == Schema::Sbtest {
            let dialect = self.named.target.dialect();
            self.workloads = request::workloads(&self.args.load, dialect, tables)?;
        }
        Ok(Some(Ready { facts, found, scale, tables }))
    }

    /// Everything from the first connection on. Nothing measured is `None` or an error, and then
    /// there are no results.
    async fn measure<E: Engine>(
        &mut self,
        engine: &Arc<E>,
        folder: &mut ResultFolder,
    ) -> anyhow::Result<Option<Exit>> {
        let Some(ready) = self.make_ready(engine).await? else { return Ok(None) };
        let Ready { facts, found, scale, tables } = ready;
        let plan = request::plan(
            self.args,
            &Found {
                target: self.named,
                workloads: &self.workloads,
                choices: &self.choices,
                scale,
                tables,
                maintain: self.choices.schema.is_some() && !self.args.window.no_vacuum,
            },
        );
        let summary = self.summary(&plan, &facts, found.as_ref())?;
        let script_files = self.write_inputs(folder, &plan, &summary)?;
        self.announce(&plan);
        let sweep = Sweep {
            plan: &plan,
            workloads: &self.workloads.each,
            upkeep: self.choices.schema.map(|_| self.upkeep::<E>(&plan, found.as_ref())),
            tables,
            interrupt: self.signals.interrupt(),
            talk: self.talk,
            folder,
            summary,
            script_files,
            host: plan.monitor.then(|| environment::monitor(&facts)),
            facts: &facts,
            feeds: &self.feeds,
            show_errors: self.args.errors.verbose_errors,
        };
        let Some(mut summary) = sweep.run(engine).await? else { return Ok(None) };
        let mut exit = self.judge(&summary);
        if self.args.results.verify && self.signals.exit().is_none() {
            let checking = verify(engine, self.sql);
            let Some(checked) = self.signals.or_interrupted(checking).await else {
                summary.warnings.push("interrupted while the tables were checked".into());
                self.report(folder, &mut summary)?;
                return Ok(self.signals.exit());
            };
            match checked {
                Ok(report) if report.is_clean() => self.talk.say(&report.to_string()),
                Ok(report) => {
                    self.talk.insist(&report.to_string());
                    summary.warnings.push("the tables do not add up, see `dbload verify`".into());
                    exit = Exit::Impaired;
                }
                Err(error) => {
                    summary.warnings.push(format!("the tables could not be checked: {error:#}"));
                    exit = Exit::Impaired;
                }
            }
        }
        if !self.report(folder, &mut summary)? && exit == Exit::Complete {
            exit = Exit::Impaired;
        }
        Ok(Some(exit))
    }

    /// The scale factor: the tables' own for built-in workloads, the option's for scripts.
    fn scale(&self, found: Option<&columns::Found>) -> anyhow::Result<Option<u64>> {
        let asked = self.args.load.scale.map(u64::from);
        let held = found.and_then(|found| found.size.scale()).map(u64::from);
        match self.choices.schema {
            None => Ok(asked.or(held)),
            Some(schema) if found.is_none() => {
                bail!("the tables are missing: `{}` makes them", schema.init_command())
            }
            Some(Schema::Tpcb) => Ok(held),
            Some(Schema::Sbtest) => Ok(None),
        }
    }

    fn upkeep<E: Engine>(&self, plan: &RunPlan, found: Option<&columns::Found>) -> Upkeep {
        let size = found.map_or(SchemaSize::Tpcb { scale: 1 }, |found| found.size);
        let remake = InitPlan { replace: true, ..init_plan::<E>(&self.args.tables, size, 0) };
        Upkeep {
            sql: self.sql,
            maintain: plan.maintain,
            settle: self.workloads.is_list,
            tables: match size {
                SchemaSize::Sbtest { tables, .. } => tables,
                SchemaSize::Tpcb { .. } => 0,
            },
            remake,
        }
    }

    fn summary(
        &self,
        plan: &RunPlan,
        facts: &ServerFacts,
        found: Option<&columns::Found>,
    ) -> anyhow::Result<Summary> {
        let mut warnings = Vec::new();
        for (script, why) in &self.choices.simple_only {
            let (script, why) = (script.clone(), why.clone());
            warnings.push(Warning::SimpleProtocol { script, why }.to_string());
        }
        let held = found.map(|found| found.size);
        if let (Some(Schema::Tpcb), Some(asked), Some(holds)) =
            (self.choices.schema, self.args.load.scale, plan.scale)
            && u64::from(asked) != holds
        {
            warnings.push(Warning::ScaleIgnored { asked: asked.into(), holds }.to_string());
        }
        if let (Dialect::Sqlite, Some(workers)) =
            (self.named.target.dialect(), self.args.load.workers)
        {
            warnings.push(Warning::WorkersIgnored { workers }.to_string());
        }
        if let (Some(asked), Some(SchemaSize::Sbtest { table_size: holds, .. })) =
            (plan.table_size, held)
            && asked > holds
        {
            warnings.push(Warning::KeysBeyondTable { asked, holds }.to_string());
        }
        let most = plan.clients.iter().copied().max().unwrap_or(0);
        let most = most.min(plan.pool.unwrap_or(most));
        if let Some(branches) = plan.scale
            && self.choices.updates_branches
            // SQLite has one writer whatever the scale.
            && self.named.target.dialect() != Dialect::Sqlite
            && u64::from(most) > branches
        {
            warnings.push(Warning::ClientsOverBranches { clients: most, branches }.to_string());
        }
        let plan_hash = plan.hash().context("hashing the plan")?;
        let arm = Arm {
            name: self.named.name.clone(),
            target: self.named.target.to_string(),
            engine: self.named.target.engine().to_owned(),
            transport: facts.transport.clone(),
            server_version: Some(facts.version.clone()),
            settings: facts.settings.clone(),
            storage: environment::storage(facts),
        };
        let new = Summary::new(this_program(), plan.seed, plan_hash);
        Ok(Summary { warnings, arms: vec![arm], ..new })
    }

    /// Everything that is known before the first level. Returns the paths of the scripts' texts.
    fn write_inputs(
        &self,
        folder: &ResultFolder,
        plan: &RunPlan,
        summary: &Summary,
    ) -> anyhow::Result<Vec<Vec<String>>> {
        folder.write_plan(&plan.to_toml().context("writing the plan")?)?;
        let storage = summary.arms.iter().map(|arm| (arm.name.clone(), arm.storage.clone()));
        folder.write_environment(&Environment {
            schema: ENVIRONMENT_SCHEMA.to_owned(),
            machine: crate::host::machine(),
            storage: storage.collect(),
        })?;
        folder.write_summary(summary)?;
        let write = |workload: &Arc<Workload>| {
            let scripts = workload.scripts.iter();
            scripts.map(|script| folder.write_script(&script.name, &script.source.text)).collect()
        };
        Ok(self.workloads.each.iter().map(write).collect::<Result<_, _>>()?)
    }

    fn announce(&mut self, plan: &RunPlan) {
        let size = match (plan.scale, plan.tables, plan.table_size) {
            (Some(scale), ..) => format!(", scale {scale}"),
            (None, Some(tables), Some(table_size)) => {
                format!(", {}", SchemaSize::Sbtest { tables, table_size })
            }
            _ => String::new(),
        };
        let protocol = plan.workloads.first().map(|workload| workload.protocol);
        self.talk.say(&format!(
            "{}{size}, {} protocol, {} per level, seed {}",
            plan.workload,
            protocol.unwrap_or(Protocol::Prepared),
            request::window_in_words(plan),
            plan.seed,
        ));
    }

    fn judge(&self, summary: &Summary) -> Exit {
        if let Some(exit) = self.signals.exit() {
            return exit;
        }
        let impaired = summary
            .runs
            .iter()
            .any(|run| run.clients_lost > 0 || (run.transactions == 0 && run.failed.total > 0));
        if impaired || !summary.complete { Exit::Impaired } else { Exit::Complete }
    }

    /// Prints the report and names the folder. Whether everything is on disk; what is not is said.
    fn report(&mut self, folder: &mut ResultFolder, summary: &mut Summary) -> anyhow::Result<bool> {
        let written = folder.finish_intervals().and_then(|()| folder.write_summary(summary));
        let mut is_written = written.is_ok();
        let mut series = Vec::new();
        let mut missing = written.err().map(|error| error.to_string());
        // A cell of several is shown on the page of the whole.
        if is_written && self.sink.is_none() {
            match html::write_in(folder.path()) {
                Ok(results) => series = results.series(),
                Err(error) => missing = Some(error.to_string()),
            }
        }
        if let Some(why) = missing {
            is_written = false;
            summary.warnings.push(Warning::NotWritten { why }.to_string());
        }
        if let Some(sink) = &mut self.sink {
            **sink = Some(summary.clone());
            return Ok(is_written);
        }
        let results = &self.args.results;
        let report = results.format.format().of(summary, results.report_per_statement, &series)?;
        let printed = Output::stdout().write(&report);
        for line in text::warnings(summary, report_width()).lines() {
            self.talk.insist(line);
        }
        self.talk.insist(&format!("results: {}", folder.path().display()));
        printed.context("printing the report")?;
        Ok(is_written)
    }
}

/// What a run needs to know of its server.
struct Ready {
    facts: ServerFacts,
    found: Option<columns::Found>,
    scale: Option<u64>,
    tables: Option<TableCount>,
}

/// Makes a server ready for its runs, and measures nothing.
struct MakeReady<'a>(Job<'a>);

impl OnEngine for MakeReady<'_> {
    fn pooling(&self) -> Option<Pooling> {
        self.0.pooling()
    }

    async fn on<E: Engine>(mut self, engine: Arc<E>) -> anyhow::Result<Exit> {
        let ready = self.0.make_ready(&engine).await?;
        Ok(ready.map_or(Exit::Interrupted, |_| Exit::Complete))
    }
}

impl OnEngine for Job<'_> {
    fn pooling(&self) -> Option<Pooling> {
        let sessions = &self.args.sessions;
        let connections = sessions.pool?;
        Some(Pooling { connections, session_sql: sessions.session_sql.clone() })
    }

    async fn on<E: Engine>(mut self, engine: Arc<E>) -> anyhow::Result<Exit> {
        let mut folder = self.folder()?;
        match self.measure(&engine, &mut folder).await {
            Ok(Some(exit)) => Ok(exit),
            Ok(None) => {
                folder.discard();
                self.talk.insist("interrupted before anything was measured");
                Ok(self.signals.exit().unwrap_or(Exit::Interrupted))
            }
            // What was measured stays, whatever came after.
            Err(error) if folder.has_results() => {
                self.talk.insist(&format!("dbload: {}", super::chain(&error)));
                Ok(Exit::Impaired)
            }
            Err(error) => {
                folder.discard();
                Err(error)
            }
        }
    }
}

async fn verify<E: Engine>(engine: &Arc<E>, sql: SchemaSql) -> anyhow::Result<VerifyReport> {
    // A connection of its own: the server may have been restarted meanwhile.
    let mut admin = engine.admin().await?;
    Ok(loaded::verify(&mut admin, sql, false).await?)
}
