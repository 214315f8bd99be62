//! Numbers in records of the kernel and of its programs, which have the computer's byte order.

/// The 64 bits at a place.
pub(crate) fn word(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..at.checked_add(8)?)?.try_into().ok().map(u64::from_ne_bytes)
}

/// The 32 bits at a place.
pub(crate) fn small(bytes: &[u8], at: usize) -> Option<i32> {
    bytes.get(at..at.checked_add(4)?)?.try_into().ok().map(i32::from_ne_bytes)
}
