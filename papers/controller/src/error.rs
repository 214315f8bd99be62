//! Errors of running or reaching a controller.

use crate::answer::ErrorOrigin;
use crate::watched::ControllerStopped;
use seatmap_cell::CellError;
use seatmap_cell::undo::Left;
use seatmap_data::document::Blame;
use std::io;
use std::path::Path;

/// A controller's error.
#[derive(Debug, thiserror::Error)]
pub enum ControlError {
    /// Another controller already runs.
    #[error("another controller runs here; end it first")]
    AnotherRuns,
    /// The controller's lock cannot be taken.
    #[error("cannot take the controller's lock")]
    Lock(#[source] io::Error),
    /// The controller's socket cannot be created.
    #[error("{path}: cannot open the controller's socket")]
    Socket {
        /// The socket.
        path: String,
        /// The system's error.
        source: io::Error,
    },
    /// The folder for programs cannot be used.
    #[error("{path}: cannot be exported to programs")]
    Export {
        /// The folder.
        path: String,
        /// The system's error.
        source: io::Error,
    },
    /// The controller's warden cannot be started.
    #[error("cannot start the controller's warden")]
    Warden(#[source] io::Error),
    /// The controller cannot start a thread for its clients.
    #[error("the controller cannot start a thread for its clients")]
    Thread(#[source] io::Error),
    /// This program cannot start a thread that listens to the controller.
    #[error("cannot start a thread that listens to the controller")]
    Listener(#[source] io::Error),
    /// A call of `seatmap-cell` failed.
    #[error(transparent)]
    Cell(#[from] CellError),
    /// The controller has ended, but could not restore some settings.
    #[error("the controller has ended its cells; {}", joined(.0))]
    NotPutBack(Vec<Left>),
    /// No controller answers.
    #[error("{path}: no controller answers; 'seatmap-papers controller serve' starts one")]
    Unreachable {
        /// The socket.
        path: String,
        /// The system's error.
        source: io::Error,
    },
    /// No server offers files there.
    #[error(
        "{path}: no files are exported there; 'seatmap-papers controller serve --export FOLDER' \
         exports some"
    )]
    NoFiles {
        /// The socket.
        path: String,
        /// The system's error.
        source: io::Error,
    },
    /// The controller has exited, or sends an invalid answer.
    #[error("the controller has exited")]
    Gone(#[source] io::Error),
    /// The controller was stopped by SIGSTOP or a debugger.
    #[error(transparent)]
    Stopped(ControllerStopped),
    /// The controller rejects the request.
    #[error("{message}")]
    Refused {
        /// The error's origin.
        kind: ErrorOrigin,
        /// The controller's message.
        message: String,
    },
}

fn joined(left: &[Left]) -> String {
    left.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

impl ControlError {
    pub(crate) fn no_files(socket: &Path, source: io::Error) -> Self {
        ControlError::NoFiles { path: socket.display().to_string(), source }
    }

    pub(crate) fn unheard(error: io::Error) -> Self {
        error.downcast().map_or_else(ControlError::Gone, ControlError::Stopped)
    }
}

impl Blame for ControlError {
    fn is_input(&self) -> bool {
        use ControlError::{AnotherRuns, Export, NoFiles, Refused, Socket, Unreachable};
        matches!(
            self,
            AnotherRuns
                | Export { .. }
                | NoFiles { .. }
                | Refused { kind: ErrorOrigin::Request, .. }
                | Socket { .. }
                | Unreachable { .. }
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unrestored_settings_are_named() {
        let left = |path: &str| Left::new(path.to_owned(), "gone".to_owned());
        assert_eq!(
            ControlError::NotPutBack(vec![left("/a"), left("/b")]).to_string(),
            "the controller has ended its cells; /a is not restored: gone; /b is not restored: gone"
        );
    }
}
