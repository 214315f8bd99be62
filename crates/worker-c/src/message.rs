//! The words of the last failure, one text a thread.

use std::cell::RefCell;
use std::ffi::{CString, c_char};

thread_local! {
    static LAST: RefCell<CString> = RefCell::default();
}

/// What went wrong in this thread's last call that returned a seatmap_worker_status, as one line; empty if nothing did.
///
/// Never NULL. The text belongs to the library and holds until this thread's next such call. Any thread may call it,
/// and each sees its own.
#[unsafe(no_mangle)]
pub extern "C" fn seatmap_worker_last_error() -> *const c_char {
    // A thread that is ending has no message any more.
    LAST.try_with(|last| last.borrow().as_ptr()).unwrap_or(c"".as_ptr())
}

/// Remembers what went wrong, or that nothing did. Names of files and parts of them stand in messages, so what would
/// end the text, break the line or command a terminal becomes visible.
pub fn remember(text: &str) {
    let one = |c: char| if c.is_control() { c.escape_default().to_string() } else { c.to_string() };
    let visible = CString::new(text.chars().map(one).collect::<String>()).unwrap_or_default();
    let _ = LAST.try_with(|last| last.replace(visible));
}
