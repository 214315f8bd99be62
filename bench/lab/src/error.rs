//! Why something of the lab could not be done, and the absence of a tool, which is not a failure.

use std::path::{Path, PathBuf};

/// Why a computer could not be booted, or an experiment not judged.
#[derive(Debug, thiserror::Error)]
pub enum LabError {
    /// There is not a description of this name.
    #[error("no computer '{name}' in {}; 'seatmap-lab list' names them", folder.display())]
    UnknownComputer {
        /// The name that was typed.
        name: String,
        /// The folder that was searched.
        folder: PathBuf,
    },
    /// A description is not TOML, or lacks something.
    #[error("{}: {source}", file.display())]
    Description {
        /// The file.
        file: PathBuf,
        /// The reader's own words.
        source: Box<toml::de::Error>,
    },
    /// A list of CPUs cannot be read.
    #[error("'{0}' is not a list of CPUs such as 0-3,8")]
    CpuList(String),
    /// A tool or package is not here. Experiments are skipped then, visibly.
    #[error("{0} is missing")]
    Missing(String),
    /// A file could not be read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The system's own words.
        source: std::io::Error,
    },
    /// A program could not be started.
    #[error("cannot start {program}: {source}")]
    Start {
        /// The program.
        program: String,
        /// The system's own words.
        source: std::io::Error,
    },
    /// A program failed.
    #[error("{program} failed: {words}")]
    Failed {
        /// The program.
        program: String,
        /// The last words of its stderr.
        words: String,
    },
}

impl LabError {
    /// The error about a file or folder, of the system's own.
    pub fn file(path: &Path) -> impl Fn(std::io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::File { path: path.clone(), source }
    }

    /// The error about a program that does not start, of the system's own.
    pub fn start(program: &str) -> impl Fn(std::io::Error) -> Self {
        let program = program.to_owned();
        move |source| Self::Start { program: program.clone(), source }
    }

    /// Whether the experiment is skipped rather than failed: something that it needs is not here.
    #[must_use]
    pub fn is_absence(&self) -> bool {
        matches!(self, Self::Missing(_))
    }
}
