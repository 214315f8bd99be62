//! Core distance over one line after the other.

use crate::{PingPong, Trace};
use seatmap_port::{Addr, Barrier, Port, Workload};

/// The turns of [`PingPong`] over many lines, by the same two tasks: threads that are made for a run cost as much as a
/// hundred round trips, and so they cost it once.
#[derive(Clone, Debug)]
pub struct LineByLine {
    /// A word on each of the lines.
    pub words: Vec<Addr>,
    /// Where the tasks meet before they start: a word on a line of its own.
    pub meeting: Addr,
    /// Timed batches over each line.
    pub batches: u32,
    /// Round trips in a batch.
    pub round_trips: u32,
}

impl Workload for LineByLine {
    /// What one task saw, line by line.
    type Output = Vec<Trace>;

    fn tasks(&self) -> usize {
        2
    }

    fn lines(&self) -> u32 {
        self.words.iter().chain([&self.meeting]).map(|word| word.line_index() + 1).max().unwrap_or(0)
    }

    fn task<P: Port>(&self, port: &P, rank: usize) -> Vec<Trace> {
        if rank == 0 {
            self.words.iter().for_each(|word| PingPong::open(port, *word));
        }
        Barrier::new(self.meeting, 2).wait(port);
        let own = rank as u64;
        self.words.iter().map(|word| PingPong::batches(port, *word, own, self.batches, self.round_trips)).collect()
    }
}
