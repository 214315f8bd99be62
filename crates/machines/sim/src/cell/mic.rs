//! A memory controller.

use crate::cell::timing::Timing;

/// What the PMU would count.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MicCounters {
    /// Lines read.
    pub reads: u64,
    /// Lines written.
    pub writes: u64,
    /// Turns between reads and writes.
    pub turns: u64,
    /// Core cycles of service.
    pub busy_cycles: u64,
    /// Requests sent away because the queue was full.
    pub retries: u64,
}

/// One line after the other, whatever its size.
#[derive(Clone, Debug, Default)]
pub struct Mic {
    free: u64,
    was_write: bool,
    pub counters: MicCounters,
}

impl Mic {
    /// Whether it has room for a request now.
    pub fn has_room(&mut self, now: u64, timing: &Timing) -> bool {
        let has_room = self.free.saturating_sub(now) < timing.mic_queue * timing.mic_read;
        self.counters.retries += u64::from(!has_room);
        has_room
    }

    /// When a read's data is there.
    pub fn read(&mut self, now: u64, timing: &Timing) -> u64 {
        self.counters.reads += 1;
        self.serve(now, false, timing.mic_read, timing) + timing.mic_latency
    }

    /// When a write is done.
    pub fn write(&mut self, now: u64, timing: &Timing) -> u64 {
        self.counters.writes += 1;
        self.serve(now, true, timing.mic_write, timing)
    }

    fn serve(&mut self, now: u64, is_write: bool, service: u64, timing: &Timing) -> u64 {
        let turns = is_write != self.was_write;
        self.was_write = is_write;
        self.counters.turns += u64::from(turns);
        self.counters.busy_cycles += service;
        self.free = self.free.max(now) + service + if turns { timing.mic_turn } else { 0 };
        self.free
    }
}
