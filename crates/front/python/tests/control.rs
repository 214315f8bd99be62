//! Cells made from Python: the part of the package's tests that takes a CPU from everybody. Tests
//! of this name run when no others do.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

#[expect(dead_code, reason = "the package's other tests need more of it")]
mod package;

use package::run;

#[test]
fn cells_last_as_long_as_their_blocks() {
    run("cells.py", &[]);
}
