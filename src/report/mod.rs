//! Showing results: on disk, as text, and while a run goes on. Reads `result` and never an
//! engine or the runner.

pub mod appended;
pub mod cells;
pub mod folder;
pub mod histograms;
pub mod html;
pub mod live;
pub mod pgbench;
pub mod prometheus;
pub mod samples;
pub mod stdout;
pub mod talk;
pub mod text;

pub use folder::{FolderError, ResultFolder};
pub use histograms::HistogramLog;
pub use stdout::{Output, report_width};
pub use talk::{Style, Talk};
