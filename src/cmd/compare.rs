//! `dbload compare`: arms of results on disk against a baseline.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

use super::{Exit, sources};
use crate::cli::CompareFilesArgs;
use crate::compare::gate::{Found, Gate};
use crate::compare::{Question, alike, compare_runs, fair};
use crate::report::html::{Part, Results, round_of};
use crate::report::{Output, Style, Talk, html, report_width, text};
use crate::result::Summary;
use crate::result::comparison::Comparison;

/// The margin where neither option nor results have one.
const MARGIN: f64 = 0.03;

/// An input before its arms have their names.
struct Input {
    /// The name in `NAME=PATH`.
    name: Option<String>,
    path: PathBuf,
    results: Results,
}

/// Compares the inputs and prints what was found.
pub(crate) fn compare(args: &CompareFilesArgs) -> anyhow::Result<Exit> {
    let read = args.inputs.iter().map(|given| Input::read(given));
    let inputs: Vec<Input> = read.collect::<anyhow::Result<_>>()?;
    let margin = args.margin.unwrap_or_else(|| stored_margin(&inputs).unwrap_or(MARGIN));
    let mut whole = joined(inputs)?;
    let baseline = baseline(args, &whole.summary)?;
    whole.summary.arms.sort_by_key(|arm| arm.name != baseline);
    refuse_unlike(args, &mut whole)?;
    leave_out_odd_levels(&mut whole)?;
    let question = Question { baseline: &baseline, margin };
    let compared = compare_runs(&whole.summary.runs, question);
    let summary = &mut whole.summary;
    summary.comparisons = compared.comparisons;
    fair::qualify(&mut summary.comparisons, &summary.arms);
    for warning in compared.warnings.into_iter().chain(fair::differences(&summary.arms)) {
        if !summary.warnings.contains(&warning) {
            summary.warnings.push(warning);
        }
    }
    let mut talk = Talk::stderr(Style::Plain);
    let width = report_width();
    let shown = args.format().of(&whole.summary, false, &[])?;
    Output::stdout().write(&shown).context("printing the report")?;
    for line in text::warnings(&whole.summary, width).lines() {
        talk.insist(line);
    }
    if let Some(page) = &args.html {
        html::write(&whole, page)?;
        talk.insist(&format!("page: {}", page.display()));
    }
    match &args.fail_if {
        Some(gate) => judge(gate, &whole.summary.comparisons, &mut talk),
        None => Ok(Exit::Complete),
    }
}

impl Input {
    fn read(given: &str) -> anyhow::Result<Self> {
        // A file that is there is meant, whatever signs its name has.
        let split = given.split_once('=').filter(|(name, _)| {
            let fit = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | '/');
            !name.is_empty() && name.chars().all(fit) && !Path::new(given).exists()
        });
        let (name, path) = split.map_or((None, given), |(name, path)| (Some(name), path));
        let path = PathBuf::from(path);
        let results = sources::read(&path)?;
        if results.summary.runs.is_empty() {
            bail!("{} holds no runs: nothing was measured there", path.display());
        }
        let arms = arms_of(&results.summary);
        if let (Some(name), [_, _, ..]) = (name, arms.as_slice()) {
            bail!(
                "{given}: {} holds the arms {}, so {name} cannot be the name of one: leave it out",
                path.display(),
                arms.join(", ")
            );
        }
        Ok(Self { name: name.map(str::to_owned), path, results })
    }

    fn label(&self) -> String {
        self.name.clone().unwrap_or_else(|| self.results.name.clone())
    }

    /// The folder of the cells that this is one of.
    fn study(&self) -> Option<PathBuf> {
        round_of(&self.path)?;
        self.path.parent().map(Path::to_path_buf)
    }
}

/// The arms that have runs.
fn arms_of(summary: &Summary) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for run in &summary.runs {
        if !names.contains(&run.arm) {
            names.push(run.arm.clone());
        }
    }
    names
}

/// The margin that the results were compared with when they were measured.
fn stored_margin(inputs: &[Input]) -> Option<f64> {
    inputs.iter().find_map(|input| Some(input.results.summary.comparisons.first()?.margin))
}

/// All inputs as one, every arm with a name of its own.
fn joined(mut inputs: Vec<Input>) -> anyhow::Result<Results> {
    adopt_workload(&mut inputs);
    let study = inputs.first().and_then(Input::study);
    let cells = study.is_some() && inputs.iter().all(|input| input.study() == study);
    let all: Vec<String> =
        inputs.iter().flat_map(|input| arms_of(&input.results.summary)).collect();
    // Names that tell arms apart stay; in cells of one study they mean the same arm.
    let clear = cells || all.iter().collect::<BTreeSet<_>>().len() == all.len();
    let labels: BTreeSet<String> = inputs.iter().map(Input::label).collect();
    let labelled = labels.len() == inputs.len();
    let mut last_rounds: BTreeMap<String, u32> = BTreeMap::new();
    let mut parts = Vec::new();
    for Input { name, path, mut results } in inputs {
        let own = results.name.clone();
        let label = if labelled || name.is_some() { own } else { path.display().to_string() };
        let arms = arms_of(&results.summary);
        for arm in &arms {
            let new = match (&name, arms.len()) {
                (Some(name), _) => name.clone(),
                (None, _) if clear => arm.clone(),
                (None, 1) => label.clone(),
                (None, _) => format!("{label}:{arm}"),
            };
            let later = if cells { 0 } else { last_rounds.get(&new).copied().unwrap_or(0) };
            results.rename_arm(arm, &new, later);
            let rounds = results.summary.runs.iter().filter(|run| run.arm == new);
            let last = rounds.map(|run| run.round).max().unwrap_or(0);
            last_rounds.insert(new, last);
        }
        let label = format!("{}{label}", name.map(|name| format!("{name}=")).unwrap_or_default());
        parts.push(Part { label, results });
    }
    let name = parts.iter().map(|part| part.label.clone()).collect::<Vec<_>>().join(" ");
    Ok(Results::join(name, super::this_program().command_line, parts))
}

