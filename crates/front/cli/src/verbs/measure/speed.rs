//! Times work on each CPU of this host.

use crate::args::Measure;
use seatmap_console::error::CliError;
use seatmap_console::interrupt::Interrupt;
use seatmap_host::HostWork;
use seatmap_host::crew::CrewError;
use seatmap_machine::SeatSpeed;
use seatmap_measure::speed::{Timed, rounds, speeds};
use std::ops::ControlFlow;

/// This host as a source of times.
struct Host(HostWork);

impl Timed for Host {
    type Error = CrewError;

    fn time_ns(&mut self, pus: &[u32]) -> Result<Vec<f64>, CrewError> {
        self.0.time_ns(pus)
    }
}

/// The rounds of a quick and of a thorough measurement.
const QUICK_ROUNDS: u32 = 9;
const THOROUGH_ROUNDS: u32 = 101;

/// The speed of each CPU.
///
/// # Errors
/// A CPU could not be used, or the user ended it.
pub fn measure(pus: &[u32], typed: &Measure, interrupt: &Interrupt) -> Result<SeatSpeed, CliError> {
    let rounds = match (typed.quick, typed.thorough) {
        (true, _) => QUICK_ROUNDS,
        (_, true) => THOROUGH_ROUNDS,
        _ => rounds(pus.len()),
    };
    let first = pus.first().copied().unwrap_or_default();
    let mut host = Host(HostWork::sized_on(first).map_err(CliError::work)?);
    let go_on =
        || if interrupt.asked() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
    let measured = speeds(&mut host, pus, rounds, typed.seed, go_on).map_err(CliError::work)?;
    measured.ok_or_else(|| {
        CliError::work("interrupted while the speeds were measured; the same command with --resume keeps the distances")
    })
}
