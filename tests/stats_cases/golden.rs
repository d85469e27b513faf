//! A published comparison of two file systems with pgbench: 5 and 6 rounds, seven client levels,
//! one arm run after the other. The expected figures were computed independently (scipy 1.17).

use dbload::stats::exact::mann_whitney_p;
use dbload::stats::power::{paired_power, rounds_needed};
use dbload::stats::rounds::{Arm, RoundTrend, is_interleaved};
use dbload::stats::summary::{mean, stddev, variance};
use dbload::stats::ttest::TTest;
use dbload::stats::verdict::{
    Better, Comparison, Design, NOT_INTERLEAVED_BANNER, NoVerdict, Rules, Verdict, compare,
};

const CLIENTS: [u32; 7] = [2, 4, 8, 16, 32, 64, 128];

struct Row {
    arm: String,
    round: u32,
    clients: u32,
    tps: f64,
}

/// The runs in the order of the file, which is the order of time.
fn rows() -> Vec<Row> {
    let text = include_str!("../data/seed_pgbench_ext4_xfs.csv");
    let parse = |line: &str| {
        let mut cells = line.split(',');
        let mut cell = || cells.next().expect("four cells").to_owned();
        Row {
            arm: cell(),
            round: cell().parse().expect("a round"),
            clients: cell().parse().expect("a client count"),
            tps: cell().parse().expect("a rate"),
        }
    };
    text.lines().skip(1).map(parse).collect()
}

fn arm(name: &str, clients: &[u32], max_rounds: u32) -> Arm {
    let rows = rows();
    let rounds = rows.iter().filter(|r| r.arm == name).map(|r| r.round).max().expect("rounds");
    let cell = |round, clients| {
        let of_cell = |r: &&Row| r.arm == name && r.round == round && r.clients == clients;
        rows.iter().find(of_cell).map(|r| r.tps)
    };
    let values = (1..=rounds.min(max_rounds))
        .map(|round| clients.iter().map(|&c| cell(round, c)).collect())
        .collect();
    Arm { name: name.to_owned(), values }
}

fn comparison(clients: &[u32], design: Design) -> Comparison {
    let rounds = if design == Design::Interleaved { 5 } else { 6 };
    let rules = Rules { design, margin: 0.03, better: Better::Higher };
    let arms = [arm("xfs", clients, rounds)];
    compare(clients, &arm("ext4", clients, rounds), &arms, rules).remove(0)
}

fn rates(name: &str, clients: u32) -> Vec<f64> {
    arm(name, &[clients], 6).values.iter().filter_map(|round| round[0]).collect()
}

#[track_caller]
fn assert_rounded(value: Option<f64>, expected: f64, decimals: i32, what: &str) {
    let value = value.unwrap_or(f64::NAN);
    let half = 0.5 * 10_f64.powi(-decimals) * 1.000_1;
    assert!((value - expected).abs() <= half, "{what}: {value} is not {expected}");
}

#[test]
fn levels_agree_with_the_independent_figures() {
    let c = comparison(&CLIENTS, Design::OneAfterTheOther);
    // clients, cv of each arm in %, ratio, interval, p, p after Holm, Mann-Whitney p, detectable %
    let expected = [
        (2, 6.84, 7.45, 1.0933, 0.9911, 1.2061, 0.0698, 0.2793, 0.0823, 14.6),
        (4, 8.77, 10.05, 0.9790, 0.8568, 1.1186, 0.7268, 1.0, 0.7922, 20.4),
        (8, 4.58, 8.13, 1.0180, 0.9268, 1.1181, 0.6720, 1.0, 0.4286, 13.9),
        (16, 3.90, 2.02, 1.0694, 1.0193, 1.1220, 0.0145, 0.0868, 0.0087, 6.8),
        (32, 4.68, 2.95, 1.0872, 1.0257, 1.1523, 0.0120, 0.0841, 0.0087, 8.3),
        (64, 5.62, 1.91, 1.0971, 1.0235, 1.1760, 0.0190, 0.0952, 0.0043, 9.9),
        (128, 5.08, 5.34, 1.0411, 0.9690, 1.1187, 0.2358, 0.7075, 0.2468, 10.5),
    ];
    assert_eq!(c.levels.len(), expected.len());
    for (level, e) in c.levels.iter().zip(expected) {
        let (clients, cv_a, cv_b, ratio, low, high, p, p_holm, mann_whitney, mde) = e;
        let at = |figure: &str| format!("{figure} at {clients} clients");
        assert_eq!(level.clients, clients);
        let (a, b) = (rates("ext4", clients), rates("xfs", clients));
        let cv = |v: &[f64]| Some(100.0 * stddev(v)? / mean(v)?);
        assert_rounded(cv(&a), cv_a, 2, &at("cv of ext4"));
        assert_rounded(cv(&b), cv_b, 2, &at("cv of xfs"));
        assert_rounded(level.ratio, ratio, 4, &at("ratio"));
        assert_rounded(level.ci_low, low, 4, &at("lower end"));
        assert_rounded(level.ci_high, high, 4, &at("upper end"));
        assert_rounded(level.p, p, 4, &at("p"));
        assert_rounded(level.p_holm, p_holm, 4, &at("p after Holm"));
        assert_rounded(mann_whitney_p(&a, &b), mann_whitney, 4, &at("Mann-Whitney p"));
        let ln = |v: &[f64]| v.iter().map(|x| x.ln()).collect::<Vec<_>>();
        let test = TTest::welch(&ln(&a), &ln(&b)).unwrap();
        assert_rounded(Some(100.0 * test.detectable(0.05, 0.8).exp_m1()), mde, 1, &at("mde"));
    }
}

