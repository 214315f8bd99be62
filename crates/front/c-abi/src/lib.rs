//! The common layer of all calls from C: no panic leaves it, bad pointers are rejected, and each
//! failure leaves a one-line message.
//!
//! The C libraries differ in handles and statuses, but share the rules at the boundary, implemented
//! once here.
//!
//! | part | does |
//! |---|---|
//! | [`Boundary`] | the interface of a library's error type, with wrappers for calls |
//! | [`Fault`] | the errors common to all libraries |
//! | [`take_back`] | frees a handle |
//! | [`message`] | stores the last error message, one per thread |
#![deny(missing_docs)]

pub mod message;
#[cfg(test)]
#[path = "tests/sample.rs"]
mod sample;

use message::remember;
use std::any::Any;
use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A wrong call, common to all libraries.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// A required pointer is NULL.
    #[error("{0} is NULL")]
    Null(&'static str),
    /// An argument has an invalid value.
    #[error("{0}")]
    Argument(String),
    /// The library panicked.
    #[error("a defect in {library}: {words}")]
    Defect {
        /// The library's name, as users write it.
        library: &'static str,
        /// The panic's message.
        words: String,
    },
}

/// The error type of a library, whose text becomes the last error message, and the wrappers of its
/// calls.
pub trait Boundary: Display + Sized + From<Fault> {
    /// The status that the library's calls return.
    type Status;

    /// The status of a successful call.
    const OK: Self::Status;

    /// The library's name, as users write it.
    const LIBRARY: &'static str;

    /// The error for a required NULL pointer.
    fn null(name: &'static str) -> Self {
        Fault::Null(name).into()
    }

    /// The error for an invalid argument.
    fn argument(words: String) -> Self {
        Fault::Argument(words).into()
    }

    /// The status of this error.
    fn status(&self) -> Self::Status;

    /// Runs a call. Catches panics, because unwinding into C would abort the program. Data borrowed
    /// by the work must be consistent between any two calls.
    fn call(work: impl FnOnce() -> Result<(), Self>) -> Self::Status {
        let defect = |panic: Box<dyn Any + Send>| {
            Err(Fault::Defect { library: Self::LIBRARY, words: words(&*panic) }.into())
        };
        match catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(defect) {
            Ok(()) => {
                remember("");
                Self::OK
            }
            Err(failure) => {
                remember(&failure.to_string());
                failure.status()
            }
        }
    }

    /// Runs a call and returns its result through `out`, which is NULL after an error.
    ///
    /// # Safety
    /// `out` is NULL or can be written.
    unsafe fn give<T>(
        out: *mut *mut T,
        name: &'static str,
        make: impl FnOnce() -> Result<T, Self>,
    ) -> Self::Status {
        Self::call(|| {
            if out.is_null() {
                return Err(Self::null(name));
            }
            // SAFETY: not NULL, so the caller says that it can be written.
            unsafe { out.write(std::ptr::null_mut()) };
            let made = Box::into_raw(Box::new(make()?));
            // SAFETY: as above.
            unsafe { out.write(made) };
            Ok(())
        })
    }

    /// The value of a handle.
    ///
    /// # Safety
    /// `handle` is NULL, or this library created it and it is not freed while the reference is
    /// used.
    ///
    /// # Errors
    /// [`Boundary::null`] for NULL.
    unsafe fn known<'a, T>(handle: *const T, name: &'static str) -> Result<&'a T, Self> {
        // SAFETY: the caller's promise is that of `as_ref`.
        unsafe { handle.as_ref() }.ok_or_else(|| Self::null(name))
    }

    /// The value of a pointer, for changing it.
    ///
    /// # Safety
    /// `handle` is NULL or points to a value that nothing else uses meanwhile.
    ///
    /// # Errors
    /// [`Boundary::null`] for NULL.
    unsafe fn changed<'a, T>(handle: *mut T, name: &'static str) -> Result<&'a mut T, Self> {
        // SAFETY: the caller's promise is that of `as_mut`.
        unsafe { handle.as_mut() }.ok_or_else(|| Self::null(name))
    }

    /// Checks the length of an array and returns it; NULL is an empty array.
    ///
    /// # Errors
    /// [`Boundary::null`] for NULL with elements, [`Boundary::argument`] for more elements than any
    /// array has.
    fn counted<T>(first: *const T, count: usize, name: &'static str) -> Result<usize, Self> {
        // No array in memory is longer; a larger count is a negative number or uninitialised.
        let most = isize::MAX as usize / size_of::<T>().max(1);
        match (first.is_null(), count) {
            (true, 1..) => Err(Self::null(name)),
            // Plural: one element is accepted.
            (_, count) if count > most => {
                Err(Self::argument(format!("{name} has {count} elements; the limit is {most}")))
            }
            _ => Ok(count),
        }
    }
}

