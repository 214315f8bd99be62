//! Gaps found by the detour loop.

use super::histogram::Histogram;
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The longest gaps are kept. The histogram and the sums include all.
pub const MOST_KEPT: usize = 1024;

/// A bin is at most a quarter wider than its start, about the spread of gaps from one source.
const SUB_BITS: u32 = 2;

/// A time in which the program stood still.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Gap {
    /// From the start of the measurement to the start of the gap, in nanoseconds.
    pub start_ns: u64,
    /// The difference of the readings around it, minus the loop's own period.
    pub length_ns: u64,
    /// The largest part of the gap in which another task had the CPU; the rest went to interrupts,
    /// the hypervisor, the firmware or the hardware. Null for gaps below 50 us and if the kernel
    /// does not count it.
    pub preempted_ns: Option<u64>,
}

/// Memory is allocated and touched only at creation.
pub struct Gaps {
    longest: BinaryHeap<Reverse<(u64, u64, Option<u64>)>>,
    pub histogram: Histogram,
    stolen_ns: u64,
    pub longest_preemption_ns: u64,
}

impl Default for Gaps {
    fn default() -> Self {
        // Written once and cleared, so the memory is mapped.
        let mut longest = BinaryHeap::from(vec![Reverse((0, 0, None)); MOST_KEPT]);
        longest.clear();
        Gaps {
            longest,
            histogram: Histogram::new(SUB_BITS),
            stolen_ns: 0,
            longest_preemption_ns: 0,
        }
    }
}

impl Gaps {
    pub fn record(&mut self, gap: Gap) {
        self.histogram.record(gap.length_ns);
        self.stolen_ns += gap.length_ns;
        self.longest_preemption_ns = self.longest_preemption_ns.max(gap.preempted_ns.unwrap_or(0));
        let entry = Reverse((gap.length_ns, gap.start_ns, gap.preempted_ns));
        if self.longest.len() < MOST_KEPT {
            self.longest.push(entry);
        } else if let Some(mut shortest) =
            self.longest.peek_mut().filter(|shortest| **shortest > entry)
        {
            *shortest = entry;
        }
    }

    /// Number, total and longest, in ns.
    pub fn sums(&self) -> (u64, u64, u64) {
        (self.histogram.count, self.stolen_ns, self.histogram.max)
    }

    pub fn timeline(&self) -> Vec<Gap> {
        let gaps = self.longest.iter().map(|Reverse(gap)| *gap);
        let mut gaps: Vec<Gap> = gaps
            .map(|(length_ns, start_ns, preempted_ns)| Gap { start_ns, length_ns, preempted_ns })
            .collect();
        gaps.sort_by_key(|gap| gap.start_ns);
        gaps
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn longest_gaps_are_kept_and_all_are_counted() {
        let mut gaps = Gaps::default();
        for at in 0..3000 {
            gaps.record(Gap {
                start_ns: at * 1000,
                length_ns: 100 + at % 1500,
                preempted_ns: Some(at % 700),
            });
        }
        assert_eq!(gaps.sums(), (3000, 3000 * 100 + 2 * (1499 * 1500 / 2), 1599));
        assert_eq!(gaps.longest_preemption_ns, 699);
        let kept = gaps.timeline();
        assert_eq!(kept.len(), MOST_KEPT);
        assert!(kept.is_sorted_by_key(|gap| gap.start_ns));
        assert_eq!(
            kept.iter().map(|gap| gap.length_ns).min(),
            Some(100 + 1500 - MOST_KEPT as u64 / 2)
        );
    }
}
