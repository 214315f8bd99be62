//! The programs on the Cell model: their results, and their times.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use seatmap_cell_sim::channels::{Atomic, Bed, ChannelProgram};
use seatmap_cell_sim::workload::stats::{
    AtomicsWorkload, BufferLocation, EmptyThreads, LoopTimes, MessageCarrier, MessageExchange,
    Transfers,
};
use seatmap_cell_sim::workload::{
    BarrierBySignal, BarrierMethod, CollectiveKind, CollectiveWorkload, LongMessage, LongMessages,
};
use seatmap_cell_sim::{CellBed, catalog};

fn run<P: ChannelProgram>(seats: &[u32], program: &P) -> Vec<P::Output> {
    CellBed::new(catalog::load("cell-qs20").unwrap().unwrap()).run(seats, program, 5).unwrap()
}

fn ns(timed: &[LoopTimes]) -> f64 {
    let longest = timed.iter().map(|task| task.ended - task.began).max().unwrap();
    longest as f64 / 3.2 / timed.iter().map(|task| task.operations).max().unwrap() as f64
}

#[test]
fn two_roots_are_faster_than_one_across_chips() {
    let barrier = |way, is_blocking| {
        let program =
            BarrierBySignal { way, tasks: 16, first_chip: 8, is_blocking, iterations: 50 };
        ns(&run(&(0..16).collect::<Vec<_>>(), &program))
    };
    for is_blocking in [false, true] {
        let [naive, tree, two] =
            [BarrierMethod::Naive, BarrierMethod::Tree, BarrierMethod::TwoRoots]
                .map(|way| barrier(way, is_blocking));
        println!("naive {naive:.0} ns, tree {tree:.0} ns, two roots {two:.0} ns");
        assert!(two < tree && two < naive);
    }
}

#[test]
fn collectives_compute_correct_sums() {
    for tasks in [1, 2, 7, 16] {
        let seats: Vec<u32> = (0..tasks as u32).collect();
        let sums = |kind| {
            let program = CollectiveWorkload { kind, tasks, size_bytes: 1024, iterations: 9 };
            run(&seats, &program).iter().map(|task| task.sum).collect::<Vec<_>>()
        };
        assert_eq!(sums(CollectiveKind::Broadcast), vec![8 + 7; tasks]);
        assert_eq!(
            sums(CollectiveKind::Reduce)[0],
            (0..tasks as u64).map(|rank| 8 + rank).sum::<u64>()
        );
    }
}

#[test]
fn long_messages_arrive() {
    let messages = (0..8)
        .map(|from| LongMessage { from, to: (from + 1) % 8, step: 0, size_bytes: 65536 })
        .collect();
    let program = LongMessages { tasks: 8, messages, rounds: 5 };
    let moved = run(&[0, 1, 2, 3, 4, 5, 6, 7], &program);
    for (rank, task) in moved.iter().enumerate() {
        let before = (rank as u64 + 7) % 8;
        assert_eq!((task.bytes, task.sum), (5 * 65536, (0..5).map(|round| before + round).sum()));
    }
}

#[test]
fn cell_stats_programs_compute_correct_sums() {
    let exchange = |means, has_controller| MessageExchange {
        means,
        has_controller,
        by_system_call: false,
        warm_up: 5,
        iterations: 50,
    };
    let told = run(&[16, 0], &exchange(MessageCarrier::Mailbox, true));
    assert_eq!(told[0].sum, (1..=55).sum::<u64>());
    assert_eq!(
        run(&[0, 8], &exchange(MessageCarrier::Signal, false))[1].sum,
        (1..=55).sum::<u64>()
    );
    let warm_up = 2;
    let iterations = 20;
    let list = Transfers {
        is_get: true,
        tasks: 8,
        size_bytes: 16,
        elements: Some(1024),
        stride_bytes: None,
        source: BufferLocation::Memory(0),
        warm_up,
        iterations,
    };
    let seats: Vec<u32> = (0..8).collect();
    let list_ns = ns(&run(&seats, &list));
    let plain_ns = ns(&run(&seats, &Transfers { size_bytes: 16384, elements: None, ..list }));
    println!("list {list_ns:.0} ns, plain {plain_ns:.0} ns");
    assert!(list_ns > 4.0 * plain_ns);
    let atomics = AtomicsWorkload {
        operation: Atomic::Add,
        operand: 1,
        tasks: 8,
        stride_bytes: None,
        module: 0,
        warm_up,
        iterations,
    };
    let shared = ns(&run(&seats, &atomics));
    let private = ns(&run(&seats, &AtomicsWorkload { stride_bytes: Some(128), ..atomics }));
    println!("atomic shared {shared:.0} ns, private {private:.0} ns");
    assert!(shared > 4.0 * private);
    assert!((ns(&run(&[16], &EmptyThreads { warm_up: 0, iterations: 3 })) - 1.68e6).abs() < 1.0);
}
