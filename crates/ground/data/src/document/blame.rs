//! Whether the user's input or the work caused an error.

use std::error::Error;
use std::io;

/// An error that determines a command's exit code.
pub trait Blame: Error + 'static {
    /// Whether other input can fix it (exit code 2), or the work failed (exit code 1). Most errors
    /// are about the input.
    fn is_input(&self) -> bool {
        true
    }
}

/// An error of any library, for callers that need only its text and its exit code.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// Other input can fix it.
    #[error(transparent)]
    Input(Box<dyn Error>),
    /// The work failed.
    #[error(transparent)]
    Work(Box<dyn Error>),
}

impl Failure {
    /// Other input can fix it.
    pub fn input(error: impl Into<Box<dyn Error>>) -> Self {
        Failure::Input(error.into())
    }

    /// The work failed.
    pub fn work(error: impl Into<Box<dyn Error>>) -> Self {
        Failure::Work(error.into())
    }

    /// Makes a wrong input of a cause, with its place or a sentence before it.
    pub fn input_at<E: Into<Box<dyn Error>>>(what: impl ToString) -> impl FnOnce(E) -> Self {
        move |source| Failure::input(Caused(what.to_string(), source.into()))
    }

    /// Makes a failure of the work of its cause, with its place or a sentence before it.
    pub fn work_at<E: Into<Box<dyn Error>>>(what: impl ToString) -> impl FnOnce(E) -> Self {
        move |source| Failure::work(Caused(what.to_string(), source.into()))
    }
}

/// Refuses an input with this sentence.
///
/// # Errors
/// [`Failure::Input`], always.
pub fn unfit<T>(why: impl Into<Box<dyn Error>>) -> Result<T, Failure> {
    Err(Failure::input(why))
}

#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Caused(String, #[source] Box<dyn Error>);

impl Blame for Failure {
    fn is_input(&self) -> bool {
        matches!(self, Failure::Input(_))
    }
}

/// Lets `?` turn errors with a [`Blame`] into a [`Failure`].
///
/// ```
/// # #[derive(Debug, thiserror::Error)]
/// # #[error("no such machine")]
/// # struct NoMachine;
/// impl seatmap_data::document::Blame for NoMachine {}
/// seatmap_data::into_failure!(NoMachine);
/// ```
#[macro_export]
macro_rules! into_failure {
    ($($error:ty),+) => {$(
        impl From<$error> for $crate::document::Failure {
            fn from(error: $error) -> Self {
                if $crate::document::Blame::is_input(&error) {
                    Self::input(error)
                } else {
                    Self::work(error)
                }
            }
        }
    )+};
}

impl Blame for io::Error {
    fn is_input(&self) -> bool {
        false
    }
}

into_failure!(io::Error);