#[test]
fn geometric_means_over_levels_agree_with_the_independent_figures() {
    for (clients, ratio, low, high, p) in [
        (&CLIENTS[3..], 1.0735, 1.0211, 1.1286, 0.0150),
        (&CLIENTS[..3], 1.0290, 0.9591, 1.1041, 0.3816),
        (&CLIENTS[..], 1.0542, 1.0073, 1.1033, 0.0280),
    ] {
        let c = comparison(clients, Design::OneAfterTheOther);
        let what = format!("{clients:?}");
        assert_eq!((c.baseline_rounds, c.rounds, c.paired), (5, 6, false), "{what}");
        assert_rounded(c.ratio, ratio, 4, &what);
        assert_rounded(c.ci_low, low, 4, &what);
        assert_rounded(c.ci_high, high, 4, &what);
        assert_rounded(c.p, p, 4, &what);
    }
}

#[test]
fn as_if_they_had_been_pairs_the_first_five_rounds_agree_too() {
    for (clients, ratio, low, high) in
        [(&CLIENTS[..], 1.0520, 1.0069, 1.0991), (&CLIENTS[3..], 1.0717, 1.0183, 1.1278)]
    {
        let c = comparison(clients, Design::Interleaved);
        assert_eq!((c.rounds, c.paired), (5, true));
        assert_rounded(c.ratio, ratio, 4, "ratio");
        assert_rounded(c.ci_low, low, 4, "lower end");
        assert_rounded(c.ci_high, high, 4, "upper end");
    }
}

#[test]
fn the_order_of_the_runs_forbids_a_verdict() {
    let rounds: Vec<u32> = rows().iter().map(|r| r.round).collect();
    assert!(!is_interleaved(&rounds));
    let c = comparison(&CLIENTS, Design::OneAfterTheOther);
    assert!(c.ci_low.unwrap() > 1.0, "the interval alone would have said faster");
    assert_eq!((c.verdict, c.no_verdict), (Verdict::None, Some(NoVerdict::OneAfterTheOther)));
    assert_eq!(c.sentence(), "no verdict: the arms were run one after the other");
    assert!(NOT_INTERLEAVED_BANNER.contains("time drift cannot be told from the arm"));
}

#[test]
fn the_first_arm_drifted_and_a_warning_says_so() {
    let trend =
        |name, clients: &[u32]| RoundTrend::of(&arm(name, clients, 6), clients.len()).unwrap();
    let first = trend("ext4", &CLIENTS[3..]);
    assert!(first.is_warning(), "{first:?}");
    assert!(first.to_string().starts_with("ext4 rose by 2.4 % a round over 5 rounds (p = 0.02)"));
    assert!(trend("ext4", &CLIENTS).is_warning(), "over all levels as well");
    assert!(!trend("xfs", &CLIENTS[3..]).is_warning());
    assert!(!trend("xfs", &CLIENTS).is_warning());
    let geometric_means: Vec<f64> =
        arm("ext4", &CLIENTS[3..], 6).ln_rounds(4).iter().map(|(_, ln)| ln.exp().round()).collect();
    assert_eq!(geometric_means, [2965.0, 3141.0, 3140.0, 3276.0, 3276.0]);
}

#[test]
fn planning_from_these_runs_agrees_with_the_independent_figures() {
    for (clients, power, rounds) in [
        (2, 0.36, 12),
        (4, 0.22, 20),
        (8, 0.37, 11),
        (16, 0.95, 4),
        (32, 0.83, 5),
        (64, 0.79, 6),
        (128, 0.58, 7),
    ] {
        let ln = |name| rates(name, clients).iter().map(|x| x.ln()).collect::<Vec<_>>();
        let (a, b) = (ln("ext4"), ln("xfs"));
        let weight = |v: &[f64]| (v.len() - 1) as f64;
        let pooled = (weight(&a) * variance(&a).unwrap() + weight(&b) * variance(&b).unwrap())
            / (weight(&a) + weight(&b));
        let stddev = (2.0 * pooled).sqrt();
        let effect = 1.1_f64.ln();
        let what = format!("power at {clients} clients");
        assert_rounded(Some(paired_power(stddev, 5, effect, 0.05)), power, 2, &what);
        assert_eq!(rounds_needed(stddev, effect, 0.05, 0.8), Some(rounds), "{clients} clients");
    }
}
