//! Reads the files of `libseatmap_trace` and of the library for ranks: one for each process or
//! rank, with one JSON value per line.
//!
//! | line | holds |
//! |---|---|
//! | the first | the format, the kind of file, and its writer |
//! | others | a task, a sum, or a shared line each |
//! | the last | `{"end":true}`; a file without it was cut off |

use seatmap_data::document::{Position, visible};
use seatmap_os::named_file;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::io;
use std::path::{Path, PathBuf};

/// The files' format and version.
pub const FORMAT: &str = "seatmap-trace/1";
/// More ranks would not fit in a pattern's edges.
pub const MAX_FILES: usize = 1 << 16;
/// A process writes at most a line for each pair of its 1024 threads.
pub const MAX_BYTES: u64 = 1 << 27;

/// Why traces could not be read.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// The folder or a file could not be read.
    #[error("cannot read '{}'", path.display())]
    Read {
        /// The folder or file.
        path: PathBuf,
        /// The kernel's error.
        source: io::Error,
    },
    /// The folder has no such traces.
    #[error(
        "'{}' has no traces of {kind}; set SEATMAP_TRACE to this folder and run the program to its \
         end",
        path.display()
    )]
    None {
        /// The folder.
        path: PathBuf,
        /// The kind: `threads` or `rank`.
        kind: &'static str,
    },
    /// There are too many files, or too long ones, or a file is not a trace.
    #[error("{0}")]
    Content(String),
}

impl TraceError {
    pub(crate) fn of(path: &Path, what: &str) -> Self {
        TraceError::Content(format!("'{}': {what}", path.display()))
    }
}

/// A trace as text.
pub struct TraceText {
    /// The file.
    pub path: PathBuf,
    /// Its text.
    pub text: String,
}

#[derive(Deserialize)]
struct Format {
    format: String,
}

/// The traces of this kind in a folder, by name.
///
/// # Errors
/// [`TraceError`] if there are none, too many or too long ones, or the kernel refuses.
pub fn traces(folder: &Path, kind: &'static str) -> Result<Vec<TraceText>, TraceError> {
    let refused = |source| TraceError::Read { path: folder.to_owned(), source };
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(refused)? {
        let entry = entry.map_err(refused)?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with(&format!("{kind}-")) && name.ends_with(".jsonl") {
            paths.push(entry.path());
        }
    }
    if paths.is_empty() {
        return Err(TraceError::None { path: folder.to_owned(), kind });
    }
    if paths.len() > MAX_FILES {
        let what = format!("{} traces, more than the limit of {MAX_FILES}", paths.len());
        return Err(TraceError::of(folder, &what));
    }
    paths.sort();
    paths.into_iter().map(read).collect()
}

fn read(path: PathBuf) -> Result<TraceText, TraceError> {
    let refused = |source| TraceError::Read { path: path.clone(), source };
    let text = named_file::read(&path, MAX_BYTES).map_err(refused)?;
    Ok(TraceText { path, text: String::from_utf8_lossy(&text).into_owned() })
}

impl TraceText {
    pub(crate) fn head<T: DeserializeOwned>(&self) -> Result<T, TraceError> {
        let line = self.text.lines().next().unwrap_or_default();
        // The format first, because another version may have another first line.
        let format: Format = self.value(0, line)?;
        if format.format != FORMAT {
            let found = visible(&format.format);
            let what = format!("its format is '{found}'; this program reads {FORMAT}");
            return Err(TraceError::of(&self.path, &what));
        }
        self.value(0, line)
    }

    pub(crate) fn records<T: DeserializeOwned>(&self) -> Result<Vec<T>, TraceError> {
        let whole = self.text.rfind('\n').map_or("", |end| &self.text[..end]);
        let lines = whole.lines().enumerate().skip(1).filter(|(_, line)| !line.is_empty());
        lines.map(|(at, line)| self.value(at, line)).collect()
    }

    fn value<T: DeserializeOwned>(&self, at: usize, line: &str) -> Result<T, TraceError> {
        seatmap_data::document::from_json(line).map_err(|error| {
            let at = Position { line: at + 1, column: error.column() };
            let path = self.path.display();
            TraceError::Content(format!(
                "'{path}', {at}: this is not a line of a trace; run the program again"
            ))
        })
    }

    pub(crate) fn cut_off(&self) -> String {
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        format!("{} was cut off: its process ended while it wrote", visible(&name))
    }
}
