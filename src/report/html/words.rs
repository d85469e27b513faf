//! The sentences of the page: question, verdict, and how sure it is.

use crate::result::Summary;
use crate::result::comparison::{Comparison, Verdict};
use crate::stats::verdict::{MIN_ROUNDS, NOT_INTERLEAVED_BANNER};

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
    match arms.as_slice() {
        [] => "What was measured?".to_owned(),
        [arm] => {
            let mut levels: Vec<u32> = groups.levels.concat();
            levels.sort_unstable();
            levels.dedup();
            let clients: Vec<String> = levels.iter().map(ToString::to_string).collect();
            let noun = if clients == ["1"] { "client" } else { "clients" };
            let clients = listed(&clients, "and");
            format!("How fast is {arm} on {workloads} with {clients} {noun}, and how steady?")
        }
        [a, b] => format!("Which is faster on {workloads}, and by how much: {a} or {b}?"),
        arms => format!("Which of {} arms is faster on {workloads}, and by how much?", arms.len()),
    }
}

/// The answer: one sentence for the top of the page.
pub(super) fn verdict(summary: &Summary, groups: &Groups<'_>) -> Sentence {
    if let [comparison] = summary.comparisons.as_slice() {
        return of_comparison(comparison, false);
    }
    let sentence = |kind, text| Sentence { kind, text, detail: String::new() };
    if groups.arms.len() < 2 {
        return sentence("none", one_arm(groups));
    }
    if summary.comparisons.is_empty() {
        let text = format!("{} arms were measured, and not compared.", groups.arms.len());
        return sentence("none", text);
    }
    let count = |verdict| summary.comparisons.iter().filter(|c| c.verdict == verdict).count();
    let kinds = [
        (Verdict::Faster, "faster"),
        (Verdict::Slower, "slower"),
        (Verdict::Equivalent, "equivalent"),
        (Verdict::Undetected, "without a detectable difference"),
        (Verdict::None, "without a verdict"),
    ];
    let parts: Vec<String> = kinds
        .iter()
        .filter(|(verdict, _)| count(*verdict) > 0)
        .map(|(verdict, words)| format!("{} {words}", count(*verdict)))
        .collect();
    let total = summary.comparisons.len();
    let several = groups.workloads.len() > 1;
    let text = format!(
        "Of {total} comparisons with {}: {}{}.",
        isolated(&summary.comparisons[0].baseline),
        listed(&parts, "and"),
        most(&summary.comparisons, several).unwrap_or_default(),
    );
    let kind = match kinds.iter().find(|(verdict, _)| count(*verdict) == total) {
        Some((verdict, _)) => key(*verdict),
        None => "mixed",
    };
    sentence(kind, text)
}

/// The arm that gained most, where one is faster, or else lost most.
fn most(comparisons: &[Comparison], with_workload: bool) -> Option<String> {
    let of = |verdict| comparisons.iter().filter(move |one| one.verdict == verdict);
    let by_ratio = |a: &&Comparison, b: &&Comparison| a.ratio.total_cmp(&b.ratio);
    let fastest = of(Verdict::Faster).max_by(by_ratio);
    let one = fastest.or_else(|| of(Verdict::Slower).min_by(by_ratio))?;
    let on = if with_workload { format!(" on {}", isolated(&one.workload)) } else { String::new() };
    Some(format!("; most {}: {}{on}, {}", key(one.verdict), isolated(&one.arm), change(one.ratio)))
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
            let noun = if cell.clients == 1 { "client" } else { "clients" };
            format!(
                "One arm, no comparison: {arm} reached {} tps on {} with {} {noun}.",
                grouped(cell.tps().value),
                isolated(&groups.workloads[cell.workload]),
                cell.clients,
            )
        }
    }
}

/// What a comparison says; with its workload where there are several.
pub(super) fn of_comparison(comparison: &Comparison, with_workload: bool) -> Sentence {
    let margin = comparison.margin;
    let (arm, baseline) = (isolated(&comparison.arm), isolated(&comparison.baseline));
    let workload = isolated(&comparison.workload);
    let on = if with_workload { format!(" on {workload}") } else { String::new() };
    let margin_pct = plain(100.0 * margin);
    let ends = comparison.ci_low.zip(comparison.ci_high);
    let text = match comparison.verdict {
        Verdict::Faster | Verdict::Slower => {
            let word = key(comparison.verdict);
            let percent = 100.0 * (comparison.ratio - 1.0).abs();
            let inside = |ratio: f64| ratio < 1.0 + margin && ratio > 1.0 / (1.0 + margin);
            let small = match ends {
                Some((low, high)) if inside(low) && inside(high) => {
                    format!(", surely by less than the margin of {margin_pct} %")
                }
                _ => String::new(),
            };
            format!("{arm} is {word} than {baseline} by {percent:.1} %{on}{small}.")
        }
        Verdict::Equivalent => {
            format!("{arm} and {baseline} are equally fast within {margin_pct} %{on}.")
        }
        Verdict::Undetected => {
            format!("No difference between {arm} and {baseline} could be detected{on}.")
        }
        Verdict::None => format!("There is no verdict on {arm} against {baseline}{on}."),
    };
    Sentence { kind: key(comparison.verdict), text, detail: detail(comparison) }
}

