//! The gain of the producer-consumer model.

use super::find_td::find_td;
use super::gain::{ComparisonTimes, SeatGain};
use super::{ChannelRuns, ChannelSeating, ChannelsError, Chip, FIRST_LINE};
use fastrand::Rng;
use seatmap_cell_sim::workload::ProducerConsumer;
use seatmap_data::port::{Addr, Testbed};

/// The two threads' cores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PairSeats {
    /// Two hardware threads of the core nearest to the home (figure 12).
    SameCore,
    /// That core and the next (figure 13).
    CloseCores,
}

/// The comparison's options.
#[derive(Clone, Copy, Debug)]
pub struct PairGainOptions {
    /// The two threads' cores.
    pub seats: PairSeats,
    /// Comparisons, each over another line.
    pub iterations: u32,
    /// Values in a run.
    pub values: u64,
    /// Timed batches for each core in the search for the home.
    pub batches: u32,
    /// The draws' seed.
    pub seed: u64,
}

/// Compares the model on two random cores with the model near its channel's home. Both runs use the
/// same line, and the search for its home counts (section IV.A of Liu et al. 2015).
///
/// # Errors
/// A machine without such seats, or the testbed's error.
pub fn pair_gain<T: Testbed>(
    bed: &mut T,
    chip: &Chip,
    options: &PairGainOptions,
) -> Result<SeatGain, ChannelsError> {
    let mut rng = Rng::with_seed(options.seed);
    let mut times = Vec::new();
    let mut last = None;
    for line in FIRST_LINE..FIRST_LINE + options.iterations {
        let before = ChannelSeating { pus: chip.pairs(1, &[], &mut rng)?, lines: vec![line] };
        let usual = ticks(bed, &before.pus, line, options.values)?;
        let found = find_td(bed, chip, line, options.batches)?;
        let after = ChannelSeating {
            pus: seats(chip, found.core, options.seats)?.to_vec(),
            lines: vec![line],
        };
        let placed = ticks(bed, &after.pus, line, options.values)?;
        times.push(ComparisonTimes { usual, search: found.ticks, placed });
        last = Some(ChannelRuns::pairs(before, after));
    }
    Ok(SeatGain { seated: last, ..SeatGain::of(&times, bed.ns_per_tick()) })
}

fn seats(chip: &Chip, core: usize, seats: PairSeats) -> Result<[u32; 2], ChannelsError> {
    match (seats, chip.cores[core].as_slice()) {
        (PairSeats::SameCore, [first, second, ..]) => Ok([*first, *second]),
        (PairSeats::SameCore, _) => Err(ChannelsError::Unfit(
            "two threads on one core need SMT, but this machine has none".to_owned(),
        )),
        (PairSeats::CloseCores, _) => Ok([chip.first(core), chip.first(core + 1)]),
    }
}

fn ticks<T: Testbed>(
    bed: &mut T,
    seats: &[u32],
    line: u32,
    values: u64,
) -> Result<u64, ChannelsError> {
    let both = bed
        .run(seats, &ProducerConsumer { channels: vec![Addr::line(line)], values })
        .map_err(ChannelsError::run)?;
    let began = both.iter().map(|task| task.began.ticks).min().unwrap_or(0);
    Ok(both.iter().map(|task| task.ended.ticks).max().unwrap_or(0) - began)
}
