//! Records which standard streams were closed when this program started.
//!
//! Before `main`, Rust's runtime opens `/dev/null` for each closed stream (`sanitize_standard_fds`
//! in the standard library). Then a closed stream looks redirected to `/dev/null`, and output is
//! silently lost. Functions in the section `.init_array` run before the C `main`, which starts that
//! runtime (System V ABI, "Initialization and Termination Functions").

use std::os::fd::RawFd;
use std::sync::atomic::{AtomicU8, Ordering};

const STREAMS: RawFd = 3;

/// A bit for each stream.
static CLOSED: AtomicU8 = AtomicU8::new(0);

#[used]
// SAFETY: the section contains pointers to functions of the C ABI, and the loader calls each once,
// in one thread. This one needs nothing initialised later: it calls the kernel and stores a byte.
#[unsafe(link_section = ".init_array")]
static LOOK_FIRST: extern "C" fn() = look;

extern "C" fn look() {
    let closed = (0..STREAMS)
        // SAFETY: the call accepts any number, and only reads the flags of an open descriptor.
        .filter(|stream| unsafe { libc::fcntl(*stream, libc::F_GETFD) } == -1)
        .fold(0, |bits, stream| bits | 1 << stream);
    CLOSED.store(closed, Ordering::Relaxed);
}

/// The standard streams closed when this program started.
pub fn closed() -> Vec<RawFd> {
    (0..STREAMS).filter(|stream| was_closed(*stream)).collect()
}

/// Whether standard input (0), output (1) or error (2) was closed when this program started. False
/// for other numbers.
pub fn was_closed(stream: RawFd) -> bool {
    (0..STREAMS).contains(&stream) && CLOSED.load(Ordering::Relaxed) & 1 << stream != 0
}
