//! A file of JSON lines that survives interruptions.

use super::JournalError;
use seatmap_data::document::Position;
use serde::Serialize;
use std::fs::{File, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// A header, then one JSON line per record. The kernel has each line before the next is made, so a
/// SIGKILL loses at most one. (A power cut may lose more: the file is not synced.)
#[derive(Debug)]
pub struct JsonLines {
    path: PathBuf,
    file: File,
}

impl JsonLines {
    /// Starts anew and discards the file's contents.
    pub fn create(path: &Path, file: File, head: &impl Serialize) -> Result<Self, JournalError> {
        let mut lines = Self::locked(path, file)?;
        lines.cut("")?;
        lines.write(head)?;
        Ok(lines)
    }

    /// Resumes a file and returns its complete lines.
    pub fn resume(path: &Path, file: File) -> Result<(Self, String), JournalError> {
        let mut lines = Self::locked(path, file)?;
        let mut bytes = Vec::new();
        lines.file.read_to_end(&mut bytes).map_err(|source| lines.failed(source))?;
        // An incomplete line is measured again and overwritten.
        bytes.truncate(bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1));
        let text = String::from_utf8(bytes).map_err(|error| {
            let line = Position::of(error.as_bytes(), error.utf8_error().valid_up_to()).line;
            let problem = "not UTF-8 text".to_owned();
            JournalError::Damaged { path: path.to_owned(), line, problem }
        })?;
        Ok((lines, text))
    }

    /// Truncates the file to the lines from [`JsonLines::resume`], once the caller has accepted
    /// them.
    pub fn cut(&mut self, text: &str) -> Result<(), JournalError> {
        let cut =
            self.file.set_len(text.len() as u64).and_then(|()| self.file.seek(SeekFrom::End(0)));
        cut.map(|_| ()).map_err(|source| self.failed(source))
    }

    /// Locks the file until this process ends, without changing it.
    fn locked(path: &Path, file: File) -> Result<Self, JournalError> {
        let lines = JsonLines { path: path.to_owned(), file };
        match lines.file.try_lock() {
            Ok(()) => Ok(lines),
            // The kernel releases the lock of a killed process.
            Err(TryLockError::WouldBlock) => Err(JournalError::Busy { path: lines.path }),
            Err(TryLockError::Error(source)) => Err(lines.failed(source)),
        }
    }

    /// Appends one line.
    pub fn write(&mut self, line: &impl Serialize) -> Result<(), JournalError> {
        let written = serde_json::to_vec(line).map_err(io::Error::from).and_then(|mut bytes| {
            bytes.push(b'\n');
            // One write: only the end can be cut.
            self.file.write_all(&bytes)
        });
        written.map_err(|source| self.failed(source))
    }

    /// Deletes the file.
    pub fn remove(self) -> Result<(), JournalError> {
        std::fs::remove_file(&self.path).map_err(|source| self.failed(source))
    }

    fn failed(&self, source: io::Error) -> JournalError {
        JournalError::Io { path: self.path.clone(), source }
    }
}
