//! Core distance over one line after the other.

use crate::workload::{PingPong, PingPongTimes, lines_up_to};
use seatmap_data::port::{Addr, Barrier, Port, Workload};

/// The turns of [`PingPong`] over many lines, by the same two tasks. Creating a run's threads costs
/// as much as a hundred round trips.
pub struct LineByLine {
    /// Words, one on each of the lines.
    pub words: Vec<Addr>,
    /// Word at which the tasks meet before they start, on its own line.
    pub meeting: Addr,
    /// Timed batches over each line.
    pub batches: u32,
    /// Round trips in a batch.
    pub round_trips: u32,
}

impl Workload for LineByLine {
    type Output = Vec<PingPongTimes>;

    fn tasks(&self) -> usize {
        2
    }

    fn lines(&self) -> u32 {
        lines_up_to(self.words.iter().chain([&self.meeting]))
    }

    fn task<P: Port>(&self, port: &P, rank: usize) -> Vec<PingPongTimes> {
        // Opened before the meeting, or the second task could wait for a word opened later.
        if rank == 0 {
            self.words.iter().for_each(|word| PingPong::open(port, *word));
        }
        Barrier::new(self.meeting, 2).wait(port);
        let own = rank as u64;
        self.words
            .iter()
            .map(|word| PingPong::batches(port, *word, own, self.batches, self.round_trips))
            .collect()
    }
}
