//! The sysbench tables and workloads on real servers: every workload runs clean, sends the
//! statements of its reference, and works on the tables of sysbench 1.0.20 and the other way round.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../common/mod.rs"]
mod common;

mod bench;
mod cases;
mod failures;
mod interchange;
mod statements;
mod workloads;
