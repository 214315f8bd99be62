//! A testbed as a source.

use crate::probe::{Probe, Visit, VisitBatches};
use crate::screen::Screen;
use seatmap_data::machine::Topology;
use seatmap_data::port::{Addr, Testbed};
use seatmap_machines::workload::{PingPong, PingPongTimes, Touch};
use std::collections::BTreeMap;

/// First touch places these, or multiples of them, on all supported systems.
const LINES_PER_PAGE: u32 = 64;

/// On a page before the candidates.
const GATE: Addr = Addr::line(0);

/// A testbed as a source of round trips. Candidate lines are in consecutive pages, spread over the
/// NUMA nodes. On Intel's and Arm's meshes one page has lines of every home slice; if the node is
/// the home, as on AMD, each node needs a page.
pub struct TestbedProbe<T> {
    testbed: T,
    pages: u32,
}

impl<T: Testbed> TestbedProbe<T> {
    /// Counts shared lines that a testbed on these PUs needs for this many candidates.
    pub fn shared_lines(candidates: u32, topology: &Topology, pus: &[u32]) -> u32 {
        LINES_PER_PAGE * (1 + pages(candidates, touchers(topology, pus).len()))
    }

    /// Takes a testbed with at least [`TestbedProbe::shared_lines`] lines and touches each
    /// candidate page from a PU of its node.
    ///
    /// # Errors
    ///
    /// The testbed's.
    pub fn new(mut testbed: T, topology: &Topology, candidates: u32) -> Result<Self, T::Error> {
        let touchers = touchers(topology, testbed.pus());
        let pages = pages(candidates, touchers.len());
        for (page, toucher) in (0..pages).zip(touchers.iter().cycle()) {
            // One word places the whole page.
            testbed.run(&[*toucher], &Touch { words: vec![candidate(page * LINES_PER_PAGE)] })?;
        }
        Ok(TestbedProbe { testbed, pages })
    }

    /// The testbed.
    pub fn testbed(&self) -> &T {
        &self.testbed
    }

    fn batches(&self, visit: &Visit, traces: &[PingPongTimes]) -> Vec<VisitBatches> {
        let ends = traces.iter().filter_map(|trace| trace.stamps.last()).map(|stamp| stamp.ticks);
        let until_ticks = if visit.pairs.len() == 1 { u64::MAX } else { ends.min().unwrap_or(0) };
        visit
            .pairs
            .iter()
            .zip(traces.chunks(2))
            .map(|(pair, traces)| match traces {
                [first, second] => Screen {
                    seats: [pair.a, pair.b],
                    round_trips: visit.round_trips,
                    ns_per_tick: self.testbed.ns_per_tick(),
                    until_ticks,
                }
                .pass(&[first.clone(), second.clone()]),
                _ => VisitBatches::default(),
            })
            .collect()
    }
}

fn pages(candidates: u32, nodes: usize) -> u32 {
    let needed = candidates.div_ceil(LINES_PER_PAGE).max(1);
    if candidates > 1 { needed.max(nodes as u32) } else { needed }
}

/// The first PU on each NUMA node, or of all if nodes are unknown.
fn touchers(topology: &Topology, pus: &[u32]) -> Vec<u32> {
    let first_of: BTreeMap<Option<u32>, u32> =
        // Reversed, so the first PU of a node remains in the map.
        pus.iter().rev().map(|os| (topology.pu(*os).and_then(|pu| pu.numa), *os)).collect();
    first_of.into_values().collect()
}

/// The address of a candidate line in shared memory.
pub const fn candidate(line: u32) -> Addr {
    Addr::line(LINES_PER_PAGE + line)
}

impl<T: Testbed> Probe for TestbedProbe<T> {
    type Error = T::Error;

    fn visit(&mut self, visit: &Visit) -> Result<Vec<VisitBatches>, T::Error> {
        let workload = PingPong {
            lines: visit.pairs.iter().map(|pair| candidate(pair.line)).collect(),
            gate: GATE,
            batches: visit.batches + 1,
            round_trips: visit.round_trips,
        };
        let seats: Vec<u32> = visit.pairs.iter().flat_map(|pair| [pair.a, pair.b]).collect();
        let traces = self.testbed.run(&seats, &workload)?;
        Ok(self.batches(visit, &traces))
    }

