//! Tests of the verdict logic: precedence, refusals, adjustment over arms, wording.

use super::*;

const RULES: Rules = Rules { design: Design::Interleaved, margin: 0.03, better: Better::Higher };

fn arm(name: &str, rounds: &[f64]) -> Arm {
    Arm { name: name.to_owned(), values: rounds.iter().map(|v| vec![Some(*v)]).collect() }
}

/// Six rounds of about 1000, each multiplied by `ratio` and a little unevenness of size `noise`.
fn pair(ratio: f64, noise: f64) -> (Arm, Arm) {
    let base = [1000.0, 1040.0, 980.0, 1010.0, 950.0, 1030.0];
    let wobble = [1.0, -1.0, 0.5, -0.5, 1.5, -1.5];
    let other: Vec<f64> =
        base.iter().zip(wobble).map(|(v, w)| v * ratio * (w * noise).exp()).collect();
    (arm("a", &base), arm("b", &other))
}

fn one(ratio: f64, noise: f64, rules: Rules) -> Comparison {
    let (a, b) = pair(ratio, noise);
    compare(&[8], &a, &[b], rules).remove(0)
}

#[test]
fn an_interval_above_one_is_faster_and_below_one_slower() {
    let c = one(1.10, 0.01, RULES);
    assert_eq!(c.verdict, Verdict::Faster);
    assert!((c.ratio.unwrap() - 1.10).abs() < 1e-9 && c.ci_low.unwrap() > 1.0 && !c.below_margin);
    assert_eq!(c.p_sign_flip, Some(2.0 / 64.0));
    assert_eq!((c.rounds, c.baseline_rounds, c.paired), (6, 6, true));
    assert_eq!(one(1.0 / 1.10, 0.01, RULES).verdict, Verdict::Slower);
    let latency = Rules { better: Better::Lower, ..RULES };
    assert_eq!(one(1.10, 0.01, latency).verdict, Verdict::Slower);
    assert_eq!(one(1.0 / 1.10, 0.01, latency).verdict, Verdict::Faster);
}

#[test]
fn a_sure_but_small_difference_is_faster_below_the_margin() {
    let c = one(1.01, 0.002, RULES);
    assert_eq!(
        (c.verdict, c.below_margin),
        (Verdict::Faster, true),
        "faster comes before equivalent"
    );
    assert!(c.sentence().ends_with(", below your margin"), "{}", c.sentence());
    let c = one(1.0 / 1.01, 0.002, RULES);
    assert_eq!((c.verdict, c.below_margin), (Verdict::Slower, true));
}

#[test]
fn a_small_difference_known_well_is_equivalent() {
    assert_eq!(one(1.002, 0.005, RULES).verdict, Verdict::Equivalent);
    let tight = Rules { margin: 0.001, ..RULES };
    assert_eq!(one(1.002, 0.005, tight).verdict, Verdict::Undetected, "a margin of 0.1 %");
}

#[test]
fn what_is_not_known_well_is_undetected_with_a_plan() {
    let c = one(1.03, 0.08, RULES);
    assert_eq!((c.verdict, c.no_verdict), (Verdict::Undetected, None));
    // s_D = 0.0947 over 6 rounds; both figures from scipy 1.17
    assert!((c.mde.unwrap() - 0.144_389_45).abs() < 1e-7, "{:?}", c.mde);
    assert_eq!(c.rounds_needed, Some(83));
}

#[test]
fn arms_run_one_after_the_other_never_get_a_verdict() {
    let rules = Rules { design: Design::OneAfterTheOther, ..RULES };
    for (ratio, noise) in [(1.5, 0.001), (0.5, 0.001), (1.0, 0.0001), (1.0, 0.1)] {
        let c = one(ratio, noise, rules);
        assert_eq!(
            (c.verdict, c.no_verdict),
            (Verdict::None, Some(NoVerdict::OneAfterTheOther)),
            "{ratio}"
        );
        assert!(c.ratio.is_some() && c.ci_low.is_some() && c.p.is_some() && !c.paired);
        assert!(!c.below_margin && c.rounds_needed.is_none() && c.p_sign_flip.is_none());
        assert_eq!(c.sentence(), "no verdict: the arms were run one after the other");
    }
}

