//! A testbed as a source of round trips.

use crate::probe::{Batches, PairAt, Probe, Visit};
use crate::screen::Screen;
use seatmap_machine::Topology;
use seatmap_port::{Addr, Testbed};
use seatmap_workload::{PingPong, Touch, Trace};
use std::collections::BTreeMap;

/// The page size that candidate lines are counted in: first touch places 4 KiB pages everywhere that Seatmap runs, or
/// multiples of them.
const LINES_PER_PAGE: u32 = 64;

/// Where tasks meet before they start: a page of its own before the candidate lines.
const GATE: Addr = Addr::line(0);

/// A testbed as a source of round trips: candidate lines lie in consecutive pages, which are spread over the NUMA nodes
/// by first touch. One page holds lines of every home slice on Intel's and Arm's meshes; where the home is the node, as
/// on AMD, several pages are needed.
pub struct TestbedProbe<T> {
    testbed: T,
    lines: u32,
}

impl<T: Testbed> TestbedProbe<T> {
    /// Lines of shared memory that a testbed must have to offer so many candidates.
    #[must_use]
    pub fn shared_lines(candidates: u32) -> u32 {
        LINES_PER_PAGE + candidates.next_multiple_of(LINES_PER_PAGE)
    }

    /// Takes a testbed with at least [`TestbedProbe::shared_lines`] lines, and has each page of candidates touched first
    /// by a PU of the node that it is meant for, node after node.
    ///
    /// # Errors
    /// The testbed's.
    pub fn new(mut testbed: T, topology: &Topology, candidates: u32) -> Result<Self, T::Error> {
        let toucher_of_node: BTreeMap<Option<u32>, u32> =
            topology.pus.iter().rev().filter(|pu| testbed.pus().contains(&pu.os)).map(|pu| (pu.numa, pu.os)).collect();
        let touchers: Vec<u32> = match toucher_of_node.is_empty() {
            true => testbed.pus().iter().take(1).copied().collect(),
            false => toucher_of_node.into_values().collect(),
        };
        for (page, toucher) in (0..candidates.div_ceil(LINES_PER_PAGE)).zip(touchers.iter().cycle()) {
            testbed.run(&[*toucher], &Touch { words: vec![candidate(page * LINES_PER_PAGE)] })?;
        }
        Ok(TestbedProbe { testbed, lines: candidates })
    }

    /// The testbed itself.
    pub fn testbed(&self) -> &T {
        &self.testbed
    }

    fn batches(&self, visit: &Visit, traces: &[Trace]) -> Vec<Batches> {
        let until_ticks = match visit.pairs.len() {
            1 => u64::MAX,
            _ => traces.iter().filter_map(|trace| trace.stamps.last()).map(|stamp| stamp.ticks).min().unwrap_or(0),
        };
        let of_pair = |(pair, traces): (&PairAt, &[Trace])| match traces {
            [first, second] => Screen {
                seats: [pair.a, pair.b],
                round_trips: visit.round_trips,
                ns_per_tick: self.testbed.ns_per_tick(),
                until_ticks,
            }
            .pass(&[first.clone(), second.clone()]),
            _ => Batches::default(),
        };
        visit.pairs.iter().zip(traces.chunks(2)).map(of_pair).collect()
    }
}

/// Where a candidate line lies in the testbed's shared memory.
#[must_use]
pub const fn candidate(line: u32) -> Addr {
    Addr::line(LINES_PER_PAGE + line)
}

impl<T: Testbed> Probe for TestbedProbe<T> {
    type Error = T::Error;

    fn visit(&mut self, visit: &Visit) -> Result<Vec<Batches>, T::Error> {
        let workload = PingPong {
            lines: visit.pairs.iter().map(|pair| candidate(pair.line)).collect(),
            gate: GATE,
            // One more, to warm up.
            batches: visit.batches + 1,
            round_trips: visit.round_trips,
        };
        let seats: Vec<u32> = visit.pairs.iter().flat_map(|pair| [pair.a, pair.b]).collect();
        let traces = self.testbed.run(&seats, &workload)?;
        Ok(self.batches(visit, &traces))
    }

    fn clock_step_ns(&self) -> f64 {
        self.testbed.clock_step_ns()
    }

    fn lines(&self) -> u32 {
        self.lines
    }
}
