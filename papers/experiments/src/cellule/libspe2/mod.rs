//! Cellule's comparison on real hardware: the same C programs against libspe2 in two styles of the
//! library.
//!
//! In Linux's style the library makes a thread for each run and a system call for each message, as
//! libspe2 did on the Cell. In the cell's style pinned threads run the contexts, and messages are
//! stores to shared lines, as in Cellule. Programs, compiler and CPUs are the same.
//!
//! | module | holds |
//! |---|---|
//! | [`programs`], [`style`] | the programs, compiled and run; the two styles |
//! | [`calls`], [`gains`], [`noise`] | table 1; figures 4, 5 and 7; gaps in the clock of an SPE |
//! | [`text`] | tables for people |

pub mod calls;
pub mod gains;
pub mod noise;
pub mod programs;
pub mod style;
pub mod text;

use crate::cellule::{CelluleError, WorkerSeats};
use programs::{CompiledPrograms, PpeProgram};
use serde::Serialize;
use style::ByStyle;

/// The comparison on one computer.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Libspe2 {
    /// The number of SPEs.
    pub spes: usize,
    /// Table 1: each call, for all SPEs one after the other.
    pub table: calls::CallTimes,
    /// Figures 4 and 5.
    pub figures: Vec<gains::Curves>,
    /// The noise of one SPE.
    pub noise: ByStyle<noise::OsNoise>,
}

/// Compiles the programs and measures them in both styles, by turns. `step` receives the number of
/// finished points and of all points.
///
/// # Errors
/// [`CelluleError::Compiler`], [`CelluleError::Program`].
pub fn libspe2(
    seats: &WorkerSeats,
    turns: u32,
    mut step: impl FnMut(usize, usize) + Send,
) -> Result<Libspe2, CelluleError> {
    let needed =
        [PpeProgram::Calls, PpeProgram::Matrix, PpeProgram::BlackScholes, PpeProgram::Noise];
    let programs = CompiledPrograms::build(&programs::compiler(), &needed)?;
    seats.control(|| {
        let table = calls::table(&programs, seats, turns)?;
        let figures = gains::figures(&programs, seats, turns, &mut step)?;
        let noise = noise::noise(&programs, seats, turns)?;
        Ok(Libspe2 { spes: seats.workers.len(), table, figures, noise })
    })
}
