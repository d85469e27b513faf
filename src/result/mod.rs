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
