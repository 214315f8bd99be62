//! What every call passes through on its way out: no panic, one status, one message.

use crate::failure::Failure;
use crate::message::remember;
use crate::status::Status;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Does what a call asks for. Panics end here: unwinding into C would abort the program.
pub fn call(work: impl FnOnce() -> Result<(), Failure>) -> Status {
    // What the work borrows is only read, or replaced as a whole.
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

/// Does what a call asks for and gives the result away through `out`, which holds NULL if there is none.
///
/// # Safety
/// `out` is NULL or can be written.
pub unsafe fn give<T>(out: *mut *mut T, name: &'static str, make: impl FnOnce() -> Result<T, Failure>) -> Status {
    call(|| {
        if out.is_null() {
            return Err(Failure::Null(name));
        }
        // SAFETY: not NULL, so the caller says that it can be written.
        unsafe { out.write(std::ptr::null_mut()) };
        let made = Box::into_raw(Box::new(make()?));
        // SAFETY: as above.
        unsafe { out.write(made) };
        Ok(())
    })
}

/// Takes back what was given away.
///
/// # Safety
/// `handle` is NULL or was given away by [`give`] and not taken back since.
pub unsafe fn take_back<T>(handle: *mut T) {
    if !handle.is_null() {
        // SAFETY: it came from a box, and the caller gives it up.
        drop(unsafe { Box::from_raw(handle) });
    }
}

fn words(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no words for it".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::seatmap_last_error;
    use std::ffi::CStr;

    fn last() -> String {
        // SAFETY: the text is there until the next call of this thread.
        unsafe { CStr::from_ptr(seatmap_last_error()) }.to_str().unwrap().to_owned()
    }

    #[test]
    fn a_panic_becomes_a_status() {
        assert_eq!(call(|| panic!("seat {}", 7)), Status::Defect);
        assert_eq!(last(), "a defect in libseatmap_place: seat 7");
        assert_eq!(call(|| Ok(())), Status::Ok);
        assert_eq!(last(), "");
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

    #[test]
    fn messages_are_one_line_of_text() {
        let failure = || Failure::File { path: "a\nb\0\u{1b}[1m".to_owned(), source: "gone".into() };
        assert_eq!(call(|| Err(failure())), Status::BadFile);
        assert_eq!(last(), "a\\nb\\u{0}\\u{1b}[1m: gone");
    }
}
