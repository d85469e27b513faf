//! fio probes of a study: every storage before each round, in drawn order, with no server running.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;

use crate::cmd::signals::Signals;
use crate::host::fio::{self, JOBS, Probing};
use crate::instance::InstanceDir;
use crate::plan::study::{Probe as ProbePlan, StudyPlan};
use crate::report::Talk;
use crate::result::probe::Probe;
use crate::study::draw;

/// The storages of a plan as probes see them.
pub(super) struct Probes {
    storages: Vec<(String, PathBuf)>,
    /// Storages in the order of each round.
    order: Vec<Vec<usize>>,
    probing: Probing,
    results: PathBuf,
}

/// Refuses a plan that asks for probes where there is no fio.
pub(super) fn check(plan: &StudyPlan) -> anyhow::Result<()> {
    let Some(probe) = &plan.probe else { return Ok(()) };
    fio::check().map_err(|error| plan.refusal(probe.line, format!("[probe]: {error}")).into())
}

impl Probes {
    /// Probes of the plan's storages, with fio's own results in `results`.
    pub(super) fn new(plan: &StudyPlan, results: &Path) -> Option<Self> {
        let ProbePlan { duration, size_bytes, .. } = *plan.probe.as_ref()?;
        let mut storages: Vec<(String, PathBuf)> = Vec::new();
        for arm in &plan.arms {
            if storages.iter().all(|(name, _)| *name != arm.storage) {
                storages.push((arm.storage.clone(), arm.dir.clone()));
            }
        }
        // The order of the cells stays as it is without probes.
        let drawn = draw(!plan.seed, plan.rounds, storages.len(), &[1]);
        let order = drawn.chunks(storages.len().max(1));
        let order = order.map(|round| round.iter().map(|cell| cell.arm).collect()).collect();
        let probing = Probing { duration, size_bytes };
        Some(Self { storages, order, probing, results: results.join("probes") })
    }

    /// The probes of a round; those that an earlier study made are read. Nothing when a signal came.
    pub(super) async fn round(
        &self,
        round: u32,
        signals: &Signals,
        talk: &mut Talk,
    ) -> anyhow::Result<Option<Vec<Probe>>> {
        fs::create_dir_all(&self.results)
            .with_context(|| format!("making {}", self.results.display()))?;
        let mut found = Vec::new();
        let order = usize::try_from(round - 1).ok().and_then(|index| self.order.get(index));
        for index in order.into_iter().flatten() {
            let (name, dir) = &self.storages[*index];
            for job in JOBS {
                let path = self.results.join(format!("{round:03}-{name}-{job}.json"));
                let text = match fs::read_to_string(&path) {
                    Ok(text) => text,
                    Err(_) => {
                        talk.say(&format!("round {round}, probing {name}: fio {job}"));
                        let Some(text) = self.probe(job, dir, signals).await? else {
                            return Ok(None);
                        };
                        fs::write(&path, &text)
                            .with_context(|| format!("writing {}", path.display()))?;
                        text
                    }
                };
                found.push(fio::read(&text, name, round, job)?);
            }
        }
        Ok(Some(found))
    }

    async fn probe(
        &self,
        job: &str,
        dir: &Path,
        signals: &Signals,
    ) -> anyhow::Result<Option<String>> {
        let folder = InstanceDir::take(dir, "fio-probe")?;
        let path = fs::canonicalize(folder.path()).context("the folder of the probe")?;
        let probed = signals.or_interrupted(fio::run(job, &path, self.probing)).await;
        // Its files would take room from the arms.
        folder.clear()?;
        Ok(probed.transpose()?)
    }
}
