//! Why a journal cannot be used.

use seatmap_data::document::Blame;
use std::io;
use std::path::PathBuf;

/// Why a journal cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The file cannot be read or written.
    #[error("{}", path.display())]
    Io {
        /// Journal.
        path: PathBuf,
        /// System's error.
        source: io::Error,
    },
    /// Another process is using the journal.
    #[error(
        "{}: another measurement is running; two at once would disturb each other",
        path.display()
    )]
    Busy {
        /// Journal.
        path: PathBuf,
    },
    /// The journal belongs to another run.
    #[error(
        "{}: it belongs to another run ({what}); repeat that run's options, or run without \
         --resume to start over",
        path.display()
    )]
    OtherRun {
        /// Journal.
        path: PathBuf,
        /// Differences in words.
        what: String,
    },
    /// Another version of this program wrote the format.
    #[error(
        "{}: its format is '{found}', but this program reads {known}; run without --resume to \
         start over",
        path.display()
    )]
    Version {
        /// Journal.
        path: PathBuf,
        /// Its format.
        found: String,
        /// This version's format.
        known: &'static str,
    },
    /// The file is not a journal, or damaged before its end.
    #[error(
        "{}:{line}: {problem}; delete the file, or run without --resume to start over",
        path.display()
    )]
    Damaged {
        /// Journal.
        path: PathBuf,
        /// Line, from 1.
        line: usize,
        /// Problem in words.
        problem: String,
    },
}

impl Blame for JournalError {
    fn is_input(&self) -> bool {
        !matches!(self, JournalError::Busy { .. } | JournalError::Io { .. })
    }
}
