//! Finds the home of each of a program's own lines, inside the program.
//!
//! A home belongs to a physical address, so the homes of one process's lines are not valid for
//! another; but the distance of each PU from each home is. In `FindTD` (algorithm 2 of Liu et al.
//! 2015) one thread visits every core. With known distances a few pairs of PUs suffice: each
//! measured distance is compared with the profile's prediction for every home, and the next pair is
//! the one whose predictions differ most between the possible homes.

mod belief;
mod candidates;
mod memory;
mod reading;

use belief::Belief;
use candidates::Candidates;
use seatmap_data::machine::Profile;
use seatmap_data::port::{Addr, Testbed};
use seatmap_machines::workload::LineByLine;
use seatmap_place::PlaceError;

pub(crate) use memory::homes_of;
pub use reading::DistanceReading;
pub use seatmap_data::port::LINE_BYTES;

/// The largest number of pairs that visit a line. A simulated Xeon Phi needs three, meshes with
/// reading errors of 1.5 ns eight to twelve (`seatmap-bench own-lines`); a line still open after
/// twice as many stays open.
pub const MOST_PAIRS: usize = 24;
/// Timed batches per visit, besides one warm-up.
pub const BATCHES: u32 = 8;
/// Homes differ by several ns.
const RESOLUTION_NS: f64 = 1.0;
const ROUND_TRIPS: [f64; 2] = [4.0, 32.0];

/// Lines in a testbed whose homes are requested.
pub struct CandidateLines {
    /// A word on each line.
    pub words: Vec<Addr>,
    /// A word on a separate line, where threads meet.
    pub meeting: Addr,
}

/// The home of each line, as a column of the profile's `offset_ns`; `None` if the readings fit no
/// home or several. Only these CPUs measure, or all. A line takes at most [`MOST_PAIRS`] visits of
/// nine batches with 4 to 32 round trips each: a millisecond if a round trip takes 150 ns, usually
/// a fraction of it.
///
/// # Errors
///
/// The profile does not distinguish homes, the CPUs are on fewer than two known cores, or the
/// testbed fails.
pub fn find<T: Testbed>(
    bed: &mut T,
    profile: &Profile,
    cpus: Option<&[u32]>,
    lines: &CandidateLines,
) -> Result<Vec<Option<u32>>, PlaceError> {
    find_by(profile, cpus, lines.words.len(), |pair, open| {
        let visit = visit(bed, lines, open);
        let traces =
            bed.run(&pair, &visit).map_err(|error| PlaceError::Unfit(error.to_string()))?;
        let [first, second] = traces.as_slice() else { return Ok(Vec::new()) };
        Ok(first
            .iter()
            .zip(second)
            .map(|traces| DistanceReading::of_traces(traces, visit.round_trips, bed.ns_per_tick()))
            .collect())
    })
}

/// [`find`] for this many lines over any source of readings: `read` receives two PUs and a list of
/// lines, and returns a reading of each, in order.
///
/// # Errors
/// Those of [`find`] and of `read`.
pub fn find_by(
    profile: &Profile,
    cpus: Option<&[u32]>,
    lines: usize,
    mut read: impl FnMut([u32; 2], &[usize]) -> Result<Vec<Option<DistanceReading>>, PlaceError>,
) -> Result<Vec<Option<u32>>, PlaceError> {
    let mut candidates = Candidates::new(profile, cpus)?;
    let mut beliefs = vec![Belief::new(candidates.homes()); lines];
    for _ in 0..MOST_PAIRS {
        let open: Vec<usize> = (0..lines).filter(|line| !beliefs[*line].is_sure()).collect();
        let Some(pair) = candidates.take(open.iter().map(|line| &beliefs[*line])) else { break };
        for (line, reading) in open.iter().zip(read(pair.cpus, &open)?) {
            if let Some(reading) = reading {
                beliefs[*line].learn(&pair.predicted_ns, reading, candidates.residual_ns());
            }
        }
    }
    Ok(beliefs.iter().map(Belief::home).collect())
}

fn visit<T: Testbed>(bed: &T, lines: &CandidateLines, open: &[usize]) -> LineByLine {
    let [least, most] = ROUND_TRIPS;
    let round_trips = (bed.clock_step_ns() / RESOLUTION_NS).ceil().clamp(least, most) as u32;
    let words = open.iter().map(|line| lines.words[*line]).collect();
    LineByLine { words, meeting: lines.meeting, batches: 1 + BATCHES, round_trips }
}
