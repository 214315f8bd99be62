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
//! | [`policy`], [`queue`] | who gets which CPUs, and when: pure |
//! | [`wants`], [`ticket`] | the CPUs that a request wants; its place in the queue |
//! | [`usage`] | the recent CPU time of each user |
//! | [`request`], [`answer`], [`mod@line`] | the protocol: JSON, a line each |
//! | [`peer`], `guests` | who may connect, and how many |
//! | `door`, [`server`] | sockets; the threads |
//! | [`scheduler`] | the one thread that takes requests, and makes and undoes cells |
//! | [`gang`] | stopping a cell's threads, and letting them go on where they were |
//! | [`ledger`], [`account`] | facts and CPU times on file that outlive a killed controller |
//! | [`inherited`] | what a controller takes over from the one before it |
//! | [`warden`], [`lock`] | undoes the cells of a dead controller; one controller at a time |
//! | [`channel`], `input` | the door for programs without I/O rights; their standard input |
//! | [`file_proxy`] | the process that reads and writes files for one of them |
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
