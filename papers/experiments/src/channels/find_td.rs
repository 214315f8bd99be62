//! The core nearest to a line's home.

use super::{ChannelsError, Chip, round_trips};
use seatmap_data::port::Testbed;

/// A line's home, estimated from distances.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NearestCore {
    /// The core nearest to it.
    pub core: usize,
    /// The time of the search for homes, in the testbed's ticks.
    pub ticks: u64,
}

/// `FindTD` (algorithm 2 of Liu et al. 2015): one thread stays on the first PU, the other visits
/// core after core, and the home is at the shortest round trip. The first thread's own core is
/// skipped, because distances within a core do not depend on homes.
///
/// # Errors
/// Fewer than two cores, or the testbed's error.
pub fn find_td<T: Testbed>(
    bed: &mut T,
    chip: &Chip,
    line: u32,
    batches: u32,
) -> Result<NearestCore, ChannelsError> {
    // The last core, so that the search runs around the ring from its first.
    let stays = chip.cores.len().saturating_sub(1);
    let mut nearest = None;
    let mut ticks = 0;
    for core in 0..stays {
        let (pairs, took) =
            round_trips(bed, &[chip.first(stays), chip.first(core)], &[line], batches)?;
        let round_trip = pairs.first().map_or(f64::INFINITY, |pair| pair.mean);
        ticks += took;
        // The first of equal cores: always the same one without homes.
        if nearest.is_none_or(|(least, _)| round_trip < least) {
            nearest = Some((round_trip, core));
        }
    }
    nearest.map(|(_, core)| NearestCore { core, ticks }).ok_or_else(|| {
        ChannelsError::Unfit("distinguishing homes needs at least two cores".to_owned())
    })
}
