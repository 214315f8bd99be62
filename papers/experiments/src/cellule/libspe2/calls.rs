//! Table 1: the cost of each call of libspe2.

use crate::cellule::costs::{CALLS, Call};
use crate::cellule::libspe2::programs::{Program, Programs, Said};
use crate::cellule::libspe2::style::ByStyle;
use crate::cellule::spread::Spread;
use crate::cellule::{CelluleError, Seats};
use std::collections::BTreeMap;

/// Rounds of a turn.
const ROUNDS: u32 = 40;

/// The times of each call, for all SPEs one after the other.
pub type Table = BTreeMap<Call, ByStyle<Spread>>;

/// Measures each call in both styles, by turns.
///
/// # Errors
/// The errors of [`Programs::run`].
pub fn table(programs: &Programs, seats: &Seats, turns: u32) -> Result<Table, CelluleError> {
    let numbers = [ROUNDS, seats.workers.len() as u32];
    let said = ByStyle::by_turns(turns, |style, all: &mut Vec<Said>| {
        all.push(programs.run(Program::Calls, &numbers, style, &seats.workers)?);
        Ok::<_, CelluleError>(())
    })?;
    CALLS
        .iter()
        .map(|(call, name, _)| Ok((*call, said.try_map(|turns| spread(turns, name))?)))
        .collect()
}

/// The spread of a line's numbers over the turns.
pub(super) fn spread(turns: &[Said], name: &str) -> Result<Spread, CelluleError> {
    let turns: Vec<Vec<f64>> = turns.iter().map(|said| said.all(name)).collect();
    Spread::of(&turns).ok_or_else(|| CelluleError::Program {
        name: "a measured program",
        words: format!("it said nothing of {name}"),
    })
}
