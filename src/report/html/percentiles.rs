//! Percentile tables (`*.hgrm`) on one grid of quantiles, so that runs can be drawn together.

/// Quantiles in each halving of the distance to 1, as in the tables.
const TICKS: u32 = 5;
/// Halvings: the last one ends at 1 - 2^-20, one in a million.
const HALVINGS: i32 = 20;
/// Tables have twelve decimals.
const SAME: f64 = 1e-9;

/// The quantiles, rising from 0.
pub(super) fn grid() -> Vec<f64> {
    let halving = |h: i32| {
        let distance = 0.5_f64.powi(h);
        (0..TICKS)
            .map(move |tick| 1.0 - distance + f64::from(tick) * distance / 2.0 / f64::from(TICKS))
    };
    (0..HALVINGS).flat_map(halving).collect()
}

/// The values of a table at the quantiles of the grid, as far as the table goes. What is wrong
/// comes with its line.
pub(super) fn read(text: &str) -> Result<Vec<f64>, (u64, String)> {
    let mut rows = Vec::new();
    for (line, number) in text.lines().zip(1..) {
        let mut cells = line.split_whitespace();
        let Some(first) = cells.next() else { continue };
        if first == "Value" || first.starts_with('#') {
            continue;
        }
        let second = cells.next().unwrap_or_default();
        let (Ok(value), Ok(quantile)) = (first.parse::<f64>(), second.parse::<f64>()) else {
            return Err((number, format!("\"{line}\" is not a value and its percentile")));
        };
        rows.push((quantile, value));
    }
    let mut values = Vec::new();
    let mut rows = rows.into_iter().peekable();
    for quantile in grid() {
        while rows.next_if(|(found, _)| *found < quantile - SAME).is_some() {}
        match rows.peek() {
            Some((found, value)) if *found < 1.0 => values.push(*value),
            _ => break,
        }
    }
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_grid_is_that_of_the_tables() {
        let grid = grid();
        let first = [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.775];
        assert!(grid.iter().zip(first).all(|(q, expected)| (q - expected).abs() < 1e-12));
        assert_eq!(grid.len(), 100);
        assert!(grid.is_sorted() && grid[99] < 1.0);
    }

    #[test]
    fn a_table_is_read_as_far_as_it_goes() {
        let table = "       Value     Percentile TotalCount 1/(1-Percentile)\n\n\
                     1.000000 0.000000000000 1 1.00\n    2.500000 0.100000000000 4 1.11\n\
                     3.000000 0.200000000000 5 1.25\n    9.000000 1.000000000000 9\n\
                     #[Mean    =     2.0, StdDeviation   =     1.0]\n";
        assert_eq!(read(table).unwrap(), [1.0, 2.5, 3.0]);
        assert_eq!(read("").unwrap(), Vec::<f64>::new());
        assert_eq!(read("1.0 0.0 1 1\nx 0.1\n").unwrap_err().0, 2);
    }
}
