//! The Cell model against what is published, and its behaviour where programs fail.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use seatmap_port::channels::{Atomic, Bed, Channels, Ea, Order, Program, Register, Shape};
use seatmap_sim::{CellBed, catalog};
use std::sync::Arc;

const BOTH: u32 = 1;

fn bed(name: &str) -> CellBed {
    CellBed::new(Arc::new(catalog::load(name).unwrap().unwrap()))
}

/// A program from a closure that picks what each task does by number.
struct Task<const N: usize> {
    shape: Shape,
    which: u8,
    rounds: u32,
    size: u32,
    module: u8,
}

fn shape(tasks: usize) -> Shape {
    Shape { tasks, local_bytes: 64 * 1024, memory_bytes: 1 << 20, signals_or: true }
}

impl<const N: usize> Program for Task<N> {
    type Output = f64;

    fn shape(&self) -> Shape {
        self.shape
    }

    fn task<C: Channels>(&self, c: &C, rank: usize) -> f64 {
        let begin = c.cycles();
        for round in 0..self.rounds {
            match (self.which, rank) {
                (0, 0) => {
                    c.mailbox_write(1, round);
                    assert_eq!(c.mailbox_read(), round + 1);
                }
                (0, _) => {
                    let value = c.mailbox_read();
                    c.mailbox_write(0, value + 1);
                }
                (1, _) => {
                    if rank == 0 {
                        c.signal(1, Register::One, BOTH);
                    }
                    c.signal_read(Register::One);
                    if rank == 1 {
                        c.signal(0, Register::One, BOTH);
                    }
                }
                (2, _) => {
                    c.get(
                        0,
                        Ea::Memory { module: self.module, offset: rank as u32 * 32768 },
                        self.size,
                        0,
                        Order::Free,
                    );
                    c.wait_tags(1);
                }
                (3, _) => {
                    c.atomic(Atomic::Add, Ea::Memory { module: 0, offset: 128 * rank as u32 }, 1);
                }
                (4, _) => {
                    c.atomic(Atomic::Add, Ea::Memory { module: 0, offset: 0 }, 1);
                }
                (5, 0) => {
                    c.mailbox_write(1, round);
                    assert_eq!(c.outbox_read(1), round);
                }
                (5, _) => {
                    let value = c.mailbox_read();
                    c.outbox_write(value);
                }
                (6, 0) => {
                    c.signal(1, Register::One, 1);
                    assert_eq!(c.outbox_read(1), 1);
                }
                (6, _) => {
                    let value = c.signal_read(Register::One);
                    c.outbox_write(value);
                }
                (7, _) => {
                    c.put(
                        0,
                        Ea::Memory { module: self.module, offset: rank as u32 * 32768 },
                        self.size,
                        0,
                        Order::Free,
                    );
                    c.wait_tags(1);
                }
                (8, _) => {
                    // Neighbour to neighbour.
                    let other = (rank ^ 1) as u16;
                    c.get(0, Ea::Local { rank: other, offset: 32768 }, self.size, 0, Order::Free);
                    c.wait_tags(1);
                }
                _ => {}
            }
        }
        (c.cycles() - begin) as f64 / 3.2 / f64::from(self.rounds)
    }
}

fn run(bed: &mut CellBed, seats: &[u32], which: u8, size: u32, module: u8) -> f64 {
    let task = Task::<0> { shape: shape(seats.len()), which, rounds: 200, size, module };
    let times = bed.run(seats, &task, 0).unwrap();
    times.iter().sum::<f64>() / times.len() as f64
}

#[test]
fn figures() {
    let mut bed = bed("cell-qs20");
    let eight: Vec<u32> = (0..8).collect();
    let sixteen: Vec<u32> = (0..16).collect();
    for (what, ns, published) in [
        ("mailbox", run(&mut bed, &[0, 1], 0, 0, 0), 158.1),
        ("mailbox far", run(&mut bed, &[0, 8], 0, 0, 0), 589.9),
        ("signal", run(&mut bed, &[0, 1], 1, 0, 0), 160.1),
        ("signal far", run(&mut bed, &[0, 8], 1, 0, 0), 619.4),
        ("ppe mailbox", run(&mut bed, &[16, 0], 5, 0, 0), 779.7),
        ("ppe mailbox far", run(&mut bed, &[16, 8], 5, 0, 0), 1678.2),
        ("ppe signal", run(&mut bed, &[16, 0], 6, 0, 0), 503.8),
        ("ppe signal far", run(&mut bed, &[16, 8], 6, 0, 0), 1182.3),
        ("get 128", run(&mut bed, &[0], 2, 128, 0), 300.0),
        ("get 512", run(&mut bed, &[0], 2, 512, 0), 300.0),
        ("get 128 far", run(&mut bed, &[0], 2, 128, 1), 300.0),
        ("atomic private", run(&mut bed, &[0], 3, 4, 0), 111.0),
        ("atomic shared 16", run(&mut bed, &sixteen, 4, 4, 0), 9000.0),
        ("atomic shared 8", run(&mut bed, &eight, 4, 4, 0), 4500.0),
    ] {
        println!("{what:20} {ns:10.1} {published:10.1} {:6.3}", ns / published);
    }
    for (what, which, module, published) in [
        ("get near", 2, 0, 24.6),
        ("get far", 2, 1, 13.6),
        ("put near", 7, 0, 24.0),
        ("put far", 7, 1, 12.0),
        ("pairs", 8, 0, 180.0),
    ] {
        let ns = run(&mut bed, &eight, which, 16384, module);
        let gbps = 8.0 * 16384.0 / ns;
        println!("{what:20} {gbps:10.1} {published:10.1} {:6.3}", gbps / published);
        let c = bed.counters();
        println!("   events {} cycles {} commands {}", c.events, c.cycles, c.commands);
    }
    let began = std::time::Instant::now();
    let task = Task::<0> { shape: shape(8), which: 8, rounds: 2000, size: 16384, module: 0 };
    bed.run(&eight, &task, 0).unwrap();
    let s = began.elapsed().as_secs_f64();
    println!("{} events in {s:.2} s: {:.1} M/s", bed.counters().events, bed.counters().events as f64 / s / 1e6);
}
