//! Files that are read whole.

use crate::failure::PlaceCallFailure;
use seatmap_data::machine::import::MAX_FILE_BYTES;
use seatmap_os::named_file;
use std::error::Error;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// A file named by the caller.
pub struct CallerFile {
    path: PathBuf,
}

impl CallerFile {
    /// The file of this path, in the system's bytes.
    pub fn new(path: &[u8]) -> Self {
        CallerFile { path: Path::new(OsStr::from_bytes(path)).to_owned() }
    }

    /// The bytes of the file.
    pub fn bytes(&self) -> Result<Vec<u8>, PlaceCallFailure> {
        named_file::read(&self.path, MAX_FILE_BYTES as u64).map_err(|error| self.refused(error))
    }

    /// The file's name in messages.
    pub fn name(&self) -> String {
        self.path.to_string_lossy().into_owned()
    }

    /// Its name without folder and extension.
    pub fn stem(&self) -> String {
        self.path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// The error for a fault in this file.
    pub fn refused(&self, source: impl Into<Box<dyn Error>>) -> PlaceCallFailure {
        PlaceCallFailure::File { path: self.name(), source: source.into() }
    }
}
