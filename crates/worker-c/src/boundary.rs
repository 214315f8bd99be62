//! What every call passes through: no panic out, no bad pointer in.

use crate::failure::Failure;
use crate::message::remember;
use crate::status::Status;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Does what a call asks for. Panics end here: unwinding into C would abort the program.
pub fn call(work: impl FnOnce() -> Result<(), Failure>) -> Status {
    // Contexts are whole between any two of their calls.
    let result = catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| Err(Failure::Defect(words(&*panic))));
    match result {
        Ok(()) => {
            remember("");
            Status::Ok
        }
        Err(failure) => {
            remember(&failure.to_string());
            failure.status()
        }
    }
}

fn words(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no words for it".to_owned())
}

/// Does what a call asks for and gives the result away through `out`, which holds NULL if there is none.
///
/// # Safety
/// `out` is NULL or can be written.
pub unsafe fn give<T>(out: *mut *mut T, name: &'static str, make: impl FnOnce() -> Result<T, Failure>) -> Status {
    call(|| {
        // SAFETY: the caller's promise is that of `as_mut`.
        let out = unsafe { out.as_mut() }.ok_or(Failure::Null(name))?;
        *out = std::ptr::null_mut();
        *out = Box::into_raw(Box::new(make()?));
        Ok(())
    })
}

/// Takes back what was given away.
///
/// # Safety
/// `handle` is NULL or was given away by [`give`] and not taken back since.
pub unsafe fn take_back<T>(handle: *mut T) {
    if !handle.is_null() {
        // A panic must not leave here either, and nobody is there to hear of it.
        let _ = catch_unwind(AssertUnwindSafe(|| {
            // SAFETY: it came from a box, and the caller gives it up.
            drop(unsafe { Box::from_raw(handle) });
        }));
    }
}

/// What a handle stands for.
///
/// # Safety
/// `handle` is NULL, or was given away by this library and is not taken back while the reference is used.
pub unsafe fn known<'a, T>(handle: *const T, name: &'static str) -> Result<&'a T, Failure> {
    // SAFETY: the caller's promise is that of `as_ref`.
    unsafe { handle.as_ref() }.ok_or(Failure::Null(name))
}

/// What a pointer leads to, to be changed.
///
/// # Safety
/// `handle` is NULL or leads to a value that nobody else uses meanwhile.
pub unsafe fn changed<'a, T>(handle: *mut T, name: &'static str) -> Result<&'a mut T, Failure> {
    // SAFETY: the caller's promise is that of `as_mut`.
    unsafe { handle.as_mut() }.ok_or(Failure::Null(name))
}

/// How many elements an array has, if it can be there; NULL is one without elements.
pub fn counted<T>(first: *const T, count: usize, name: &'static str) -> Result<usize, Failure> {
    // No array that is there is longer; a larger count is a negative number, or none that was ever set.
    let most = isize::MAX as usize / size_of::<T>().max(1);
    match (first.is_null(), count) {
        (true, 1..) => Err(Failure::Null(name)),
        (_, count) if count > most => {
            Err(Failure::Argument(format!("{name} has {count} elements, and {most} is the most")))
        }
        _ => Ok(count),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::seatmap_worker_last_error;
    use std::ffi::CStr;

    fn last() -> String {
        // SAFETY: the text is there until the next call of this thread.
        unsafe { CStr::from_ptr(seatmap_worker_last_error()) }.to_str().unwrap().to_owned()
    }

    #[test]
    fn a_panic_becomes_a_status() {
        assert_eq!(call(|| panic!("worker {}", 7)), Status::Defect);
        assert_eq!(last(), "a defect in libseatmap_worker: worker 7");
        assert_eq!((call(|| Ok(())), last()), (Status::Ok, String::new()));
    }

    #[test]
    fn where_nothing_was_made_there_is_null() {
        let mut out = std::ptr::dangling_mut::<u8>();
        // SAFETY: the pointer can be written.
        let status = unsafe { give(&raw mut out, "out", || Err(Failure::Null("x"))) };
        assert!(status == Status::BadArgument && out.is_null());
        // SAFETY: as above.
        let status = unsafe { give(&raw mut out, "out", || Ok(3_u8)) };
        assert!(status == Status::Ok && !out.is_null());
        // SAFETY: it was given away in the line above.
        unsafe { take_back(out) };
    }
}
