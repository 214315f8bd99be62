//! The words of the last failure, one text a thread.

use std::cell::RefCell;
use std::ffi::{CString, c_char};

thread_local! {
    static LAST: RefCell<CString> = RefCell::default();
}

/// The error of this thread's last call, as one line; empty if the call succeeded. Never NULL; the
/// text holds until the thread's next call.
pub fn last() -> *const c_char {
    // A thread that is ending has no message any more.
    LAST.try_with(|last| last.borrow().as_ptr()).unwrap_or(c"".as_ptr())
}

/// Stores the error of a call, or an empty text for success. Messages contain names of files and
/// parts of them, so characters that would end the text, break the line or command a terminal are
/// made visible.
pub(crate) fn remember(text: &str) {
    let visible = CString::new(seatmap_data::document::visible(text)).unwrap_or_default();
    let _ = LAST.try_with(|last| last.replace(visible));
}

#[cfg(test)]
pub(crate) fn text() -> String {
    // SAFETY: the text is there until this thread's next call.
    unsafe { std::ffi::CStr::from_ptr(last()) }.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_one_line_of_text() {
        remember("a\nb\0\u{1b}[1m: gone");
        assert_eq!(text(), "a\\nb\\u{0}\\u{1b}[1m: gone");
        assert_eq!(std::thread::spawn(text).join().unwrap(), "", "each thread has its own");
    }
}
