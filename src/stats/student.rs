//! Student's t distribution, as far as intervals and tests need it.
//!
//! The arithmetic is that of `statrs`; here it gets arguments that cannot make it panic.

use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

/// Above this many degrees of freedom the normal distribution is used: the quantiles differ by
/// less than 1 in 100 000.
const NORMAL_ABOVE_DF: f64 = 1e5;

fn students(df: f64) -> StudentsT {
    StudentsT::new(0.0, 1.0, df.max(1e-3)).expect("location 0, scale 1, positive freedom")
}

fn cdf(t: f64, df: f64) -> f64 {
    if df > NORMAL_ABOVE_DF { Normal::standard().cdf(t) } else { students(df).cdf(t) }
}

/// The quantile `p` (between 0 and 1, both excluded) of Student's t with `df` degrees of freedom.
pub fn t_quantile(p: f64, df: f64) -> f64 {
    let p = p.clamp(1e-12, 1.0 - 1e-12);
    if df > NORMAL_ABOVE_DF {
        Normal::standard().inverse_cdf(p)
    } else {
        students(df).inverse_cdf(p)
    }
}

/// The probability of a t at least as far from zero as `t` when there is no effect.
pub fn two_sided_p(t: f64, df: f64) -> f64 {
    (2.0 * upper_tail(t.abs(), df)).min(1.0)
}

/// The probability of a t of at least `t` when there is no effect.
pub fn upper_tail(t: f64, df: f64) -> f64 {
    if t.is_infinite() {
        return if t > 0.0 { 0.0 } else { 1.0 };
    }
    // The lower tail of -t: 1 - cdf(t) would lose all digits of a small p.
    cdf(-t, df)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_agree_with_printed_tables() {
        for (p, df, expected) in [
            (0.975, 1.0, 12.7062),
            (0.975, 2.0, 4.30265),
            (0.975, 4.0, 2.77645),
            (0.975, 7.0, 2.36462),
            (0.975, 8.0, 2.30600),
            (0.975, 9.0, 2.26216),
            (0.95, 7.0, 1.89458),
            (0.80, 4.0, 0.940965),
            (0.995, 30.0, 2.75000),
            (0.975, 1e6, 1.95996),
        ] {
            assert!((t_quantile(p, df) / expected - 1.0).abs() < 1e-5, "t({p}, {df})");
            assert!((t_quantile(1.0 - p, df) / -expected - 1.0).abs() < 1e-5, "t(1 - {p}, {df})");
        }
    }

    #[test]
    fn quantile_and_tail_are_inverse_for_all_degrees_of_freedom() {
        for df in [1.0, 1.37, 2.5, 7.1, 29.0, 99.5, 1234.5, 43_200.0, 99_999.0, 1e5, 1e7] {
            for p in [0.001, 0.025, 0.2, 0.5, 0.7, 0.975, 0.9999] {
                let back = 1.0 - upper_tail(t_quantile(p, df), df);
                assert!((back - p).abs() < 1e-6, "df {df}, p {p}: {back}");
            }
        }
    }

    #[test]
    fn small_tails_keep_their_digits() {
        // t = 40 with 9 degrees of freedom: 2.0e-11 on both sides
        let p = two_sided_p(40.0, 9.0);
        assert!(p > 1e-12 && p < 1e-10, "{p}");
        assert_eq!(two_sided_p(f64::INFINITY, 4.0), 0.0);
        assert!((two_sided_p(0.0, 4.0) - 1.0).abs() < 1e-12);
    }
}
