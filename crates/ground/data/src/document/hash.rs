//! A hash to distinguish values of one type.

use serde::Serialize;

/// A hash of a value's JSON, in 16 hexadecimal digits, the same on every computer and in every
/// version. It is not secure against deliberate collisions.
pub fn content_hash(value: &(impl Serialize + ?Sized)) -> String {
    format!("{:016x}", fnv(&serde_json::to_vec(value).unwrap_or_default()))
}

/// FNV-1a (Fowler, Noll & Vo 1991).
fn fnv(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fnv_hash_matches_published_values() {
        assert_eq!(
            [fnv(b""), fnv(b"a"), fnv(b"foobar")],
            [0xcbf2_9ce4_8422_2325, 0xaf63_dc4c_8601_ec8c, 0x8594_4171_f739_67e8]
        );
        assert_ne!(content_hash("a"), content_hash("b"));
    }
}
