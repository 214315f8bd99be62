//! Cellule's comparison on a model of the Cell, in virtual time: the same programs by Linux's
//! threads and by Cellule's light task.
//!
//! The model of the Cell gives the times of calls, transfers and messages. The PPE's software has
//! the costs in [`inputs`]; with one SPE they are those of table 1. The growth of the times with
//! the number of SPEs, their scatter and the gain of whole programs come from the mechanism: one
//! CPU, its run queue and interrupts under Linux, one polling task in Cellule.
//!
//! | module | holds |
//! |---|---|
//! | [`inputs`] | the assumed costs, with their sources |
//! | `program` | the programs of the PPE and of the SPUs |
//! | `linux`, `scheduler` | the PPE under Linux; its order of threads |
//! | `light` | the PPE under Cellule, alone or next to another partition |
//! | [`figures`] | table 1 and figures 4 to 6 and 8 |
//! | [`text`] | tables for people |

pub mod figures;
pub mod inputs;
mod light;
mod linux;
mod program;
mod scheduler;
pub mod text;

pub use figures::{CelluleMachine, SimulatedCellule, simulated};
