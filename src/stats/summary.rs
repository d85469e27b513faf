//! Moments, quantiles and robust spread of a handful of numbers.
//!
//! Everything returns `None` where the figure does not exist (too few values, division by zero), so
//! that no caller prints a NaN.

/// Natural logarithms of what is above zero: what ratios and geometric means are made of.
pub fn logs(values: &[f64]) -> Vec<f64> {
    values.iter().filter(|value| **value > 0.0).map(|value| value.ln()).collect()
}

/// The arithmetic mean; `None` for no values.
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// The sample variance, divisor n - 1, in two passes; `None` for fewer than two values.
pub fn variance(values: &[f64]) -> Option<f64> {
    if values.len() < 2 {
        return None;
    }
    let mean = mean(values)?;
    let squares: f64 = values.iter().map(|x| (x - mean).powi(2)).sum();
    Some(squares / (values.len() - 1) as f64)
}

/// The sample standard deviation; `None` for fewer than two values.
pub fn stddev(values: &[f64]) -> Option<f64> {
    variance(values).map(f64::sqrt)
}

/// A sorted copy.
pub fn sorted(values: &[f64]) -> Vec<f64> {
    let mut copy = values.to_vec();
    copy.sort_by(f64::total_cmp);
    copy
}

/// The quantile at `q` (0 to 1) of values in rising order, with linear interpolation between order
/// statistics (definition 7 of Hyndman and Fan, 1996; the one of most statistics packages). `None`
/// for no values.
pub fn quantile_of_sorted(sorted: &[f64], q: f64) -> Option<f64> {
    let position = q.clamp(0.0, 1.0) * sorted.len().checked_sub(1)? as f64;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "position lies between 0 and the last index"
    )]
    let below = position.floor() as usize;
    let low = sorted.get(below)?;
    let high = sorted.get(below + 1).unwrap_or(low);
    Some(low + (position - position.floor()) * (high - low))
}

/// The median; `None` for no values.
pub fn median(values: &[f64]) -> Option<f64> {
    quantile_of_sorted(&sorted(values), 0.5)
}

/// 1.4826 times the median absolute deviation from the median: estimates the standard deviation of
/// normal values without being moved by outliers (Hampel, 1974). `None` for no values.
pub fn robust_stddev(values: &[f64]) -> Option<f64> {
    let centre = median(values)?;
    let deviations: Vec<f64> = values.iter().map(|x| (x - centre).abs()).collect();
    // 1 / the 75 % quantile of the standard normal distribution.
    median(&deviations).map(|mad| 1.4826 * mad)
}

/// `numerator / denominator`, or `None` when that is no number.
pub(super) fn ratio(numerator: f64, denominator: f64) -> Option<f64> {
    Some(numerator / denominator).filter(|quotient| quotient.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_has_no_figures() {
        assert_eq!(
            (mean(&[]), variance(&[1.0]), median(&[]), robust_stddev(&[])),
            Default::default()
        );
        assert_eq!(ratio(1.0, 0.0), None);
        assert_eq!(ratio(0.0, 0.0), None);
    }

    #[test]
    fn moments_agree_with_arithmetic_by_hand() {
        let values = [2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0];
        assert_eq!(mean(&values), Some(5.0));
        assert_eq!(variance(&values), Some(32.0 / 7.0));
        assert_eq!(median(&values), Some(4.5));
        // deviations from 4.5: 2.5 .5 .5 .5 .5 .5 2.5 4.5
        assert_eq!(robust_stddev(&values), Some(1.4826 * 0.5));
    }

    #[test]
    fn quantiles_interpolate_between_order_statistics() {
        let values = [10.0, 20.0, 30.0, 40.0];
        assert_eq!(quantile_of_sorted(&values, 0.0), Some(10.0));
        assert_eq!(quantile_of_sorted(&values, 0.5), Some(25.0));
        assert!((quantile_of_sorted(&values, 0.05).unwrap() - 11.5).abs() < 1e-12);
        assert_eq!(quantile_of_sorted(&values, 1.0), Some(40.0));
        assert_eq!(quantile_of_sorted(&[7.0], 0.99), Some(7.0));
    }

    #[test]
    fn one_outlier_does_not_move_the_robust_spread() {
        let mut values: Vec<f64> = (0..101).map(f64::from).collect();
        let before = robust_stddev(&values).unwrap();
        values[100] = 1e9;
        assert_eq!(robust_stddev(&values), Some(before));
    }
}
