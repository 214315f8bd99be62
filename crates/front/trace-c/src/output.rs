//! The folder that `SEATMAP_TRACE` names, and the files in it.

use std::ffi::CStr;
use std::fmt::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::sync::OnceLock;

/// The format of the files, with its version.
pub const FORMAT: &str = "seatmap-trace/1";

const LONGEST: usize = libc::PATH_MAX as usize;

static FOLDER: OnceLock<Option<Path>> = OnceLock::new();

/// A path with its final zero.
#[derive(Clone)]
pub struct Path {
    bytes: [u8; LONGEST],
    length: usize,
}

impl Path {
    /// The path as a C string.
    pub fn as_c(&self) -> &CStr {
        CStr::from_bytes_until_nul(&self.bytes).unwrap_or(c"")
    }

    fn push(&mut self, bytes: &[u8]) -> fmt::Result {
        let end = self.length + bytes.len();
        // The last byte stays zero.
        let room =
            self.bytes.get_mut(self.length..end).filter(|_| end < LONGEST).ok_or(fmt::Error)?;
        room.copy_from_slice(bytes);
        self.length = end;
        Ok(())
    }
}

impl Write for Path {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.push(text.as_bytes())
    }
}

/// The folder as the environment names it now; later changes of the environment do not matter.
pub fn folder() -> Option<Path> {
    FOLDER.get_or_init(read).clone()
}

fn read() -> Option<Path> {
    named_by("SEATMAP_TRACE")
}

/// The path that a variable of the environment has.
pub fn named_by(variable: &str) -> Option<Path> {
    let value = std::env::var_os(variable).filter(|value| !value.is_empty())?;
    named(value.as_bytes())
}

/// A path that begins with these bytes.
pub fn named(beginning: &[u8]) -> Option<Path> {
    let mut path = Path { bytes: [0; LONGEST], length: 0 };
    path.push(beginning).ok()?;
    Some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_that_is_too_long_is_refused() {
        let mut path = Path { bytes: [0; LONGEST], length: 0 };
        assert!(path.write_str(&"x".repeat(LONGEST)).is_err());
        path.write_str("folder").unwrap();
        write!(path, "/{}", 7).unwrap();
        assert_eq!(path.as_c(), c"folder/7");
    }
}
