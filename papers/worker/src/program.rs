//! Programs that workers run.

use crate::WorkerView;
use seatmap_os::partners::is_gone;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A program for a worker: code without mutable state. It works on its local store, and on memory
/// to which its argument points.
pub trait WorkerProgram: Send + Sync + 'static {
    /// Runs on a worker, and returns a stop code.
    fn run(&self, inside: &mut WorkerView, argument: u64) -> u32;
}

impl<F: Fn(&mut WorkerView, u64) -> u32 + Send + Sync + 'static> WorkerProgram for F {
    fn run(&self, inside: &mut WorkerView, argument: u64) -> u32 {
        self(inside, argument)
    }
}

/// The error of a program ended because it waited in vain.
pub(crate) const ALONE: &str = "it waited for a message, but it runs alone";

/// Runs a program to its stop code or panic message; no program ends its worker.
pub(crate) fn caught(
    program: &dyn WorkerProgram,
    inside: &mut WorkerView,
    argument: u64,
) -> Result<u32, String> {
    // A store holds only bytes, and the next program can scrub or read what a panic left.
    catch_unwind(AssertUnwindSafe(|| program.run(inside, argument))).map_err(|panic| {
        if is_gone(&*panic) {
            return ALONE.to_owned();
        }
        let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
        text.or_else(|| panic.downcast_ref::<String>().cloned())
            .unwrap_or_else(|| "it did not say why".to_owned())
    })
}
