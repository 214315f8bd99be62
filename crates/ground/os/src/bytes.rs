//! Parses numbers and words of `/proc` files without copies.

/// An unsigned number; `None` if it is invalid or too large.
pub fn unsigned(bytes: &[u8]) -> Option<u64> {
    (!bytes.is_empty())
        .then(|| {
            bytes.iter().try_fold(0_u64, |number, byte| {
                let digit = byte.is_ascii_digit().then(|| u64::from(byte - b'0'))?;
                number.checked_mul(10)?.checked_add(digit)
            })
        })
        .flatten()
}

pub fn signed(bytes: &[u8]) -> Option<i64> {
    match bytes.strip_prefix(b"-") {
        Some(digits) => i64::try_from(unsigned(digits)?).ok().map(|number| -number),
        None => i64::try_from(unsigned(bytes)?).ok(),
    }
}

pub fn small<T: TryFrom<u64>>(bytes: &[u8]) -> Option<T> {
    T::try_from(unsigned(bytes)?).ok()
}

/// Two bytes of binary data in the computer's byte order; `None` beyond the end.
pub fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_ne_bytes(*bytes.get(at..)?.first_chunk()?))
}

/// Four bytes, as for [`u16_at`].
pub fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(*bytes.get(at..)?.first_chunk()?))
}

/// Four bytes of a signed number, as for [`u16_at`].
pub fn i32_at(bytes: &[u8], at: usize) -> Option<i32> {
    u32_at(bytes, at).map(u32::cast_signed)
}

/// Eight bytes, as for [`u16_at`].
pub fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_ne_bytes(*bytes.get(at..)?.first_chunk()?))
}

pub fn words(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty())
}

/// The non-empty lines.
pub fn lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty())
}

pub fn value<'a>(text: &'a [u8], key: &[u8]) -> Option<&'a [u8]> {
    lines(text)
        .find_map(|line| line.strip_prefix(key)?.trim_ascii_start().strip_prefix(b":"))
        .map(<[u8]>::trim_ascii)
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A file's name; the kernel escapes white space and backslashes as three octal digits.
pub fn unescaped(name: &[u8]) -> String {
    let mut plain = Vec::with_capacity(name.len());
    let mut rest = name;
    while let Some((first, behind)) = rest.split_first() {
        let escaped = if *first == b'\\' { behind.get(..3).and_then(octal) } else { None };
        plain.push(escaped.unwrap_or(*first));
        rest = if escaped.is_some() { &behind[3..] } else { behind };
    }
    text(&plain)
}

fn octal(digits: &[u8]) -> Option<u8> {
    digits.iter().try_fold(0_u8, |code, digit| {
        code.checked_mul(8)?.checked_add(digit.checked_sub(b'0').filter(|it| *it < 8)?)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_are_parsed_whole_or_refused() {
        assert_eq!(
            (unsigned(b"18446744073709551615"), unsigned(b"18446744073709551616")),
            (Some(u64::MAX), None)
        );
        assert_eq!((unsigned(b""), unsigned(b"7x"), unsigned(b"+7")), (None, None, None));
        assert_eq!((signed(b"-20"), signed(b"19"), signed(b"--1")), (Some(-20), Some(19), None));
        assert_eq!((small::<u8>(b"255"), small::<u8>(b"256")), (Some(255), None));
    }

    #[test]
    fn value_needs_the_whole_key() {
        let text = b"Cpus_allowed:\tff\nCpus_allowed_list:\t0-7 \nempty:\n";
        assert_eq!(value(text, b"Cpus_allowed_list"), Some(&b"0-7"[..]));
        assert_eq!((value(text, b"Cpus"), value(text, b"empty")), (None, Some(&b""[..])));
    }

    #[test]
    fn escapes_are_three_octal_digits() {
        assert_eq!(unescaped(b"a\\134\\040b\\04"), "a\\ b\\04");
        assert_eq!(unescaped(b"\\777\\08x\\"), "\\777\\08x\\");
    }

    proptest! {
        #[test]
        fn number_round_trip_keeps_value(number: u64, other: i64) {
            prop_assert_eq!(unsigned(number.to_string().as_bytes()), Some(number));
            prop_assert!(other == i64::MIN || signed(other.to_string().as_bytes()) == Some(other));
        }

        #[test]
        fn parsers_survive_any_bytes(bytes: Vec<u8>) {
            let _ = (unsigned(&bytes), signed(&bytes), value(&bytes, b"a"), unescaped(&bytes));
            prop_assert!(words(&bytes).chain(lines(&bytes)).all(|part| !part.is_empty()));
        }
    }
}
