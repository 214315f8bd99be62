//! A gate for a program's speed: compares head with base over several benchmarks, and judges a
//! limit.
//!
//! Two runs differ by more than most slowdowns, shared runners by 20 % between jobs. So base and
//! head run by turns in one job, in the blocks of [`mod@crate::tune::bench`]; a slowdown needs a
//! whole interval above the limit.
//!
//! | module | does |
//! |---|---|
//! | [`mod@file`] | `bench.toml`: benchmarks with commands and limits |
//! | [`adapter`] | reads the reports of benchmark libraries |
//! | [`session`] | runs base and head of all benchmarks by turns |
//! | [`report`] | the `seatmap-gate/1` result, and the confidence of each of its claims |
//! | [`history`] | `seatmap-bench-history/1`: results over time, and their change points |

pub mod adapter;
pub mod file;
pub mod history;
pub mod report;
pub mod session;

pub use adapter::Adapter;
pub use file::{BenchmarksFile, PlannedBenchmark, ProgramVersion};
pub use history::{HistoryEntry, Trend};
pub use report::{BenchmarkResult, GateReport};
pub use session::GateRequest;
