//! Tests with real cells, which take a CPU from all programs.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

#[expect(dead_code, reason = "the other verbs' tests need more of it")]
#[path = "e2e/common.rs"]
mod common;
#[path = "e2e/folders.rs"]
mod folders;
#[path = "e2e/masks.rs"]
mod masks;
#[path = "e2e/real_cells.rs"]
mod real_cells;
#[path = "e2e/standing_cells.rs"]
mod standing_cells;
#[path = "e2e/taken.rs"]
mod taken;

pub const PROGRAM: &str = env!("CARGO_BIN_EXE_seatmap");
