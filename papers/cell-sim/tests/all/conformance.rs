//! The same programs over channels on this computer, a Cell model and coherent models: all must
//! compute the same.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use seatmap_cell_sim::channels::{Atomic, Bed, HostBed};
use seatmap_cell_sim::workload::mandelbrot::iterations;
use seatmap_cell_sim::workload::stats::{
    AtomicsWorkload, BufferLocation, MessageCarrier, MessageExchange, Transfers,
};
use seatmap_cell_sim::workload::{
    BarrierBySignal, BarrierMethod, CollectiveKind, CollectiveWorkload, LongMessage, LongMessages,
    Mandelbrot, MandelbrotView, MessageRing, ProducerConsumer,
};
use seatmap_cell_sim::{CellBed, catalog};
use seatmap_data::port::{Addr, Testbed};
use seatmap_machines::host::HostTestbed;
use seatmap_os::affinity;
use seatmap_sim::CoherentBed;

const BOTH: [bool; 2] = [false, true];

fn computed<B: Bed>(bed: &mut B, seats: [u32; 2]) -> Vec<String> {
    let mut lines = messages(bed, seats);
    for is_unidirectional in BOTH {
        let ring = MessageRing { tasks: 2, packet_bytes: 256, rounds: 40, is_unidirectional };
        let sums: Vec<_> = bed
            .run(&seats, &ring, 3)
            .unwrap()
            .iter()
            .map(|task| (task.packets, task.sum))
            .collect();
        lines.push(format!("ring {is_unidirectional}: {sums:?}"));
    }
    for kind in [CollectiveKind::Broadcast, CollectiveKind::Reduce] {
        let together = CollectiveWorkload { kind, tasks: 2, size_bytes: 64, iterations: 9 };
        let sums: Vec<u64> =
            bed.run(&seats, &together, 3).unwrap().iter().map(|task| task.sum).collect();
        lines.push(format!("{kind:?}: {sums:?}"));
    }
    for way in [BarrierMethod::Naive, BarrierMethod::Tree, BarrierMethod::TwoRoots] {
        let barrier =
            BarrierBySignal { way, tasks: 2, first_chip: 1, is_blocking: true, iterations: 50 };
        let done: Vec<u64> =
            bed.run(&seats, &barrier, 3).unwrap().iter().map(|task| task.operations).collect();
        lines.push(format!("{way:?}: {done:?}"));
    }
    let messages = vec![
        LongMessage { from: 0, to: 1, step: 0, size_bytes: 40_000 },
        LongMessage { from: 1, to: 0, step: 1, size_bytes: 20_000 },
    ];
    let long = LongMessages { tasks: 2, messages, rounds: 5 };
    let moved: Vec<_> =
        bed.run(&seats, &long, 3).unwrap().iter().map(|task| (task.bytes, task.sum)).collect();
    lines.push(format!("long: {moved:?}"));
    lines
}

fn messages<B: Bed>(bed: &mut B, seats: [u32; 2]) -> Vec<String> {
    let warm_up = 3;
    let iterations = 60;
    let mut lines = Vec::new();
    for means in [MessageCarrier::Mailbox, MessageCarrier::Signal] {
        let exchange = MessageExchange {
            means,
            has_controller: false,
            by_system_call: false,
            warm_up,
            iterations,
        };
        let sums: Vec<u64> =
            bed.run(&seats, &exchange, 3).unwrap().iter().map(|task| task.sum).collect();
        lines.push(format!("{means:?}: {sums:?}"));
    }
    for is_get in BOTH {
        for elements in [None, Some(5)] {
            for source in [BufferLocation::Memory(0), BufferLocation::FirstLocal] {
                let stride_bytes = Some(1024);
                let transfers = Transfers {
                    is_get,
                    tasks: 2,
                    size_bytes: 48,
                    elements,
                    stride_bytes,
                    source,
                    warm_up,
                    iterations,
                };
                let sums: Vec<u64> =
                    bed.run(&seats, &transfers, 3).unwrap().iter().map(|task| task.sum).collect();
                lines.push(format!("{is_get} {elements:?} {source:?}: {sums:?}"));
            }
        }
    }
    let atomics = AtomicsWorkload {
        operation: Atomic::Add,
        operand: 3,
        tasks: 2,
        stride_bytes: None,
        module: 0,
        warm_up,
        iterations,
    };
    let sums: Vec<u64> =
        bed.run(&seats, &atomics, 3).unwrap().iter().map(|task| task.sum).collect();
    lines.push(format!("atomics: {sums:?}"));
    lines
}

#[test]
fn host_and_models_compute_the_same() {
    let mut cell = CellBed::new(catalog::load("cell-ps3").unwrap().unwrap());
    let wanted = computed(&mut cell, [0, 1]);
    insta::assert_snapshot!(wanted.join("\n"));
    for (name, seats) in
        [("xeon-phi-5110p", [9, 122]), ("xeon-e5-2680-2s", [3, 12]), ("scc-48", [0, 47])]
    {
        let mut coherent = CoherentBed::new(seatmap_sim::catalog::load(name).unwrap().unwrap());
        assert_eq!(computed(&mut coherent, seats), wanted, "{name}");
    }
    let mut host = HostBed::new().unwrap();
    match host.pus().first_chunk::<2>().copied() {
        Some(seats) => assert_eq!(computed(&mut host, seats), wanted),
        None => seatmap_needs::skipped!("two tasks that wait for each other need two CPUs"),
    }
}

fn rendered<T: Testbed>(bed: &mut T, seats: [u32; 2]) -> u32 {
    let handed = ProducerConsumer { channels: vec![Addr::line(3)], values: 40 };
    let sums: Vec<u64> = bed.run(&seats, &handed).unwrap().iter().map(|task| task.sum).collect();
    assert_eq!(sums, [820, 820]);
    let renderer = Mandelbrot {
        coordinators: 1,
        workers: 1,
        size: (10, 8),
        frames: 2,
        most_iterations: 60,
        view: MandelbrotView { centre: (-0.6, 0.0), width: 3.0, zoom: 0.5 },
        points: 3,
        cycles_per_iteration: 10,
        channels: vec![[Addr::line(8), Addr::line(9)]],
    };
    let rendered = bed.run(&seats, &renderer).unwrap();
    (0..2).flat_map(|frame| renderer.image(&rendered, frame)).map(u32::from).sum()
}

fn plainly() -> u32 {
    let point = |frame: u32, at: u32| {
        let step = 3.0 / 10.0 / f64::from(1 << frame);
        let column = f64::from(at % 10);
        let row = f64::from(at / 10);
        u32::from(iterations(-0.6 + (column - 4.5) * step, (row - 3.5) * step, 60))
    };
    (0..2).flat_map(|frame| (0..80).map(move |at| point(frame, at))).sum()
}

#[test]
fn images_and_sums_are_those_of_a_plain_computation() {
    for (name, seats) in
        [("xeon-phi-5110p", [1, 2]), ("xeon-e5-2680-2s", [3, 12]), ("scc-48", [7, 6])]
    {
        let mut coherent = CoherentBed::new(seatmap_sim::catalog::load(name).unwrap().unwrap());
        assert_eq!(rendered(&mut coherent, seats), plainly(), "{name}");
    }
    let pus = affinity::current().unwrap();
    match pus.first_chunk::<2>().copied() {
        Some(seats) => {
            assert_eq!(rendered(&mut HostTestbed::new(pus, 10).unwrap(), seats), plainly());
        }
        None => seatmap_needs::skipped!("two tasks that wait for each other need two CPUs"),
    }
}
