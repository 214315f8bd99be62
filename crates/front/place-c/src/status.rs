//! The result of a call.

/// The result of a call. Zero is success, so that calls can be joined with ||.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlaceStatus {
    /// Success.
    Ok = 0,
    /// An argument is NULL, out of range, or not a known name or pattern.
    BadArgument = 1,
    /// A file cannot be read or understood; the message has line and column.
    BadFile = 2,
    /// The request cannot be met on this machine.
    NotPossible = 3,
    /// A mistake in the library. The handles are still valid.
    Defect = 4,
}
