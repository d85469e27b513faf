//! `dbload run`: options in, levels measured one after the other, results written as they come.

mod request;

use std::sync::Arc;

use anyhow::{Context, bail};

use super::engines::{OnEngine, on_engine};
use super::signals::Signals;
use super::tables::{LoadTalk, init_plan};
use super::{Exit, target};
use crate::cli::RunArgs;
use crate::engine::{Admin, Engine, ServerFacts};
use crate::measure::{Sweep, environment};
use crate::plan::RunPlan;
use crate::report::text::Look;
use crate::report::{Output, ResultFolder, Style, Talk, report_width, text};
use crate::result::Environment;
use crate::result::environment::SCHEMA as ENVIRONMENT_SCHEMA;
use crate::result::summary::{Arm, Program, SCHEMA};
use crate::result::{Summary, Warning};
use crate::runner::limits::allow_files;
use crate::runner::load::{self, tables};
use crate::schema::SchemaSize;
use crate::schema::check::VerifyReport;
use crate::schema::files::SchemaSql;
use crate::script::Dialect;
use crate::target::{Env, NamedTarget, redact_args};
use crate::workload::Workload;

use request::Found;

/// Measures what the options ask for.
pub(crate) async fn run(args: RunArgs, env: &Env, signals: &Signals) -> anyhow::Result<Exit> {
    let named = target(&args.target, env)?;
    let mut talk = Talk::stderr(Style::of_stderr(args.talk.quiet || args.results.json));
    talk.say(&format!("target: {} ({})", named.target, named.why));
    for warning in &named.warnings {
        talk.insist(&format!("warning: {warning}"));
    }
    let job = Job::new(&args, &named, signals, &mut talk)?;
    on_engine(&named.target, args.init, job).await
}

/// A run before it has touched anything: what can be checked without a connection has been.
struct Job<'a> {
    args: &'a RunArgs,
    named: &'a NamedTarget,
    signals: &'a Signals,
    talk: &'a mut Talk,
    workload: Arc<Workload>,
    found: request::Choices,
    sql: SchemaSql,
}

impl<'a> Job<'a> {
    fn new(
        args: &'a RunArgs,
        named: &'a NamedTarget,
        signals: &'a Signals,
        talk: &'a mut Talk,
    ) -> anyhow::Result<Self> {
        if args.init && args.load.scale.is_none() {
            bail!("run --init needs a scale: add --scale N (1 is 100,000 accounts)");
        }
        if args.tables.replace && !args.init {
            bail!("--replace is of no use without --init");
        }
        let dialect = named.target.dialect();
        let workload = request::workload(&args.load, dialect)?;
        let found = request::choices(&args.load, &workload)?;
        let sql = SchemaSql::tpcb(dialect);
        Ok(Self { args, named, signals, talk, workload: Arc::new(workload), found, sql })
    }

    fn folder(&self) -> anyhow::Result<ResultFolder> {
        Ok(match &self.args.results.out {
            Some(path) => ResultFolder::create(path)?,
            None => ResultFolder::create_default(&self.workload.name, jiff::Timestamp::now())?,
        })
    }