/// Interval, rounds and power in words.
fn detail(comparison: &Comparison) -> String {
    let mut parts = Vec::new();
    if let Some((low, high)) = comparison.ci_low.zip(comparison.ci_high) {
        let (ratio, low, high) = (change(comparison.ratio), change(low), change(high));
        parts.push(format!("{ratio}, 95 % interval {low} to {high}"));
    } else {
        parts.push(change(comparison.ratio));
    }
    let rounds = comparison.rounds;
    let noun = if rounds == 1 { "round" } else { "rounds" };
    let how = if comparison.paired { "interleaved, compared in pairs" } else { "not interleaved" };
    parts.push(format!("{rounds} {noun}, {how}"));
    if let Some(p) = comparison.p_holm.or(comparison.p) {
        parts.push(probability(p));
    }
    if comparison.verdict == Verdict::Undetected {
        if let Some(mde) = comparison.mde {
            parts.push(format!(
                "a difference of {:.1} % would have been found with 80 % probability",
                100.0 * mde
            ));
        }
        if let Some(needed) = comparison.rounds_needed {
            let margin = plain(100.0 * comparison.margin);
            parts.push(format!("{needed} rounds would find one of {margin} %"));
        }
    }
    if comparison.verdict == Verdict::None {
        if !comparison.paired {
            parts.push(NOT_INTERLEAVED_BANNER.to_owned());
        } else if rounds < MIN_ROUNDS {
            parts.push(format!("a verdict needs at least {MIN_ROUNDS} rounds"));
        }
    }
    parts.join("; ")
}

/// The word of a verdict, also the name of its colour.
pub(super) fn key(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Faster => "faster",
        Verdict::Slower => "slower",
        Verdict::Equivalent => "equivalent",
        Verdict::Undetected => "undetected",
        Verdict::None => "none",
    }
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

    fn comparison(verdict: Verdict, ratio: f64, ci: (f64, f64)) -> Comparison {
        Comparison {
            baseline: "ext4".into(),
            arm: "xfs".into(),
            workload: "tpcb-like".into(),
            metric: "tps".into(),
            rounds: 8,
            paired: true,
            ratio,
            ci_low: Some(ci.0),
            ci_high: Some(ci.1),
            p: Some(0.0104),
            p_holm: None,
            verdict,
            margin: 0.03,
            mde: Some(0.021),
            rounds_needed: Some(12),
            sentence: String::new(),
            levels: vec![],
        }
    }

    #[test]
    fn a_verdict_is_one_sentence_with_its_interval_beside_it() {
        let said = of_comparison(&comparison(Verdict::Faster, 1.072, (1.018, 1.128)), false);
        assert_eq!(said.text, "xfs is faster than ext4 by 7.2 %.");
        assert_eq!(
            said.detail,
            "+7.2 %, 95 % interval +1.8 % to +12.8 %; 8 rounds, interleaved, compared in pairs; \
             p = 0.010"
        );
        let said = of_comparison(&comparison(Verdict::Slower, 0.99, (0.985, 0.995)), true);
        assert_eq!(
            said.text,
            "xfs is slower than ext4 by 1.0 % on tpcb-like, surely by less than the margin of 3 %."
        );
        let said = of_comparison(&comparison(Verdict::Undetected, 1.0, (0.97, 1.03)), false);
        assert_eq!(said.text, "No difference between xfs and ext4 could be detected.");
        assert!(said.detail.contains("2.1 % would have been found"), "{}", said.detail);
        assert!(said.detail.contains("12 rounds would find one of 3 %"), "{}", said.detail);
    }

    #[test]
    fn no_verdict_says_why() {
        let mut none = comparison(Verdict::None, 1.1, (1.0, 1.2));
        none.rounds = 3;
        assert!(of_comparison(&none, false).detail.ends_with("a verdict needs at least 5 rounds"));
        none.paired = false;
        assert!(of_comparison(&none, false).detail.ends_with(NOT_INTERLEAVED_BANNER));
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
