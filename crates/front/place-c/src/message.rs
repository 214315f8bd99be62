//! The message of the last failure, one per thread.

use std::ffi::c_char;

/// The error of this thread's last call that returned a seatmap_status, as one line; empty if that
/// call succeeded.
///
/// Never NULL. The text belongs to the library and is valid until this thread's next such call. Any
/// thread may call it, and each sees its own.
#[unsafe(no_mangle)]
pub extern "C" fn seatmap_last_error() -> *const c_char {
    seatmap_c_abi::message::last()
}
