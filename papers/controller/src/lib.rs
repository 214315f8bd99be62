//! The controller of cells: one process that creates cells for several users, in turn.
//!
//! Several users of the same CPUs need a controller: it decides the order, queues requests, and
//! destroys a cell when its owner has exited. A state machine without clock or host makes these
//! decisions, so that its promises can be tested. The calls of `seatmap-cell` carry them out, with
//! journals and guardians.
//!
//! | module | does |
//! |---|---|
//! | [`policy`], [`queue`] | which request gets which CPUs, and when: pure |
//! | [`wants`], [`ticket`] | the CPUs of a request; its place in the queue |
//! | [`usage`] | the recent CPU time of each user |
//! | [`request`], [`answer`], [`mod@line`] | the protocol: lines of JSON |
//! | [`peer`], `guests` | permission to connect, and the number of clients |
//! | `door`, [`server`] | sockets; threads |
//! | [`scheduler`] | the one thread that handles requests, and creates and destroys cells |
//! | [`gang`] | stops a cell's threads, and continues them in their cell |
//! | [`ledger`], [`account`] | files of cells and CPU times that outlive a killed controller |
//! | [`inherited`] | what a controller takes over from the previous one |
//! | [`warden`], [`lock`] | destroys the cells of a dead controller; one controller at a time |
//! | [`channel`], `input` | the socket for programs without I/O rights; their standard input |
//! | [`file_proxy`] | the process that reads and writes files for such a program |
//! | [`client`], `watched`, [`error`] | the client's end; errors |
#![deny(missing_docs)]

pub mod account;
pub mod answer;
pub mod channel;
pub mod client;
mod door;
pub mod error;
pub mod file_proxy;
pub mod gang;
mod guests;
pub mod inherited;
mod input;
mod job;
pub mod ledger;
pub mod line;
pub mod lock;
pub mod peer;
pub mod policy;
pub mod queue;
pub mod request;
pub mod scheduler;
pub mod server;
pub mod ticket;
pub mod usage;
pub mod wants;
pub mod warden;
mod watched;
mod whole;

pub use answer::{CellPhase, ControlAnswer, ErrorOrigin, JobList, Listed, Say};
pub use channel::Exported;
pub use client::{ControlClient, ControllerEvent};
pub use error::ControlError;
pub use inherited::InheritedState;
pub use policy::Policy;
pub use request::{ControlRequest, Create, RequestKind};
pub use server::{ServerOptions, serve};
pub use watched::ControllerStopped;
