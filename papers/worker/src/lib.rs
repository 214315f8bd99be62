//! Workers that are there before they are needed: pinned threads with local stores, handed programs
//! through a cache line.
//!
//! A program for accelerators creates a thread for each worker, waits until the kernel has made and
//! placed it, and joins it at the end. Gupta et al. 2010 ("Cellule: lightweight execution
//! environment for accelerator-based systems") answered the same calls without a thread and won up
//! to 60 % on small work. Here a [`Runtime`] seats its workers once; a [`BorrowedWorker`] borrows
//! one, loads a [`WorkerProgram`] and runs it as often as it likes for two cache-line transfers
//! each.
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
//! The calls are libspe2's in spirit, so that its programs can be served by them: a context, a
//! program, runs that end with a stop code, mailboxes of four entries in and one out, two signal
//! registers, transfers by address.
//!
//! | module | holds |
//! |---|---|
//! | [`runtime`], `pool` | the workers; those that are not lent out |
//! | [`context`], [`inside`] | a borrowed worker, from outside and from within |
//! | [`program`] | what a worker runs |
//! | [`thread`] | the same calls, each run by a thread of its own: for comparison |
//! | [`store`] | its local store: large pages if possible, locked, scrubbed between owners |
//! | [`mailbox`], [`signal`] | messages over one cache line each |
//! | [`message`] | a mailbox's entry: a message with its number |
//! | [`bell`] | how a reader that has slept is woken |
//! | [`options`], [`error`] | sizes and policies; what goes wrong |
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
