//! The operations of a task: the contract between programs and machines.
//!
//! A workload is written once, as an ordinary synchronous function over [`Port`]. On the host a
//! `Port` is plain loads and stores by a pinned thread; in a simulator each costly call advances
//! virtual time:
//!
//! | item | meaning |
//! |---|---|
//! | [`Addr`] | a 64-bit word of the tasks' shared memory; eight of them make a cache line |
//! | [`Port`] | load, store, fetch-and-op, compare-exchange, wait-until-changed; clock; computing |
//! | [`Workload`] | a program of several tasks, generic over `Port` |
//! | [`Testbed`] | a machine that runs a workload under a placement |
//! | [`Barrier`] | a rendezvous over the port alone, so the same on every machine |
//! | [`overlap()`] | whether tasks worked at the same time |
//!
//! `Port` is object-safe: C callers use `&dyn Port`, while Rust workloads are monomorphised.

mod addr;
mod barrier;
mod contract;
mod overlap;
mod stamp;
mod testbed;
mod workload;

pub use addr::{Addr, LINE_BYTES, WORDS_PER_LINE};
pub use barrier::Barrier;
pub use contract::Port;
pub use overlap::{ENOUGH_OVERLAP, TaskBeats, overlap};
pub use stamp::Stamp;
pub use testbed::Testbed;
pub use workload::Workload;
