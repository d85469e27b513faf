//! What `init` and `run --init` have in common: the plan of a load from its options.

use anyhow::bail;

use crate::cli::{PartitionMethod as MethodArg, SizeArgs, TableArgs};
use crate::engine::Engine;
use crate::schema::plan::{InitPlan, PartitionMethod};
use crate::schema::{Schema, SchemaSize, sbtest};

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
