//! Whether tasks timed side by side worked at the same time.

use std::ops::Range;

/// The smallest [`overlap`] at which a figure of concurrent operations is believed. Neighbouring
/// runs begin and end a few hundred nanoseconds apart: a tenth of a run of a few microseconds.
pub const ENOUGH_OVERLAP: f64 = 0.9;

/// A batch that takes this many times the task's median batch was interrupted by another program.
/// Contenders for a line slow each other by less, and two distances of virtual CPUs are a factor of
/// four apart.
const INTERRUPTED: u64 = 8;

/// The times of one task's work, on a clock that all tasks read.
#[derive(Clone, Debug, Default)]
pub struct TaskBeats {
    /// Clock at the start of the work, and after each batch.
    pub beats: Vec<u64>,
    /// The batches that count, by number. Earlier ones warm up; later ones only keep the load
    /// constant.
    pub counted: Range<usize>,
}

/// The smallest share of any task's counted batches during which every task worked: 1 if all worked
/// all the time, 0 if a task was alone. An interrupted task does not work meanwhile.
pub fn overlap(runs: &[TaskBeats]) -> f64 {
    let from = runs.iter().filter_map(|run| run.beats.first()).max().copied().unwrap_or(0);
    let until = runs.iter().filter_map(|run| run.beats.last()).min().copied().unwrap_or(0);
    let away: Vec<Vec<Range<u64>>> = runs.iter().map(TaskBeats::away).collect();
    runs.iter()
        .enumerate()
        .map(|(at, run)| {
            let others = away
                .iter()
                .enumerate()
                .filter(|(other, _)| *other != at)
                .flat_map(|(_, away)| away);
            run.share(&(from..until), &others.cloned().collect::<Vec<_>>(), &away[at])
        })
        .fold(1.0, f64::min)
}

impl TaskBeats {
    fn batches(&self) -> impl Iterator<Item = Range<u64>> {
        self.beats.windows(2).map(|two| two[0]..two[1])
    }

    fn away(&self) -> Vec<Range<u64>> {
        let mut lengths: Vec<u64> = self.batches().map(|batch| length(&batch)).collect();
        lengths.sort_unstable();
        let usual = lengths.get(lengths.len() / 2).copied().unwrap_or(0).max(1);
        self.batches().filter(|batch| length(batch) > usual.saturating_mul(INTERRUPTED)).collect()
    }

    /// The share of its counted batches in a stretch of time, without interruptions of other tasks.
    /// Its own interruptions do not count.
    fn share(&self, stretch: &Range<u64>, others_away: &[Range<u64>], away: &[Range<u64>]) -> f64 {
        let mut together = 0;
        let mut whole = 0;
        let counted = self.batches().skip(self.counted.start).take(self.counted.len());
        for batch in counted.filter(|batch| !away.contains(batch)) {
            // The clock ran backwards, or one task ended before another began.
            if batch.end < batch.start || stretch.end < stretch.start {
                return 0.0;
            }
            let common = within(&batch, stretch);
            let alone: u64 = others_away.iter().map(|away| length(&within(&common, away))).sum();
            together += length(&common).saturating_sub(alone);
            whole += length(&batch);
        }
        if whole == 0 { 1.0 } else { together as f64 / whole as f64 }
    }
}

fn length(range: &Range<u64>) -> u64 {
    range.end.saturating_sub(range.start)
}

fn within(one: &Range<u64>, other: &Range<u64>) -> Range<u64> {
    one.start.max(other.start)..one.end.min(other.end)
}

#[cfg(test)]
mod tests;
