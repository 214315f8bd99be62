//! The Cell model compared with published figures, and its behaviour when programs fail.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "helpers of tests fail as tests do, and one program has to"
)]

use seatmap_cell_sim::channels::{
    Atomic, Bed, ChannelProgram, Channels, Ea, ProgramNeeds, SignalNumber, TransferOrder,
};
use seatmap_cell_sim::{CellBed, catalog};

const BOTH: u32 = 1;

fn bed(name: &str) -> CellBed {
    CellBed::new(catalog::load(name).unwrap().unwrap())
}

struct Task {
    shape: ProgramNeeds,
    which: u8,
    rounds: u32,
    size: u32,
    module: u8,
}

fn shape(tasks: usize) -> ProgramNeeds {
    ProgramNeeds { tasks, local_bytes: 64 * 1024, memory_bytes: 1 << 20, signals_or: true }
}

impl ChannelProgram for Task {
    type Output = f64;

    fn shape(&self) -> ProgramNeeds {
        self.shape
    }

    fn task<C: Channels>(&self, c: &C, rank: usize) -> f64 {
        let begin = c.cycles();
        for round in 0..self.rounds {
            if [2, 3, 4, 7, 8].contains(&self.which) {
                self.transfer(c, rank)
            } else {
                self.talk(c, rank, round)
            }
        }
        (c.cycles() - begin) as f64 / 3.2 / f64::from(self.rounds)
    }
}

impl Task {
    fn talk<C: Channels>(&self, c: &C, rank: usize, round: u32) {
        match (self.which, rank) {
            (0, 0) => {
                c.mailbox_write(1, round);
                assert_eq!(c.mailbox_read(), round + 1);
            }
            (0, _) => c.mailbox_write(0, c.mailbox_read() + 1),
            (1, 0) => {
                c.signal(1, SignalNumber::One, BOTH);
                c.signal_read(SignalNumber::One);
            }
            (1, _) => {
                c.signal_read(SignalNumber::One);
                c.signal(0, SignalNumber::One, BOTH);
            }
            (5, 0) => {
                c.mailbox_write(1, round);
                assert_eq!(c.outbox_read(1), round);
            }
            (5, _) => c.outbox_write(c.mailbox_read()),
            (6, 0) => {
                c.signal(1, SignalNumber::One, 1);
                assert_eq!(c.outbox_read(1), 1);
            }
            _ => c.outbox_write(c.signal_read(SignalNumber::One)),
        }
    }

    fn transfer<C: Channels>(&self, c: &C, rank: usize) {
        let own = Ea::Memory { module: self.module, offset: rank as u32 * 32768 };
        match self.which {
            2 => c.get(0, own, self.size, 0, TransferOrder::Free),
            3 => {
                c.atomic(Atomic::Add, Ea::Memory { module: 0, offset: 128 * rank as u32 }, 1);
            }
            4 => drop(c.atomic(Atomic::Add, Ea::Memory { module: 0, offset: 0 }, 1)),
            7 => c.put(0, own, self.size, 0, TransferOrder::Free),
            _ => c.get(
                0,
                Ea::Local { rank: (rank ^ 1) as u16, offset: 32768 },
                self.size,
                0,
                TransferOrder::Free,
            ),
        }
        if ![3, 4].contains(&self.which) {
            c.wait_tags(1);
        }
    }
}

fn run(bed: &mut CellBed, seats: &[u32], which: u8, size: u32, module: u8) -> f64 {
    let task = Task { shape: shape(seats.len()), which, rounds: 200, size, module };
    let times = bed.run(seats, &task, 0).unwrap();
    times.iter().sum::<f64>() / times.len() as f64
}

fn within(what: &str, ns: f64, published: f64, share: f64) {
    let ratio = ns / published;
    assert!((ratio - 1.0).abs() <= share, "{what}: {ns:.1} for {published} ({ratio:.3})");
}

