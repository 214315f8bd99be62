//! Names in binary data.

/// Up to a zero byte.
pub fn text(bytes: &[u8]) -> String {
    let text = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
    String::from_utf8_lossy(text).into_owned()
}

#[cfg(test)]
mod tests {
    #[test]
    fn name_ends_at_zero_byte() {
        assert_eq!(super::text(b"redis-cli\0\0x"), "redis-cli");
        assert_eq!(super::text(b"as long as it is"), "as long as it is");
        assert_eq!(super::text(b""), "");
    }
}
