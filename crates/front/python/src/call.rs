//! Work without Python's lock.

use crate::failure::PythonFailure;
use pyo3::prelude::*;
use seatmap_console::output;
use std::cell::{Cell, RefCell};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// The interval of checks for Ctrl-C. A check takes Python's lock, for which it may wait 5 ms
/// (`sys.getswitchinterval`) while another thread computes.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Does work without Python's lock, so other threads continue. Remarks, which the command line
/// prints on stderr, become warnings.
pub fn beside_python<T: Send>(
    py: Python<'_>,
    work: impl FnOnce() -> Result<T, PythonFailure> + Send,
) -> PyResult<T> {
    let (answer, remarks) = py.detach(|| output::collecting(work));
    if !remarks.is_empty() {
        let category = py.import("seatmap._warnings")?.getattr("SeatmapWarning")?;
        let warn = py.import("warnings")?.getattr("warn")?;
        for remark in remarks {
            // The caller of the package's function is two frames up.
            warn.call1((remark, &category, 3))?;
        }
    }
    Ok(answer?)
}

/// Does work in a new thread, and calls `stop` from this one on Ctrl-C.
pub fn unless_interrupted<T: Send>(
    work: impl FnOnce() -> Result<T, PythonFailure> + Send,
    stop: impl FnOnce(),
) -> Result<T, PythonFailure> {
    let interruption = Interruption::listen();
    // The worker's end of the channel is dropped when it ends, even by a panic.
    let (alive, ended) = channel::<()>();
    let answer = std::thread::scope(|scope| {
        let worker = scope.spawn(move || {
            let _alive = alive;
            work()
        });
        while ended.recv_timeout(LOOK_EVERY) == Err(RecvTimeoutError::Timeout) {
            if interruption.is_raised() {
                stop();
                break;
            }
        }
        worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    });
    interruption.unless_raised(answer)
}

/// Detects Ctrl-C during work without Python's lock.
pub struct Interruption {
    raised: RefCell<Option<PyErr>>,
    next_look: Cell<Instant>,
}

impl Interruption {
    pub fn listen() -> Self {
        Interruption {
            raised: RefCell::new(None),
            next_look: Cell::new(Instant::now() + LOOK_EVERY),
        }
    }

    /// Whether a signal handler has raised an exception, usually Ctrl-C's `KeyboardInterrupt`. Only
    /// Python's main thread receives signals.
    pub fn is_raised(&self) -> bool {
        if self.raised.borrow().is_some() {
            return true;
        }
        if Instant::now() < self.next_look.get() {
            return false;
        }
        let raised = Python::attach(|py| py.check_signals()).err();
        self.next_look.set(Instant::now() + LOOK_EVERY);
        let is_raised = raised.is_some();
        self.raised.replace(raised);
        is_raised
    }

    /// The result of the work, or the exception that interrupted it.
    pub fn unless_raised<T>(self, answer: Result<T, PythonFailure>) -> Result<T, PythonFailure> {
        match self.raised.into_inner() {
            Some(error) => Err(PythonFailure::Raised(error)),
            None => answer,
        }
    }
}
