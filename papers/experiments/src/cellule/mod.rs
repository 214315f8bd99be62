//! The experiments of Gupta et al. 2010 ("Cellule: lightweight execution environment for
//! accelerator-based systems").
//!
//! The paper runs the same programs with a kernel that makes a thread for each accelerator and with
//! a runtime whose workers are ready, and times each call. Here both use the calls of
//! [`seatmap_worker`], on the same CPUs, by turns within one process, so that their ratio holds on
//! a shared machine. A program's result is checked before its time counts.
//!
//! | module | holds |
//! |---|---|
//! | [`seats`], [`calls`] | the CPUs of controller and workers; the calls of both ways |
//! | [`problem`], [`workload`], [`matrix`], [`black_scholes`] | the programs of section 4.1 |
//! | [`compare()`] | a program's time with each way |
//! | [`gains`], [`kernel`] | figures 4 and 5; the kernel's part, figure 7 |
//! | [`costs`] | table 1 and figure 6: the cost of each call |
//! | [`libspe2`] | the same programs in C, with a libspe2 like the runtime and one like Linux |
//! | [`simulated`] | the same programs on a model of the Cell, in virtual time, with 1 to 8 SPEs |
//! | [`streams`] | section 4.2: TCP streams through pollers with weights |
//! | [`spread`] | summaries of samples |
//! | [`text`], [`document`] | tables for people; JSON for programs |

pub mod black_scholes;
pub mod calls;
pub mod compare;
pub mod costs;
pub mod document;
mod error;
pub mod gains;
pub mod kernel;
pub mod libspe2;
pub mod matrix;
mod memory;
pub mod problem;
pub mod seats;
pub mod simulated;
pub mod spread;
pub mod streams;
pub mod text;
pub mod workload;

pub use compare::{WorkersComparison, compare};
pub use document::WorkersDocument;
pub use error::CelluleError;
pub use libspe2::Libspe2;
pub use seats::WorkerSeats;
pub use simulated::SimulatedCellule;
pub use workload::CelluleWorkload;
