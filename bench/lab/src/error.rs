//! Errors of the lab. A missing tool counts as a skip, not as a failure.

use std::path::{Path, PathBuf};

#[derive(Debug, thiserror::Error)]
pub enum LabError {
    /// There is no computer with this name.
    #[error("no computer '{name}' in {}; 'seatmap-lab list' names them", folder.display())]
    UnknownComputer {
        /// The requested name.
        name: String,
        /// The folder that was searched.
        folder: PathBuf,
    },
    /// A description is not TOML, or incomplete.
    #[error("{}: {source}", file.display())]
    Description {
        /// The file.
        file: PathBuf,
        /// The parser's message.
        source: Box<toml::de::Error>,
    },
    /// A list of CPUs is invalid.
    #[error("'{0}' is not a list of CPUs such as 0-3,8")]
    CpuList(String),
    /// A tool or package is missing; the experiment is skipped with a message.
    #[error("{0} is missing")]
    Missing(String),
    /// A file could not be read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The system's message.
        source: std::io::Error,
    },
    /// A program could not be started.
    #[error("cannot start {program}: {source}")]
    Start {
        /// The program.
        program: String,
        /// The system's message.
        source: std::io::Error,
    },
    /// A program failed.
    #[error("{program} failed: {words}")]
    Failed {
        /// The program.
        program: String,
        /// Its stderr's last words.
        words: String,
    },
}

impl LabError {
    /// Creates the error for a file or folder.
    pub fn file(path: &Path) -> impl Fn(std::io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::File { path: path.clone(), source }
    }

    /// Creates the error for a program that cannot start.
    pub fn start(program: &str) -> impl Fn(std::io::Error) -> Self {
        let program = program.to_owned();
        move |source| Self::Start { program: program.clone(), source }
    }

    /// Whether the experiment is skipped instead of failed, because something is missing.
    pub fn is_absence(&self) -> bool {
        matches!(self, Self::Missing(_))
    }
}
