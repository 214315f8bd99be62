//! The experiments of Liu et al. 2015 on any testbed: channels on machines whose lines have homes.
//!
//! | module | does |
//! |---|---|
//! | [`chip`] | cores in their order around the ring, and random seats |
//! | [`find_td`] | the core nearest to a line's home (algorithm 2) |
//! | [`curve`] | distances from one PU to all cores, quiet or busy (figures 4, 5, 7, 8) |
//! | [`slices`] | busy pairs at random, and in slices (figures 9, 10) |
//! | [`gain`] | the gain of better seats, including the search for homes (figures 11 to 13, 15) |
//! | [`pair_gain`] | the gain of the producer-consumer model |
//! | [`renderer_gain`] | the gain of the Mandelbrot renderer |
//! | [`seated`] | the seats and lines of the last comparison |

pub mod chip;
pub mod curve;
mod error;
pub mod experiment;
pub mod find_td;
pub mod gain;
pub mod pair_gain;
pub mod renderer_gain;
pub mod seated;
pub mod slices;

pub use chip::Chip;
pub use error::ChannelsError;
pub use experiment::{ChannelsResult, ExperimentFigures, ExperimentOptions, MachineLoad, run};
pub use gain::SeatGain;
pub use seated::{ChannelRuns, ChannelSeating};

use seatmap_data::port::{Addr, Testbed};
use seatmap_data::statistics::median;
use seatmap_machines::workload::{PingPong, PingPongTimes};
use seatmap_measure::screen::GAP_FACTOR;

/// The first line of channels: a page beyond the lines at which tasks meet.
pub const FIRST_LINE: u32 = 64;
/// Timed batches of a pair on a computer with other users: the few of a model would be noise.
pub const BATCHES_ON_HOSTS: u32 = 200;
/// Round trips in a timed batch: few, because a batch counts only while all pairs run.
const ROUND_TRIPS: u32 = 2;

/// The time of one pair's round trips, in cycles of the testbed's clock.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RoundTrips {
    /// The mean while all pairs ran, without interrupted batches.
    pub mean: f64,
    /// The slowest batch while all pairs ran.
    pub slowest: f64,
}

impl RoundTrips {
    fn per(self, ticks_per_cycle: f64) -> Self {
        RoundTrips { mean: self.mean / ticks_per_cycle, slowest: self.slowest / ticks_per_cycle }
    }
}

/// Round trips of pairs that run at once, `seats` two by two, and the whole run's ticks.
///
/// # Errors
/// The testbed's error.
pub fn round_trips<T: Testbed>(
    bed: &mut T,
    seats: &[u32],
    lines: &[u32],
    batches: u32,
) -> Result<(Vec<RoundTrips>, u64), ChannelsError> {
    // The last word: a channel on the same line finds its own words unchanged.
    let words = lines.iter().map(|line| Addr::line(*line).word(7)).collect();
    // The first batch fills the caches.
    let pairs = PingPong {
        lines: words,
        gate: Addr::line(0),
        batches: batches + 1,
        round_trips: ROUND_TRIPS,
    };
    let traces = bed.run(seats, &pairs).map_err(ChannelsError::run)?;
    let first = traces
        .iter()
        .filter_map(|trace| trace.stamps.first())
        .map(|stamp| stamp.ticks)
        .min()
        .unwrap_or(0);
    // When the first task has ended, the ring is less busy than it should be.
    let until = traces
        .iter()
        .filter_map(|trace| trace.stamps.last())
        .map(|stamp| stamp.ticks)
        .min()
        .unwrap_or(0);
    let ticks_per_cycle = f64::from(bed.ticks_per_cycle());
    let finished = traces
        .chunks(2)
        .filter_map(later)
        .map(|later| of_trace(later, until).per(ticks_per_cycle))
        .collect();
    Ok((
        finished,
        traces
            .iter()
            .filter_map(|trace| trace.stamps.last())
            .map(|stamp| stamp.ticks)
            .max()
            .unwrap_or(0)
            .saturating_sub(first),
    ))
}

/// The task of a pair that started later: the other's first batch includes the wait.
fn later(pair: &[PingPongTimes]) -> Option<&PingPongTimes> {
    pair.iter().max_by_key(|trace| trace.stamps.first().map(|stamp| stamp.ticks))
}

fn of_trace(trace: &PingPongTimes, until: u64) -> RoundTrips {
    let ticks: Vec<u64> = trace.stamps.iter().map(|stamp| stamp.ticks).collect();
    let last =
        // At least one full batch counts, even if another task ended before it.
        ticks.iter().rposition(|ticks| *ticks <= until).unwrap_or(0).max(2).min(ticks.len() - 1);
    let batches: Vec<f64> = ticks[1..=last].windows(2).map(batch).collect();
    // A batch far beyond the median was interrupted.
    let reach = GAP_FACTOR * median(&batches).unwrap_or(0.0);
    RoundTrips {
        mean: batches.iter().filter(|batch| **batch <= reach).sum::<f64>()
            / batches.iter().filter(|batch| **batch <= reach).count().max(1) as f64,
        // Interruptions included.
        slowest: batches.iter().copied().fold(0.0, f64::max),
    }
}

fn batch(two: &[u64]) -> f64 {
    two[1].saturating_sub(two[0]) as f64 / f64::from(ROUND_TRIPS)
}
