//! Scotch's `gmap` as the reference, if it is installed (Debian: `scotch`).

use seatmap_data::machine::Square;
use seatmap_place::Problem;
use std::fmt::Write as _;
use std::process::Command;

/// Maps a problem with as many tasks as PUs, one per PU. Returns `None` if Scotch is not installed
/// or fails.
///
/// The architecture is the complete graph of the PUs with distances as edge weights, decomposed by
/// Scotch's own `amk_grf`; Scotch needs integers.
pub fn map(problem: &Problem) -> Option<Vec<u32>> {
    let folder = tempfile::tempdir().ok()?;
    std::fs::write(folder.path().join("machine.grf"), machine(&problem.distance)).ok()?;
    std::fs::write(folder.path().join("pattern.grf"), pattern(problem)).ok()?;
    let made = Command::new("amk_grf")
        .args([folder.path().join("machine.grf"), folder.path().join("machine.tgt")])
        .output()
        .ok()?;
    let mapped = Command::new("scotch_gmap")
        .args([
            folder.path().join("pattern.grf"),
            folder.path().join("machine.tgt"),
            folder.path().join("out.map"),
        ])
        .output()
        .ok()?;
    if !made.status.success() || !mapped.status.success() {
        return None;
    }
    let text = std::fs::read_to_string(folder.path().join("out.map")).ok()?;
    let mut slot_of = vec![u32::MAX; problem.tasks()];
    // The first line is the number of tasks; then one "TASK SLOT" per line.
    for line in text.lines().skip(1) {
        let (task, slot) = line.split_once(char::is_whitespace)?;
        *slot_of.get_mut(task.trim().parse::<usize>().ok()?)? = slot.trim().parse().ok()?;
    }
    // Scotch tolerates imbalance and may put two tasks on one PU, which this problem does not
    // allow.
    let distinct: std::collections::HashSet<&u32> = slot_of.iter().collect();
    (distinct.len() == slot_of.len()).then_some(slot_of)
}

fn machine(distance: &Square<f32>) -> String {
    let n = distance.n();
    // Scotch's graph format: version 0; vertices and arcs; first index 0, and flags 010 for edge
    // weights. Then one line per vertex: its degree, and the weight and end of each arc.
    let mut text = format!("0\n{n} {}\n0 010\n", n * (n - 1));
    for i in 0..n {
        let _ = write!(text, "{}", n - 1);
        for j in (0..n).filter(|j| *j != i) {
            let _ = write!(text, " {} {j}", distance[(i, j)].round().max(1.0));
        }
        text.push('\n');
    }
    text
}

fn pattern(problem: &Problem) -> String {
    let traffic = &problem.traffic;
    let mut text = format!("0\n{} {}\n0 010\n", traffic.tasks(), 2 * traffic.pairs());
    for task in 0..traffic.tasks() {
        let _ = write!(text, "{}", traffic.degree(task));
        for (with, weight) in traffic.of(task) {
            let _ = write!(text, " {} {with}", weight.round().max(1.0));
        }
        text.push('\n');
    }
    text
}
