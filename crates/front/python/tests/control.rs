//! Cells created from Python, which take a CPU from all other programs. Tests called `control` run
//! alone.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

#[expect(dead_code, reason = "the package's other tests need more of it")]
mod package;

use package::run;

#[test]
fn cells_last_as_long_as_their_blocks() {
    run("cells.py", &[]);
}
