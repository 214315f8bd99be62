//! Screens traces of a pair.

use crate::probe::{Discards, VisitBatches};
use crate::regimes::STACKED_NS;
use seatmap_data::port::Stamp;
use seatmap_data::statistics::{Ordered, median};
use seatmap_machines::workload::PingPongTimes;

/// A batch this many times longer than the visit's median was interrupted; the regimes of a moved
/// vCPU (a factor of four in the recorded trace) stay well below.
pub const GAP_FACTOR: f64 = 8.0;

/// Screens the two traces of a pair.
pub struct Screen {
    /// PUs of the two tasks.
    pub seats: [u32; 2],
    /// Round trips per batch.
    pub round_trips: u32,
    /// Nanoseconds per tick.
    pub ns_per_tick: f64,
    /// Batches that end later are ignored, because other pairs had stopped; `u64::MAX` for all.
    pub until_ticks: u64,
}

impl Screen {
    /// Turns traces into batches. The clock of the later starter counts (Liu et al. 2015, section
    /// III.A); its first batch is a warm-up.
    pub fn pass(&self, traces: &[PingPongTimes; 2]) -> VisitBatches {
        let later = usize::from(started(&traces[1]) > started(&traces[0]));
        let mut batches = Vec::new();
        let mut discards = Discards::default();
        for at in 1..traces[later].stamps.len().saturating_sub(1) {
            let [from, to] = [traces[later].stamps[at], traces[later].stamps[at + 1]];
            if to.ticks > self.until_ticks {
                break;
            }
            if self.stayed(traces, at) {
                batches.push(self.round_trip_ns(from, to))
            } else {
                discards.moved += 1
            }
        }
        let interruptions = traces.iter().map(|trace| trace.interruptions).sum();
        drop_interrupted(&mut batches, interruptions, &mut discards);
        VisitBatches { round_trip_ns: batches, discards }
    }

    fn stayed(&self, traces: &[PingPongTimes; 2], at: usize) -> bool {
        traces
            .iter()
            .zip(self.seats)
            .all(|(trace, seat)| trace.stamps[at..=at + 1].iter().all(|stamp| stamp.pu == seat))
    }

    fn round_trip_ns(&self, from: Stamp, to: Stamp) -> f64 {
        to.ticks.saturating_sub(from.ticks) as f64 * self.ns_per_tick / f64::from(self.round_trips)
    }
}

fn started(trace: &PingPongTimes) -> u64 {
    trace.stamps.first().map_or(0, |stamp| stamp.ticks)
}

/// Discards batches with a gap, and the slowest for the interruptions without one. If even the
/// fastest exceeds any line's time, the hypervisor is the cause.
fn drop_interrupted(batches: &mut Vec<f64>, interruptions: u64, discards: &mut Discards) {
    let Some(typical) = median(&*batches) else { return };
    let before = batches.len();
    batches.retain(|batch| *batch <= GAP_FACTOR * typical);
    let gaps = (before - batches.len()) as u64;
    let explained =
        if batches.iter().all(|batch| *batch >= STACKED_NS) { gaps } else { interruptions };
    for _ in gaps..explained {
        let slowest = batches.iter().enumerate().max_by_key(|it| Ordered(*it.1)).map(|(at, _)| at);
        slowest.map(|at| batches.remove(at));
    }
    let dropped = (before - batches.len()) as u64;
    discards.switched += dropped.min(interruptions);
    discards.gap += dropped - dropped.min(interruptions);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trace(ticks: &[u64], pu: u32, interruptions: u64) -> PingPongTimes {
        PingPongTimes {
            stamps: ticks.iter().map(|ticks| Stamp { ticks: *ticks, pu }).collect(),
            interruptions,
        }
    }

    fn screen() -> Screen {
        Screen { seats: [3, 5], round_trips: 10, ns_per_tick: 0.5, until_ticks: u64::MAX }
    }

    fn passed(early: PingPongTimes, late: PingPongTimes) -> (Vec<f64>, [u64; 3]) {
        let VisitBatches { round_trip_ns, discards } = screen().pass(&[early, late]);
        (round_trip_ns, [discards.gap, discards.switched, discards.moved])
    }

    #[test]
    fn later_starter_counts_without_its_first_batch() {
        let early = trace(&[0, 1000, 1100, 1200], 3, 0);
        let late = trace(&[900, 1005, 1205, 1405], 5, 0);
        assert_eq!(passed(early, late), (vec![10.0, 10.0], [0; 3]));
        let none = passed(PingPongTimes::default(), PingPongTimes::default());
        assert_eq!(none, (vec![], [0; 3]));
    }

    #[test]
    fn gaps_and_interruptions_drop_batches() {
        let cases = [
            ("a gap", &[0, 100, 200, 300, 5300, 5400][..], [0, 0], vec![5.0; 3], [1, 0, 0]),
            ("no gap, so the slowest", &[0, 100, 200, 320, 420], [1, 0], vec![5.0; 2], [0, 1, 0]),
            ("all are long", &[0, 1_000_000, 2_000_000, 3_000_000], [9, 9], vec![5e4; 2], [0; 3]),
        ];
        for (why, ticks, interruptions, kept, discards) in cases {
            let [early, late] = [(3, interruptions[0]), (5, interruptions[1])]
                .map(|(pu, interruptions)| trace(ticks, pu, interruptions));
            assert_eq!(passed(early, late), (kept, discards), "{why}");
        }
    }

    #[test]
    fn moved_task_spoils_the_batches_on_both_sides() {
        let ticks = [0, 100, 200, 300, 400];
        let mut moved = trace(&ticks, 3, 0);
        moved.stamps[2].pu = 4;
        assert_eq!(passed(moved, trace(&ticks, 5, 0)), (vec![5.0], [0, 0, 2]));
    }

    #[test]
    fn batches_after_the_end_are_dropped() {
        let ticks = [0, 100, 200, 300, 400];
        let screen = Screen { until_ticks: 300, ..screen() };
        let batches = screen.pass(&[trace(&ticks, 3, 0), trace(&ticks, 5, 0)]);
        assert_eq!(batches.round_trip_ns, [5.0, 5.0]);
    }
}
