//! The memory interface controller (MIC) of a chip and the memory behind it.

use crate::cell_be::invariant::invariant;
use crate::cell_be::parameters::Timing;

/// Counts of a memory controller, as its PMU would report them.
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
    /// Requests refused because the queue was full.
    pub retries: u64,
}

/// A memory controller: it serves one line after the other, at the same cost for every size of a line.
#[derive(Clone, Debug)]
pub struct Mic {
    chip: u8,
    read: u64,
    write: u64,
    turn: u64,
    latency: u64,
    /// The amount of work that fills the queue.
    full: u64,
    /// The time at which the accepted work is done.
    free: u64,
    was_write: bool,
    last: u64,
    counters: MicCounters,
}

impl Mic {
    pub fn new(chip: u8, timing: &Timing) -> Self {
        Mic {
            chip,
            read: timing.mic_read,
            write: timing.mic_write,
            turn: timing.mic_turn,
            latency: timing.mic_latency,
            full: timing.mic_queue * timing.mic_read,
            free: 0,
            was_write: false,
            last: 0,
            counters: MicCounters::default(),
        }
    }

    /// Accepts a read. Returns the time at which its data is there; `None` if the queue is full and the command must
    /// be sent again.
    pub fn read(&mut self, now: u64) -> Option<u64> {
        if self.free.saturating_sub(now) >= self.full {
            self.counters.retries += 1;
            return None;
        }
        self.counters.reads += 1;
        Some(self.serve(now, false, self.read) + self.latency)
    }

    /// Accepts a write. Returns the time at which it is done. Data that has arrived is never refused.
    pub fn write(&mut self, now: u64) -> u64 {
        self.counters.writes += 1;
        self.serve(now, true, self.write)
    }

    fn serve(&mut self, now: u64, is_write: bool, service: u64) -> u64 {
        invariant!(now >= self.last, self.name(), now, "a request follows one of cycle {}", self.last);
        let turns = is_write != self.was_write;
        (self.was_write, self.last) = (is_write, now);
        self.counters.turns += u64::from(turns);
        self.counters.busy_cycles += service;
        self.free = self.free.max(now) + service + if turns { self.turn } else { 0 };
        self.free
    }

    fn name(&self) -> String {
        format!("the MIC of chip {}", self.chip)
    }

    pub fn counters(&self) -> &MicCounters {
        &self.counters
    }

    /// Empties the queue and the counts.
    pub fn reset(&mut self) {
        (self.free, self.was_write, self.last) = (0, false, 0);
        self.counters = MicCounters::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog;
    use proptest::prelude::*;

    fn timing() -> Timing {
        Timing::new(&catalog::cell("cell-qs20").unwrap().unwrap())
    }

    #[test]
    fn a_turn_costs_time_and_reads_have_a_latency() {
        let timing = timing();
        let mut mic = Mic::new(0, &timing);
        assert_eq!(mic.read(100), Some(100 + timing.mic_read + timing.mic_latency));
        let written = 100 + timing.mic_read + timing.mic_write + timing.mic_turn;
        assert_eq!((mic.write(100), mic.write(100)), (written, written + timing.mic_write));
        assert_eq!(
            mic.read(100),
            Some(written + timing.mic_write + timing.mic_turn + timing.mic_read + timing.mic_latency)
        );
        assert_eq!((mic.counters().reads, mic.counters().writes, mic.counters().turns), (2, 2, 2));
    }

    #[test]
    fn a_full_queue_refuses_reads_until_some_of_its_work_is_done() {
        let timing = timing();
        let mut mic = Mic::new(0, &timing);
        let accepted = (0..1000).take_while(|_| mic.read(0).is_some()).count();
        assert_eq!((accepted as u64, mic.counters().retries), (timing.mic_queue, 1));
        assert_eq!(mic.write(0), (timing.mic_queue * timing.mic_read) + timing.mic_turn + timing.mic_write);
        assert_eq!(mic.read(timing.mic_turn + timing.mic_write), None, "a write is accepted all the same");
        assert!(mic.read(timing.mic_turn + timing.mic_write + 1).is_some());
    }

    #[test]
    #[should_panic(expected = "the MIC of chip 1 at core cycle 9: a request follows one of cycle 10")]
    fn time_does_not_go_back() {
        let mut mic = Mic::new(1, &timing());
        mic.write(10);
        mic.write(9);
    }

    proptest! {
        /// The memory serves one line after the other, reads and writes together.
        #[test]
        fn lines_are_served_one_after_the_other(
            requests in proptest::collection::vec((0_u64..40, any::<bool>()), 1..300)
        ) {
            let timing = timing();
            let mut mic = Mic::new(0, &timing);
            let (mut now, mut free) = (0, 0);
            for (gap, is_write) in requests {
                now += gap;
                let done = match is_write {
                    true => Some(mic.write(now)),
                    false => mic.read(now).map(|there| there - timing.mic_latency),
                };
                let service = if is_write { timing.mic_write } else { timing.mic_read };
                if let Some(done) = done {
                    prop_assert!(done >= free + service && done >= now + service);
                    free = done;
                } else {
                    prop_assert!(free - now >= timing.mic_queue * timing.mic_read);
                }
            }
            prop_assert!(mic.counters().busy_cycles <= free);
        }
    }
}
