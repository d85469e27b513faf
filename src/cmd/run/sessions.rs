//! What the ways of coming by a session cannot be combined with, said before anything is connected.

use anyhow::bail;

use super::request::{Choices, Workloads};
use crate::cli::{ProtocolArg, RunArgs};
use crate::plan::Protocol;
use crate::script::Dialect;
use crate::script::program::Step;

/// Refuses what would not do what it says.
pub(super) fn check(
    args: &RunArgs,
    dialect: Dialect,
    workloads: &Workloads,
    choices: &Choices,
) -> anyhow::Result<()> {
    let (load, sessions) = (&args.load, &args.sessions);
    if load.pipeline && sessions.connect && load.protocol != Some(ProtocolArg::Extended) {
        bail!(
            "--pipeline with --connect needs --protocol extended: each new connection would \
             prepare its statements one by one before it could send them as one"
        );
    }
    if sessions.pool.is_some() {
        pool(args, dialect, workloads, choices)?;
    }
    Ok(())
}

fn pool(
    args: &RunArgs,
    dialect: Dialect,
    workloads: &Workloads,
    choices: &Choices,
) -> anyhow::Result<()> {
    if dialect != Dialect::Postgres {
        bail!("--pool needs PostgreSQL: on {} every client has a connection", dialect.name());
    }
    if args.load.workers.is_some_and(|workers| workers > 1) {
        bail!("--workers: the connections of a --pool belong to one worker: leave it out");
    }
    if args.load.pipeline {
        bail!("--pool and --pipeline: the driver behind the pool waits for each statement");
    }
    if choices.protocols.contains(&Protocol::Extended) {
        bail!(
            "--pool: the driver behind it prepares or sends text: give --protocol prepared or simple"
        );
    }
    for (workload, protocol) in workloads.each.iter().zip(&choices.protocols) {
        for script in &workload.scripts {
            let name = &script.name;
            let compound = workload.statements.iter().any(|statement| {
                workload.scripts[statement.script as usize].name == *name
                    && statement.statements > 1
            });
            if compound {
                bail!(
                    "--pool: the script {name} sends several statements at once (\\;), after which nobody \
                       knows whether the connection may be lent again"
                );
            }
            for step in &script.program.steps {
                match step {
                    Step::Sql { store: Some(_), .. } if *protocol == Protocol::Prepared => bail!(
                        "--pool: the script {name} keeps rows with \\gset or \\aset: give --protocol \
                         simple, in which they come as text"
                    ),
                    Step::StartPipeline => {
                        bail!("--pool: the script {name} has a pipeline of its own")
                    }
                    _ => {}
                }
            }
        }
    }
    Ok(())
}
