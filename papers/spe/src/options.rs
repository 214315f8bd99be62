//! The choices that a program has when it creates a context.

/// The choices that a context is created with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ContextOptions {
    /// Whether each signal register gathers bits instead of keeping the last value.
    pub signals_gather: [bool; 2],
    /// Whether its ends are kept for [`SpeContext::ended`](crate::SpeContext::ended).
    pub keeps_ends: bool,
    /// Which of the pinned threads runs it; `None` for the next one in turn. On a simulated Cell:
    /// its place along the chain of SPEs.
    pub seat: Option<usize>,
    /// Whether the program maps its registers, and does not ask the operating system to write them.
    pub maps_registers: bool,
}
