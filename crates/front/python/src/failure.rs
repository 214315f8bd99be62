//! Errors of the libraries as exceptions.

use pyo3::exceptions::PyException;
use pyo3::{PyErr, create_exception};
use seatmap_console::error::CliError;
use std::error::Error;

create_exception!(
    seatmap,
    SeatmapError,
    PyException,
    "The work failed. The message says what, where, and what to do, as the command line does."
);
create_exception!(
    seatmap,
    InputError,
    SeatmapError,
    "An argument or a file is wrong: the error for which the command line ends with exit code 2."
);

/// Why a call failed, in a form that may cross threads.
pub enum Failure {
    /// An argument or a file is wrong.
    Input(String),
    /// The work failed.
    Work(String),
    /// An exception of Python itself: Ctrl-C.
    Raised(PyErr),
}

impl Failure {
    /// An argument or a file is wrong.
    pub fn input(error: impl Into<Box<dyn Error>>) -> Self {
        CliError::input(error).into()
    }

    /// The work failed.
    pub fn work(error: impl Into<Box<dyn Error>>) -> Self {
        CliError::work(error).into()
    }
}

/// `?` gives an error of a library its exception and its words.
impl<E: Into<CliError>> From<E> for Failure {
    fn from(error: E) -> Self {
        let error: CliError = error.into();
        let text = error.text();
        match error {
            CliError::Input(_) | CliError::CommandLine(_) => Failure::Input(text),
            _ => Failure::Work(text),
        }
    }
}

impl From<Failure> for PyErr {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Input(text) => InputError::new_err(text),
            Failure::Work(text) => SeatmapError::new_err(text),
            Failure::Raised(error) => error,
        }
    }
}
