//! What a run found: the structs of the files in a results folder, versioned, with the unit in
//! every name. They are data only: nothing here touches a disk, a clock or a terminal; the folder
//! is written by `report::folder`, and the same structs are what `report` shows.

pub mod comparison;
pub mod counters;
pub mod environment;
pub mod event;
pub mod interval;
pub mod probe;
pub mod run;
pub mod summary;
pub mod variance;
pub mod warning;

pub use environment::Environment;
pub use event::Event;
pub use interval::IntervalRow;
pub use run::{LatencyMs, Run};
pub use summary::Summary;
pub use variance::{Dip, DipEvents, Variance};
pub use warning::Warning;

/// Values in the order of first appearance.
pub fn distinct<T: PartialEq>(values: impl Iterator<Item = T>) -> Vec<T> {
    let mut seen = Vec::new();
    for value in values {
        if !seen.contains(&value) {
            seen.push(value);
        }
    }
    seen
}

/// The runs that were measured to their end; all, where none was. What was cut off is not the mean of
/// anything.
pub fn whole<'a>(runs: &[&'a Run]) -> Vec<&'a Run> {
    let complete: Vec<&Run> = runs.iter().copied().filter(|run| run.complete).collect();
    if complete.is_empty() { runs.to_vec() } else { complete }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_was_cut_off_is_not_part_of_a_mean() {
        let run = |round, complete| Run { complete, ..Run::of_rate("a", round, 1, 1.0) };
        let (done, cut_off) = (run(1, true), run(2, false));
        assert_eq!(whole(&[&done, &cut_off]).len(), 1);
        assert_eq!(whole(&[&cut_off]).len(), 1);
    }
}
