//! Finds the home of each of a program's own lines, in the program itself.
//!
//! A home belongs to a physical address, so a profile's homes of the lines of one process do not
//! hold for another. The distance of each PU from each home does carry over. `FindTD` (algorithm 2
//! of Liu et al. 2015) has one thread visit every core to find the home of a line. With the
//! distances known, a few pairs of PUs are enough: each distance is compared with the profile's
//! prediction for every home, and the next pair is the one whose predictions differ most between
//! the homes that are still possible.
//!
//! | module | holds |
//! |---|---|
//! | `candidates` | pairs of PUs, and the profile's predictions for them |
//! | `reading` | the result of a pair's turns over a line |
//! | `belief` | the probability of each home of a line, from all its readings |
//! | `memory` | the program's memory as a machine that threads of this process run on |

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

/// The most pairs of PUs that visit a line. A simulated Xeon Phi needs three, meshes with reading
/// errors of 1.5 ns need eight to twelve (`seatmap-bench own-lines`), and a line still open after
/// twice as many stays open.
pub const MOST_PAIRS: usize = 24;
/// Timed batches of a visit, besides one to warm up.
pub const BATCHES: u32 = 8;
/// A batch is so long that a step of the clock is no more than this in a round trip. Homes differ
/// by several.
const RESOLUTION_NS: f64 = 1.0;
/// Round trips of a batch, at least and at most.
const ROUND_TRIPS: [f64; 2] = [4.0, 32.0];

/// Lines whose homes are wanted, as a testbed has them.
#[derive(Clone, Debug)]
pub struct CandidateLines {
    /// A word on each.
    pub words: Vec<Addr>,
    /// Where threads meet: a word on a line of its own.
    pub meeting: Addr,
}

/// For each line the home that it has, by its column in the profile's `offset_ns`; `None` where the
/// readings fit no home of the profile, or more than one. Only these CPUs measure, or all. A line
/// takes [`MOST_PAIRS`] visits at most, of nine batches of 4 to 32 round trips each: a millisecond
/// where a round trip takes 150 ns, and mostly a fraction of it.
///
/// # Errors
/// A profile that tells no homes apart, CPUs on fewer than two cores that it knows, and errors of
/// the testbed.
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

/// [`find`] for this many lines over any source of readings: `read` is given two PUs and a list of
/// lines, and returns a reading of each, in that order.
///
/// # Errors
/// Those of [`find`], and those of `read`.
pub fn find_by(
    profile: &Profile,
    cpus: Option<&[u32]>,
    lines: usize,
    mut read: impl FnMut([u32; 2], &[usize]) -> Result<Vec<Option<DistanceReading>>, PlaceError>,
) -> Result<Vec<Option<u32>>, PlaceError> {
    let mut candidates = Candidates::new(profile, cpus)?;
    let mut beliefs = vec![Belief::new(candidates.homes()); lines];
    for _ in 0..MOST_PAIRS {
        // Lines whose home is sure are not asked any more, so that the last ones are asked often.
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

/// Turns over these of the lines.
fn visit<T: Testbed>(bed: &T, lines: &CandidateLines, open: &[usize]) -> LineByLine {
    let [least, most] = ROUND_TRIPS;
    let round_trips = (bed.clock_step_ns() / RESOLUTION_NS).ceil().clamp(least, most) as u32;
    let words = open.iter().map(|line| lines.words[*line]).collect();
    // The first batch warms up.
    LineByLine { words, meeting: lines.meeting, batches: 1 + BATCHES, round_trips }
}
