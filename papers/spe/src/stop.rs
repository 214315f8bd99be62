//! Where a run begins, why a program gives its thread back, and how it gets one again.

use crate::transfer::TransferFault;
use seatmap_sim::cell_be::session::{Call, Session, Turn};

/// Where a run begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// At the program's beginning.
    Start,
    /// Where the program stopped; at its beginning if it has ended.
    Resume,
}

/// What a program finds in its first three registers: the arguments of its `main`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Arguments {
    /// As numbers, for a `main` that has numbers and pointers.
    pub numbers: [u64; 3],
    /// As the four words of each register, for a `main` that has vectors.
    pub words: [[u32; 4]; 3],
}

impl From<[u64; 3]> for Arguments {
    /// A number lies in a register's first two words, the upper half first.
    fn from(numbers: [u64; 3]) -> Self {
        let words = numbers.map(|number| [(number >> 32) as u32, number as u32, 0, 0]);
        Arguments { numbers, words }
    }
}

/// Why a program gave its thread back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// It stopped with a code; codes from 0x2000 to 0x20ff end it.
    Code(u32),
    /// It halted.
    Halt,
    /// It used a channel that does not exist.
    InvalidChannel(u32),
    /// It waits for a thing that only itself could do, or a thread that does not exist.
    Deadlock(&'static str),
    /// A transfer broke a rule.
    Transfer(TransferFault),
    /// The core has a defect.
    Defect,
}

impl Stop {
    /// Whether a run can resume the program.
    #[must_use]
    pub fn goes_on(&self) -> bool {
        matches!(self, Stop::Code(code) if !(0x2000..0x2100).contains(code))
    }
}

/// Why a program gave its thread back for now.
#[derive(Debug)]
pub enum Pause {
    /// It stopped.
    Stop(Stop),
    /// It waits for its turn on the simulated Cell.
    Call(Call),
}

/// A turn of a program on the simulated Cell.
#[derive(Debug)]
pub struct Turned {
    /// Why it is over.
    pub pause: Pause,
    /// The CPU time that it took here, if that is charged.
    pub worked_ns: u64,
    /// The core cycles that the program counted.
    pub counted: u64,
}

/// How a run ended, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// Why.
    pub stop: Stop,
    /// The local-store address that the next run is given to go on.
    pub at: u32,
}

/// A program in a store, which a machine gives a thread to.
pub trait Resumable: std::fmt::Debug + Send + Sync {
    /// Runs the program on this thread until it stops, for the pool.
    ///
    /// # Safety
    /// The owner of the program waits for this, and touches nothing of it meanwhile.
    unsafe fn resume(&self) -> Stop;

    /// Gives the program its turn on the simulated Cell, until its next call or stop.
    ///
    /// # Safety
    /// As for [`Resumable::resume`], and the session is the program's alone until it returns.
    unsafe fn resume_simulated(&self, session: *mut Session, turn: Turn) -> Turned;
}
