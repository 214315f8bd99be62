//! Workers that exist before they are needed: pinned threads with local stores, which receive
//! programs through a cache line.
//!
//! Programs for accelerators usually create, place and join a thread for each task. Gupta et al.
//! 2010 ("Cellule: lightweight execution environment for accelerator-based systems") implemented
//! the same calls without a thread and won up to 60 % on small work. Here a [`Runtime`] pins its
//! workers once, and a [`BorrowedWorker`] runs a loaded [`WorkerProgram`] for two cache-line
//! transfers.
//!
//! ```
//! use seatmap_worker::{WorkerView, WorkerOptions, Runtime};
//! use std::sync::Arc;
//!
//! let cpu = seatmap_worker::allowed_cpus()?[0];
//! let runtime = Runtime::new(&[cpu], WorkerOptions::default())?;
//! let mut context = runtime.context()?;
//! context.load(Arc::new(|inside: &mut WorkerView, argument: u64| {
//!     inside.store()[0] = argument as u8;
//!     inside.store()[0].into()
//! }));
//! assert_eq!(context.run(7)?, 7);
//! # Ok::<(), seatmap_worker::WorkerError>(())
//! ```
//!
//! The calls resemble libspe2's: a context, a program, runs with a stop code, mailboxes of four
//! entries in and one out, two signal registers, transfers by address.
//!
//! | module | contents |
//! |---|---|
//! | [`runtime`], `pool` | the workers; those not borrowed |
//! | [`context`], [`inside`] | a borrowed worker, from outside and from within |
//! | [`program`] | a worker's program |
//! | [`thread`] | the same calls with a thread for each run, for comparison |
//! | [`store`] | its local store: large pages if possible, locked, scrubbed between owners |
//! | [`mailbox`], [`signal`] | messages over one cache line each |
//! | [`message`] | a mailbox's entry: a message with its number |
//! | [`bell`] | wakes a sleeping reader |
//! | [`options`], [`error`] | sizes and policies; errors |
//! | [`poller`] | queues served in proportion to weights |
#![deny(missing_docs)]

pub mod bell;
pub mod context;
mod desk;
pub mod error;
pub mod inside;
pub mod mailbox;
pub mod message;
pub mod options;
pub mod poller;
mod pool;
mod primitive;
pub mod program;
pub mod runtime;
pub mod signal;
pub mod store;
pub mod thread;

pub use context::BorrowedWorker;
pub use error::WorkerError;
pub use inside::WorkerView;
pub use options::{Polling, WorkerOptions};
pub use poller::WeightedPoller;
pub use program::WorkerProgram;
pub use runtime::{Runtime, allowed_cpus};
pub use store::WorkerStore;
pub use thread::ThreadContext;
