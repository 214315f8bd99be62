//! Names of files: one component within its folder.

use crate::refusal::Refusal;

/// The longest name (`NAME_MAX`, limits.h).
const LONGEST_BYTES: usize = 255;

/// Checks that a name is in a folder: not empty or too long, neither `.` nor `..`, and without `/`
/// and zero bytes. With `O_NOFOLLOW` such a name cannot leave its folder.
///
/// # Errors
/// [`Refusal::INVALID`].
pub fn checked(name: &[u8]) -> Result<&[u8], Refusal> {
    let leads_elsewhere = matches!(name, b"" | b"." | b"..") || name.len() > LONGEST_BYTES;
    if leads_elsewhere || name.contains(&b'/') || name.contains(&0) {
        Err(Refusal::INVALID)
    } else {
        Ok(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_leading_elsewhere_are_refused() {
        for good in [&b"a"[..], b"...", b"..a", b" ", "ä".as_bytes(), b"\xff", &[b'x'; 255]] {
            assert_eq!(checked(good), Ok(good));
        }
        for bad in [&b""[..], b".", b"..", b"/", b"a/b", b"../a", b"/etc", b"a\0", &[b'x'; 256]] {
            assert_eq!(checked(bad), Err(Refusal::INVALID), "{bad:?}");
        }
    }
}
