//! All integration tests of `seatmap-sim` in one binary: one link instead of 10.

mod cell;
mod cell_reference;
mod coherent;
mod copies;
mod hierarchy;
mod litmus;
mod liu;
mod message_ring;
mod programs;
mod reference;

#[test]
#[cfg(feature = "threads")]
fn every_test_here_passes_with_threads() {
    let mut again = std::process::Command::new(std::env::current_exe().expect("this program has a file"));
    again.args(["--skip", "every_test_here"]).env("SEATMAP_TASKS", "threads");
    assert!(again.status().expect("this program can be run").success());
}
