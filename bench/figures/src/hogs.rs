//! The same pair with two busy hogs on each of its CPUs.

use crate::pair;
use crate::row::Row;
use seatmap_measure::probe::Probe;
use seatmap_os::affinity;
use seatmap_statistics::median;
use std::error::Error;
use std::sync::atomic::{AtomicBool, Ordering};

/// Blocks of each kind, taking turns, and visits in a block.
const BLOCKS: usize = 12;
const VISITS: usize = 25;
const HOGS_PER_CPU: usize = 2;

/// The median with hogs against the median without.
pub fn rows() -> Result<Vec<Row>, Box<dyn Error>> {
    let Some(cpus) = pair::cpus()? else { return Ok(Vec::new()) };
    let mut probe = pair::probe(cpus)?;
    let mut idle = Vec::new();
    let mut busy = Vec::new();
    let mut discarded = 0;
    for _ in 0..BLOCKS {
        block(&mut probe, cpus, &mut idle)?;
        // Idle and busy by turns, so that a change of the clock hits both.
        discarded += among_hogs(&cpus, || block(&mut probe, cpus, &mut busy))?;
    }
    let idle_ns = median(&idle).unwrap_or(f64::NAN);
    let busy_ns = median(&busy).unwrap_or(f64::NAN);
    let ratio = busy_ns / idle_ns;
    let got = format!(
        "{ratio:.3} ({busy_ns:.1} / {idle_ns:.1} ns; {discarded} of {} batches discarded)",
        busy.len()
    );
    Ok(vec![Row::held(
        "round trip with 2 hogs a CPU / idle",
        got,
        "0.90-1.10",
        (0.9..=1.1).contains(&ratio),
    )])
}

/// Adds the round trips of a block of visits; returns how many batches were thrown away.
fn block(
    probe: &mut pair::Ours,
    cpus: [u32; 2],
    into: &mut Vec<f64>,
) -> Result<u64, Box<dyn Error>> {
    let mut discarded = 0;
    for _ in 0..VISITS {
        for batches in probe.visit(&pair::visit(cpus))? {
            discarded += batches.discards.gap + batches.discards.switched + batches.discards.moved;
            into.extend(batches.round_trip_ns);
        }
    }
    Ok(discarded)
}

/// Does the work while hogs spin on these CPUs; they are gone when it returns.
pub fn among_hogs<T>(cpus: &[u32], work: impl FnOnce() -> T) -> T {
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for cpu in cpus.iter().flat_map(|cpu| [*cpu; HOGS_PER_CPU]) {
            let done = &done;
            scope.spawn(move || {
                // A hog that could not be pinned would disturb another CPU, and the row would say
                // nothing.
                if affinity::pin(&[cpu]).is_ok() {
                    while !done.load(Ordering::Relaxed) {}
                }
            });
        }
        let result = work();
        done.store(true, Ordering::Relaxed);
        result
    })
}
