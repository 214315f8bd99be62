//! Where a run begins, why a program gives its thread back, and how it gets one again.

use crate::transfer::TransferFault;
use seatmap_cell_sim::session::{CellBeSession, ProgramTurn, SessionCall};

/// Where a run begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryPoint {
    /// At the program's beginning.
    Start,
    /// Where the program stopped; at its beginning if it has ended.
    Resume,
}

/// The first three registers of a program that begins: the arguments of its `main`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Arguments {
    /// As numbers, for a `main` that has numbers and pointers.
    pub numbers: [u64; 3],
    /// As the four words of each register, for a `main` that has vectors.
    pub words: RegisterWords,
}

/// Three registers as the program's start reads them: vectors, at multiples of their size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C, align(16))]
pub struct RegisterWords(pub [[u32; 4]; 3]);

impl From<[u64; 3]> for Arguments {
    /// A number lies in a register's first two words, the upper half first.
    fn from(numbers: [u64; 3]) -> Self {
        let words = numbers.map(|number| [(number >> 32) as u32, number as u32, 0, 0]);
        Arguments { numbers, words: RegisterWords(words) }
    }
}

/// Why a program gave its thread back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StopReason {
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
    /// An instruction of the program could not be executed.
    Fault(ProgramFault),
    /// The core has a defect.
    Defect,
}

/// The kinds of faults.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FaultKind {
    /// A load or a store, of an address that does not lead into the local store.
    #[default]
    Access,
    /// An instruction that does not exist.
    Instruction,
    /// A division of integers by zero, or one whose result does not fit.
    Arithmetic,
    /// A jump or a call to an address without code.
    Jump,
    /// The stack pointer has left the local store.
    Stack,
}

/// An instruction that could not be executed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProgramFault {
    /// The context's number.
    pub context: u32,
    /// The kind of fault.
    pub kind: FaultKind,
    /// The address that it needed.
    pub address: u64,
    /// The address of the instruction, or of the one behind the call that led there.
    pub at: u64,
    /// The same in words: a function and the distance from its beginning.
    pub place: String,
}

impl std::fmt::Display for ProgramFault {
    fn fmt(&self, out: &mut std::fmt::Formatter) -> std::fmt::Result {
        let ProgramFault { context, address, place, .. } = self;
        write!(out, "context {context}: ")?;
        match self.kind {
            FaultKind::Access => write!(out, "a load or store at {address:#x}, in {place}"),
            FaultKind::Instruction => write!(out, "an invalid instruction in {place}"),
            FaultKind::Arithmetic => {
                write!(out, "a division by zero, or one that overflows, in {place}")
            }
            FaultKind::Jump => {
                write!(out, "a jump to {address:#x}, where no code is, from {place}")
            }
            FaultKind::Stack => write!(out, "the stack has left the local store, in {place}"),
        }
    }
}

impl StopReason {
    /// Whether a run can resume the program.
    #[must_use]
    pub fn goes_on(&self) -> bool {
        matches!(self, StopReason::Code(code) if !(0x2000..0x2100).contains(code))
    }
}

/// Why a program gave its thread back for now.
#[derive(Debug)]
pub enum Pause {
    /// It stopped.
    Stop(StopReason),
    /// It waits for its turn on the simulated Cell.
    Call(SessionCall),
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
pub struct RunStop {
    /// Why.
    pub stop: StopReason,
    /// The local-store address that the next run is given to go on.
    pub at: u32,
}

/// A program in a store, which a machine gives a thread to.
pub trait Resumable: std::fmt::Debug + Send + Sync {
    /// Runs the program on this thread until it stops, for the pool.
    ///
    /// # Safety
    /// The owner of the program waits for this, and touches nothing of it meanwhile.
    unsafe fn resume(&self) -> StopReason;

    /// Gives the program its turn on the simulated Cell, until its next call or stop.
    ///
    /// # Safety
    /// As for [`Resumable::resume`], and the session is the program's alone until it returns.
    unsafe fn resume_simulated(&self, session: *mut CellBeSession, turn: ProgramTurn) -> Turned;
}
