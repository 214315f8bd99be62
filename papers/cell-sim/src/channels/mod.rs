//! Mailboxes, signals, bulk transfers and atomics: the Cell's ways to communicate.
//!
//! The Cell has these in hardware and nothing else; coherent machines get them from one
//! implementation on cache lines. A program over [`Channels`] runs on both.
//!
//! | module | is |
//! |---|---|
//! | [`dma`] | the rules for bulk transfers |
//! | [`lines`] | channels on cache lines |
//! | [`host`] | this computer as a machine for programs over channels |

mod bed;
mod coherent;
pub mod dma;
mod ea;
pub mod host;
pub mod lines;

pub use bed::{Bed, ChannelProgram, ProgramNeeds};
pub use dma::{DmaError, Element, TransferOrder};
pub use ea::Ea;
pub use host::{BedError, HostBed};

/// The tag of messages and signals on a machine where they are transfers: waiting for it waits for
/// them to have arrived.
pub const MESSAGE_TAG: u8 = 31;

/// One of the two signal registers of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignalNumber {
    /// The first.
    One,
    /// The second.
    Two,
}

/// An atomic operation on a 32-bit word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Atomic {
    /// Adds; subtracting is adding the negative.
    Add,
    /// Replaces the word.
    Set,
    /// Reads, and leaves as it is.
    Read,
}

/// Services of an operating system whose time a model knows as a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OsService {
    /// Creating a thread, running it and finding it ended.
    Thread,
    /// Writing a mailbox through a system call instead of a mapped register.
    Mailbox,
    /// Writing a signal register through a system call.
    Signal,
}

/// The operations that one task can do on other tasks and on memory without loading it.
///
/// Tasks are workers with a local store, and controllers without. Messages have 32
/// bits. An operation that blocks stops this task only. A transfer that [`dma`] refuses ends the
/// run with its error.
pub trait Channels {
    /// Reads the task's own local store, at no cost: what computing costs is said by
    /// [`Channels::compute`].
    fn peek(&self, local: u32, bytes: &mut [u8]);

    /// Writes the task's own local store, at no cost.
    fn poke(&self, local: u32, bytes: &[u8]);

    /// Begins to fetch bytes into the local store.
    fn get(&self, local: u32, from: Ea, size: u32, tag: u8, order: TransferOrder);

    /// Begins to send bytes from the local store.
    fn put(&self, local: u32, to: Ea, size: u32, tag: u8, order: TransferOrder);

    /// Begins to fetch the elements of a list one after the other, to addresses that follow on each
    /// other.
    fn get_list(&self, local: u32, from: &[Element], tag: u8, order: TransferOrder);

    /// Begins to send them.
    fn put_list(&self, local: u32, to: &[Element], tag: u8, order: TransferOrder);

    /// Waits until all transfers of these tags (bit t for tag t) are complete.
    fn wait_tags(&self, tags: u32);

    /// Writes a worker's inbound mailbox of four entries; waits while it is full.
    fn mailbox_write(&self, to: usize, value: u32);

    /// Reads the worker's own inbound mailbox; waits while it is empty.
    fn mailbox_read(&self) -> u32;

    /// Writes the worker's own outbound mailbox of one entry, which controllers read; waits while
    /// it is full.
    fn outbox_write(&self, value: u32);

    /// Reads a worker's outbound mailbox; waits while it is empty.
    fn outbox_read(&self, from: usize) -> u32;

    /// Writes a worker's signal register: the value replaces the old one, or is ORed into it where
    /// [`ProgramNeeds::signals_or`] says so.
    fn signal(&self, to: usize, register: SignalNumber, value: u32);

    /// Waits until the worker's own register holds a bit, and takes all.
    fn signal_read(&self, register: SignalNumber) -> u32;

    /// Changes a word of main memory in one piece, and returns what was there before.
    fn atomic(&self, operation: Atomic, at: Ea, value: u32) -> u32;

    /// Does the same `times` times, as fast as the machine can.
    fn atomic_times(&self, operation: Atomic, at: Ea, value: u32, times: u64) {
        (0..times).for_each(|_| _ = self.atomic(operation, at, value));
    }

    /// Reads the task's decrementer, which counts down and wraps around; [`Bed::ns_per_tick`]
    /// converts it.
    fn decrementer(&self) -> u32;

    /// The machine's clock in its own cycles, finer than the decrementer where there is something
    /// finer.
    fn cycles(&self) -> u64;

    /// Computes for `cycles` core cycles.
    fn compute(&self, cycles: u64);

    /// Takes as long as a service of the operating system does. Does nothing on a machine that has
    /// one.
    fn service(&self, service: OsService);

    /// Waits until this many tasks have called it, and lets them all go at one value of the clock.
    /// A model does nothing here: in it no task is late by chance.
    fn begin_together(&self, _tasks: usize) {}

    /// Repeats an operation until this many tasks have called it, so that tasks whose operations
    /// are still counted keep their company. Returns when it stopped, in cycles; `None` where
    /// nothing is repeated, as on a model.
    fn keep_on(&self, _tasks: usize, _operation: &mut dyn FnMut()) -> Option<u64> {
        None
    }
}
