//! The start of a run, the reasons of its end, and its resumption.

use crate::transfer::TransferFault;
use seatmap_cell_sim::session::{CellBeSession, ProgramTurn, SessionCall};

/// A run's start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryPoint {
    /// The program's start.
    Start,
    /// The point where the program stopped; its start if it has ended.
    Resume,
}

/// The first three registers at the start: the arguments of `main`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Arguments {
    /// As numbers, for a `main` with numbers and pointers.
    pub numbers: [u64; 3],
    /// As four words for each register, for a `main` with vectors.
    pub words: RegisterWords,
}

/// Three registers as vectors, aligned to their size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C, align(16))]
pub struct RegisterWords(pub [[u32; 4]; 3]);

impl From<[u64; 3]> for Arguments {
    /// A number fills a register's first two words, upper half first.
    fn from(numbers: [u64; 3]) -> Self {
        let words = numbers.map(|number| [(number >> 32) as u32, number as u32, 0, 0]);
        Arguments { numbers, words: RegisterWords(words) }
    }
}

/// Why a program stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// With this code; codes from 0x2000 to 0x20ff end it.
    Code(u32),
    /// It halted.
    Halt,
    /// It used a channel that does not exist.
    InvalidChannel(u32),
    /// It waits forever: only itself or a missing thread could end the wait.
    Deadlock(&'static str),
    /// A transfer broke a rule.
    Transfer(TransferFault),
    /// An instruction could not be executed.
    Fault(ProgramFault),
    /// A bug of the core.
    Defect,
}

/// The kinds of faults.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FaultKind {
    /// A load or store outside of the local store.
    #[default]
    Access,
    /// An instruction that does not exist.
    Instruction,
    /// A division of integers by zero, or with overflow.
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
    /// The address that it accessed.
    pub address: u64,
    /// The address of the instruction, or of the one after a call.
    pub at: u64,
    /// The function and the offset in it.
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
                write!(out, "a jump to {address:#x}, which is not code, from {place}")
            }
            FaultKind::Stack => write!(out, "the stack has left the local store, in {place}"),
        }
    }
}

impl StopReason {
    /// Whether a run can resume the program.
    pub fn goes_on(&self) -> bool {
        matches!(self, StopReason::Code(code) if !(0x2000..0x2100).contains(code))
    }
}

/// Why a program paused.
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
    /// Why it ended.
    pub pause: Pause,
    /// The CPU time used here, if charged.
    pub worked_ns: u64,
    /// The core cycles that the program counted.
    pub counted: u64,
}

/// A run's end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunStop {
    /// The reason.
    pub stop: StopReason,
    /// The local-store address from which the next run continues.
    pub at: u32,
}

/// A program in a store, which a machine can run.
pub trait Resumable: std::fmt::Debug + Send + Sync {
    /// Runs it on this thread until it stops, for the pool.
    ///
    /// # Safety
    /// The program's owner waits for this and does not touch the program meanwhile.
    unsafe fn resume(&self) -> StopReason;

    /// Gives the program its turn on the simulated Cell, until its next call or stop.
    ///
    /// # Safety
    /// As for [`Resumable::resume`], and the session belongs to the program until it returns.
    unsafe fn resume_simulated(&self, session: *mut CellBeSession, turn: ProgramTurn) -> Turned;
}
