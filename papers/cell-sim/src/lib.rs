//! The Cell Broadband Engine: SPEs with their MFCs on the EIB, one chip or two.
//!
//! Each component is a type with private fields. Components send each other messages that arrive at
//! their time. A component that finds itself in an impossible state stops the run.
//!
//! | module | is |
//! |---|---|
//! | [`model`] | a machine as its file states it |
//! | [`parameters`] | the list of its parameters, with units and ranges |
//! | [`channels`] | mailboxes, signals, transfers and atomics, on the Cell and on cache lines |
//! | `spe`, `mfc` | an SPE; its queue of commands, cut into lines |
//! | `mailbox` | its mailboxes and signal registers |
//! | `reservation` | the atomic units: reservations and conditional stores |
//! | `interconnect`, `transaction` | the route of a bus transaction from its command to its end |
//! | `command_bus` | the command network |
//! | `arbiter`, `ring` | the data arbiter of a chip; one of its data rings |
//! | `mic`, `bif` | a memory controller; the link between the chips |
//! | `tokens` | the token manager, which can make commands to memory wait |
//! | `event` | messages between components |
//! | `world`, `request` | a machine at work; the calls of its tasks |
//! | `memory` | the bytes of its memories |
//! | [`session`] | the machine for programs in C, which come and go while it runs |
//! | [`bed`] | the [`Bed`](crate::channels::Bed) that runs programs |
//! | `port` | the machine as a task sees it |
//! | [`mod@profile`] | topology and distances, as of any other machine |
//! | `routes` | the rings as nodes and links |
//! | [`counters`] | counts, as a PMU would have them |
//! | [`trace`] | what happened when, for trace viewers |
//! | [`catalog`] | the models of the Cell that come with Seatmap |
//! | [`workload`] | the programs that the published experiments measure |
//! | [`os`] | what programs for local stores need of Linux on this computer |
#![deny(missing_docs)]

mod arbiter;
pub mod bed;
mod bif;
pub mod catalog;
pub mod channels;
mod command_bus;
pub mod counters;
mod event;
mod interconnect;
mod mailbox;
mod memory;
mod mfc;
mod mic;
pub mod model;
pub mod os;
pub mod parameters;
mod port;
pub mod profile;
mod request;
mod reservation;
mod ring;
mod routes;
pub mod session;
mod spe;
mod tokens;
pub mod trace;
mod transaction;
pub mod workload;
mod world;

pub use bed::CellBed;
pub use counters::CellBeCounters;
pub use model::CellModel;
pub use parameters::CellBeFigures;
pub use profile::profile;
