//! Places one graph on nested groups, for `bench/shared/run`.
//!
//! Reads `SECONDS SEED` (negative seconds are kicks), the group sizes from the innermost out, their
//! distances, and one edge `A B WEIGHT` per line. Prints each task's slot.

use seatmap_place::anneal::in_groups;
use seatmap_place::machine::Square;
use seatmap_place::search::SearchLimit;
use seatmap_place::solve::cheapest;
use seatmap_place::{Problem, SlotGroups, Traffic};
use std::io::Read;

/// Small problems use a table of all distances.
const MOST_IN_TABLE: usize = 4096;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text)?;
    let mut lines = text.lines();
    let mut numbers = || -> Result<Vec<f64>, std::num::ParseFloatError> {
        lines.next().unwrap_or_default().split_whitespace().map(str::parse).collect()
    };
    let [seconds, seed] = numbers()?[..] else { return Err("SECONDS SEED expected".into()) };
    let sizes: Vec<usize> = numbers()?.into_iter().map(|size| size as usize).collect();
    let groups =
        SlotGroups::uniform(&sizes, &numbers()?).ok_or("no groups of these sizes and distances")?;
    let mut edges = Vec::new();
    while let [a, b, weight] = numbers()?[..] {
        edges.push((a as usize, b as usize, weight));
    }
    let traffic = Traffic::new(groups.slots(), edges);
    let limit = if seconds > 0.0 {
        SearchLimit::seconds(seconds)
    } else {
        SearchLimit::kicks(-seconds as u64)
    };
    let solution = if groups.slots() <= MOST_IN_TABLE {
        let distance = Square::from_fn(groups.slots(), |a, b| groups.between(a, b) as f32);
        cheapest(&Problem::new(traffic, distance), 0.0, &limit, 1, seed as u64).solution
    } else {
        in_groups(&traffic, &[], &groups, &limit, seed as u64).solution
    };
    for slot in solution.slot_of {
        println!("{slot}");
    }
    Ok(())
}
