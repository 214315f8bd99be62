//! All integration tests of `seatmap-cell-sim` in one binary.

mod cell;
mod cell_reference;
mod channels_loom;
mod channels_on_lines;
mod coherent_reference;
mod conformance;
mod message_ring;
mod programs;

/// Threads are about 40 times slower than coroutines, and both run the same simulator, so the
/// recorded timings of one Cell suffice.
const LONGEST: [&str; 2] = ["cell_reference::qs20_timings", "cell_reference::qs22_timings"];

#[test]
fn all_tests_pass_with_threads() {
    if !seatmap_sim::engine::has_threads() {
        return;
    }
    let mut again =
        std::process::Command::new(std::env::current_exe().expect("this program has a file"));
    again.args(["--skip", "all_tests_pass"]).args(LONGEST.iter().flat_map(|name| ["--skip", name]));
    assert!(
        again.env("SEATMAP_TASKS", "threads").status().expect("this program can be run").success()
    );
}