    fn has_hosts(&self) -> bool {
        self.testbed.has_hosts()
    }

    fn clock_step_ns(&self) -> f64 {
        self.testbed.clock_step_ns()
    }

    fn lines(&self) -> u32 {
        self.pages * LINES_PER_PAGE
    }

    /// Page by page in turn, so every node gets its share.
    fn spread(&self, count: u32) -> Vec<u32> {
        (0..count).map(|at| at % self.pages * LINES_PER_PAGE + at / self.pages).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use seatmap_data::machine::Pu;
    use seatmap_data::port::Workload;
    use seatmap_machines::host::HostClock;
    use seatmap_machines::host::arena::Arena;
    use seatmap_machines::host::port::HostPort;
    use std::collections::HashMap;
    use std::convert::Infallible;
    use std::sync::atomic::Ordering;

    /// Its memory holds ones, until a workload writes zeros.
    struct Remembering {
        pus: Vec<u32>,
        arena: Arena,
        clock: HostClock,
        toucher_of_page: HashMap<u32, u32>,
    }

    impl Testbed for Remembering {
        type Error = Infallible;

        fn run<W: Workload>(
            &mut self,
            seats: &[u32],
            workload: &W,
        ) -> Result<Vec<W::Output>, Infallible> {
            let port = HostPort::new(self.arena.words(), &self.clock);
            let outputs = (0..seats.len()).map(|rank| workload.task(&port, rank)).collect();
            for (page, words) in (0..).zip(self.arena.words().chunks(8 * LINES_PER_PAGE as usize)) {
                if words.iter().any(|word| word.load(Ordering::Relaxed) == 0) {
                    self.toucher_of_page.entry(page).or_insert(seats[0]);
                }
            }
            Ok(outputs)
        }

        fn pus(&self) -> &[u32] {
            &self.pus
        }

        fn ns_per_tick(&self) -> f64 {
            1.0
        }

        fn clock_step_ns(&self) -> f64 {
            1.0
        }
    }

    fn topology() -> Topology {
        Topology { pus: (0..8).map(|os| Pu { os, numa: Some(os / 2), ..Pu::default() }).collect() }
    }

    fn probe(candidates: u32) -> TestbedProbe<Remembering> {
        let testbed = Remembering {
            pus: (0..8).collect(),
            arena: Arena::new(6 * LINES_PER_PAGE).unwrap(),
            clock: HostClock::calibrated(),
            toucher_of_page: HashMap::new(),
        };
        testbed.arena.words().iter().for_each(|word| word.store(1, Ordering::Relaxed));
        TestbedProbe::new(testbed, &topology(), candidates).unwrap()
    }

    #[test]
    fn few_candidates_still_cover_every_node() {
        let probe = probe(64);
        assert_eq!(
            [1, 2, 3, 4].map(|page| probe.testbed().toucher_of_page.get(&page).copied()),
            [Some(0), Some(2), Some(4), Some(6)]
        );
        assert_eq!(
            TestbedProbe::<Remembering>::shared_lines(64, &topology(), &probe.testbed.pus),
            5 * 64
        );
        let pages: Vec<u32> = probe.spread(64).iter().map(|line| line / LINES_PER_PAGE).collect();
        assert!(
            (0..4).all(|page| pages.iter().filter(|of| **of == page).count() == 16),
            "{pages:?}"
        );
        let mut lines = probe.spread(64);
        lines.sort_unstable();
        lines.dedup();
        assert!(lines.len() == 64 && lines.iter().all(|line| *line < probe.lines()));
    }

    #[test]
    fn single_line_needs_a_single_page() {
        assert_eq!(probe(1).testbed().toucher_of_page.len(), 1);
        assert_eq!(probe(1).spread(1), [0]);
    }
}
