//! `dbload init`: makes and loads the tables of a schema.

use std::sync::Arc;

use anyhow::bail;

use super::engines::{OnEngine, on_engine};
use super::signals::Signals;
use super::tables::{LoadTalk, init_plan};
use super::{Exit, target};
use crate::cli::InitArgs;
use crate::engine::Engine;
use crate::report::{Output, Style, Talk};
use crate::runner::load::{self, Outcome};
use crate::schema::files::SchemaSql;
use crate::schema::plan::InitPlan;
use crate::schema::progress::LoadProgress as _;
use crate::target::Env;

/// Makes and loads what the options ask for.
pub(crate) async fn init(args: InitArgs, env: &Env, signals: &Signals) -> anyhow::Result<Exit> {
    if let Some(steps) = &args.init_steps {
        bail!(
            "-I {steps}: the steps of a load are not chosen one by one; see --replace, \
             --foreign-keys and `dbload clean`"
        );
    }
    if args.workload != "tpcb" {
        bail!("--workload \"{}\": there is one schema to load, tpcb", args.workload);
    }
    let named = target(&args.target, env)?;
    let mut talk = Talk::stderr(Style::of_stderr(args.talk.quiet));
    talk.say(&format!("target: {} ({})", named.target, named.why));
    on_engine(&named.target, true, Init { args: &args, talk, signals }).await
}

struct Init<'a> {
    args: &'a InitArgs,
    talk: Talk,
    signals: &'a Signals,
}

impl OnEngine for Init<'_> {
    async fn on<E: Engine>(mut self, engine: Arc<E>) -> anyhow::Result<Exit> {
        let Self { args, signals, .. } = self;
        let mut plan = init_plan::<E>(&args.tables, args.scale, args.seed);
        if let Some(jobs) = args.jobs_short {
            plan = InitPlan { jobs, ..plan };
        }
        let sql = SchemaSql::tpcb(E::DIALECT);
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
