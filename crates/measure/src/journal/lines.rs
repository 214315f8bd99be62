//! A file of JSON lines that no interruption spoils: what every journal is.

use super::JournalError;
use serde::Serialize;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// A file open for appending: a head, then one JSON line a record, in the kernel's hands before the next one is made, so
/// that a SIGKILL loses at most the one under way. (It is not synced: a power cut is no part of the promise.)
#[derive(Debug)]
pub(crate) struct Lines {
    path: PathBuf,
    file: File,
}

impl Lines {
    /// A new file; an old one at this place is overwritten.
    pub fn create(path: &Path, head: &impl Serialize) -> Result<Self, JournalError> {
        let mut lines = Self::open(path)?;
        lines.file.set_len(0).map_err(|source| JournalError::Io { path: path.to_owned(), source })?;
        lines.write(head)?;
        Ok(lines)
    }

    /// Opens a file that there is, to go on where it ends, and returns its whole lines. A last one cut short is dropped.
    pub fn resume(path: &Path) -> Result<(Self, String), JournalError> {
        let failed = |source| JournalError::Io { path: path.to_owned(), source };
        let mut lines = Self::open(path)?;
        let mut text = String::new();
        lines.file.read_to_string(&mut text).map_err(failed)?;
        text.truncate(text.rfind('\n').map_or(0, |end| end + 1));
        Ok((lines, text))
    }

    /// Cuts the file to what [`Lines::resume`] returned: only once its owner knows it for its own.
    pub fn cut(&mut self, text: &str) -> Result<(), JournalError> {
        let cut = self.file.set_len(text.len() as u64).and_then(|()| self.file.seek(SeekFrom::End(0)));
        cut.map(|_| ()).map_err(|source| JournalError::Io { path: self.path.clone(), source })
    }

    /// Opens the file and locks it, for as long as this process lives; what it holds is left alone.
    fn open(path: &Path) -> Result<Self, JournalError> {
        let failed = |source| JournalError::Io { path: path.to_owned(), source };
        let options = OpenOptions::new().read(true).write(true).create(true).truncate(false).clone();
        let file = options.open(path).map_err(failed)?;
        match file.try_lock() {
            Ok(()) => Ok(Lines { path: path.to_owned(), file }),
            Err(TryLockError::WouldBlock) => Err(JournalError::Busy { path: path.to_owned() }),
            Err(TryLockError::Error(source)) => Err(failed(source)),
        }
    }

    /// Appends one line.
    pub fn write(&mut self, line: &impl Serialize) -> Result<(), JournalError> {
        let written = serde_json::to_vec(line).map_err(io::Error::from).and_then(|mut bytes| {
            bytes.push(b'\n');
            self.file.write_all(&bytes)
        });
        written.map_err(|source| JournalError::Io { path: self.path.clone(), source })
    }

    /// Deletes the file.
    pub fn remove(self) -> Result<(), JournalError> {
        std::fs::remove_file(&self.path).map_err(|source| JournalError::Io { path: self.path, source })
    }
}
