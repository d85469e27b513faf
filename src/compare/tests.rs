//! Comparisons from observations.

use super::*;

const ASKED: Question<'_> = Question { baseline: "a", margin: 0.03 };

/// Rounds in which `b` is `ratio` times as fast as `a`, with some noise, in alternating order.
fn rounds(count: u32, ratio: f64) -> Vec<Observation<'static>> {
    let mut all = Vec::new();
    for round in 1..=count {
        let noise = 1.0 + 0.004 * f64::from(round % 3);
        let a = Observation { arm: "a", round, clients: 4, value: Some(1000.0) };
        let b = Observation { arm: "b", value: Some(1000.0 * ratio * noise), ..a };
        all.extend(if round % 2 == 0 { [b, a] } else { [a, b] });
    }
    all
}

#[test]
fn a_faster_arm_is_called_faster_in_a_sentence() {
    let found = compare_tps("w", &rounds(6, 1.1), ASKED);
    let [comparison] = &found.comparisons[..] else { panic!("{found:?}") };
    assert_eq!(comparison.verdict, Verdict::Faster);
    assert!((comparison.ratio - 1.104).abs() < 0.001, "{comparison:?}");
    assert!(comparison.sentence.starts_with("faster by 10.4 %"), "{}", comparison.sentence);
    assert_eq!((comparison.rounds, comparison.paired, comparison.levels.len()), (6, true, 1));
    assert!(found.warnings.is_empty(), "{:?}", found.warnings);
}

#[test]
fn four_rounds_give_a_ratio_and_no_verdict() {
    let found = compare_tps("w", &rounds(4, 1.1), ASKED);
    assert_eq!(found.comparisons[0].verdict, Verdict::None);
    assert!(found.comparisons[0].sentence.contains("4 complete rounds"), "{found:?}");
}

#[test]
fn arms_one_after_the_other_are_said_to_be_so() {
    let mut all = rounds(6, 1.1);
    all.sort_by_key(|o| o.arm);
    let found = compare_tps("w", &all, ASKED);
    assert_eq!(found.comparisons[0].verdict, Verdict::None);
    assert!(found.warnings.iter().any(|w| w == NOT_INTERLEAVED_BANNER), "{found:?}");
}

#[test]
fn an_arm_without_a_complete_round_is_named() {
    let mut all = rounds(6, 1.1);
    for observation in all.iter_mut().filter(|o| o.arm == "b") {
        observation.value = None;
    }
    let found = compare_tps("w", &all, ASKED);
    assert!(found.comparisons.is_empty());
    assert!(found.warnings[0].starts_with("b cannot be compared with a"), "{found:?}");
}

#[test]
fn an_effect_of_the_order_is_warned_about() {
    let mut all = rounds(8, 1.0);
    for pair in all.chunks_mut(2) {
        pair[1].value = Some(1100.0);
    }
    let found = compare_tps("w", &all, ASKED);
    assert!(found.warnings.iter().any(|w| w.contains("which of them ran first")), "{found:?}");
}
