//! Text for a file, written without the heap: a signal handler must not allocate.

use std::ffi::{CStr, c_int};
use std::fmt::{self, Write};

const BUFFER: usize = 4096;

pub struct Text {
    file: c_int,
    buffer: [u8; BUFFER],
    used: usize,
    failed: bool,
}

impl Text {
    /// Creates a file at this path; the kernel's error, `EEXIST` if the path exists.
    pub fn create(path: &CStr) -> Result<Self, c_int> {
        // With these flags the kernel does not follow a link either.
        let flags = libc::O_WRONLY | libc::O_CREAT | libc::O_EXCL | libc::O_CLOEXEC;
        // SAFETY: the path is a C string.
        let file = unsafe { libc::open(path.as_ptr(), flags, 0o600) };
        if file < 0 {
            // SAFETY: the address is this thread's own.
            return Err(unsafe { *libc::__errno_location() });
        }
        Ok(Text { file, buffer: [0; BUFFER], used: 0, failed: false })
    }

    /// Writes text between quotes, as in JSON. Bytes that are not text become `?`.
    pub fn quoted(&mut self, text: &[u8]) -> fmt::Result {
        self.write_char('"')?;
        for byte in text {
            self.letter(if byte.is_ascii() { char::from(*byte) } else { '?' })?;
        }
        self.write_char('"')
    }

    /// Writes a part of a text between quotes, as in JSON. Control characters become `?`.
    pub fn escaped(&mut self, text: &str) -> fmt::Result {
        text.chars().try_for_each(|letter| self.letter(letter))
    }

    fn letter(&mut self, letter: char) -> fmt::Result {
        if matches!(letter, '"' | '\\') {
            self.write_char('\\')?;
        }
        self.write_char(if letter.is_control() { '?' } else { letter })
    }

    fn flush(&mut self) {
        let mut done = 0;
        while done < self.used && !self.failed {
            let rest = &self.buffer[done..self.used];
            // SAFETY: the bytes are in the buffer.
            let written = unsafe { libc::write(self.file, rest.as_ptr().cast(), rest.len()) };
            done += usize::try_from(written).unwrap_or(0);
            self.failed = written <= 0;
        }
        self.used = 0;
    }
}

impl Write for Text {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for byte in text.bytes() {
            if self.used == BUFFER {
                self.flush();
            }
            self.buffer[self.used] = byte;
            self.used += 1;
        }
        if self.failed { Err(fmt::Error) } else { Ok(()) }
    }
}

impl Drop for Text {
    fn drop(&mut self) {
        self.flush();
        // SAFETY: the file was opened by `create` and is not used again.
        unsafe { libc::close(self.file) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::CString;

    #[test]
    fn long_and_unusual_text_is_written_completely() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("text");
        let mut text = Text::create(&CString::new(path.to_str().unwrap()).unwrap()).unwrap();
        text.write_str(&"x".repeat(10_000)).unwrap();
        text.quoted(b"a\"b\\c\n\xff").unwrap();
        text.escaped("\u{e9}\"\t\\").unwrap();
        drop(text);
        assert_eq!(
            std::fs::read_to_string(path).unwrap(),
            "x".repeat(10_000) + "\"a\\\"b\\\\c??\"\u{e9}\\\"?\\\\"
        );
    }
}
