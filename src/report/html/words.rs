//! The sentences of the page: question, verdict, and how sure it is.

use crate::report::sentences::{self, Said, hazards};
use crate::result::comparison::{Comparison, Verdict};
use crate::result::{Summary, distinct};
use crate::stats::verdict::NOT_INTERLEAVED_BANNER;
use crate::units::plural;

use super::groups::Groups;

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

/// A sentence with what it says, for its colour.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub(super) struct Sentence {
    pub(super) kind: &'static str,
    pub(super) text: String,
    /// How sure it is.
    pub(super) detail: String,
}

/// What the measurement was made to find out.
pub(super) fn question(groups: &Groups<'_>) -> String {
    let workloads: Vec<String> = groups.workloads.iter().map(|name| isolated(name)).collect();
    let workloads = listed(&workloads, "and");
    let arms: Vec<String> = groups.arms.iter().map(|name| isolated(name)).collect();
    let on = if workloads.is_empty() { String::new() } else { format!(" on {workloads}") };
    match arms.as_slice() {
        [] => "What was measured?".to_owned(),
        [arm] => {
            let mut levels: Vec<u32> = groups.levels.concat();
            levels.sort_unstable();
            levels.dedup();
            let clients: Vec<String> = levels.iter().map(ToString::to_string).collect();
            let noun = self::clients(&levels);
            let clients = listed(&clients, "and");
            format!("How fast is {arm}{on} with {clients} {noun}, and how steady?")
        }
        [a, b] => format!("Which is faster{on}, and by how much: {a} or {b}?"),
        arms => format!("Which of {} arms is faster{on}, and by how much?", arms.len()),
    }
}

/// What verdicts are about.
pub(super) fn metric(summary: &Summary) -> &'static str {
    match primaries(summary).first() {
        Some(first) if first.metric != "tps" => "99th percentile of response time",
        _ => "throughput",
    }
}

/// The comparisons that carry a verdict.
pub(super) fn primaries(summary: &Summary) -> Vec<&Comparison> {
    summary.comparisons.iter().filter(|comparison| comparison.is_primary()).collect()
}

