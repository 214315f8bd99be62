//! The timed programs: packets forwarded around a ring, or long messages along a pattern.

use seatmap_cell_sim::channels::{Bed, ChannelProgram, Channels, ProgramNeeds};
use seatmap_cell_sim::workload::{LongMessages, MessageRingOver};
use seatmap_machines::workload::elapsed_ticks;

/// A timed program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TimedProgram {
    /// The ring of Keller & Varbanescu.
    Ring(MessageRingOver),
    /// Long messages along a pattern, as in Sudheer et al.
    Long(LongMessages),
}

/// The start and end of a task, in cycles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaskSpan {
    /// The start.
    pub began: u64,
    /// The end.
    pub ended: u64,
}

impl ChannelProgram for TimedProgram {
    type Output = TaskSpan;

    fn shape(&self) -> ProgramNeeds {
        match self {
            TimedProgram::Ring(ring) => ring.shape(),
            TimedProgram::Long(messages) => messages.shape(),
        }
    }

    fn task<C: Channels>(&self, channels: &C, rank: usize) -> TaskSpan {
        match self {
            TimedProgram::Ring(ring) => {
                let taken = ring.task(channels, rank);
                TaskSpan { began: taken.began, ended: taken.ended }
            }
            TimedProgram::Long(messages) => {
                let moved = messages.task(channels, rank);
                TaskSpan { began: moved.began, ended: moved.ended }
            }
        }
    }
}

/// Nanoseconds from the first task's start to the last one's end.
///
/// # Errors
/// The machine could not run it there.
pub fn time_ns<B: Bed>(
    bed: &mut B,
    program: &TimedProgram,
    seats: &[u32],
    seed: u64,
) -> Result<f64, B::Error> {
    let tasks = bed.run(seats, program, seed)?;
    let ticks = elapsed_ticks(tasks.iter().map(|task| (task.began, task.ended)));
    Ok(ticks as f64 * bed.ns_per_cycle())
}
