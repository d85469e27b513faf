//! `dbload init`: makes and loads the tables of a schema.

use std::sync::Arc;

use anyhow::{Context, bail};

use super::engines::{OnEngine, on_engine};
use super::signals::Signals;
use super::tables::{init_plan, schema_size};
use super::{Exit, target};
use crate::cli::InitArgs;
use crate::engine::Engine;
use crate::measure::LoadTalk;
use crate::report::{Output, Style, Talk};
use crate::runner::load::{self, Outcome};
use crate::schema::files::SchemaSql;
use crate::schema::plan::InitPlan;
use crate::schema::progress::LoadProgress as _;
use crate::schema::{Schema, SchemaSize};
use crate::script::Dialect;
use crate::target::Env;
use crate::workload::builtin;
use crate::workload::source::Source;

/// Makes and loads what the options ask for.
pub(crate) async fn init(args: InitArgs, env: &Env, signals: &Signals) -> anyhow::Result<Exit> {
    if let Some(steps) = &args.init_steps {
        bail!(
            "-I {steps}: the steps of a load are not chosen one by one; see --replace, \
             --foreign-keys and `dbload clean`"
        );
    }
    let schema = schema(&args.workload)?;
    let size = schema_size(schema, args.scale, &args.size)?;
    let named = target(&args.target, env)?;
    let mut talk = Talk::stderr(Style::of_stderr(args.talk.quiet));
    talk.say(&format!("target: {} ({})", named.target, named.why));
    on_engine(&named.target, true, Init { args: &args, size, talk, signals }).await
}

/// The schema of that name, or that a workload of that name runs on.
fn schema(name: &str) -> anyhow::Result<Schema> {
    match name {
        "tpcb" => return Ok(Schema::Tpcb),
        "sysbench" | "sbtest" => return Ok(Schema::Sbtest),
        _ => {}
    }
    // A list is of one schema.
    let first = builtin::list(name).and_then(|names| names.first().copied());
    let source =
        Source::builtin(first.unwrap_or(name), Dialect::default(), None).with_context(|| {
            format!("--workload \"{name}\" is neither a schema (tpcb, sysbench) nor a workload")
        })?;
    let key = source.header().schema.unwrap_or_default();
    Schema::from_key(&key)
        .with_context(|| format!("the workload {} needs no tables of dbload's", source.name))
}

struct Init<'a> {
    args: &'a InitArgs,
    size: SchemaSize,
    talk: Talk,
    signals: &'a Signals,
}

impl OnEngine for Init<'_> {
    async fn on<E: Engine>(mut self, engine: Arc<E>) -> anyhow::Result<Exit> {
        let Self { args, signals, size, .. } = self;
        let mut plan = init_plan::<E>(&args.tables, size, args.seed);
        if let Some(jobs) = args.jobs_short {
            plan = InitPlan { jobs, ..plan };
        }
        let sql = SchemaSql::new(size.schema(), E::DIALECT);
        let mut progress = LoadTalk::new(&mut self.talk);
        let loading = load::init(&engine, sql, &plan, false, &mut progress);
        let Some(outcome) = signals.or_interrupted(loading).await else {
            progress.note("interrupted: the load did not end, `dbload init --replace` starts anew");
            return Ok(signals.exit().unwrap_or(Exit::Interrupted));
        };
        if let Outcome::Loaded(report) = outcome? {
            Output::stdout().write(&format!("{report}\n"))?;
        }
        Ok(Exit::Complete)
    }
}
