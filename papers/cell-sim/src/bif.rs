//! The link between two chips, through their broadband interfaces (BIF).

use crate::parameters::CellBeTiming;
use seatmap_data::invariant;
use seatmap_sim::moment::at_cycle;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BifCounters {
    pub bytes: [u64; 2],
    pub busy_cycles: [u64; 2],
}

#[derive(Clone, Debug)]
pub struct Bif {
    chips: usize,
    timing: CellBeTiming,
    free: [u64; 2],
    counters: BifCounters,
}

impl Bif {
    pub fn new(chips: usize, timing: &CellBeTiming) -> Self {
        Bif { chips, timing: timing.clone(), free: [0; 2], counters: BifCounters::default() }
    }

    /// Carries a command that both chips must see: the command and its reflection cross, then the
    /// snoop responses and the combined response. Returns the core cycles that this adds: the
    /// latency, and the wait behind earlier packets. Without that wait, commands that memory
    /// refuses repeatedly would keep the link from the data whose entries memory has reserved.
    pub fn carry_command(&mut self, now: u64) -> u64 {
        let wait = self.free.iter().map(|free| free.saturating_sub(now)).max().unwrap_or(0);
        for direction in 0..2 {
            // Each direction carries two packets: the command or its reflection, and a response.
            self.occupy(now, direction, 2 * self.timing.bif_packet);
        }
        wait + 2 * self.timing.bif_latency
    }

    /// Carries data off a chip. Returns its arrival time.
    pub fn carry_data(&mut self, now: u64, from: u8, bytes: u32) -> u64 {
        invariant!(
            self.chips == 2 && from < 2,
            at_cycle(NAME, now),
            "{bytes} bytes leave chip {from} of {}",
            self.chips
        );
        let packet = u64::from(bytes) + self.timing.bif_packet;
        self.occupy(now, from as usize, packet) + self.timing.bif_latency
    }

    /// Carries bytes in one direction. Returns when they have left.
    fn occupy(&mut self, now: u64, direction: usize, bytes: u64) -> u64 {
        let time = self.timing.bif(bytes);
        self.free[direction] = self.free[direction].max(now) + time;
        self.counters.bytes[direction] += bytes;
        self.counters.busy_cycles[direction] += time;
        self.free[direction]
    }

    pub fn counters(&self) -> &BifCounters {
        &self.counters
    }

    pub fn reset(&mut self) {
        self.free = [0; 2];
        self.counters = BifCounters::default();
    }
}

const NAME: &str = "the link between the chips";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog;
    use proptest::prelude::*;

    fn timing() -> CellBeTiming {
        catalog::load("cell-qs20").unwrap().unwrap().timing()
    }

    #[test]
    fn data_directions_are_independent_and_commands_use_both() {
        let timing = timing();
        let mut link = Bif::new(2, &timing);
        let line = timing.bif(128 + timing.bif_packet);
        assert_eq!(link.carry_data(50, 0, 128), 50 + line + timing.bif_latency);
        assert_eq!(link.carry_data(50, 0, 128), 50 + 2 * line + timing.bif_latency);
        assert_eq!(link.carry_data(50, 1, 128), 50 + line + timing.bif_latency);
        assert_eq!(link.carry_command(50), 2 * line + 2 * timing.bif_latency);
        let idle = 50 + 3 * line;
        assert_eq!(link.carry_command(idle), 2 * timing.bif_latency);
        assert_eq!(link.counters().bytes, [2 * 144 + 64, 144 + 64]);
    }

    #[test]
    #[should_panic(
        expected = "the link between the chips at core cycle 3: 16 bytes leave chip 0 of 1"
    )]
    fn data_on_single_chip_link_panics() {
        Bif::new(1, &timing()).carry_data(3, 0, 16);
    }

    proptest! {
        #[test]
        fn direction_never_exceeds_its_rate(
            packets in proptest::collection::vec((0_u64..60, 0_u8..2, 1_u32..=128), 1..200)
        ) {
            let timing = timing();
            let mut link = Bif::new(2, &timing);
            let mut now = 0;
            let mut left = [0; 2];
            for (gap, from, bytes) in packets {
                now += gap;
                let there = link.carry_data(now, from, bytes) - timing.bif_latency;
                let least = timing.bif(u64::from(bytes) + timing.bif_packet);
                prop_assert!(there >= left[from as usize] + least && there >= now + least);
                left[from as usize] = there;
            }
        }
    }
}
