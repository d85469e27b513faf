//! The headline of the page: which arm won, where, and by how much.

use super::groups::Groups;
use super::words::{self, Sentence, change, grouped, isolated, listed};
use crate::report::sentences::hazards;
use crate::result::comparison::{Comparison, Verdict};
use crate::result::{Summary, distinct};
use crate::units::plural;

/// The verdicts, in the order in which they are told.
const VERDICTS: [(Verdict, &str); 5] = [
    (Verdict::Faster, "faster"),
    (Verdict::Slower, "slower"),
    (Verdict::Equivalent, "equivalent"),
    (Verdict::Undetected, "no detectable difference"),
    (Verdict::None, "no verdict"),
];

/// More workloads than these are counted instead of named.
const MOST_NAMED: usize = 4;

/// The answer: one sentence for the top of the page.
pub(super) fn headline(summary: &Summary, groups: &Groups<'_>) -> Sentence {
    let primaries = words::primaries(summary);
    if let [comparison] = primaries.as_slice() {
        return words::of_comparison(comparison, groups);
    }
    let sentence = |kind, text| Sentence { kind, text, detail: String::new() };
    if groups.arms.len() < 2 {
        return sentence("none", one_arm(groups));
    }
    if primaries.is_empty() {
        let text = format!("{} arms were measured, and not compared.", groups.arms.len());
        return sentence("none", text);
    }
    let kind = match VERDICTS
        .iter()
        .find(|(verdict, _)| of(&primaries, *verdict).count() == primaries.len())
    {
        Some((verdict, _)) => verdict.key(),
        None => "mixed",
    };
    let first = primaries[0];
    let text = match primaries.iter().all(|one| one.arm == first.arm) {
        true => by_workload(&primaries),
        false => by_count(&primaries, groups.workloads.len() > 1),
    };
    sentence(kind, text)
}

fn of<'a>(
    comparisons: &'a [&'a Comparison],
    verdict: Verdict,
) -> impl Iterator<Item = &'a Comparison> {
    comparisons.iter().copied().filter(move |one| one.verdict == verdict)
}

/// One arm against the baseline on several workloads: on which it is faster, on which not.
fn by_workload(comparisons: &[&Comparison]) -> String {
    let said = VERDICTS.iter().filter_map(|(verdict, words)| {
        let own: Vec<&Comparison> = of(comparisons, *verdict).collect();
        let on = match own.len() {
            0 => return None,
            count if count <= MOST_NAMED => {
                listed(&own.iter().map(|one| with_change(one)).collect::<Vec<_>>(), "and")
            }
            count => {
                let largest = own.iter().max_by(|a, b| size(a).total_cmp(&size(b)));
                let largest = largest.filter(|one| is_decided(one)).map(|one| with_change(one));
                let most = largest.map(|one| format!(", most on {one}")).unwrap_or_default();
                format!("{count} of {} workloads{most}", comparisons.len())
            }
        };
        Some(format!("{words} on {on}"))
    });
    let mut said: Vec<String> = said.collect();
    let all = comparisons.iter().flat_map(|one| hazards(&one.sentence));
    said.extend(distinct(all.map(str::to_owned)));
    let Comparison { arm, baseline, .. } = comparisons[0];
    format!("{} against {}: {}.", isolated(arm), isolated(baseline), said.join("; "))
}

/// How large a difference is, whichever its direction.
fn size(one: &Comparison) -> f64 {
    one.ratio.ln().abs()
}

fn is_decided(one: &Comparison) -> bool {
    matches!(one.verdict, Verdict::Faster | Verdict::Slower)
}

/// The workload, with the change and its interval where it was shown that there is one.
fn with_change(one: &Comparison) -> String {
    let workload = isolated(&one.workload);
    match one.ci_low.zip(one.ci_high).filter(|_| is_decided(one)) {
        Some((low, high)) => {
            format!("{workload} ({}, {})", change(one.ratio), words::interval(low, high))
        }
        None => workload,
    }
}

