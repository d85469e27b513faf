//! Tests that need no distribution, by counting all arrangements: checks beside the t test.

use super::summary::median;

/// Below this many rounds the smallest possible two-sided p is above 0.05.
const MIN_SIGN_FLIP: usize = 6;
/// 2^20 arrangements, a few milliseconds; beyond that a t test needs no check.
const MAX_SIGN_FLIP: usize = 20;
/// Largest number of observations in a Mann-Whitney test, both samples together.
const MAX_RANKED: usize = 200;

/// The exact two-sided p of paired differences under "each could as well have had the other sign"
/// (Fisher, 1935), from the sum of the differences. `None` for fewer than 6 differences (p could
/// not get below 0.05) or more than 20.
pub fn sign_flip_p(differences: &[f64]) -> Option<f64> {
    let n = differences.len();
    if !(MIN_SIGN_FLIP..=MAX_SIGN_FLIP).contains(&n) || differences.iter().any(|d| !d.is_finite()) {
        return None;
    }
    let total: f64 = differences.iter().map(|d| d.abs()).sum();
    // Sums that are equal on paper differ by rounding.
    let observed = differences.iter().sum::<f64>().abs() - 1e-12 * total;
    let mut at_least = 0_u32;
    // Flipping all signs gives the same absolute sum, so half of the arrangements are enough: the
    // last sign stays.
    let arrangements = 1_u32 << (n - 1);
    for signs in 0..arrangements {
        let flipped = |(i, d): (usize, &f64)| if signs >> i & 1 == 1 { -d } else { *d };
        let sum: f64 = differences.iter().enumerate().map(flipped).sum();
        at_least += u32::from(sum.abs() >= observed);
    }
    Some(f64::from(at_least) / f64::from(arrangements))
}

/// The exact two-sided p of Mann and Whitney (1947) for "neither sample tends to be larger", ties
/// getting their mean rank. `None` for an empty sample or more than 200 observations in all.
pub fn mann_whitney_p(a: &[f64], b: &[f64]) -> Option<f64> {
    let n = a.len() + b.len();
    let all: Vec<f64> = [a, b].concat();
    if a.is_empty() || b.is_empty() || n > MAX_RANKED || all.iter().any(|x| x.is_nan()) {
        return None;
    }
    // Twice the mean rank, a whole number: values below count 2, equal ones 1, itself included.
    let doubled_rank = |x: &f64| -> usize {
        let score = |y: &f64| 2 * usize::from(y < x) + usize::from(y == x);
        all.iter().map(score).sum::<usize>() + 1
    };
    let ranks: Vec<usize> = all.iter().map(doubled_rank).collect();
    let observed: usize = ranks[..a.len()].iter().sum();
    let largest_sum: usize = ranks.iter().sum();
    // ways[k][s]: choices of k observations whose doubled ranks add up to s.
    let mut ways = vec![vec![0.0_f64; largest_sum + 1]; a.len() + 1];
    ways[0][0] = 1.0;
    for &rank in &ranks {
        for k in (1..=a.len()).rev() {
            for s in rank..=largest_sum {
                ways[k][s] += ways[k - 1][s - rank];
            }
        }
    }
    let expected = a.len() * (n + 1);
    let distance = observed.abs_diff(expected);
    let (mut extreme, mut every) = (0.0, 0.0);
    for (s, count) in ways[a.len()].iter().enumerate() {
        every += count;
        if s.abs_diff(expected) >= distance {
            extreme += count;
        }
    }
    Some(extreme / every)
}

/// The median of paired differences with the exact sign-flip p: for figures that can be zero, of
/// which no logarithm exists. Exploratory, never a verdict.
pub fn median_difference(differences: &[f64]) -> Option<(f64, Option<f64>)> {
    Some((median(differences)?, sign_flip_p(differences)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sign_flips_of_agreeing_differences_have_the_smallest_p() {
        assert_eq!(sign_flip_p(&[0.1, 0.2, 0.3, 0.4, 0.5]), None, "five cannot reach 0.05");
        assert_eq!(sign_flip_p(&[0.1, 0.2, 0.3, 0.4, 0.5, 0.6]), Some(2.0 / 64.0));
        assert_eq!(sign_flip_p(&[-0.1; 8]), Some(2.0 / 256.0));
        assert_eq!(sign_flip_p(&[0.0; 6]), Some(1.0));
        assert_eq!(sign_flip_p(&[f64::NAN; 6]), None);
        assert_eq!(sign_flip_p(&[0.1; 21]), None);
    }

    #[test]
    fn sign_flips_are_counted_by_hand() {
        // Their sum is 14; count the 64 arrangements that get as far without the shortcut.
        let d = [1.0, 2.0, 3.0, 4.0, 5.0, -1.0];
        let mut hits = 0;
        for signs in 0..64_u32 {
            let sum: f64 =
                d.iter().enumerate().map(|(i, x)| if signs >> i & 1 == 1 { -x } else { *x }).sum();
            hits += u32::from(sum.abs() >= 14.0);
        }
        assert_eq!(sign_flip_p(&d), Some(f64::from(hits) / 64.0));
    }

    #[test]
    fn mann_whitney_reaches_its_known_smallest_p() {
        let low = |n: u32| -> Vec<f64> { (0..n).map(f64::from).collect() };
        let high = |n: u32| -> Vec<f64> { (0..n).map(|i| f64::from(100 + i)).collect() };
        for (n, p) in [(3, 0.1), (4, 2.0 / 70.0), (5, 2.0 / 252.0)] {
            assert_eq!(mann_whitney_p(&low(n), &high(n)), Some(p));
        }
        assert_eq!(mann_whitney_p(&[], &[1.0]), None);
        assert_eq!(mann_whitney_p(&[1.0], &[1.0]), Some(1.0));
    }

    #[test]
    fn ties_share_their_rank() {
        // ranks 1.5 1.5 3.5 | 3.5 5 6: of 20 choices, those as far from 10.5 as 6.5: enumerated
        let a = [1.0, 1.0, 2.0];
        let b = [2.0, 3.0, 4.0];
        let p = mann_whitney_p(&a, &b).unwrap();
        assert!((p - 4.0 / 20.0).abs() < 1e-12, "{p}");
        assert_eq!(mann_whitney_p(&[7.0; 5], &[7.0; 6]), Some(1.0));
    }

    #[test]
    fn the_median_difference_comes_with_its_check() {
        assert_eq!(median_difference(&[]), None);
        assert_eq!(median_difference(&[3.0, 1.0]), Some((2.0, None)));
        assert_eq!(median_difference(&[1.0; 6]), Some((1.0, Some(0.03125))));
    }
}
