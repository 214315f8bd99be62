//! All integration tests of the library in one binary, linked once.

mod coherent;
mod copies;
mod hierarchy;
mod litmus;
#[expect(dead_code, reason = "only the renderer is run")]
#[path = "../../../../../papers/cell-sim/src/workload/mandelbrot.rs"]
mod mandelbrot;
#[path = "../../../../../papers/cell-sim/src/workload/producer_consumer.rs"]
mod producer_consumer;
mod reference;

/// Threads are about 40 times slower than coroutines, so shorter tests of the same kind replace the
/// longest.
#[cfg(feature = "threads")]
const LONGEST: [&str; 2] = ["reference::timings_match_the_recorded_ones", "litmus::independent"];

#[test]
#[cfg(feature = "threads")]
fn all_tests_pass_with_threads() {
    let mut again =
        std::process::Command::new(std::env::current_exe().expect("this program has a file"));
    again.args(["--skip", "all_tests_pass"]).args(LONGEST.iter().flat_map(|name| ["--skip", name]));
    assert!(
        again.env("SEATMAP_TASKS", "threads").status().expect("this program can be run").success()
    );
}