/// Runs of an unknown workload beside those of one: the same is meant.
fn adopt_workload(inputs: &mut [Input]) {
    let runs = inputs.iter().flat_map(|input| &input.results.summary.runs);
    let known: BTreeSet<String> =
        runs.map(|run| run.workload.clone()).filter(|name| !name.is_empty()).collect();
    let mut known = known.into_iter();
    let (Some(only), None) = (known.next(), known.next()) else { return };
    for input in inputs {
        if input.results.summary.runs.iter().any(|run| run.workload.is_empty()) {
            input.results.set_workload(&only);
            input.results.summary.warnings.push(format!(
                "that it ran {only} is not in the file: make sure that it did the same"
            ));
        }
    }
}

fn baseline(args: &CompareFilesArgs, summary: &Summary) -> anyhow::Result<String> {
    let arms = arms_of(summary);
    let listed = arms.join(", ");
    if arms.len() < 2 {
        bail!("there is one arm, {listed}: give a second one to compare it with");
    }
    match &args.baseline {
        // The summary has them in the order of the inputs, the runs in that of time.
        None => Ok(summary.arms.first().map_or_else(|| arms[0].clone(), |arm| arm.name.clone())),
        Some(asked) if arms.contains(asked) => Ok(asked.clone()),
        Some(asked) => bail!("--baseline \"{asked}\" is no arm: give one of {listed}"),
    }
}

/// Refuses arms that did not do the same, or warns about it with `--force`.
fn refuse_unlike(args: &CompareFilesArgs, whole: &mut Results) -> anyhow::Result<()> {
    let arms: Vec<String> = whole.summary.arms.iter().map(|arm| arm.name.clone()).collect();
    let Some((baseline, others)) = arms.split_first() else { return Ok(()) };
    let found =
        others.iter().flat_map(|arm| alike::differences(baseline, arm, &whole.summary.runs));
    let found: Vec<String> = found.collect();
    if found.is_empty() {
        return Ok(());
    }
    if !args.force {
        bail!(
            "these arms did not do the same, so their difference says nothing about the databases \
             (--force compares them all the same):\n  {}",
            found.join("\n  ")
        );
    }
    let each: BTreeSet<(&str, &str)> =
        whole.summary.runs.iter().map(|run| (run.arm.as_str(), run.workload.as_str())).collect();
    if each.len() == arms.len()
        && each.iter().any(|(_, name)| *name != whole.summary.runs[0].workload)
    {
        let names: BTreeSet<&str> = each.iter().map(|(_, name)| *name).collect();
        let together = Vec::from_iter(names).join(" / ");
        whole.set_workload(&together);
    }
    let forced = found.into_iter().map(|difference| format!("compared with --force: {difference}"));
    whole.summary.warnings.extend(forced);
    Ok(())
}

/// Means over other levels are other figures.
fn leave_out_odd_levels(whole: &mut Results) -> anyhow::Result<()> {
    let odd = alike::odd_levels(&whole.summary.runs);
    if odd.is_empty() {
        return Ok(());
    }
    let levels: BTreeSet<u32> = whole.summary.runs.iter().map(|run| run.clients).collect();
    let listed: Vec<String> = odd.iter().map(ToString::to_string).collect();
    if odd.len() == levels.len() {
        bail!("no number of clients was measured for every arm: {}", listed.join(", "));
    }
    whole.retain(|run| !odd.contains(&run.clients));
    whole.summary.warnings.push(format!(
        "left out, since not every arm was measured with so many clients: {}",
        listed.join(", ")
    ));
    Ok(())
}

/// The exit code of a condition; a condition that nothing can decide is no success.
fn judge(gate: &Gate, comparisons: &[Comparison], talk: &mut Talk) -> anyhow::Result<Exit> {
    let primary: Vec<&Comparison> = comparisons.iter().filter(|c| c.is_primary()).collect();
    if primary.is_empty() {
        bail!("--fail-if {gate} cannot be decided: there is nothing to compare, see the warnings");
    }
    for comparison in &primary {
        talk.insist(&format!("--fail-if {}", gate.sentence(comparison)));
    }
    let found: Vec<Found> = primary.iter().map(|comparison| gate.judge(comparison)).collect();
    Ok(if found.contains(&Found::Holds) {
        Exit::ConditionHolds
    } else if found.contains(&Found::Undecidable) {
        Exit::Refused
    } else {
        Exit::Complete
    })
}
