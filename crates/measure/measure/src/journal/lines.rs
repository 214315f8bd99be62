//! A file of JSON lines that no interruption spoils; every journal is one.

use super::JournalError;
use serde::Serialize;
use std::fs::{File, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// A file open for appending: a header, then one JSON line a record. Each line is handed to the
/// kernel before the next one is made, so that a SIGKILL loses at most the unfinished one. (The
/// file is not synced: it may lose lines in a power cut.)
#[derive(Debug)]
pub struct JsonLines {
    path: PathBuf,
    file: File,
}

impl JsonLines {
    /// Begins anew in this file; its former contents are lost.
    pub fn create(path: &Path, file: File, head: &impl Serialize) -> Result<Self, JournalError> {
        let mut lines = Self::locked(path, file)?;
        lines.cut("")?;
        lines.write(head)?;
        Ok(lines)
    }

    /// Goes on where this file ends, and returns its whole lines. A last one cut short is dropped.
    pub fn resume(path: &Path, file: File) -> Result<(Self, String), JournalError> {
        let mut lines = Self::locked(path, file)?;
        let mut bytes = Vec::new();
        lines
            .file
            .read_to_end(&mut bytes)
            .map_err(|source| JournalError::Io { path: path.to_owned(), source })?;
        // A line that was cut short is measured again and written over.
        bytes.truncate(bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1));
        let text = String::from_utf8(bytes).map_err(|error| {
            let line = 1 + error.as_bytes()[..error.utf8_error().valid_up_to()]
                .iter()
                .filter(|byte| **byte == b'\n')
                .count();
            JournalError::Damaged {
                path: path.to_owned(),
                line,
                problem: "not UTF-8 text".to_owned(),
            }
        })?;
        Ok((lines, text))
    }

    /// Cuts the file to the lines that [`JsonLines::resume`] returned: only once the caller knows
    /// that the file is its own.
    pub fn cut(&mut self, text: &str) -> Result<(), JournalError> {
        let cut =
            self.file.set_len(text.len() as u64).and_then(|()| self.file.seek(SeekFrom::End(0)));
        cut.map(|_| ()).map_err(|source| JournalError::Io { path: self.path.clone(), source })
    }

    /// Locks the file for as long as this process lives; its contents are left alone.
    fn locked(path: &Path, file: File) -> Result<Self, JournalError> {
        match file.try_lock() {
            Ok(()) => Ok(JsonLines { path: path.to_owned(), file }),
            // The lock goes with its process, so that a run that was killed does not stand in the
            // way.
            Err(TryLockError::WouldBlock) => Err(JournalError::Busy { path: path.to_owned() }),
            Err(TryLockError::Error(source)) => {
                Err(JournalError::Io { path: path.to_owned(), source })
            }
        }
    }

    /// Appends one line.
    pub fn write(&mut self, line: &impl Serialize) -> Result<(), JournalError> {
        let written = serde_json::to_vec(line).map_err(io::Error::from).and_then(|mut bytes| {
            bytes.push(b'\n');
            // In one write: a line is there whole, or torn at the end.
            self.file.write_all(&bytes)
        });
        written.map_err(|source| JournalError::Io { path: self.path.clone(), source })
    }

    /// Deletes the file.
    pub fn remove(self) -> Result<(), JournalError> {
        std::fs::remove_file(&self.path)
            .map_err(|source| JournalError::Io { path: self.path, source })
    }
}