/// The answer: one sentence for the top of the page.
pub(super) fn verdict(summary: &Summary, groups: &Groups<'_>) -> Sentence {
    let primaries = primaries(summary);
    if let [comparison] = primaries.as_slice() {
        return of_comparison(comparison, groups);
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

/// The workload, with the change where it was shown that there is one.
fn with_change(one: &Comparison) -> String {
    let workload = isolated(&one.workload);
    if is_decided(one) { format!("{workload} ({})", change(one.ratio)) } else { workload }
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

/// A name that may run from right to left, kept from turning the sentence around it.
fn isolated(name: &str) -> String {
    if name.is_ascii() { name.to_owned() } else { format!("\u{2068}{name}\u{2069}") }
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

/// What a comparison says; with its workload where there are several.
pub(super) fn of_comparison(comparison: &Comparison, groups: &Groups<'_>) -> Sentence {
    let with_workload = groups.workloads.len() > 1;
    // The ratio is among the figures.
    let Said { headline, rest, .. } = sentences::of(comparison, with_workload, isolated);
    let rounds = rounds(comparison, groups);
    let detail = figures(comparison, &rounds).into_iter().chain(rest);
    let detail = detail.collect::<Vec<_>>().join("; ");
    Sentence { kind: comparison.verdict.key(), text: format!("{headline}."), detail }
}

/// The rounds that a comparison rests on; those of either arm, where they were not pairs and differ.
pub(super) fn rounds(comparison: &Comparison, groups: &Groups<'_>) -> String {
    if comparison.paired {
        return comparison.rounds.to_string();
    }
    let of = |arm: &str| groups.rounds_of(groups.arm(arm)?);
    match (of(&comparison.baseline), of(&comparison.arm)) {
        (Some(baseline), Some(arm)) if baseline != arm => format!("{baseline} and {arm}"),
        _ => comparison.rounds.to_string(),
    }
}

/// Interval, rounds and p in words.
fn figures(comparison: &Comparison, rounds: &str) -> Vec<String> {
    let mut parts = Vec::new();
    let ratio = change(comparison.ratio);
    match comparison.ci_low.zip(comparison.ci_high) {
        Some((low, high)) => {
            parts.push(format!("{ratio}, 95 % interval {} to {}", change(low), change(high)));
        }
        None => parts.push(ratio),
    }
    let noun = if rounds == "1" { "round" } else { "rounds" };
    let how = if comparison.paired { "interleaved, compared in pairs" } else { "not interleaved" };
    parts.push(format!("{rounds} {noun}, {how}"));
    parts.extend(comparison.p_holm.or(comparison.p).map(probability));
    if !comparison.paired {
        parts.push(NOT_INTERLEAVED_BANNER.to_owned());
    }
    parts
}

/// A ratio as a change: "+3.1 %".
pub(super) fn change(ratio: f64) -> String {
    let percent = 100.0 * (ratio - 1.0);
    // A minus sign is as wide as a plus; a hyphen is not.
    let sign = if percent < -0.05 {
        "−"
    } else if percent < 0.05 {
        "±"
    } else {
        "+"
    };
    format!("{sign}{:.1} %", percent.abs())
}

/// A p-value, as exact as it is of use.
pub(super) fn probability(p: f64) -> String {
    if p < 0.001 { "p < 0.001".to_owned() } else { format!("p = {p:.3}") }
}

/// A number without needless decimals.
pub(super) fn plain(value: f64) -> String {
    format!("{}", (value * 100.0).round() / 100.0)
}

/// A rate, its thousands apart: "12,345" from a thousand on, "123.4" below.
pub(super) fn grouped(value: f64) -> String {
    if value < 1000.0 {
        return format!("{value:.1}");
    }
    let digits = format!("{value:.0}");
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// The noun after the numbers of clients.
pub(super) fn clients(levels: &[u32]) -> &'static str {
    if levels == [1] { "client" } else { "clients" }
}

/// "a, b and c".
pub(super) fn listed(names: &[String], last: &str) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., end] => format!("{} {last} {end}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn comparison() -> Comparison {
        Comparison {
            baseline: "ext4".into(),
            arm: "xfs".into(),
            workload: "tpcb-like".into(),
            metric: "tps".into(),
            rounds: 8,
            paired: true,
            ratio: 1.072,
            ci_low: Some(1.018),
            ci_high: Some(1.128),
            p: Some(0.0104),
            p_holm: None,
            verdict: Verdict::Faster,
            margin: 0.03,
            mde: Some(0.021),
            rounds_needed: Some(12),
            sentence: "faster by 7.2 % (1.8-12.8); xfs is not durable: fsync=off".into(),
            levels: vec![],
        }
    }

    fn groups() -> Groups<'static> {
        Groups { arms: vec![], workloads: vec![], levels: vec![], cells: vec![] }
    }

    #[test]
    fn a_verdict_is_one_sentence_with_its_interval_beside_it() {
        let said = of_comparison(&comparison(), &groups());
        let verdict = "faster by 7.2 % (1.8-12.8); xfs is not durable: fsync=off";
        assert_eq!(said.text, format!("xfs against ext4: {verdict}."));
        assert_eq!(
            said.detail,
            "+7.2 %, 95 % interval +1.8 % to +12.8 %; 8 rounds, interleaved, compared in pairs; \
             p = 0.010"
        );
    }

    #[test]
    fn what_was_not_interleaved_is_said_to_be_so() {
        let one = Comparison { paired: false, verdict: Verdict::None, ..comparison() };
        assert!(of_comparison(&one, &groups()).detail.contains(NOT_INTERLEAVED_BANNER));
    }

    #[test]
    fn over_several_workloads_it_is_said_where_which_arm_wins() {
        let on = |workload: &str, verdict, ratio| Comparison {
            workload: workload.into(),
            verdict,
            ratio,
            ..comparison()
        };
        let two = [on("a", Verdict::Faster, 1.883), on("b", Verdict::Undetected, 1.01)];
        assert_eq!(
            by_workload(&two.iter().collect::<Vec<_>>()),
            "xfs against ext4: faster on a (+88.3 %); no detectable difference on b; xfs is not \
             durable: fsync=off."
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
            "xfs against ext4: faster on f (+20.0 %); slower on 5 of 6 workloads, most on b \
             (−50.0 %)."
        );
    }

    #[test]
    fn of_several_arms_the_verdicts_are_counted() {
        let arm = |arm: &str, verdict, ratio| Comparison {
            arm: arm.into(),
            verdict,
            ratio,
            ..comparison()
        };
        let arms = [arm("x", Verdict::Faster, 1.2), arm("y", Verdict::Undetected, 1.0)];
        assert_eq!(
            by_count(&arms.iter().collect::<Vec<_>>(), false),
            "Against ext4: 1 of 2 faster and 1 of 2 with no detectable difference; most faster: x, \
             +20.0 %, not durable."
        );
    }

    #[test]
    fn numbers_are_easy_to_read() {
        assert_eq!(grouped(12_345.6), "12,346");
        assert_eq!(grouped(1_234_567.0), "1,234,567");
        assert_eq!(grouped(999.94), "999.9");
        assert_eq!((change(0.969), change(1.0)), ("−3.1 %".to_owned(), "±0.0 %".to_owned()));
        assert_eq!(listed(&["a".into(), "b".into(), "c".into()], "or"), "a, b or c");
    }
}
