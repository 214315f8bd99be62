//! The Cell models' timings compared with recorded ones, which a change of the code must not
//! change.
//!
//! Each line of the snapshot is one program on one model over several placements and seeds.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use seatmap_cell_sim::channels::{
    Atomic, Bed, ChannelProgram, Channels, Ea, Element, ProgramNeeds, SignalNumber, TransferOrder,
};
use seatmap_cell_sim::workload::stats::{
    AtomicsWorkload, BufferLocation, EmptyThreads, MessageCarrier, MessageExchange, Transfers,
};
use seatmap_cell_sim::workload::{
    BarrierBySignal, BarrierMethod, CollectiveKind, CollectiveWorkload, LongMessage, LongMessages,
    MessageRing,
};
use seatmap_cell_sim::{CellBed, catalog};
use std::fmt::Debug;

/// FNV-1a (Fowler, Noll, Vo), which is independent of library releases.
fn hash(text: &str, start: u64) -> u64 {
    text.bytes().fold(start, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

const START: u64 = 0xcbf2_9ce4_8422_2325;

struct Sum {
    runs: u32,
    cycles: u64,
    events: u64,
    outputs: u64,
    counters: u64,
}

/// Renamed types with their names in the recorded hashes.
const RECORDED_NAMES: [(&str, &str); 4] = [
    ("CellBeCounters", "Counters"),
    ("LoopTimes", "Timed"),
    ("LongMessageResult", "Moved"),
    ("MessageRingResult", "Taken"),
];

/// A value as in the recorded hashes: types may be renamed, but values must not change.
fn recorded(value: &impl Debug) -> String {
    let shown = format!("{value:?}");
    RECORDED_NAMES.iter().fold(shown, |text, (now, then)| text.replace(now, then))
}

fn sum<P: ChannelProgram<Output: Debug>>(
    bed: &mut CellBed,
    placements: &[Vec<u32>],
    program: &P,
) -> Sum {
    let mut sum = Sum { runs: 0, cycles: 0, events: 0, outputs: START, counters: START };
    for seats in placements {
        for seed in [0, 7] {
            let outputs = bed.run(seats, program, seed).unwrap();
            let mut counters = bed.counters().clone();
            sum.runs += 1;
            sum.cycles += counters.cycles;
            sum.events += counters.events;
            sum.outputs = hash(&recorded(&outputs), sum.outputs);
            counters.events = 0;
            sum.counters = hash(&recorded(&counters), sum.counters);
        }
    }
    sum
}

struct Lines {
    bed: CellBed,
    text: String,
}

impl Lines {
    fn add<P: ChannelProgram<Output: Debug>>(
        &mut self,
        what: &str,
        placements: &[Vec<u32>],
        program: &P,
    ) {
        let Sum { runs, cycles, events, outputs, counters } =
            sum(&mut self.bed, placements, program);
        let name = &self.bed.model().name;
        self.text += &format!("{name} {what}: {runs} runs, {cycles} cycles, {events} events, ");
        self.text += &format!("tasks {outputs:016x}, counters {counters:016x}\n");
    }

    fn placements(&self, tasks: usize) -> Vec<Vec<u32>> {
        let spes = self.bed.model().spes() as u32;
        let mut all: Vec<u32> = (0..spes).collect();
        let straight = all[..tasks].to_vec();
        all.reverse();
        let reversed = all[..tasks].to_vec();
        fastrand::Rng::with_seed(u64::from(spes)).shuffle(&mut all);
        vec![straight, reversed, all[..tasks].to_vec()]
    }

    fn transfers(&mut self, tasks: usize) {
        let base = Transfers {
            is_get: true,
            tasks,
            size_bytes: 2048,
            elements: None,
            stride_bytes: Some(2048),
            source: BufferLocation::Memory(0),
            warm_up: 1,
            iterations: 8,
        };
        let placements = self.placements(tasks);
        for is_get in [true, false] {
            for source in [
                BufferLocation::Memory(0),
                BufferLocation::Memory(self.bed.modules() as u8 - 1),
                BufferLocation::FirstLocal,
            ] {
                let one = Transfers { is_get, source, ..base };
                self.add(&format!("transfers {is_get} {source:?}"), &placements, &one);
            }
            let list = Transfers {
                is_get,
                size_bytes: 48,
                elements: Some(40),
                stride_bytes: None,
                ..base
            };
            self.add(&format!("lists {is_get}"), &placements, &list);
            let small = Transfers { is_get, size_bytes: 8, stride_bytes: None, ..base };
            self.add(&format!("small {is_get}"), &placements, &small);
        }
    }

    fn messages(&mut self, tasks: usize) {
        let placements = self.placements(tasks);
        for way in [BarrierMethod::Naive, BarrierMethod::Tree, BarrierMethod::TwoRoots] {
            for is_blocking in [false, true] {
                let first_chip = tasks.min(8) / if way == BarrierMethod::TwoRoots { 2 } else { 1 };
                let barrier =
                    BarrierBySignal { way, tasks, first_chip, is_blocking, iterations: 6 };
                self.add(&format!("barrier {way:?} {is_blocking}"), &placements, &barrier);
            }
        }
        for kind in [CollectiveKind::Broadcast, CollectiveKind::Reduce] {
            let together = CollectiveWorkload { kind, tasks, size_bytes: 1024, iterations: 4 };
            self.add(&format!("{kind:?}"), &placements, &together);
        }
        for (is_unidirectional, packet_bytes) in [(false, 512), (false, 2048), (true, 1024)] {
            let ring = MessageRing { tasks, packet_bytes, rounds: 4, is_unidirectional };
            self.add(&format!("ring {is_unidirectional} {packet_bytes}"), &placements, &ring);
        }
        let to =
            |from: usize| LongMessage { from, to: (from + 1) % tasks, step: 0, size_bytes: 40_000 };
        let long = LongMessages { tasks, messages: (0..tasks).map(to).collect(), rounds: 2 };
        self.add("long messages", &placements, &long);
    }

    fn exchanges(&mut self) {
        let spes = self.bed.model().spes() as u32;
        let last = spes - 1;
        let ppe = self.bed.model().ppe();
        for means in [MessageCarrier::Mailbox, MessageCarrier::Signal] {
            for has_controller in [false, true] {
                for by_system_call in [false, true] {
                    let first = if has_controller { ppe } else { 0 };
                    let exchange = MessageExchange {
                        means,
                        has_controller,
                        by_system_call,
                        warm_up: 2,
                        iterations: 12,
                    };
                    let what = format!("exchange {means:?} {has_controller} {by_system_call}");
                    self.add(&what, &[vec![first, 1], vec![first, last]], &exchange);
                }
            }
        }
        self.add("threads", &[vec![ppe]], &EmptyThreads { warm_up: 0, iterations: 2 });
    }

    fn atomics(&mut self, tasks: usize) {
        let placements = self.placements(tasks);
        for operation in [Atomic::Add, Atomic::Set, Atomic::Read] {
            for stride_bytes in [None, Some(32), Some(128)] {
                let base = AtomicsWorkload {
                    operation,
                    operand: 3,
                    tasks,
                    stride_bytes,
                    module: 0,
                    warm_up: 2,
                    iterations: 10,
                };
                self.add(&format!("atomics {operation:?} {stride_bytes:?}"), &placements, &base);
            }
        }
    }

    fn traffic(&mut self, tasks: usize) {
        let ppe = self.bed.model().ppe();
        let mut placements = self.placements(tasks);
        placements.iter_mut().for_each(|seats| seats.push(ppe));
        for seed in 0..4 {
            self.add(
                &format!("traffic {seed}"),
                &placements,
                &Traffic { workers: tasks, steps: 30, seed },
            );
        }
    }
}

struct Traffic {
    workers: usize,
    steps: u32,
    seed: u64,
}

const LOCAL_BYTES: u32 = 64 * 1024;
const MEMORY_BYTES: u32 = 128 * 1024;

impl ChannelProgram for Traffic {
    type Output = (Vec<u64>, u64);

    fn shape(&self) -> ProgramNeeds {
        ProgramNeeds {
            tasks: self.workers + 1,
            local_bytes: LOCAL_BYTES,
            memory_bytes: MEMORY_BYTES,
            signals_or: true,
        }
    }

    fn task<C: Channels>(&self, c: &C, rank: usize) -> (Vec<u64>, u64) {
        let mut times = Vec::new();
        let mut random = fastrand::Rng::with_seed(self.seed * 100 + rank as u64);
        let mut heard = 0;
        let bytes: Vec<u8> = (0..LOCAL_BYTES).map(|at| (at * 7 + rank as u32) as u8).collect();
        c.poke(0, &bytes);
        for step in 0..self.steps {
            if rank == self.workers {
                self.control(c, step)
            } else {
                self.work(c, rank, step, (&mut random, &mut heard))
            }
            times.push(c.cycles());
        }
        let mut held = vec![0; LOCAL_BYTES as usize];
        c.peek(0, &mut held);
        (
            times,
            held.chunks(1024)
                .fold(u64::from(c.decrementer()), |sum, part| hash(&format!("{part:?}"), sum)),
        )
    }
}

impl Traffic {
    fn control<C: Channels>(&self, c: &C, step: u32) {
        if step.is_multiple_of(5) {
            (0..self.workers).for_each(|worker| c.mailbox_write(worker, step));
            c.signal(step as usize % self.workers, SignalNumber::Two, 1 << 20);
            (0..self.workers).for_each(|worker| _ = c.outbox_read(worker));
        }
    }

    fn work<C: Channels>(
        &self,
        c: &C,
        rank: usize,
        step: u32,
        (random, heard): (&mut fastrand::Rng, &mut u32),
    ) {
        for _ in 0..random.u32(0..24) {
            self.transfer(c, rank, random);
        }
        match random.u8(0..6) {
            0 => c.compute(random.u64(0..900)),
            1 => c.wait_tags(random.u32(..)),
            _ => {}
        }
        self.count(c, random);
        // All workers send over the same distance, so each worker receives from one other.
        let next = (rank + 1 + step as usize % (self.workers - 1)) % self.workers;
        if step.is_multiple_of(3) {
            c.mailbox_write(next, step);
            c.mailbox_read();
        }
        if step % 3 == 1 {
            c.signal(next, SignalNumber::One, 1 << step);
            // Registers gather bits, so a read may include signals of later steps.
            while *heard & 1 << step == 0 {
                *heard |= c.signal_read(SignalNumber::One);
            }
        }
        if step.is_multiple_of(5) {
            c.mailbox_read();
            c.outbox_write(step);
        }
        if step % 4 == 3 {
            c.wait_tags(u32::MAX);
        }
    }

    fn count<C: Channels>(&self, c: &C, random: &mut fastrand::Rng) {
        for _ in 0..random.u8(0..4) {
            let operation = [Atomic::Add, Atomic::Set, Atomic::Read][random.usize(0..3)];
            let at = Ea::Memory { module: 0, offset: 4 * random.u32(0..96) };
            c.atomic(operation, at, random.u32(..));
        }
    }

    fn transfer<C: Channels>(&self, c: &C, rank: usize, random: &mut fastrand::Rng) {
        let order = [
            TransferOrder::Free,
            TransferOrder::Free,
            TransferOrder::Fence,
            TransferOrder::Barrier,
        ][random.usize(0..4)];
        let tag = random.u8(0..6);
        let size = [1, 2, 4, 8, 16, 32, 48, 128, 144, 512, 1024, 4096][random.usize(0..12)];
        let at = random.u32(0..100) * 16 + if size < 16 { size } else { 0 };
        let local = 32 * 1024 + at;
        let far = at + 1024 * random.u32(0..16);
        let ea = if random.bool() {
            Ea::Memory { module: 0, offset: far }
        } else {
            Ea::Local { rank: random.usize(0..self.workers) as u16, offset: far }
        };
        let elements: Vec<Element> = (0..random.u32(1..20))
            .map(|at| Element { ea: ea.further(at * 160), size: 16 * (1 + at % 9) })
            .collect();
        match (random.u8(0..8), rank % 2) {
            (0, _) if size >= 16 => c.get_list(local, &elements, tag, order),
            (1, _) if size >= 16 => c.put_list(local, &elements, tag, order),
            (2..=4, _) => c.put(local, ea, size, tag, order),
            _ => c.get(local, ea, size, tag, order),
        }
    }
}

fn timings(name: &str, sizes: &[usize]) -> String {
    let bed = CellBed::new(catalog::load(name).unwrap().unwrap());
    let mut lines = Lines { bed, text: String::new() };
    lines.exchanges();
    for tasks in sizes.iter().copied() {
        lines.transfers(tasks);
        lines.messages(tasks);
        lines.atomics(tasks);
        lines.traffic(tasks);
    }
    lines.text
}

#[test]
fn ps3_timings_match_the_recorded_ones() {
    insta::assert_snapshot!(timings("cell-ps3", &[6]));
}

#[test]
fn qs20_timings_match_the_recorded_ones() {
    insta::assert_snapshot!(timings("cell-qs20", &[6, 16]));
}

#[test]
fn qs22_timings_match_the_recorded_ones() {
    insta::assert_snapshot!(timings("cell-qs22", &[16]));
}

#[test]
fn qs20_trace_matches_the_recorded_one() {
    let mut bed = CellBed::new(catalog::load("cell-qs20").unwrap().unwrap());
    bed.traces = true;
    let seats: Vec<u32> = (0..=16).collect();
    bed.run(&seats, &Traffic { workers: 16, steps: 10, seed: 1 }, 1).unwrap();
    let mut text = Vec::new();
    bed.trace().unwrap().write(&mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    insta::assert_snapshot!(format!(
        "{} spans, {:016x}",
        text.lines().count() - 2,
        hash(&text, START)
    ));
}
