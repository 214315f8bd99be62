//! Every verb of the papers through the real binary, each test in its own folder and home.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

#[path = "../../../../crates/front/cli/tests/e2e/common.rs"]
#[expect(dead_code, reason = "the suites of two programs share it")]
mod common;
#[path = "../../../../crates/front/cli/tests/e2e/examples.rs"]
mod examples;
#[path = "../../../../crates/front/cli/tests/e2e/hostile.rs"]
#[expect(dead_code, reason = "the suites of two programs share it")]
mod hostile;

mod channels;
mod cpus;
mod documents;
mod formats;
mod limits;
mod models;
mod names;
mod place;
mod product;
mod rank;
mod spread;
mod stats;
mod study;
mod workers;

/// The tested program.
pub const PROGRAM: &str = env!("CARGO_BIN_EXE_seatmap-papers");
/// The repository's root.
pub const REPOSITORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
/// Pages with tested examples: files, and folders of them.
pub const PAGES: [&str; 1] = ["docs/papers/src"];
