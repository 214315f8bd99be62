//! Lengthens runs until the workers work at the same time.

use super::{StatsError, StatsResult};
use seatmap_cell_sim::workload::stats::LoopTimes;
use seatmap_data::port::{ENOUGH_OVERLAP, TaskBeats};

/// How often a run is lengthened, to twice as many operations each time, before it is refused.
const LENGTHENED: u32 = 10;

pub trait Overlapping {
    /// The smallest share of a worker's run during which all workers ran; `None` if no worker is
    /// late by chance.
    fn overlap(&self) -> Option<f64>;
}

impl Overlapping for StatsResult {
    fn overlap(&self) -> Option<f64> {
        self.overlap
    }
}

pub fn lengthened<T: Overlapping, E: std::error::Error>(
    what: &str,
    mut attempt: impl FnMut(u64) -> Result<T, StatsError<E>>,
) -> Result<T, StatsError<E>> {
    let mut largest = 0.0_f64;
    for times in 0..=LENGTHENED {
        // A start that is late by a time slice is a smaller part of a longer run.
        let found = attempt(1 << times)?;
        match found.overlap().filter(|overlap| *overlap < ENOUGH_OVERLAP) {
            None => return Ok(found),
            Some(overlap) => largest = largest.max(overlap),
        }
    }
    Err(StatsError::Apart { what: what.to_owned(), overlap: largest })
}

pub fn runs(timed: &[LoopTimes]) -> Vec<TaskBeats> {
    timed.iter().filter(|task| task.operations > 0).map(LoopTimes::run).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io;

    struct Tried(u64, f64);

    impl Overlapping for Tried {
        fn overlap(&self) -> Option<f64> {
            Some(self.1)
        }
    }

    #[test]
    fn run_is_lengthened_until_workers_overlap() {
        let found = lengthened("fetchadd", |times| {
            Ok::<_, StatsError<io::Error>>(Tried(times, times as f64 / 10.0))
        });
        assert_eq!(found.unwrap().0, 16);
    }

    #[test]
    fn never_overlapping_workers_are_refused() {
        let mut tries = 0;
        let refused = lengthened("fetchadd", |_| {
            tries += 1;
            Ok::<_, StatsError<io::Error>>(Tried(0, 0.4))
        });
        assert_eq!(tries, 1 + LENGTHENED);
        insta::assert_snapshot!(refused.err().unwrap(), @"fetchadd: other programs used the CPUs, so the workers ran together for only 40 % of the time (90 % are needed); try again on a quieter machine");
    }
}
