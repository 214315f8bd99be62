//! The options of a new context.

/// A context's options.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ContextOptions {
    /// Whether each signal register gathers bits instead of keeping the last value.
    pub signals_gather: [bool; 2],
    /// Whether its ends are recorded for [`SpeContext::ended`](crate::SpeContext::ended).
    pub keeps_ends: bool,
    /// The pinned thread that runs it; `None` for the next one in turn. On a simulated Cell: its
    /// position along the chain of SPEs.
    pub seat: Option<usize>,
    /// Whether the program maps its registers instead of writing them by the operating system.
    pub maps_registers: bool,
}
