//! What `init` and `run --init` have in common: the plan of a load from its options, and its
//! progress on the terminal.

use std::time::Duration;

use anyhow::bail;
use tokio::time::Instant;

use crate::cli::{PartitionMethod as MethodArg, SizeArgs, TableArgs};
use crate::engine::Engine;
use crate::report::Talk;
use crate::schema::plan::{InitPlan, PartitionMethod};
use crate::schema::progress::{LoadProgress, LoadStep};
use crate::schema::{Schema, SchemaSize, sbtest};
use crate::units::format_bytes;

/// Connections that load when nobody says: more gain little before the disk is the limit.
const MOST_DEFAULT_JOBS: usize = 4;

/// The plan of a load.
pub(crate) fn init_plan<E: Engine>(tables: &TableArgs, size: SchemaSize, seed: u64) -> InitPlan {
    InitPlan {
        size,
        jobs: tables.jobs.unwrap_or_else(default_jobs::<E>),
        fillfactor: tables.fillfactor,
        unlogged: tables.unlogged,
        foreign_keys: tables.foreign_keys,
        partitions: tables.partitions,
        partition_method: match tables.partition_method {
            Some(MethodArg::Hash) => PartitionMethod::Hash,
            Some(MethodArg::Range) | None => PartitionMethod::Range,
        },
        tablespace: tables.tablespace.clone(),
        index_tablespace: tables.index_tablespace.clone(),
        replace: tables.replace,
        vacuum: true,
        seed,
    }
}

/// The size that the options ask for, each option where its schema has it.
pub(crate) fn schema_size(
    schema: Schema,
    scale: Option<u32>,
    size: &SizeArgs,
) -> anyhow::Result<SchemaSize> {
    let of_sbtest =
        [(size.tables.is_some(), "--tables"), (size.table_size.is_some(), "--table-size")];
    match schema {
        Schema::Tpcb => match of_sbtest.into_iter().find(|(given, _)| *given) {
            Some((_, option)) => bail!(
                "{option} is for the sysbench tables: the size of the TPC-B-like ones is --scale"
            ),
            None => Ok(SchemaSize::Tpcb { scale: scale.unwrap_or(1) }),
        },
        Schema::Sbtest if scale.is_some() => {
            bail!("--scale is for the TPC-B-like tables: give --tables and --table-size")
        }
        Schema::Sbtest => Ok(SchemaSize::Sbtest {
            tables: size.tables.unwrap_or(sbtest::DEFAULT_TABLES),
            table_size: size.table_size.unwrap_or(sbtest::DEFAULT_TABLE_SIZE),
        }),
    }
}

/// Half of the processors: the server has as much to do with a stream as the driver.
fn default_jobs<E: Engine>() -> u32 {
    if E::BLOCKING {
        return 1;
    }
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    u32::try_from((processors / 2).clamp(1, MOST_DEFAULT_JOBS)).unwrap_or(1)
}

/// Shows a load on standard error.
pub(crate) struct LoadTalk<'t> {
    talk: &'t mut Talk,
    began: Instant,
    shown: Option<Duration>,
    size_told: bool,
}

impl<'t> LoadTalk<'t> {
    /// The clock of the load starts now.
    pub(crate) fn new(talk: &'t mut Talk) -> Self {
        Self { talk, began: Instant::now(), shown: None, size_told: false }
    }
}

/// Often enough for a bar that moves.
const REDRAW: Duration = Duration::from_millis(100);

impl LoadProgress for LoadTalk<'_> {
    fn step(&mut self, step: LoadStep) {
        self.talk.step_ends();
        self.talk.say(&step.doing());
        self.began = Instant::now();
        self.shown = None;
    }

    fn rows(&mut self, done: u64, total: u64, size_bytes: u64) {
        if !self.size_told {
            self.size_told = true;
            let size = format_bytes(size_bytes);
            self.talk.say(&format!("about {size} of tables and keys"));
        }
        let elapsed = self.began.elapsed();
        if done < total && self.shown.is_some_and(|shown| elapsed < shown + REDRAW) {
            return;
        }
        self.shown = Some(elapsed);
        self.talk.load("the tables", done, total, elapsed);
    }

    fn note(&mut self, text: &str) {
        self.talk.say(text);
    }
}
