//! Cellule's comparison on a model of the Cell, in virtual time: the same programs by Linux's
//! threads and by Cellule's light task.
//!
//! Calls, transfers and messages take what the model of the Cell says. The PPE's software takes the
//! costs that [`inputs`] lists; with one SPE they are those of table 1. How the times grow with the
//! number of SPEs, how far they scatter and what whole programs gain comes from the mechanism: one
//! CPU, its run queue and interrupts under Linux, one task that polls in Cellule.
//!
//! | module | holds |
//! |---|---|
//! | [`inputs`] | the costs that are taken as given, with their sources |
//! | `program` | the programs of the PPE and of the SPUs, written once |
//! | `linux`, `scheduler` | the PPE under Linux; who runs next |
//! | `light` | the PPE under Cellule, alone or beside another partition |
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
