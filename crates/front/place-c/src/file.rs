//! Files that are read whole.

use crate::failure::Failure;
use seatmap_machine::import::MAX_FILE_BYTES;
use std::error::Error;
use std::ffi::OsStr;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// A file that a caller named.
pub struct File {
    path: PathBuf,
}

impl File {
    /// The file of this path, in the system's bytes.
    pub fn new(path: &[u8]) -> Self {
        File { path: Path::new(OsStr::from_bytes(path)).to_owned() }
    }

    /// The bytes of the file; at most one byte more than is ever accepted, so that an endless file
    /// ends.
    pub fn bytes(&self) -> Result<Vec<u8>, Failure> {
        let mut bytes = Vec::new();
        let limit = MAX_FILE_BYTES as u64 + 1;
        let read = std::fs::File::open(&self.path)
            .and_then(|file| file.take(limit).read_to_end(&mut bytes));
        read.map(|_| bytes).map_err(|error| self.refused(error))
    }

    /// The file's name in messages.
    pub fn name(&self) -> String {
        self.path.to_string_lossy().into_owned()
    }

    /// Its name without folder and ending.
    pub fn stem(&self) -> String {
        self.path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// The failure that reports a fault in this file.
    pub fn refused(&self, source: impl Into<Box<dyn Error>>) -> Failure {
        Failure::File { path: self.name(), source: source.into() }
    }
}