#[test]
fn fewer_than_five_rounds_give_ratio_and_interval_but_no_verdict() {
    let c = &compare(
        &[8],
        &arm("a", &[100.0, 101.0, 99.0, 100.0]),
        &[arm("b", &[150.0, 151.0, 149.0, 150.0])],
        RULES,
    )[0];
    assert_eq!((c.verdict, c.no_verdict), (Verdict::None, Some(NoVerdict::TooFewRounds)));
    assert!(c.ci_low.unwrap() > 1.4 && c.rounds_needed == Some(5));
    assert_eq!(c.sentence(), "no verdict: 4 complete rounds, at least 5 are needed");
    let c = &compare(&[8], &arm("a", &[100.0]), &[arm("b", &[110.0])], RULES)[0];
    assert!((c.ratio.unwrap() - 1.1).abs() < 1e-9, "a single round has a ratio");
    assert_eq!((c.ci_low, c.p, c.mde, c.p_holm), (None, None, None, None), "and nothing else");
}

#[test]
fn nothing_in_common_is_nothing_to_compare() {
    let empty = Arm { name: "b".to_owned(), values: vec![vec![None]; 6] };
    for arm_b in [empty, arm("b", &[0.0; 6]), arm("b", &[])] {
        let c = &compare(&[8], &pair(1.0, 0.01).0, &[arm_b], RULES)[0];
        assert_eq!((c.ratio, c.no_verdict), (None, Some(NoVerdict::NothingToCompare)));
        assert_eq!(c.sentence(), "no verdict: no round has every level of both arms");
    }
}

#[test]
fn a_failed_run_takes_its_round_out_of_the_primary_endpoint_only() {
    let cells = |v: f64| vec![Some(v), Some(2.0 * v)];
    let mut a = Arm {
        name: "a".to_owned(),
        values: [100.0, 101.0, 99.0, 102.0, 98.0, 100.0].map(cells).into(),
    };
    let mut b = a.clone();
    a.values[2][1] = None;
    b.values[4][0] = None;
    let c = &compare(&[2, 4], &a, &[b], RULES)[0];
    assert_eq!((c.rounds, c.baseline_rounds), (4, 4), "rounds 3 and 5 are incomplete");
    assert_eq!(c.levels.iter().map(|l| l.clients).collect::<Vec<_>>(), [2, 4]);
    assert!(c.levels.iter().all(|l| (l.ratio.unwrap() - 1.0).abs() < 1e-12));
}

#[test]
fn several_arms_get_wider_intervals_and_adjusted_p() {
    let (a, b) = pair(1.02, 0.014);
    let alone = &compare(&[8], &a, std::slice::from_ref(&b), RULES)[0];
    let three = &compare(&[8], &a, &[b.clone(), b.clone(), pair(1.0, 0.02).1], RULES);
    assert_eq!(alone.verdict, Verdict::Faster);
    assert_eq!(three[0].verdict, Verdict::Undetected, "{:?}", three[0]);
    assert!(three[0].ci_low < alone.ci_low && three[0].ci_high > alone.ci_high);
    assert!((three[0].p_holm.unwrap() - 3.0 * alone.p.unwrap()).abs() < 1e-12);
    assert!(three[0].mde > alone.mde && three[0].rounds_needed > alone.rounds_needed);
    assert_eq!(alone.p_holm, alone.p);
}

#[test]
fn sentences_state_size_interval_and_plan() {
    let c = one(1.10, 0.02, RULES);
    assert_eq!(c.sentence(), "faster by 10.0 % (7.3-12.8)");
    let c = one(0.9, 0.02, RULES);
    assert_eq!(c.sentence(), "slower by 10.0 % (7.7-12.2)");
    let latency = Rules { better: Better::Lower, ..RULES };
    assert_eq!(one(0.9, 0.02, latency).sentence(), "lower by 10.0 % (7.7-12.2)");
    let c = one(1.002, 0.005, Rules { margin: 0.025, ..RULES });
    assert_eq!(c.sentence(), "equivalent within 2.5 %");
    let c = one(1.03, 0.08, RULES);
    assert_eq!(
        c.sentence(),
        "no detectable difference; a difference of 14 % or more would have been found with 80 % \
         probability; 83 rounds needed for 3 %"
    );
    let hopeless = one(1.0, 0.8, RULES).sentence();
    assert!(hopeless.ends_with("more than 1000 rounds needed for 3 %"), "{hopeless}");
}

#[test]
fn files_hold_the_words_of_the_documents() {
    let words = [
        (Verdict::Faster, "\"faster\""),
        (Verdict::Slower, "\"slower\""),
        (Verdict::Equivalent, "\"equivalent\""),
        (Verdict::Undetected, "\"undetected\""),
        (Verdict::None, "\"none\""),
    ];
    for (verdict, word) in words {
        assert_eq!(serde_json::to_string(&verdict).unwrap(), word);
    }
    let c = one(1.10, 0.02, RULES);
    let text = serde_json::to_string(&c).unwrap();
    let read: Comparison = serde_json::from_str(&text).unwrap();
    assert_eq!((read.verdict, read.sentence()), (c.verdict, c.sentence()));
}
