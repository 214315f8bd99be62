//! Errors of the libraries as exceptions.

use pyo3::exceptions::PyException;
use pyo3::{PyErr, create_exception};
use seatmap_console::CliError;
use std::error::Error;

create_exception!(
    seatmap,
    SeatmapError,
    PyException,
    "The work failed. The message is the command line's: what, where, and what to do."
);
create_exception!(
    seatmap,
    InputError,
    SeatmapError,
    "An argument or a file is wrong. The command line exits with code 2 for this."
);

/// The cause of a failed call, in a form that can be sent to another thread.
pub enum PythonFailure {
    /// An argument or a file is wrong.
    Input(String),
    /// The work failed.
    Work(String),
    /// A Python exception, such as Ctrl-C's.
    Raised(PyErr),
}

impl PythonFailure {
    pub fn input(error: impl Into<Box<dyn Error>>) -> Self {
        CliError::input(error).into()
    }

    pub fn work(error: impl Into<Box<dyn Error>>) -> Self {
        CliError::work(error).into()
    }
}

/// Lets `?` convert an error of a library.
impl<E: Into<CliError>> From<E> for PythonFailure {
    fn from(error: E) -> Self {
        let error: CliError = error.into();
        let text = error.text();
        match error {
            CliError::Input(_) | CliError::CommandLine(_) => PythonFailure::Input(text),
            _ => PythonFailure::Work(text),
        }
    }
}

impl From<PythonFailure> for PyErr {
    fn from(failure: PythonFailure) -> Self {
        match failure {
            PythonFailure::Input(text) => InputError::new_err(text),
            PythonFailure::Work(text) => SeatmapError::new_err(text),
            PythonFailure::Raised(error) => error,
        }
    }
}
