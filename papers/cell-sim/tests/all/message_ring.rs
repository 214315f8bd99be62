//! Keller & Varbanescu's ring on the Cell model.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use seatmap_cell_sim::channels::Bed;
use seatmap_cell_sim::workload::MessageRing;
use seatmap_cell_sim::{CellBed, catalog};

fn bed(name: &str) -> CellBed {
    CellBed::new(catalog::load(name).unwrap().unwrap())
}

#[test]
fn every_packet_passes_every_task() {
    for (tasks, is_unidirectional) in [(2, false), (3, false), (6, false), (6, true)] {
        let ring = MessageRing { tasks, packet_bytes: 512, rounds: 13, is_unidirectional };
        let seats: Vec<u32> = (0..tasks as u32).collect();
        let taken = bed("cell-ps3").run(&seats, &ring, 3).unwrap();
        let ways = if is_unidirectional { 1 } else { 2 };
        for task in taken {
            assert_eq!(task.packets, 13 * ways);
            // Packet r from one side has passed r tasks.
            assert_eq!(task.sum, ways * (1..=13).sum::<u64>());
        }
    }
}