/// Several arms against the baseline: how many are faster, and which most.
fn by_count(comparisons: &[&Comparison], with_workload: bool) -> String {
    let total = comparisons.len();
    let what = if with_workload { "comparisons " } else { "" };
    let parts = VERDICTS.iter().filter_map(|(verdict, words)| {
        let count = of(comparisons, *verdict).count();
        let with = if words.starts_with("no ") { "with " } else { "" };
        (count > 0).then(|| format!("{count} of {total} {what}{with}{words}"))
    });
    format!(
        "Against {}: {}{}.",
        isolated(&comparisons[0].baseline),
        listed(&parts.collect::<Vec<_>>(), "and"),
        most(comparisons, with_workload).unwrap_or_default(),
    )
}

/// The arm that gained most, where one is faster, or else lost most.
fn most(comparisons: &[&Comparison], with_workload: bool) -> Option<String> {
    let by_ratio = |a: &&Comparison, b: &&Comparison| a.ratio.total_cmp(&b.ratio);
    let fastest = of(comparisons, Verdict::Faster).max_by(by_ratio);
    let one = fastest.or_else(|| of(comparisons, Verdict::Slower).min_by(by_ratio))?;
    let on = if with_workload { format!(" on {}", isolated(&one.workload)) } else { String::new() };
    let hazard = if hazards(&one.sentence).next().is_some() { ", not durable" } else { "" };
    let (arm, change) = (isolated(&one.arm), change(one.ratio));
    Some(format!("; most {}: {arm}{on}, {change}{hazard}", one.verdict.key()))
}

/// The best level of the only arm.
fn one_arm(groups: &Groups<'_>) -> String {
    let best = groups.cells.iter().max_by(|a, b| a.tps().value.total_cmp(&b.tps().value));
    match best {
        None => "Nothing was measured.".to_owned(),
        Some(cell) => {
            let arm = isolated(&groups.arms[cell.arm]);
            format!(
                "One arm, no comparison: {arm} reached {} tps on {} with {}.",
                grouped(cell.tps().value),
                isolated(&groups.workloads[cell.workload]),
                plural(cell.clients, "client"),
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::words::tests::comparison;
    use super::*;

    fn of_arm(arm: &str, workload: &str, verdict: Verdict, ratio: f64) -> Comparison {
        let (arm, workload) = (arm.to_owned(), workload.to_owned());
        Comparison { arm, workload, verdict, ratio, ..comparison() }
    }

    fn on(workload: &str, verdict: Verdict, ratio: f64) -> Comparison {
        of_arm("xfs", workload, verdict, ratio)
    }

    #[test]
    fn over_several_workloads_it_is_said_where_which_arm_wins() {
        let two = [on("a", Verdict::Faster, 1.883), on("b", Verdict::Undetected, 1.01)];
        assert_eq!(
            by_workload(&two.iter().collect::<Vec<_>>()),
            "xfs against ext4: faster on a (+88.3 %, +1.8 % to +12.8 %); no detectable difference on b; \
             xfs is not durable: fsync=off."
        );
        let many: Vec<Comparison> = ["a", "b", "c", "d", "e", "f"]
            .iter()
            .zip([0.9, 0.5, 0.8, 0.9, 0.9, 1.2])
            .map(|(workload, ratio)| {
                let verdict = if ratio < 1.0 { Verdict::Slower } else { Verdict::Faster };
                Comparison { sentence: String::new(), ..on(workload, verdict, ratio) }
            })
            .collect();
        assert_eq!(
            by_workload(&many.iter().collect::<Vec<_>>()),
            "xfs against ext4: faster on f (+20.0 %, +1.8 % to +12.8 %); slower on 5 of 6 workloads, \
             most on b (−50.0 %, +1.8 % to +12.8 %)."
        );
    }

    #[test]
    fn of_several_arms_the_verdicts_are_counted() {
        let arms =
            [of_arm("x", "w", Verdict::Faster, 1.2), of_arm("y", "w", Verdict::Undetected, 1.0)];
        assert_eq!(
            by_count(&arms.iter().collect::<Vec<_>>(), false),
            "Against ext4: 1 of 2 faster and 1 of 2 with no detectable difference; most faster: x, \
             +20.0 %, not durable."
        );
    }
}
