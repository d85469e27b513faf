//! dbload: a load driver for databases.
//!
//! Floors, lowest first; a file imports only from lower floors or from its own folder
//! (`tests/architecture.rs` holds it to that):
//!
//! | floor | modules | job |
//! |---|---|---|
//! | 0 | `stats` `rng` `units` `suggest` `embedded` | arithmetic and text, no clock, no files |
//! | 1 | `script` | pgbench's script language: text to steps and values |
//! | 2 | `plan` `result` `workload` `schema` `target` `study` | data that is stored or loaded |
//! | 3 | `engine` `host` `instance` | databases and the machine |
//! | 4 | `runner` | measures, loads |
//! | 4 | `compare` | runs of several arms to comparisons with a verdict |
//! | 4 | `import` | output of other load drivers to runs |
//! | 4 | `report` | shows results; reads floors 0 to 2 only |
//! | 5 | `measure` | measures a plan, and writes its results |
//! | 6 | `cli` `cmd` | understands what is asked, and does it |

use std::ffi::OsString;

pub mod compare;
pub mod embedded;
pub mod import;
pub mod plan;
pub mod report;
pub mod result;
pub mod rng;
pub mod schema;
pub mod script;
pub mod stats;
pub mod study;
pub mod suggest;
pub mod target;
pub mod units;
pub mod workload;

mod cli;
mod cmd;
mod engine;
mod host;
mod instance;
mod measure;
mod runner;

#[doc(hidden)]
pub use runner::bench::Recording;

/// Runs the program with these arguments, the program's name first; returns the exit code.
pub fn main_with<I>(args: I) -> u8
where
    I: IntoIterator,
    I::Item: Into<OsString> + Clone,
{
    cmd::main_with(args)
}
