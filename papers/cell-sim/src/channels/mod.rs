//! Mailboxes, signals, bulk transfers and atomics: communication as on the Cell.
//!
//! The Cell has only these operations, in hardware; coherent machines get them on cache lines. A
//! program that uses [`Channels`] runs on both.
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

/// The tag of messages and signals on machines that send them as transfers: waiting for it waits
/// for their arrival.
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
    /// Adds; add the negative to subtract.
    Add,
    /// Replaces the word.
    Set,
    /// Reads without a change.
    Read,
}

/// A service of an operating system for which a model has a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OsService {
    /// Creates a thread, runs it and joins it.
    Thread,
    /// Writes a mailbox through a system call instead of a mapped register.
    Mailbox,
    /// Writes a signal register through a system call.
    Signal,
}

/// A task's operations on other tasks, and on memory that it cannot load.
///
/// Tasks are workers with a local store, or controllers without. Messages have 32 bits. A blocking
/// operation stops only this task. Breaking a rule of [`dma`] ends the run with an error.
pub trait Channels {
    /// Reads the task's own local store in no time; [`Channels::compute`] charges for computing.
    fn peek(&self, local: u32, bytes: &mut [u8]);

    /// Writes the task's own local store in no time.
    fn poke(&self, local: u32, bytes: &[u8]);

    /// Starts to fetch bytes into the local store.
    fn get(&self, local: u32, from: Ea, size: u32, tag: u8, order: TransferOrder);

    /// Starts to send bytes from the local store.
    fn put(&self, local: u32, to: Ea, size: u32, tag: u8, order: TransferOrder);

    /// Starts to fetch a list's elements in order, to consecutive local addresses.
    fn get_list(&self, local: u32, from: &[Element], tag: u8, order: TransferOrder);

    /// Starts to send a list's elements in order.
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

    /// Writes a worker's signal register: the value replaces the old one, or is ORed into it if
    /// [`ProgramNeeds::signals_or`] is set.
    fn signal(&self, to: usize, register: SignalNumber, value: u32);

    /// Waits until the worker's own register holds a bit, then reads and clears it.
    fn signal_read(&self, register: SignalNumber) -> u32;

    /// Changes a word of main memory atomically, and returns its old value.
    fn atomic(&self, operation: Atomic, at: Ea, value: u32) -> u32;

    /// Performs the same operation `times` times, as fast as the machine can.
    fn atomic_times(&self, operation: Atomic, at: Ea, value: u32, times: u64) {
        (0..times).for_each(|_| _ = self.atomic(operation, at, value));
    }

    /// Reads the task's decrementer, which counts down and wraps around; [`Bed::ns_per_tick`]
    /// converts it.
    fn decrementer(&self) -> u32;

    /// The machine's clock in its own cycles, finer than the decrementer if possible.
    fn cycles(&self) -> u64;

    /// Computes for `cycles` core cycles.
    fn compute(&self, cycles: u64);

    /// Takes an operating-system service's time. Does nothing on a machine with an operating
    /// system.
    fn service(&self, service: OsService);

    /// Releases all tasks at one value of the clock once this many have called it. Does nothing on
    /// a model, whose tasks are never late by chance.
    fn begin_together(&self, _tasks: usize) {}

    /// Repeats an operation until this many tasks have called it, so that the load stays the same
    /// for the others. Returns the time at which it stopped, in cycles, or `None` if nothing is
    /// repeated, as on a model.
    fn keep_on(&self, _tasks: usize, _operation: &mut dyn FnMut()) -> Option<u64> {
        None
    }
}
