//! The Cell Broadband Engine: SPEs with their MFCs on the EIB, on one chip or two.
//!
//! Components are types with private fields and exchange timed messages. One in an impossible state
//! stops the run.
//!
//! | module | is |
//! |---|---|
//! | [`model`] | a machine as its file states it |
//! | [`parameters`] | the list of its parameters, with units and ranges |
//! | [`channels`] | mailboxes, signals, transfers and atomics, on the Cell and on cache lines |
//! | `spe`, `mfc` | an SPE; its command queue, which cuts commands into lines |
//! | `mailbox` | mailboxes and signal registers |
//! | `reservation` | the atomic units: reservations and conditional stores |
//! | `interconnect`, `transaction` | the route of a bus transaction from its command to its end |
//! | `command_bus` | the command network |
//! | `arbiter`, `ring` | a chip's data arbiter; a data ring |
//! | `mic`, `bif` | a memory controller; the link between the chips |
//! | `tokens` | the token manager, which can delay commands to memory |
//! | `event` | messages between components |
//! | `world`, `request` | a running machine; the calls of its tasks |
//! | `memory` | the bytes of its memories |
//! | [`session`] | the machine for C programs, which start and end during the run |
//! | [`bed`] | the [`Bed`](crate::channels::Bed) that runs programs |
//! | `port` | the machine as a task sees it |
//! | [`mod@profile`] | topology and distances, in the form used for all machines |
//! | `routes` | the rings as nodes and links |
//! | [`counters`] | counts like those of a PMU |
//! | [`trace`] | a timeline for trace viewers |
//! | [`catalog`] | the Cell models that come with Seatmap |
//! | [`workload`] | the programs of the published experiments |
//! | [`os`] | what programs for local stores need from Linux on this computer |
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
