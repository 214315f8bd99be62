//! Times sleeping threads of this host that wake each other.

use crate::args::Measure;
use seatmap_console::error::CliError;
use seatmap_console::interrupt::Interrupt;
use seatmap_host::HostWakeups;
use seatmap_host::primitives::PrimitiveError;
use seatmap_machine::{Topology, Wakeups};
use seatmap_measure::wakeups::{USUAL_PAIRS, Woken, pairs, wakeups};
use std::ops::ControlFlow;

/// This host as a source of round trips.
struct Host(HostWakeups);

impl Woken for Host {
    type Error = PrimitiveError;

    fn round_trips_ns(
        &mut self,
        pus: [u32; 2],
        batches: u32,
        round_trips: u32,
    ) -> Result<Vec<f64>, PrimitiveError> {
        self.0.round_trips_ns(pus, batches, round_trips)
    }
}

/// The passes of a quick, a usual and a thorough measurement.
const PASSES: [u32; 3] = [3, 9, 31];

/// The wakeups between these CPUs; `None` where they were not asked for.
///
/// # Errors
/// A CPU could not be used, or the user ended it.
pub fn measure(
    topology: &Topology,
    pus: &[u32],
    typed: &Measure,
    interrupt: &Interrupt,
) -> Result<Option<Wakeups>, CliError> {
    let passes = match (typed.quick, typed.thorough) {
        (true, _) => PASSES[0],
        (_, true) => PASSES[2],
        _ => PASSES[1],
    };
    let pairs = pairs(topology, pus, typed.wakeups.unwrap_or(USUAL_PAIRS), typed.seed);
    if pairs.is_empty() {
        return Ok(None);
    }
    let mut host = Host(HostWakeups::default());
    let go_on =
        || if interrupt.asked() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
    let measured = wakeups(&mut host, &pairs, passes, typed.seed, go_on).map_err(CliError::work)?;
    let early = "interrupted while the wakeups were measured; the same command with --resume keeps the distances";
    measured.map(Some).ok_or_else(|| CliError::work(early))
}
