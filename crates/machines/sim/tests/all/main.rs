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

/// Threads are some forty times slower than coroutines, and both run the same simulator: the
/// recorded timings of one Cell stand for those of other machines, and shorter tests of a kind for
/// the longest.
#[cfg(feature = "threads")]
const LONGEST: [&str; 5] = [
    "reference::timings_are_as_recorded",
    "cell_reference::every_timing_of_a_part",
    "cell_reference::every_timing_of_the_later",
    "liu::find_td_is_right_on_a_busy",
    "litmus::independent",
];

#[test]
#[cfg(feature = "threads")]
fn tests_here_pass_with_threads() {
    let mut again =
        std::process::Command::new(std::env::current_exe().expect("this program has a file"));
    again.args(["--skip", "tests_here"]).args(LONGEST.iter().flat_map(|name| ["--skip", name]));
    assert!(
        again.env("SEATMAP_TASKS", "threads").status().expect("this program can be run").success()
    );
}
