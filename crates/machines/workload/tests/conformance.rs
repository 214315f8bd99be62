//! The same programs on this computer, on a model of the Cell and on coherent models: all must
//! compute the same.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use seatmap_host::{HostBed, HostTestbed};
use seatmap_pattern::generate;
use seatmap_port::channels::{Atomic, Bed};
use seatmap_port::{Addr, Testbed};
use seatmap_sim::{CellBed, CoherentBed, catalog};
use seatmap_workload::mandelbrot::{View, iterations};
use seatmap_workload::stats::{Atomics, Exchange, Means, Source, Transfers};
use seatmap_workload::{
    BarrierBySignal, Collective, CollectiveKind, Handoffs, LineByLine, LongMessages, Mandelbrot,
    Message, MessageRing, PingPong, ProducerConsumer, Way,
};

const BOTH: [bool; 2] = [false, true];

/// The results of every program on a machine, one line each.
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
        let together = Collective { kind, tasks: 2, size_bytes: 64, iterations: 9 };
        let sums: Vec<u64> =
            bed.run(&seats, &together, 3).unwrap().iter().map(|task| task.sum).collect();
        lines.push(format!("{kind:?}: {sums:?}"));
    }
    for way in [Way::Naive, Way::Tree, Way::TwoRoots] {
        let barrier =
            BarrierBySignal { way, tasks: 2, first_chip: 1, is_blocking: true, iterations: 50 };
        let done: Vec<u64> =
            bed.run(&seats, &barrier, 3).unwrap().iter().map(|task| task.operations).collect();
        lines.push(format!("{way:?}: {done:?}"));
    }
    let messages = vec![
        Message { from: 0, to: 1, step: 0, size_bytes: 40_000 },
        Message { from: 1, to: 0, step: 1, size_bytes: 20_000 },
    ];
    let long = LongMessages { tasks: 2, messages, rounds: 5 };
    let moved: Vec<_> =
        bed.run(&seats, &long, 3).unwrap().iter().map(|task| (task.bytes, task.sum)).collect();
    lines.push(format!("long: {moved:?}"));
    lines
}

/// CellStats' loops.
fn messages<B: Bed>(bed: &mut B, seats: [u32; 2]) -> Vec<String> {
    let warm_up = 3;
    let iterations = 60;
    let mut lines = Vec::new();
    for means in [Means::Mailbox, Means::Signal] {
        let exchange =
            Exchange { means, has_controller: false, by_system_call: false, warm_up, iterations };
        let sums: Vec<u64> =
            bed.run(&seats, &exchange, 3).unwrap().iter().map(|task| task.sum).collect();
        lines.push(format!("{means:?}: {sums:?}"));
    }
    for is_get in BOTH {
        for elements in [None, Some(5)] {
            for source in [Source::Memory(0), Source::FirstLocal] {
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
    let atomics = Atomics {
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
    let mut cell = CellBed::new(catalog::cell("cell-ps3").unwrap().unwrap());
    let wanted = computed(&mut cell, [0, 1]);
    insta::assert_snapshot!(wanted.join("\n"));
    for (name, seats) in
        [("xeon-phi-5110p", [9, 122]), ("xeon-e5-2680-2s", [3, 12]), ("scc-48", [0, 47])]
    {
        let mut coherent = CoherentBed::new(catalog::coherent(name).unwrap().unwrap());
        assert_eq!(computed(&mut coherent, seats), wanted, "{name}");
    }
    let mut host = HostBed::new().unwrap();
    match host.pus().first_chunk::<2>().copied() {
        Some(seats) => assert_eq!(computed(&mut host, seats), wanted),
        None => seatmap_needs::skipped!("two tasks that wait for each other need two CPUs"),
    }
}

/// The results of workloads over lines, one line each; `lines` of shared memory, all zeros.
fn shared<T: Testbed>(bed: &mut T, seats: [u32; 2]) -> Vec<String> {
    let handed = ProducerConsumer { channels: vec![Addr::line(3)], values: 40 };
    let sums: Vec<u64> = bed.run(&seats, &handed).unwrap().iter().map(|task| task.sum).collect();
    let pair =
        PingPong { lines: vec![Addr::line(5)], gate: Addr::line(0), batches: 3, round_trips: 7 };
    let twice = [0, 1].map(|_| {
        bed.run(&seats, &pair).unwrap().iter().map(|trace| trace.stamps.len()).sum::<usize>()
    });
    let words = vec![Addr::line(4), Addr::line(5)];
    let meeting = Addr::line(2);
    let lines = LineByLine { words, meeting, batches: 2, round_trips: 5 };
    let by_line: Vec<usize> =
        bed.run(&seats, &lines).unwrap().iter().flatten().map(|trace| trace.stamps.len()).collect();
    let mut handoffs = Handoffs::along(&generate("ring:2:bidirectional").unwrap(), 6, 9);
    handoffs.handoffs[1].messages = 3;
    let exchanged: Vec<u64> =
        bed.run(&seats, &handoffs).unwrap().iter().map(|task| task.sum).collect();
    let rendered = bed.run(&seats, &renderer()).unwrap();
    let image: u32 =
        (0..2).flat_map(|frame| renderer().image(&rendered, frame)).map(u32::from).sum();
    vec![
        format!("handed: {sums:?}"),
        format!("stamps: {twice:?}"),
        format!("line by line: {by_line:?}"),
        format!("exchanged: {exchanged:?}"),
        format!("rendered: {image}"),
    ]
}

/// Two small images by a coordinator and a worker. Messages have three points; the last message of
/// a row is shorter.
fn renderer() -> Mandelbrot {
    Mandelbrot {
        coordinators: 1,
        workers: 1,
        size: (10, 8),
        frames: 2,
        most_iterations: 60,
        view: View { centre: (-0.6, 0.0), width: 3.0, zoom: 0.5 },
        points: 3,
        cycles_per_iteration: 10,
        channels: vec![[Addr::line(8), Addr::line(9)]],
    }
}

/// The iterations of all points of both images, counted without any channel.
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
fn workloads_over_lines_compute_the_same() {
    let rendered = format!("rendered: {}", plainly());
    // Task 0 hears three messages of task 1 in a round, which add 1 to the round's number; task 1
    // hears one.
    let wanted = [
        "handed: [820, 820]",
        "stamps: [8, 8]",
        "line by line: [3, 3, 3, 3]",
        "exchanged: [135, 36]",
        &rendered,
    ];
    for (name, seats) in
        [("xeon-phi-5110p", [1, 2]), ("xeon-e5-2680-2s", [3, 12]), ("scc-48", [7, 6])]
    {
        let mut coherent = CoherentBed::new(catalog::coherent(name).unwrap().unwrap());
        assert_eq!(shared(&mut coherent, seats), wanted, "{name}");
    }
    let pus = HostBed::new().unwrap().pus().to_vec();
    match pus.first_chunk::<2>().copied() {
        Some(seats) => assert_eq!(shared(&mut HostTestbed::new(pus, 10).unwrap(), seats), wanted),
        None => seatmap_needs::skipped!("two tasks that wait for each other need two CPUs"),
    }
}
