//! A gate for the speed of a program: its head is compared with its base over several benchmarks,
//! and a limit is judged.
//!
//! Two runs of one program differ by more than most slowdowns, and shared runners by 20 % from one
//! job to the next. So base and head run by turns in one job, in the blocks of
//! [`mod@crate::tune::bench`], and a slowdown is claimed only where the whole interval lies above
//! the limit. A session that cannot show such a slowdown says so.
//!
//! | module | does |
//! |---|---|
//! | [`mod@file`] | `bench.toml`: benchmarks, each with its commands and its limit |
//! | [`adapter`] | reads what other benchmark programs report of themselves |
//! | [`session`] | runs base and head of all benchmarks by turns |
//! | [`family`] | the confidence of each claim, where several benchmarks are judged |
//! | [`report`] | `seatmap-gate/1`, the result on file |
//! | [`history`] | `seatmap-bench-history/1`, results over time, and their change points |

pub mod adapter;
pub mod family;
pub mod file;
pub mod history;
pub mod report;
pub mod session;

pub use adapter::{Adapter, AdapterError};
pub use file::{BenchmarksFile, BenchmarksFileError, Binaries, PlannedBenchmark, ProgramVersion};
pub use history::{HistoryEntry, HistoryError, Trend};
pub use report::{BenchmarkResult, GateReport, LimitsNotMet};
pub use session::{GateEnd, GateError, GateRequest};
