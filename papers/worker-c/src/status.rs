//! The outcome of a call.

/// The outcome of a call. Zero is success, so that calls can be joined with ||.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkerStatus {
    /// Success.
    Ok = 0,
    /// An argument is NULL or out of range.
    BadArgument = 1,
    /// A CPU or memory is not available.
    NotPossible = 2,
    /// All workers are in contexts.
    Busy = 3,
    /// The call does not fit the context's state: it has no program, has not been started, or still
    /// runs.
    BadState = 4,
    /// A bug in the library. The handles are still valid.
    Defect = 5,
    /// The other end of a channel reported an error about a file, or has exited.
    Channel = 6,
}
