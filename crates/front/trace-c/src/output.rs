//! The folder in `SEATMAP_TRACE`, and its files.

use crate::text::Text;
use std::ffi::CStr;
use std::fmt::{self, Arguments, Write};
use std::os::unix::ffi::OsStrExt;
use std::sync::OnceLock;

pub const FORMAT: &str = "seatmap-trace/1";

const LONGEST: usize = libc::PATH_MAX as usize;

/// More than the processes with one id in a job of containers.
const NAMESAKES: u32 = 1 << 16;

static FOLDER: OnceLock<Option<Path>> = OnceLock::new();

#[derive(Clone)]
pub struct Path {
    bytes: [u8; LONGEST],
    length: usize,
}

impl Path {
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

/// The folder at the first call; later changes of the environment do not matter.
pub fn folder() -> Option<Path> {
    FOLDER.get_or_init(read).clone()
}

fn read() -> Option<Path> {
    let value = std::env::var_os("SEATMAP_TRACE").filter(|value| !value.is_empty())?;
    named(value.as_bytes())
}

/// Makes a file of this name in the folder; `None` if the kernel refuses.
pub fn file(name: Arguments) -> Option<Text> {
    numbered(&folder()?, name)
}

/// With a number if the name exists: processes in two containers may have the same id.
fn numbered(folder: &Path, name: Arguments) -> Option<Text> {
    for number in 0..NAMESAKES {
        let mut path = folder.clone();
        write!(path, "/{name}").ok()?;
        if number > 0 {
            write!(path, "-{number}").ok()?;
        }
        path.write_str(".jsonl").ok()?;
        match Text::create(path.as_c()) {
            Ok(text) => return Some(text),
            Err(libc::EEXIST) => {}
            Err(_) => return None,
        }
    }
    None
}

pub fn named(beginning: &[u8]) -> Option<Path> {
    let mut path = Path { bytes: [0; LONGEST], length: 0 };
    path.push(beginning).ok()?;
    Some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reused_pids_get_separate_files() {
        let place = tempfile::tempdir().unwrap();
        let folder = named(place.path().as_os_str().as_bytes()).unwrap();
        for text in ["first", "second", "third"] {
            let mut file = numbered(&folder, format_args!("threads-{}", 1)).unwrap();
            file.write_str(text).unwrap();
        }
        for (name, text) in [("1", "first"), ("1-1", "second"), ("1-2", "third")] {
            let path = place.path().join(format!("threads-{name}.jsonl"));
            assert_eq!(std::fs::read_to_string(path).unwrap(), text);
        }
        let missing = named(b"/nowhere/at/all").unwrap();
        assert!(numbered(&missing, format_args!("threads-1")).is_none());
    }

    #[test]
    fn overlong_path_is_rejected() {
        let mut path = Path { bytes: [0; LONGEST], length: 0 };
        assert!(path.write_str(&"x".repeat(LONGEST)).is_err());
        path.write_str("folder").unwrap();
        write!(path, "/{}", 7).unwrap();
        assert_eq!(path.as_c(), c"folder/7");
    }
}
