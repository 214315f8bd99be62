//! The ping-pong that defines core distance.

use crate::workload::lines_up_to;
use seatmap_data::port::{Addr, Port, Stamp, WORDS_PER_LINE, Workload};

/// Algorithm 1 of Liu et al. 2015, timed in batches. Two tasks write one shared word in turn; each
/// waits with a pause until the word no longer holds its own value. One turn of both is a round
/// trip, the core distance.
///
/// Pair p is tasks 2p and 2p + 1, on the line `lines[p]`; all pairs start together. Each task reads
/// the clock once per batch of round trips. The later task's clock counts, because the earlier
/// one's first batch includes the wait.
pub struct PingPong {
    /// Word of each pair, on its own line.
    pub lines: Vec<Addr>,
    /// Word at which the tasks meet before they start; no pair uses its line or the next.
    pub gate: Addr,
    /// Timed batches.
    pub batches: u32,
    /// Round trips in a batch.
    pub round_trips: u32,
}

/// The times of one task of a ping-pong.
#[derive(Clone, Debug, Default)]
pub struct PingPongTimes {
    /// Clock before the first batch and after each: `batches + 1` readings.
    pub stamps: Vec<Stamp>,
    /// Task's involuntary context switches during the run.
    pub interruptions: u64,
}

impl PingPong {
    /// Waits until all tasks have arrived, on a separate line: if every arrival woke all waiting
    /// tasks, hundreds would meet for longer than they run.
    fn meet<P: Port>(&self, port: &P) {
        if port.fetch_add(self.gate, 1) + 1 == self.tasks() as u64 {
            port.store(self.go(), 1);
        } else {
            port.wait_while(self.go(), 0);
        }
    }

    /// Leaves the meeting. The last task resets the gate for a run with another number of tasks.
    fn leave<P: Port>(&self, port: &P) {
        let left = self.gate.word(1);
        if port.fetch_add(left, 1) + 1 == self.tasks() as u64 {
            [self.gate, left, self.go()].into_iter().for_each(|word| port.store(word, 0));
        }
    }

    fn go(&self) -> Addr {
        self.gate.word(WORDS_PER_LINE)
    }

    /// Gives the first task the first turn: the word holds the second one's value.
    pub(crate) fn open<P: Port>(port: &P, word: Addr) {
        port.store(word, 1);
    }

    /// The timed turns of one side; `own` is the value that it writes.
    pub(crate) fn batches<P: Port>(
        port: &P,
        word: Addr,
        own: u64,
        batches: u32,
        round_trips: u32,
    ) -> PingPongTimes {
        let mut stamps = Vec::with_capacity(batches as usize + 1);
        let interruptions_before = port.interruptions();
        stamps.push(port.stamp());
        for _ in 0..batches {
            Self::turns(port, word, own, round_trips);
            stamps.push(port.stamp());
        }
        PingPongTimes { stamps, interruptions: port.interruptions() - interruptions_before }
    }

    fn turns<P: Port>(port: &P, word: Addr, own: u64, round_trips: u32) {
        for _ in 0..round_trips {
            port.wait_while(word, own);
            port.store(word, own);
        }
    }
}

impl Workload for PingPong {
    type Output = PingPongTimes;

    fn tasks(&self) -> usize {
        2 * self.lines.len()
    }

    fn lines(&self) -> u32 {
        lines_up_to(self.lines.iter().chain([&self.go()]))
    }

    fn task<P: Port>(&self, port: &P, rank: usize) -> PingPongTimes {
        let word = self.lines[rank / 2];
        let own = (rank % 2) as u64;
        if own == 0 {
            Self::open(port, word);
        }
        self.meet(port);
        let trace = Self::batches(port, word, own, self.batches, self.round_trips);
        self.leave(port);
        trace
    }
}
