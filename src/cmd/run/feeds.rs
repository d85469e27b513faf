//! From options to what other programs get of a run.

use anyhow::Context;

use crate::cli::{ProgressFormat, RunArgs};
use crate::measure::{Exporter, Feeds, LogKind};
use crate::report::Talk;
use crate::report::pgbench::LogStyle;

/// What the options ask for; the address is bound now, so that a taken one is refused before
/// anything is touched.
pub(super) async fn feeds(args: &RunArgs, talk: &mut Talk) -> anyhow::Result<Feeds> {
    let asked = &args.results.feeds;
    let style = LogStyle {
        lag: args.window.rate.is_some(),
        // As in pgbench, by the option and not by what happened; the sysbench workloads' default
        // is not known here, and their retries are in the summary.
        retries: args.errors.max_tries.is_some_and(|tries| tries != 1),
        detailed: args.errors.failures_detailed,
    };
    let mut feeds = Feeds {
        pgbench_progress: asked.progress_format == ProgressFormat::Pgbench,
        log: asked.log.then_some(LogKind { style, aggregate_s: asked.aggregate_interval }),
        exporter: None,
    };
    if let Some(address) = &asked.prometheus {
        let exporter = Exporter::listen(address).await;
        let exporter = exporter.with_context(|| {
            format!("--prometheus {address}: cannot listen there; give another address")
        })?;
        talk.say(&format!("counters for Prometheus: http://{}/metrics", exporter.address()));
        feeds.exporter = Some(exporter);
    }
    Ok(feeds)
}
