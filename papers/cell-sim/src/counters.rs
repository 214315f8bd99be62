//! Counts of a run, like those of the machine's PMU.

use crate::arbiter::RingCounters;
use crate::mic::MicCounters;
use crate::ring::{ELEMENT_COUNT, RINGS};
use serde::Serialize;
use std::collections::BTreeMap;

/// Counts of one run, by name, and each chip's counts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CellBeCounters {
    /// Events of the simulation.
    pub events: u64,
    /// Core cycles from the first task's start to the last task's end.
    pub cycles: u64,
    /// Commands on the command network.
    pub commands: u64,
    /// Core cycles that commands waited for their slot.
    pub command_wait_cycles: u64,
    /// Commands delayed by another command to the same line.
    pub same_line_commands: u64,
    /// Core cycles of that delay.
    pub same_line_wait_cycles: u64,
    /// Commands handed to MFCs.
    pub mfc_commands: u64,
    /// How often a task found its MFC's queue full.
    pub mfc_full: u64,
    /// Conditional stores that failed because their reservation was lost.
    pub lost_reservations: u64,
    /// Bytes between the chips: from the first to the second, and back.
    pub bif_bytes: [u64; 2],
    /// Core cycles that each direction was busy.
    pub bif_busy_cycles: [u64; 2],
    /// Each chip's counts.
    pub chips: Vec<ChipCounters>,
}

/// Counts of one chip.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ChipCounters {
    /// Transfers started on each ring.
    pub ring_grants: [u64; RINGS],
    /// Core cycles that each segment was busy, by the element before it, over all rings.
    pub link_busy_cycles: BTreeMap<String, u64>,
    /// Core cycles that each segment of each ring was busy, by position.
    #[serde(skip)]
    pub ring_busy_cycles: [[u64; ELEMENT_COUNT]; RINGS],
    /// Core cycles that each element's data waited for the rings.
    pub wait_cycles: BTreeMap<String, u64>,
    /// Lines that the memory read.
    pub memory_reads: u64,
    /// Lines that the memory wrote.
    pub memory_writes: u64,
    /// Lines read before they were written, because the write was smaller than a quadword.
    pub memory_modifies: u64,
    /// Core cycles that lines occupied the memory's pins, over all channels.
    pub memory_busy_cycles: u64,
    /// Turns between reading and writing.
    pub memory_turns: u64,
    /// Refreshes of the memory's banks.
    pub memory_refreshes: u64,
    /// Commands refused by a full memory queue.
    pub memory_retries: u64,
}

impl CellBeCounters {
    /// Core cycles that each link of the model's [fabric](crate::CellModel::fabric) was busy. The
    /// segment between two elements is one's upward link and the other's downward link.
    pub fn link_cycles(&self) -> Vec<f64> {
        let bridge = self
            .bif_busy_cycles
            .iter()
            .map(|cycles| *cycles as f64)
            .filter(|_| self.chips.len() > 1);
        self.chips
            .iter()
            .flat_map(|chip| {
                let up = (0..ELEMENT_COUNT).map(|place| busy_cycles(chip, 0..RINGS / 2, place));
                let down = (0..ELEMENT_COUNT).map(|place| {
                    busy_cycles(chip, RINGS / 2..RINGS, (place + ELEMENT_COUNT - 1) % ELEMENT_COUNT)
                });
                up.chain(down).collect::<Vec<_>>()
            })
            .chain(bridge)
            .collect()
    }
}

fn busy_cycles(chip: &ChipCounters, rings: std::ops::Range<usize>, segment: usize) -> f64 {
    chip.ring_busy_cycles[rings].iter().map(|ring| ring[segment] as f64).sum::<f64>()
}

impl ChipCounters {
    pub(crate) fn new(rings: &RingCounters, mic: &MicCounters, names: &[String]) -> Self {
        let segments: [u64; ELEMENT_COUNT] =
            std::array::from_fn(|place| rings.busy_cycles.iter().map(|ring| ring[place]).sum());
        ChipCounters {
            ring_grants: rings.grants,
            link_busy_cycles: names.iter().cloned().zip(segments).collect(),
            ring_busy_cycles: rings.busy_cycles,
            wait_cycles: names.iter().cloned().zip(rings.wait_cycles).collect(),
            memory_reads: mic.reads,
            memory_writes: mic.writes,
            memory_modifies: mic.modifies,
            memory_busy_cycles: mic.busy_cycles,
            memory_turns: mic.turns,
            memory_refreshes: mic.refreshes,
            memory_retries: mic.retries,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ring::ELEMENTS;

    #[test]
    fn segment_counts_as_one_link_per_direction() {
        let mut rings = RingCounters::default();
        // Between the fifth and sixth element: two rings up, one down. Between the last and first:
        // one down.
        (rings.busy_cycles[0][4], rings.busy_cycles[1][4], rings.busy_cycles[2][4]) = (1, 2, 4);
        rings.busy_cycles[3][ELEMENT_COUNT - 1] = 8;
        let chip = ChipCounters::new(&rings, &MicCounters::default(), &ELEMENTS.map(str::to_owned));
        assert_eq!(
            (chip.link_busy_cycles[ELEMENTS[4]], chip.link_busy_cycles[ELEMENTS[11]]),
            (7, 8)
        );
        let links = CellBeCounters {
            chips: vec![chip],
            bif_busy_cycles: [16, 32],
            ..CellBeCounters::default()
        }
        .link_cycles();
        let busy: Vec<(usize, f64)> =
            links.iter().copied().enumerate().filter(|(_, cycles)| *cycles > 0.0).collect();
        // Up from the fifth element, down from the first and the sixth; a single chip has no
        // bridge.
        assert_eq!(
            (busy.as_slice(), links.len()),
            (&[(4, 3.0), (ELEMENT_COUNT, 8.0), (ELEMENT_COUNT + 5, 4.0)][..], 2 * ELEMENT_COUNT)
        );
    }
}
