//! The controller of cells: one process that makes them for many, in turn.
//!
//! A user who is alone on a computer needs no controller to make a cell. Several users who want the
//! same CPUs need one: it says who goes first, lets the others wait, and takes a cell back when its
//! owner is gone. These decisions are made in a state machine without a clock or a host, so that
//! its promises can be tested. They are carried out by the calls of `seatmap-cell`, journals,
//! guardians and all.
//!
//! | module | does |
//! |---|---|
//! | [`policy`], [`wants`], [`ticket`], [`usage`], [`queue`] | who gets which CPUs, and when: pure |
//! | [`request`], [`answer`], [`mod@line`] | the protocol: JSON, a line each |
//! | [`peer`], `guests`, `door`, [`server`], [`scheduler`] | who may come in, and how many; sockets; the threads; the one that does everything |
//! | [`gang`] | stopping a cell's threads, and letting them go on where they were |
//! | [`ledger`], [`account`], [`inherited`], [`warden`], [`lock`] | what outlives a controller that is killed, and who winds it up |
//! | [`channel`], [`file_proxy`], `input` | the door for programs without I/O rights; the process that reads and writes files for one |
//! | [`client`], `watched`, [`error`] | the other end; what can go wrong |
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
