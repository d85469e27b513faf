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
