//! How a call ended.

/// How a call ended. Zero is success, so that calls can be joined with ||.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkerStatus {
    /// Done.
    Ok = 0,
    /// An argument is NULL or out of range.
    BadArgument = 1,
    /// A CPU or memory that cannot be had.
    NotPossible = 2,
    /// All workers are in contexts.
    Busy = 3,
    /// The call does not fit the context's state: it has no program, has not been started, or still
    /// runs.
    BadState = 4,
    /// A mistake in the library. The handles are still good.
    Defect = 5,
    /// The other end of a channel reported an error about a file, or has gone.
    Channel = 6,
}
