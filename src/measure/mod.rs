//! Measures a plan: workload, connected engine and results folder in, runs of a `Summary` out.
//!
//! Stands between the runner, which knows no files, and the commands, which know what was asked.

pub(crate) mod environment;
mod error;
mod exporter;
mod feeds;
mod interrupt;
mod load_talk;
mod monitor;
mod observe;
mod records;
mod result;
mod settings;
mod sweep;
mod upkeep;

pub(crate) use error::MeasureError;
pub(crate) use exporter::Exporter;
pub(crate) use feeds::{Feeds, LogKind};
pub(crate) use interrupt::Interrupt;
pub(crate) use load_talk::LoadTalk;
pub(crate) use sweep::Sweep;
pub(crate) use upkeep::Upkeep;
