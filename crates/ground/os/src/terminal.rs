//! The terminal that a program reads its keys from.

use std::time::Duration;

/// Waits until standard input has something to read, a signal comes, or this time has passed.
/// Returns false where the terminal is gone: a reader that only waits for keys would find its end
/// over and over.
#[must_use]
pub fn wait(time: Duration) -> bool {
    let mut keys = libc::pollfd { fd: libc::STDIN_FILENO, events: libc::POLLIN, revents: 0 };
    let milliseconds = libc::c_int::try_from(time.as_millis()).unwrap_or(libc::c_int::MAX);
    // SAFETY: one element, which is writable.
    let found = unsafe { libc::poll(&raw mut keys, 1, milliseconds) };
    found <= 0 || keys.revents & (libc::POLLHUP | libc::POLLERR | libc::POLLNVAL) == 0
}
