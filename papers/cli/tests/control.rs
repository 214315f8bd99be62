//! The controller through the real binary, separate from the other verbs: while a cell exists, they
//! lack its CPU.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

#[path = "../../../crates/front/cli/tests/e2e/common.rs"]
#[expect(dead_code, reason = "the suites of two programs share it")]
mod common;
#[path = "e2e/files.rs"]
mod files;
#[path = "../../../crates/front/cli/tests/e2e/real_cells.rs"]
mod real_cells;
#[path = "e2e/serve.rs"]
mod serve;
#[path = "e2e/serve_folders.rs"]
mod serve_folders;

/// The program.
pub const PROGRAM: &str = env!("CARGO_BIN_EXE_seatmap-papers");
