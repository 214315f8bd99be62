//! Errors of the lab. A missing tool counts as a skip, not as a failure.

use std::path::{Path, PathBuf};

#[derive(Debug, thiserror::Error)]
pub enum LabError {
    /// There is no computer with this name.
    #[error("no computer '{name}' in {}; 'seatmap-lab list' names them", folder.display())]
    UnknownComputer {
        name: String,
        folder: PathBuf,
    },
    #[error("{}: {source}", file.display())]
    Description {
        file: PathBuf,
        source: Box<toml::de::Error>,
    },
    #[error("'{0}' is not a list of CPUs such as 0-3,8")]
    CpuList(String),
    /// A tool or package is missing; the experiment is skipped with a message.
    #[error("{0} is missing")]
    Missing(String),
    #[error("{}: {source}", path.display())]
    File {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("cannot start {program}: {source}")]
    Start {
        program: String,
        source: std::io::Error,
    },
    #[error("{program} failed: {words}")]
    Failed {
        program: String,
        /// The last words of its stderr.
        words: String,
    },
}

impl LabError {
    pub fn file(path: &Path) -> impl Fn(std::io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::File { path: path.clone(), source }
    }

    pub fn start(program: &str) -> impl Fn(std::io::Error) -> Self {
        let program = program.to_owned();
        move |source| Self::Start { program: program.clone(), source }
    }

    /// Whether the experiment is skipped instead of failed, because something is missing.
    #[must_use]
    pub fn is_absence(&self) -> bool {
        matches!(self, Self::Missing(_))
    }
}
