//! Numbers in the computer's byte order.

pub fn word(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..at.checked_add(8)?)?.try_into().ok().map(u64::from_ne_bytes)
}

pub fn small(bytes: &[u8], at: usize) -> Option<i32> {
    bytes.get(at..at.checked_add(4)?)?.try_into().ok().map(i32::from_ne_bytes)
}
