//! Arithmetic of measurements: histograms of latency, the steadiness of a run, and the comparison
//! of arms. Every formula is explained for users in `docs/method.md`.
//!
//! Pure: numbers in, numbers out. No clock, no files, no randomness, nothing of the other floors.

pub mod dips;
pub mod exact;
pub mod histogram;
pub mod power;
pub mod precision;
pub mod rounds;
pub mod series;
pub mod student;
pub mod summary;
pub mod trend;
pub mod ttest;
pub mod verdict;
