//! Recorded timings of programs over channels on coherent machines, which a commit must not change
//! without a reason.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use seatmap_cell_sim::channels::{Atomic, Bed, ChannelProgram};
use seatmap_cell_sim::workload::MessageRing;
use seatmap_cell_sim::workload::stats::{
    AtomicsWorkload, BufferLocation, MessageCarrier, MessageExchange, Transfers,
};
use seatmap_data::port::Testbed;
use seatmap_sim::{CoherentBed, catalog};
use std::fmt::Debug;

const SEED: u64 = 3;
const WARM_UP: u64 = 1;
const ITERATIONS: u64 = 10;

struct Runs {
    name: &'static str,
    bed: CoherentBed,
    lines: Vec<String>,
}

impl Runs {
    fn program<P: ChannelProgram<Output: Debug>>(
        &mut self,
        what: &str,
        seats: &[u32],
        program: &P,
    ) {
        Bed::run(&mut self.bed, seats, program, SEED).unwrap();
        let counters = self.bed.counters();
        let refused: u64 = counters.directories.iter().map(|at| at.nacks).sum();
        self.lines.push(format!(
            "{} {what}: {} events, {} cycles, {} early, {refused} refused",
            self.name, counters.events, counters.cycles, counters.early_snoops
        ));
    }

    fn seats(&self, count: usize) -> [(&'static str, Vec<u32>); 3] {
        let pus = Testbed::pus(&self.bed).to_vec();
        let count = count.min(pus.len());
        let apart = (0..count).map(|at| pus[at * pus.len() / count]).collect();
        let mut drawn = pus.clone();
        fastrand::Rng::with_seed(9).shuffle(&mut drawn);
        [("near", pus[..count].to_vec()), ("far", apart), ("drawn", drawn[..count].to_vec())]
    }

    fn programs(&mut self, where_to: &str, seats: &[u32]) {
        let exchange = MessageExchange {
            means: MessageCarrier::Mailbox,
            has_controller: false,
            by_system_call: false,
            warm_up: WARM_UP,
            iterations: ITERATIONS,
        };
        self.program(&format!("mailbox {where_to}"), seats, &exchange);
        let transfers = Transfers {
            is_get: true,
            tasks: 2,
            size_bytes: 256,
            elements: Some(5),
            stride_bytes: Some(1024),
            source: BufferLocation::Memory(0),
            warm_up: WARM_UP,
            iterations: ITERATIONS,
        };
        self.program(&format!("transfers {where_to}"), seats, &transfers);
        let atomics = AtomicsWorkload {
            operation: Atomic::Add,
            operand: 3,
            tasks: 2,
            stride_bytes: None,
            module: 0,
            warm_up: WARM_UP,
            iterations: ITERATIONS,
        };
        self.program(&format!("atomics {where_to}"), seats, &atomics);
    }
}

#[test]
fn channel_timings_match_the_recorded_ones() {
    let mut lines = Vec::new();
    for name in ["xeon-phi-5110p", "scc-48", "xeon-e5-2680-2s"] {
        let bed = CoherentBed::new(catalog::load(name).unwrap().unwrap());
        let mut runs = Runs { name, bed, lines: Vec::new() };
        for (where_to, seats) in runs.seats(24) {
            let tasks = seats.len();
            let ring =
                MessageRing { tasks, packet_bytes: 256, rounds: 3, is_unidirectional: false };
            runs.program(&format!("message ring {where_to}"), &seats, &ring);
        }
        for (where_to, seats) in runs.seats(4) {
            runs.programs(where_to, &seats[..2]);
        }
        lines.append(&mut runs.lines);
    }
    insta::assert_snapshot!(lines.join("\n"));
}