#[test]
fn model_reproduces_its_calibration() {
    let mut bed = bed("cell-qs20");
    within("mailbox, one chip", run(&mut bed, &[0, 1], 0, 0, 0), 158.1, 0.02);
    within("mailbox, two chips", run(&mut bed, &[0, 8], 0, 0, 0), 589.9, 0.02);
    within("signal, one chip", run(&mut bed, &[0, 1], 1, 0, 0), 160.1, 0.02);
    within("signal, two chips", run(&mut bed, &[0, 8], 1, 0, 0), 619.4, 0.02);
    within("PPE mailbox", run(&mut bed, &[16, 0], 5, 0, 0), 779.7, 0.02);
    within("PPE mailbox, other chip", run(&mut bed, &[16, 8], 5, 0, 0), 1678.2, 0.02);
    within("PPE signal", run(&mut bed, &[16, 0], 6, 0, 0), 503.8, 0.02);
    within("PPE signal, other chip", run(&mut bed, &[16, 8], 6, 0, 0), 1182.3, 0.02);
    within("one GET", run(&mut bed, &[0], 2, 128, 0), 300.0, 0.05);
    within("private atomic", run(&mut bed, &[0], 3, 4, 0), 111.0, 0.02);
}

#[test]
fn memory_bandwidth_matches_published_figures() {
    let mut bed = bed("cell-qs20");
    let eight: Vec<u32> = (0..8).collect();
    let mut gbps = |which, module| 8.0 * 16384.0 / run(&mut bed, &eight, which, 16384, module);
    let near = gbps(2, 0);
    let far = gbps(2, 1);
    let put = gbps(7, 0);
    within("near GETs of eight SPEs", near, 24.6, 0.1);
    within("far GETs of eight SPEs", far, 13.6, 0.1);
    assert!(put < near, "puts are slower under stress: {put} and {near}");
}

#[test]
fn repeated_run_gives_same_counts() {
    let counted = |seed| {
        let mut bed = bed("cell-qs22");
        let task = Task { shape: shape(8), which: 8, rounds: 50, size: 2048, module: 0 };
        let times = bed.run(&[0, 1, 2, 3, 4, 5, 6, 7], &task, seed).unwrap();
        (times.iter().map(|time| time.to_bits()).collect::<Vec<_>>(), bed.counters().clone())
    };
    assert_eq!(counted(7), counted(7));
    assert_ne!(counted(7).1, counted(8).1, "the seed decides when tasks start");
}

struct Wrong(u8);

impl ChannelProgram for Wrong {
    type Output = ();

    fn shape(&self) -> ProgramNeeds {
        shape(2)
    }

    fn task<C: Channels>(&self, c: &C, rank: usize) {
        let memory = Ea::Memory { module: 0, offset: 0 };
        match (self.0, rank) {
            (0, 0) => drop(c.mailbox_read()),
            (0, _) => drop(c.signal_read(SignalNumber::Two)),
            (1, 1) => c.get(0, memory, 24, 0, TransferOrder::Free),
            (2, 1) => c.get(0, memory.further(1 << 20), 16, 0, TransferOrder::Free),
            (3, 1) => c.get(0, memory, 16, 32, TransferOrder::Free),
            (4, 1) => c.get(0, Ea::Local { rank: 7, offset: 0 }, 16, 0, TransferOrder::Free),
            (5, 1) => c.get(0, Ea::Memory { module: 3, offset: 0 }, 16, 0, TransferOrder::Free),
            (6, _) => loop {
                c.get(0, memory, 16, 0, TransferOrder::Free);
                c.wait_tags(BOTH);
            },
            (7, 1) => std::panic::panic_any("a workload of ours is wrong".to_owned()),
            (8, 1) => drop(c.atomic(Atomic::Add, memory.further(2), 1)),
            (9, 1) => c.get_list(0, &[], 0, TransferOrder::Free),
            (10, 1) => c.put(0, memory, 32768, 0, TransferOrder::Free),
            _ => {}
        }
    }
}

