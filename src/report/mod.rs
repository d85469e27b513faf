//! Showing results: on disk, as text, and while a run goes on. Reads `result` and never an
//! engine or the runner.

pub mod appended;
mod area;
pub mod cells;
pub mod csv;
pub mod folder;
pub mod format;
pub mod histograms;
pub mod html;
pub mod live;
pub mod pgbench;
pub mod prometheus;
pub mod samples;
mod sentences;
pub mod spark;
pub mod stdout;
pub mod talk;
pub mod text;

pub use folder::{FolderError, ResultFolder};
pub use format::Format;
pub use histograms::HistogramLog;
pub use stdout::{Output, report_width};
pub use talk::{Style, Talk};
