//! The last error message, one per thread.

use std::cell::RefCell;
use std::ffi::{CString, c_char};

thread_local! {
    static LAST: RefCell<CString> = RefCell::default();
}

/// The error of this thread's last call on one line; empty if it succeeded. Never NULL; valid until
/// the thread's next call.
pub fn last() -> *const c_char {
    // An ending thread no longer has a message.
    LAST.try_with(|last| last.borrow().as_ptr()).unwrap_or(c"".as_ptr())
}

/// Stores the error of a call, or an empty text for success. Messages can contain file names and
/// file contents, so characters that would end the text, break the line or control a terminal are
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
    fn last_message_is_one_line_per_thread() {
        remember("a\nb\0\u{1b}[1m: gone");
        assert_eq!(text(), "a\\nb\\u{0}\\u{1b}[1m: gone");
        assert_eq!(std::thread::spawn(text).join().unwrap(), "", "each thread has its own");
    }
}
