//! What the sentences of the page are made of: question, comparisons, numbers as people read them.

use crate::report::sentences::{self, Said};
use crate::result::Summary;
use crate::result::comparison::Comparison;
use crate::stats::verdict::NOT_INTERLEAVED_BANNER;

use super::groups::Groups;

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

/// A name that may run from right to left, kept from turning the sentence around it.
pub(super) fn isolated(name: &str) -> String {
    if name.is_ascii() { name.to_owned() } else { format!("\u{2068}{name}\u{2069}") }
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
            parts.push(format!("{ratio}, 95 % interval {}", interval(low, high)));
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

/// The ends of an interval of ratios as changes: "+1.8 % to +12.8 %".
pub(super) fn interval(low: f64, high: f64) -> String {
    format!("{} to {}", change(low), change(high))
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
pub(super) mod tests {
    use super::*;
    use crate::result::comparison::Verdict;

    pub(in super::super) fn comparison() -> Comparison {
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
    fn numbers_are_easy_to_read() {
        assert_eq!(grouped(12_345.6), "12,346");
        assert_eq!(grouped(1_234_567.0), "1,234,567");
        assert_eq!(grouped(999.94), "999.9");
        assert_eq!((change(0.969), change(1.0)), ("−3.1 %".to_owned(), "±0.0 %".to_owned()));
        assert_eq!(listed(&["a".into(), "b".into(), "c".into()], "or"), "a, b or c");
    }
}