    /// Everything from the first connection on. Nothing measured is `None` or an error, and then
    /// there are no results.
    async fn measure<E: Engine>(
        &mut self,
        engine: &Arc<E>,
        folder: &mut ResultFolder,
    ) -> anyhow::Result<Option<Exit>> {
        let most = self.args.load.clients.0.iter().copied().max().unwrap_or(0);
        let workers = self.args.load.workers.unwrap_or_else(request::default_workers);
        allow_files::<E>(most, workers)?;
        let prepared = self.signals.or_interrupted(prepare(self.args, engine, self.sql, self.talk));
        let Some(prepared) = prepared.await else { return Ok(None) };
        let Prepared { facts, tables } = prepared?;
        if let Some(max) = facts.clients_max.filter(|max| *max < most) {
            bail!(
                "{most} clients: the server accepts {max} connections of this user: take fewer \
                 clients, or raise its max_connections"
            );
        }
        let scale = self.scale(tables.as_ref())?;
        let plan = request::plan(
            self.args,
            &Found {
                target: self.named,
                workload: &self.workload,
                choices: &self.found,
                scale,
                maintain: self.found.uses_tpcb && !self.args.window.no_vacuum,
            },
        );
        let summary = self.summary(&plan, &facts)?;
        let script_files = self.write_inputs(folder, &plan, &summary)?;
        self.announce(&plan);
        let sweep = Sweep {
            plan: &plan,
            workload: &self.workload,
            sql: self.sql,
            interrupt: self.signals.interrupt(),
            talk: self.talk,
            folder,
            summary,
            script_files,
            host: plan.monitor.then(|| environment::monitor(&facts)),
            facts: &facts,
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
    fn scale(&self, tables: Option<&u64>) -> anyhow::Result<Option<u64>> {
        let asked = self.args.load.scale.map(u64::from);
        if !self.found.uses_tpcb {
            return Ok(asked.or(tables.copied()));
        }
        let Some(tables) = tables.copied() else {
            bail!("the tables are missing: `dbload init --scale N` makes them");
        };
        Ok(Some(tables))
    }

    fn summary(&self, plan: &RunPlan, facts: &ServerFacts) -> anyhow::Result<Summary> {
        let args: Vec<String> =
            std::env::args_os().map(|arg| arg.to_string_lossy().into_owned()).collect();
        let mut warnings = Vec::new();
        for (script, why) in &self.found.simple_only {
            let (script, why) = (script.clone(), why.clone());
            warnings.push(Warning::SimpleProtocol { script, why }.to_string());
        }
        let most = plan.clients.iter().copied().max().unwrap_or(0);
        if let Some(branches) = plan.scale
            && self.found.updates_branches
            // SQLite has one writer whatever the scale.
            && self.named.target.dialect() != Dialect::Sqlite
            && u64::from(most) > branches
        {
            warnings.push(Warning::ClientsOverBranches { clients: most, branches }.to_string());
        }
        Ok(Summary {
            schema: SCHEMA.to_owned(),
            dbload: Program {
                version: env!("CARGO_PKG_VERSION").to_owned(),
                command_line: redact_args(&args).join(" "),
            },
            seed: plan.seed,
            plan_hash: plan.hash().context("hashing the plan")?,
            complete: false,
            warnings,
            arms: vec![Arm {
                name: self.named.name.clone(),
                target: self.named.target.to_string(),
                engine: self.named.target.engine().to_owned(),
                transport: facts.transport.clone(),
                server_version: Some(facts.version.clone()),
                settings: facts.settings.clone(),
                storage: environment::storage(facts),
            }],
            runs: Vec::new(),
            comparisons: Vec::new(),
        })
    }

    /// Everything that is known before the first level. Returns the paths of the scripts' texts.
    fn write_inputs(
        &self,
        folder: &ResultFolder,
        plan: &RunPlan,
        summary: &Summary,
    ) -> anyhow::Result<Vec<String>> {
        folder.write_plan(&plan.to_toml().context("writing the plan")?)?;
        let storage = summary.arms.iter().map(|arm| (arm.name.clone(), arm.storage.clone()));
        folder.write_environment(&Environment {
            schema: ENVIRONMENT_SCHEMA.to_owned(),
            machine: crate::host::machine(),
            storage: storage.collect(),
        })?;
        folder.write_summary(summary)?;
        let mut files = Vec::new();
        for script in &self.workload.scripts {
            files.push(folder.write_script(&script.name, &script.source.text)?);
        }
        Ok(files)
    }

    fn announce(&mut self, plan: &RunPlan) {
        let scale = plan.scale.map(|scale| format!(", scale {scale}")).unwrap_or_default();
        self.talk.say(&format!(
            "{}{scale}, {} protocol, {} per level, seed {}",
            plan.workload,
            plan.protocol,
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
        let is_written = written.is_ok();
        if let Err(error) = written {
            summary.warnings.push(Warning::NotWritten { why: error.to_string() }.to_string());
        }
        let width = report_width();
        let statements = self.args.results.report_per_statement;
        let report = match self.args.results.json {
            true => summary.to_json()?,
            false => text::report(summary, Look { width, statements }),
        };
        let printed = Output::stdout().write(&report);
        for line in text::warnings(summary, width).lines() {
            self.talk.insist(line);
        }
        self.talk.insist(&format!("results: {}", folder.path().display()));
        printed.context("printing the report")?;
        Ok(is_written)
    }
}

impl OnEngine for Job<'_> {
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

/// A connected server whose tables are there, where they are wanted.
struct Prepared {
    facts: ServerFacts,
    /// Scale of the TPC-B-like tables, where there are some.
    tables: Option<u64>,
}

async fn verify<E: Engine>(engine: &Arc<E>, sql: SchemaSql) -> anyhow::Result<VerifyReport> {
    // A connection of its own: the server may have been restarted meanwhile.
    let mut admin = engine.admin().await?;
    Ok(tables::verify(&mut admin, sql, false).await?)
}

async fn prepare<E: Engine>(
    args: &RunArgs,
    engine: &Arc<E>,
    sql: SchemaSql,
    talk: &mut Talk,
) -> anyhow::Result<Prepared> {
    let mut admin = engine.admin().await?;
    let facts = admin.facts().await.context("asking the server about itself")?;
    if let (true, Some(scale)) = (args.init, args.load.scale) {
        let size = SchemaSize::Tpcb { scale };
        let plan = init_plan::<E>(&args.tables, size, args.load.seed.unwrap_or(0));
        let outcome =
            load::init(engine, sql, &plan, !plan.replace, &mut LoadTalk::new(talk)).await?;
        match outcome {
            load::Outcome::Loaded(report) => talk.say(&report.to_string()),
            load::Outcome::Reused(found) => {
                talk.say(&format!("using the tables that are there, of {}", found.size));
            }
        }
    }
    let tables = match tables::find(&mut admin, sql).await {
        Ok(found) => found.size.scale().map(u64::from),
        Err(load::LoadError::Missing { .. }) => None,
        // A script of the user's may live beside tables that are not ours.
        Err(_) if !args.load.script.is_empty() => None,
        Err(error) => return Err(error.into()),
    };
    Ok(Prepared { facts, tables })
}