/// Frees a value of the caller.
///
/// # Safety
/// `handle` is NULL or comes from [`Boundary::give`] and has not been freed since.
pub unsafe fn take_back<T>(handle: *mut T) {
    if !handle.is_null() {
        // A panic must not leave here either, and no caller could get its error.
        let _ = catch_unwind(AssertUnwindSafe(|| {
            // SAFETY: it came from a box, and the caller gives it up.
            drop(unsafe { Box::from_raw(handle) });
        }));
    }
}

fn words(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "no words for it".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::text;
    use crate::sample::SampleFailure;

    #[test]
    fn panic_becomes_status_with_message() {
        assert_eq!(SampleFailure::call(|| panic!("seat {}", 7)), 3);
        assert_eq!(text(), "a defect in a sample: seat 7");
        assert_eq!((SampleFailure::call(|| Ok(())), text()), (0, String::new()));
    }

    #[test]
    fn failed_constructor_sets_out_pointer_to_null() {
        let mut out = std::ptr::dangling_mut::<u8>();
        // SAFETY: the pointer can be written.
        let status =
            unsafe { SampleFailure::give(&raw mut out, "out", || Err(SampleFailure::null("x"))) };
        assert!(status == 1 && out.is_null());
        // SAFETY: as above.
        let status = unsafe { SampleFailure::give(&raw mut out, "out", || Ok(3_u8)) };
        assert!(status == 0 && !out.is_null());
        // SAFETY: it was given away in the line above.
        unsafe { take_back(out) };
        // SAFETY: NULL is an answer too.
        assert_eq!(unsafe { SampleFailure::give(std::ptr::null_mut(), "out", || Ok(3_u8)) }, 1);
    }

    #[test]
    fn impossible_arrays_are_rejected() {
        let seven = 7_u32;
        let most = isize::MAX as usize / 4;
        let here = &raw const seven;
        let told = |first, count| {
            SampleFailure::counted::<u32>(first, count, "cpus").map_err(|failure| failure.0)
        };
        assert_eq!((told(std::ptr::null(), 0), told(here, 1)), (Ok(0), Ok(1)));
        assert_eq!(told(std::ptr::null(), 1).unwrap_err(), "cpus is NULL");
        let words = format!("cpus has {} elements; the limit is {most}", usize::MAX);
        assert_eq!(told(here, usize::MAX).unwrap_err(), words);
    }

    #[test]
    fn null_handles_are_rejected() {
        let mut value = 7;
        // SAFETY: the first pointer leads to a value that nothing else uses, the second is NULL.
        let found = unsafe {
            [
                SampleFailure::changed(&raw mut value, "x"),
                SampleFailure::changed(std::ptr::null_mut(), "x"),
            ]
        };
        assert!(matches!(found, [Ok(7), Err(SampleFailure(_, 1))]));
        // SAFETY: as above.
        let found = unsafe {
            [
                SampleFailure::known(&raw const value, "x"),
                SampleFailure::known(std::ptr::null(), "x"),
            ]
        };
        assert!(matches!(found, [Ok(7), Err(SampleFailure(_, 1))]));
    }
}
