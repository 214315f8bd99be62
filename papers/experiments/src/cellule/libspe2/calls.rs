//! Table 1: the cost of each call of libspe2.

use crate::cellule::costs::{CALLS, TimedCall};
use crate::cellule::libspe2::programs::{CompiledPrograms, PpeProgram, ProgramLines};
use crate::cellule::libspe2::style::ByStyle;
use crate::cellule::spread::SampleSummary;
use crate::cellule::{CelluleError, WorkerSeats};
use std::collections::BTreeMap;

const ROUNDS: u32 = 40;

/// Each call's times, for all SPEs one after the other.
pub type CallTimes = BTreeMap<TimedCall, ByStyle<SampleSummary>>;

/// Measures each call in both styles, by turns.
///
/// # Errors
/// The errors of [`CompiledPrograms::run`].
pub fn table(
    programs: &CompiledPrograms,
    seats: &WorkerSeats,
    turns: u32,
) -> Result<CallTimes, CelluleError> {
    let numbers = [ROUNDS, seats.workers.len() as u32];
    let said = ByStyle::by_turns(turns, |style, all: &mut Vec<ProgramLines>| {
        all.push(programs.run(PpeProgram::Calls, &numbers, style, &seats.workers)?);
        Ok::<_, CelluleError>(())
    })?;
    CALLS
        .iter()
        .map(|(call, name, _)| Ok((*call, said.try_map(|turns| spread(turns, name))?)))
        .collect()
}

pub(super) fn spread(turns: &[ProgramLines], name: &str) -> Result<SampleSummary, CelluleError> {
    let turns: Vec<Vec<f64>> = turns.iter().map(|said| said.all(name)).collect();
    SampleSummary::of(&turns).ok_or_else(|| CelluleError::Program {
        name: "a measured program",
        words: format!("its output lacks {name}"),
    })
}
