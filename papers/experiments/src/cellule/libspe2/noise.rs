//! OS noise: the time for which an SPE's program stood still.

use crate::cellule::libspe2::programs::{CompiledPrograms, PpeProgram, ProgramLines};
use crate::cellule::libspe2::style::ByStyle;
use crate::cellule::{CelluleError, WorkerSeats};
use serde::Serialize;

/// The time of one turn, in milliseconds.
const LOOK_MS: u32 = 500;

/// Gaps of a microsecond and more between two readings of the clock.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OsNoise {
    /// The time of all turns.
    pub looked_ns: f64,
    /// The gaps per second.
    pub gaps_per_second: f64,
    /// The time in gaps, in per cent.
    pub lost_percent: f64,
    /// The longest gap.
    pub longest_ns: f64,
}

/// Reads the clock on one SPE in both styles, by turns.
///
/// # Errors
/// The errors of [`CompiledPrograms::run`].
pub fn noise(
    programs: &CompiledPrograms,
    seats: &WorkerSeats,
    turns: u32,
) -> Result<ByStyle<OsNoise>, CelluleError> {
    let said = ByStyle::by_turns(turns, |style, all: &mut Vec<ProgramLines>| {
        all.push(programs.run(PpeProgram::Noise, &[LOOK_MS], style, &seats.workers)?);
        Ok::<_, CelluleError>(())
    })?;
    said.try_map(|turns| Ok(of(turns)))
}

fn of(turns: &[ProgramLines]) -> OsNoise {
    let looked_ns = sum(turns, "time_ns");
    let longest = turns.iter().map(|said| said.sum("longest_ns")).fold(0.0, f64::max);
    OsNoise {
        looked_ns,
        gaps_per_second: sum(turns, "gaps") / looked_ns * 1e9,
        lost_percent: sum(turns, "lost_ns") / looked_ns * 100.0,
        longest_ns: longest,
    }
}

fn sum(turns: &[ProgramLines], name: &str) -> f64 {
    turns.iter().map(|said| said.sum(name)).sum::<f64>()
}
