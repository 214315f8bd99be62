//! The time of a program on a testbed, from its first task's start to its last task's end.

use crate::workload::Handoffs;
use seatmap_data::port::Testbed;

/// The ticks from the earliest start to the latest end of `(began, ended)`; 0 for no tasks.
///
/// ```
/// assert_eq!(seatmap_machines::workload::elapsed_ticks([(5, 9), (3, 8)]), 6);
/// ```
pub fn elapsed_ticks(spans: impl IntoIterator<Item = (u64, u64)>) -> u64 {
    let whole = spans.into_iter().reduce(|whole, span| (whole.0.min(span.0), whole.1.max(span.1)));
    whole.map_or(0, |(began, ended)| ended.saturating_sub(began))
}

/// Nanoseconds of messages along a pattern over cache lines, with rank r on `seats[r]`.
///
/// # Errors
/// The machine could not run them there.
pub fn handoffs_ns<T: Testbed>(
    bed: &mut T,
    handoffs: &Handoffs,
    seats: &[u32],
) -> Result<f64, T::Error> {
    let tasks = bed.run(seats, handoffs)?;
    let ticks = elapsed_ticks(tasks.iter().map(|task| (task.began.ticks, task.ended.ticks)));
    Ok(ticks as f64 * bed.ns_per_tick())
}
