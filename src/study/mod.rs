//! Which cells a comparison of arms has, and in which order they are measured.

pub mod order;

pub use order::{Cell, draw};
