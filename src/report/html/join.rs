//! Results of several folders as one, as if one run had measured them.

use super::input::{Results, RunKey};
use crate::result::summary::Program;
use crate::result::{Environment, Summary};

/// Results with the name that they have in the whole.
#[derive(Debug)]
pub struct Part {
    /// Goes before the paths of its scripts.
    pub label: String,
    /// The results.
    pub results: Results,
}

impl Results {
    /// Gives an arm another name, and its runs rounds that are `later` by so many.
    pub fn rename_arm(&mut self, from: &str, to: &str, later: u32) {
        let summary = &mut self.summary;
        for arm in summary.arms.iter_mut().filter(|arm| arm.name == from) {
            to.clone_into(&mut arm.name);
        }
        for run in summary.runs.iter_mut().filter(|run| run.arm == from) {
            to.clone_into(&mut run.arm);
            run.round += later;
        }
        let renamed = |(arm, workload, round, clients): RunKey| match arm == from {
            true => (to.to_owned(), workload, round + later, clients),
            false => (arm, workload, round, clients),
        };
        let intervals = std::mem::take(&mut self.intervals);
        self.intervals = intervals.into_iter().map(|(key, rows)| (renamed(key), rows)).collect();
        let server = std::mem::take(&mut self.server);
        self.server = server.into_iter().map(|(key, rows)| (renamed(key), rows)).collect();
        for event in self.events.iter_mut().flatten().filter(|event| event.arm == from) {
            to.clone_into(&mut event.arm);
            event.round += later;
        }
        if let Some(environment) = &mut self.environment
            && let Some(storage) = environment.storage.remove(from)
        {
            environment.storage.insert(to.to_owned(), storage);
        }
    }

    /// Gives every run this workload.
    pub fn set_workload(&mut self, name: &str) {
        self.summary.runs.iter_mut().for_each(|run| name.clone_into(&mut run.workload));
        let renamed = |(arm, _, round, clients): RunKey| (arm, name.to_owned(), round, clients);
        let intervals = std::mem::take(&mut self.intervals);
        self.intervals = intervals.into_iter().map(|(key, rows)| (renamed(key), rows)).collect();
        let server = std::mem::take(&mut self.server);
        self.server = server.into_iter().map(|(key, rows)| (renamed(key), rows)).collect();
        let events = self.events.iter_mut().flatten();
        events.for_each(|event| name.clone_into(&mut event.workload));
    }

    /// All parts together, their runs in the order of time where every one is known to have begun,
    /// else in that of the parts. Arms have different names already.
    pub fn join(name: String, command_line: String, parts: Vec<Part>) -> Self {
        let mut whole = Self::of_summary(name, empty(command_line));
        let several = parts.len() > 1;
        for Part { label, mut results } in parts {
            let inside = |file: &str| match several {
                true => format!("{label}/{file}"),
                false => file.to_owned(),
            };
            whole.summary.complete &= results.summary.complete;
            for warning in results.summary.warnings {
                whole.summary.warnings.push(match several {
                    true => format!("{label}: {warning}"),
                    false => warning,
                });
            }
            for arm in results.summary.arms {
                if whole.summary.arms.iter().all(|known| known.name != arm.name) {
                    whole.summary.arms.push(arm);
                }
            }
            for mut run in results.summary.runs {
                run.scripts.iter_mut().for_each(|script| script.file = inside(&script.file));
                whole.summary.runs.push(run);
            }
            // Probes are named after storages, which two studies may both have.
            if !several {
                whole.summary.probes = results.summary.probes;
                whole.summary.probe_comparisons = results.summary.probe_comparisons;
            }
            whole.percentiles.append(&mut results.percentiles);
            whole.started.append(&mut results.started);
            whole.intervals.extend(results.intervals);
            whole.server.extend(results.server);
            if let Some(events) = results.events {
                whole.events.get_or_insert_with(Vec::new).extend(events);
            }
            whole.environment = joined(whole.environment, results.environment);
            let scripts = results.scripts.into_iter();
            whole.scripts.extend(scripts.map(|(file, text)| (inside(&file), text)));
            // One plan is that of the whole; of several none is.
            whole.plan = if several { None } else { results.plan };
        }
        whole.in_order_of_time()
    }

    /// Leaves out runs.
    pub fn retain(&mut self, keep: impl Fn(&crate::result::Run) -> bool) {
        let kept: Vec<bool> = self.summary.runs.iter().map(keep).collect();
        let chosen = |index: &mut usize| {
            *index += 1;
            kept[*index - 1]
        };
        let mut index = 0;
        self.summary.runs.retain(|_| chosen(&mut index));
        index = 0;
        self.percentiles.retain(|_| chosen(&mut index));
        index = 0;
        self.started.retain(|_| chosen(&mut index));
    }

    fn in_order_of_time(mut self) -> Self {
        let Some(starts) = self.started.iter().copied().collect::<Option<Vec<f64>>>() else {
            return self;
        };
        let mut order: Vec<usize> = (0..starts.len()).collect();
        order.sort_by(|a, b| starts[*a].total_cmp(&starts[*b]));
        let (runs, tables) = (self.summary.runs, self.percentiles);
        self.started = order.iter().map(|at| Some(starts[*at])).collect();
        self.percentiles = order.iter().map(|at| tables[*at].clone()).collect();
        self.summary.runs = order.iter().map(|at| runs[*at].clone()).collect();
        self
    }
}

/// There is no plan of the whole, and so no hash and no seed to show.
fn empty(command_line: String) -> Summary {
    let dbload = Program { version: env!("CARGO_PKG_VERSION").to_owned(), command_line };
    Summary { complete: true, ..Summary::new(dbload, 0, String::new()) }
}

/// The first machine with the storage of all arms; where machines differ, no machine.
fn joined(one: Option<Environment>, two: Option<Environment>) -> Option<Environment> {
    match (one, two) {
        (Some(mut one), Some(two)) => {
            if one.machine != two.machine {
                one.machine = Default::default();
            }
            one.storage.extend(two.storage);
            Some(one)
        }
        (one, two) => one.or(two),
    }
}