#[test]
fn failed_program_names_task_and_cause() {
    // The run catches and reports a task's panic; the hook would print it again.
    std::panic::set_hook(Box::new(|_| {}));
    let mut bed = bed("cell-qs20");
    bed.limit_events(100_000);
    let mut refusal = |which| bed.run(&[0, 1], &Wrong(which), 0).unwrap_err().to_string();
    let told: Vec<String> = (0..=10).map(&mut refusal).collect();
    insta::assert_snapshot!(told.join("\n"));
    let _ = std::panic::take_hook();
    within("mailbox, afterwards", run(&mut bed, &[0, 1], 0, 0, 0), 158.1, 0.02);
}

/// The PPE lacks these registers, whether task 0 on it or task 1 on an SPE uses them.
struct WithoutRegisters(u8);

impl ChannelProgram for WithoutRegisters {
    type Output = ();

    fn shape(&self) -> ProgramNeeds {
        shape(2)
    }

    fn task<C: Channels>(&self, c: &C, rank: usize) {
        match (self.0, rank) {
            (0, 0) => drop(c.mailbox_read()),
            (1, 0) => drop(c.signal_read(SignalNumber::One)),
            (2, 0) => c.outbox_write(1),
            (3, 0) => c.wait_tags(1),
            (4, 0) => drop(c.outbox_read(0)),
            (5, 1) => c.mailbox_write(0, 1),
            (6, 1) => c.signal(0, SignalNumber::Two, 1),
            _ => {}
        }
    }
}

#[test]
fn ppe_refuses_mailbox_and_signal_calls() {
    let mut bed = bed("cell-qs20");
    let mut refusal =
        |which| bed.run(&[16, 0], &WithoutRegisters(which), 0).unwrap_err().to_string();
    for which in [0, 1, 2, 4] {
        let told = "task 0: task 0 is on the PPE, which has no mailbox and no signal register";
        assert_eq!(refusal(which), told, "{which}");
    }
    assert_eq!(refusal(3), "task 0: task 0 is on the PPE, which has no MFC");
    for which in [5, 6] {
        let told = "task 1: task 0 is on the PPE, which has no mailbox and no signal register";
        assert_eq!(refusal(which), told, "{which}");
    }
}

#[test]
fn unavailable_seats_are_refused() {
    let mut bed = bed("cell-ps3");
    let mut refusal = |seats: &[u32]| bed.run(seats, &Wrong(99), 0).unwrap_err().to_string();
    let told = [refusal(&[0, 9]), refusal(&[3, 3]), refusal(&[3])];
    insta::assert_snapshot!(told.join("\n"));
}

#[test]
fn impossible_models_are_refused() {
    let text =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/machines/cell-ps3.toml"))
            .unwrap();
    let refusal = |from: &str, to: &str| {
        assert!(text.contains(from), "{from}");
        let error = seatmap_cell_sim::CellModel::from_toml("my.toml", &text.replacen(from, to, 1))
            .unwrap_err();
        error.to_string()
    };
    let told = [
        refusal("\"SPE6\"", "\"SPE9\""),
        refusal("bus_cycles = { value = 2", "bus_cycles = { value = 0"),
        refusal("bus_cycles =", "bus_cyles ="),
        refusal("chips = 1", "chips = 3"),
        refusal("mic_banks = { value = 16", "mic_banks = { value = 15"),
        refusal("refresh_banks = { value = 1", "refresh_banks = { value = 9"),
        refusal("refresh_interval_ns = { value = 488", "refresh_interval_ns = { value = 50"),
        refusal("spes = [0, ", "spes = [0, 0, "),
        refusal("seatmap-model/2", "seatmap-model/9"),
    ];
    insta::assert_snapshot!(told.join("\n"));
}

#[test]
fn trace_is_json_for_viewers() {
    let mut bed = bed("cell-ps3");
    bed.traces = true;
    run(&mut bed, &[0, 1], 8, 1024, 0);
    let mut text = Vec::new();
    bed.trace().unwrap().write(&mut text).unwrap();
    let read: serde_json::Value = serde_json::from_slice(&text).unwrap();
    let events = read["traceEvents"].as_array().unwrap();
    assert!(
        events.len() > 200
            && events.iter().all(|event| event["ph"] == "X" && event["dur"].as_f64() >= Some(0.0))
    );
}
