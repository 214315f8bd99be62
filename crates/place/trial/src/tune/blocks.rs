//! The order of runs in randomised complete blocks.
//!
//! If each command's runs follow one another, drift looks like a difference. In simulation that
//! order finds a command within 1 % of the best in a third to a half of all cases, randomised
//! blocks in 98 %.

use crate::tune::disturbance::Disturbance;
use seatmap_data::statistics::trial::Schedule;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A run and its position in the order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BlockRun {
    /// The block, from 0.
    pub block: usize,
    /// The command, from 0.
    pub command: usize,
    /// Whether it is the second run of the first command in its block.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub again: bool,
    /// The reading, in the metric's unit.
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub value: f64,
    /// How long the run took, in seconds.
    pub seconds: f64,
    /// The CPU time taken from it; absent in older documents.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disturbance: Option<Disturbance>,
    /// Whether its block is excluded from all figures, because a run was disturbed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub left_out: bool,
}

impl BlockRun {
    /// A run with this reading and, in seconds, this duration.
    pub fn new(block: usize, command: usize, value: f64) -> Self {
        BlockRun {
            block,
            command,
            again: false,
            value,
            seconds: value,
            disturbance: None,
            left_out: false,
        }
    }
}

/// The next block: in random order, each command once and the first one twice. Returns each, and
/// whether it is the first one's second run.
pub fn next_block(schedule: &mut Schedule, commands: usize) -> Vec<(usize, bool)> {
    let runs = schedule.order(commands + 1).into_iter();
    runs.map(|run| if run == commands { (0, true) } else { (run, false) }).collect()
}

/// The readings of each complete block without excluded runs: the first command's two, then the
/// others.
pub fn complete(runs: &[BlockRun], commands: usize) -> Vec<Vec<f64>> {
    let mut blocks: BTreeMap<usize, Vec<Option<f64>>> = BTreeMap::new();
    for run in runs.iter().filter(|run| !run.left_out) {
        let place = match (run.command, run.again) {
            (0, again) => usize::from(again),
            (command, false) => command + 1,
            (_, true) => continue,
        };
        let readings = blocks.entry(run.block).or_insert_with(|| vec![None; commands + 1]);
        // A damaged file may have unlisted commands or repeated runs.
        if let Some(reading) = readings.get_mut(place) {
            reading.get_or_insert(run.value);
        }
    }
    blocks.into_values().filter_map(|readings| readings.into_iter().collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn block_runs_each_command_once_and_first_twice() {
        let mut schedule = Schedule::new(7);
        let mut firsts = [0; 4];
        for _ in 0..400 {
            let mut order = next_block(&mut schedule, 3);
            let place = order.iter().position(|run| *run == (0, true)).unwrap();
            firsts[place] += 1;
            order.sort_unstable();
            assert_eq!(order, [(0, false), (0, true), (1, false), (2, false)]);
        }
        assert!(firsts.iter().all(|count| (60..140).contains(count)), "{firsts:?}");
        assert_eq!(next_block(&mut Schedule::new(1), 9), next_block(&mut Schedule::new(1), 9));
    }

    #[test]
    fn incomplete_blocks_do_not_count() {
        let run = |block, command, again| BlockRun {
            again,
            ..BlockRun::new(block, command, block as f64 + 1.0)
        };
        let runs = [
            run(0, 1, false),
            run(0, 0, true),
            run(0, 0, false),
            run(1, 0, false),
            run(1, 0, true),
        ];
        assert_eq!(complete(&runs, 2), [vec![1.0; 3]]);
        assert_eq!(complete(&runs, 1).len(), 2);
        assert!(complete(&[], 1).is_empty());
    }
}
