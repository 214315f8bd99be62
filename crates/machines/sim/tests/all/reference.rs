//! Recorded timings of many runs on all kinds of coherent machines: a change that changes one of
//! them is a mistake or needs a reason.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use crate::mandelbrot::{Mandelbrot, MandelbrotView};
use crate::producer_consumer::ProducerConsumer;
use seatmap_data::port::{Addr, Barrier, Port, Testbed, WORDS_PER_LINE, Workload};
use seatmap_machines::workload::{Handoff, Handoffs, LineByLine, PingPong};
use seatmap_sim::coherent::{CoherentCounters, Hierarchy, HierarchyHomes};
use seatmap_sim::{CoherentBed, CoherentModel, catalog};
use std::fmt::{Debug, Write};
use std::sync::Arc;

#[derive(Clone, Copy)]
struct Fnv(u64);

impl Write for Fnv {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        for byte in text.bytes() {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
        Ok(())
    }
}

fn hash(outputs: &impl Debug, counters: &CoherentCounters) -> u64 {
    let mut hash = Fnv(0xcbf2_9ce4_8422_2325);
    // The recorded hashes contain the type's first name.
    let outputs = format!("{outputs:?}").replace("PingPongTimes", "Trace");
    write!(hash, "{outputs}").unwrap();
    let of = counters;
    write!(
        hash,
        "{:?}",
        [of.events, of.cycles, of.hits, of.misses, of.invalidations, of.memory_reads]
    )
    .unwrap();
    write!(hash, "{}", of.early_snoops).unwrap();
    for lane in &of.lanes {
        write!(hash, "{:?}", [lane.grants, lane.busy_cycles, lane.wait_cycles]).unwrap();
    }
    for link in &of.links {
        write!(hash, "{:?}", (link.from, link.to, link.grants, link.wait_cycles)).unwrap();
    }
    for at in &of.directories {
        write!(hash, "{:?}", (at.node, at.lookups, at.busy_cycles, at.wait_cycles, at.nacks))
            .unwrap();
    }
    hash.0
}

struct Traffic {
    tasks: usize,
    lines: u32,
    steps: u32,
    seed: u64,
}

impl Traffic {
    fn step<P: Port>(&self, port: &P, rng: &mut fastrand::Rng) -> u64 {
        let words = (self.lines - 2) * WORDS_PER_LINE;
        let word = Addr::line(2).word(rng.u32(0..words));
        match rng.u32(0..20) {
            0..7 => port.load(word),
            7..11 => {
                port.store(word, rng.u64(0..4));
                0
            }
            11..14 => port.fetch_add(word, 1),
            14..16 => port.compare_exchange(word, rng.u64(0..4), 1).unwrap_or_else(|found| found),
            16 => {
                let [from, to] = [0, 0].map(|_| rng.u32(0..words));
                let count = rng.u32(0..30).min(words - from.max(to));
                port.copy(Addr::line(2).word(from), Addr::line(2).word(to), count);
                0
            }
            17 => {
                port.pause();
                0
            }
            _ => {
                port.compute(rng.u64(0..300));
                0
            }
        }
    }
}

impl Workload for Traffic {
    type Output = (u64, u64);

    fn tasks(&self) -> usize {
        self.tasks
    }

    fn lines(&self) -> u32 {
        self.lines
    }

    fn task<P: Port>(&self, port: &P, rank: usize) -> (u64, u64) {
        let mut rng = fastrand::Rng::with_seed(self.seed * 1000 + rank as u64);
        let barrier = Barrier::new(Addr::line(0), self.tasks);
        let mut sum = 0_u64;
        for step in 0..self.steps {
            let seen = self.step(port, &mut rng);
            sum = sum.wrapping_mul(31).wrapping_add(seen).wrapping_add(port.stamp().ticks);
            if step % 16 == 15 {
                barrier.wait(port);
            }
        }
        (sum, port.stamp().ticks)
    }
}

struct Runs {
    bed: CoherentBed,
    name: String,
    lines: Vec<String>,
}

impl Runs {
    fn note(&mut self, what: &str, seed: u64, outputs: &impl Debug) {
        let counters = self.bed.counters();
        let hash = hash(outputs, counters);
        let events = counters.events;
        let cycles = counters.cycles;
        let early = counters.early_snoops;
        let refused: u64 = counters.directories.iter().map(|at| at.nacks).sum();
        let line = format!(
            "{} {what} {seed}: {events} events, {cycles} cycles, {early} early, {refused} refused, {hash:016x}",
            self.name
        );
        self.lines.push(line);
    }

    fn workload<W: Workload<Output: Debug>>(&mut self, what: &str, seats: &[u32], workload: &W) {
        for seed in [0, 7] {
            // Memory keeps its contents from run to run.
            self.bed = CoherentBed::new(Arc::clone(self.bed.model()));
            self.bed.seed = seed;
            let outputs = Testbed::run(&mut self.bed, seats, workload).unwrap();
            self.note(what, seed, &outputs);
        }
    }

    fn seats(&self, count: usize) -> [(&'static str, Vec<u32>); 3] {
        let pus = Testbed::pus(&self.bed).to_vec();
        let count = count.min(pus.len());
        let apart = (0..count).map(|at| pus[at * pus.len() / count]).collect();
        let mut drawn = pus.clone();
        fastrand::Rng::with_seed(9).shuffle(&mut drawn);
        [("near", pus[..count].to_vec()), ("far", apart), ("drawn", drawn[..count].to_vec())]
    }

    fn all(&mut self) {
        self.storm();
        for (where_to, seats) in self.seats(2) {
            self.pairs(where_to, &seats);
        }
        for (where_to, seats) in self.seats(24) {
            self.pairs(&format!("{where_to} many"), &seats[..seats.len() / 2 * 2]);
            self.many(where_to, &seats);
        }
        for (where_to, seats) in self.seats(4) {
            let traffic = Traffic { tasks: seats.len(), lines: 5, steps: 300, seed: 2 };
            self.workload(&format!("traffic of few, {where_to}"), &seats, &traffic);
        }
    }

    fn storm(&mut self) {
        let pus = Testbed::pus(&self.bed).to_vec();
        let mut all = Vec::new();
        for seed in 10..40 {
            let mut rng = fastrand::Rng::with_seed(seed);
            let mut seats = pus.clone();
            // Neighbours share a cache: half of the runs are crowded.
            if rng.bool() {
                rng.shuffle(&mut seats);
            }
            seats.truncate(rng.usize(2..20));
            let traffic = Traffic { tasks: seats.len(), lines: rng.u32(3..9), steps: 100, seed };
            self.bed = CoherentBed::new(Arc::clone(self.bed.model()));
            self.bed.seed = seed;
            let outputs = Testbed::run(&mut self.bed, &seats, &traffic).unwrap();
            all.push(hash(&outputs, self.bed.counters()));
        }
        self.note("storm", 0, &all);
    }

    fn pairs(&mut self, where_to: &str, seats: &[u32]) {
        let lines: Vec<Addr> =
            (0..seats.len() as u32 / 2).map(|pair| Addr::line(3 + pair)).collect();
        let pairs =
            PingPong { lines: lines.clone(), gate: Addr::line(0), batches: 3, round_trips: 2 };
        self.workload(&format!("ping-pong {where_to}"), seats, &pairs);
        let handed = ProducerConsumer { channels: lines, values: 12 };
        self.workload(&format!("producer-consumer {where_to}"), seats, &handed);
        let words = vec![Addr::line(4), Addr::line(9)];
        let by_line = LineByLine { words, meeting: Addr::line(2), batches: 2, round_trips: 3 };
        self.workload(&format!("line by line {where_to}"), &seats[..2], &by_line);
    }

    fn many(&mut self, where_to: &str, seats: &[u32]) {
        let tasks = seats.len();
        let handoff = |at: usize| Handoff {
            from: at,
            to: (at * 5 + 1) % tasks,
            messages: 1 + at as u32 % 3,
            line: Addr::line(at as u32),
        };
        let handoffs = (0..tasks).filter(|at| (at * 5 + 1) % tasks != *at).map(handoff).collect();
        self.workload(
            &format!("hand-offs {where_to}"),
            seats,
            &Handoffs { tasks, handoffs, rounds: 3 },
        );
        let traffic = Traffic { tasks, lines: 12, steps: 80, seed: 1 };
        self.workload(&format!("traffic {where_to}"), seats, &traffic);
        let rendering = Mandelbrot {
            coordinators: 1,
            workers: tasks - 1,
            size: (8, 6),
            frames: 1,
            most_iterations: 40,
            view: MandelbrotView { centre: (-0.6, 0.0), width: 3.0, zoom: 0.5 },
            points: 3,
            cycles_per_iteration: 10,
            channels: (0..tasks as u32 - 1)
                .map(|at| [8 + 2 * at, 9 + 2 * at].map(Addr::line))
                .collect(),
        };
        self.workload(&format!("mandelbrot {where_to}"), seats, &rendering);
    }
}

fn changed(text: &str, changes: &[(&str, &str)]) -> CoherentModel {
    let mut text = text.to_owned();
    for (from, to) in changes {
        assert!(text.contains(from), "{from}");
        text = text.replacen(from, to, 1);
    }
    CoherentModel::from_toml("x.toml", &text).unwrap()
}

fn hierarchical(homes: u32, settled: bool, queue: f64) -> CoherentModel {
    let described = seatmap_data::machine::catalog::load("xeon-e5-2680-2s").unwrap();
    let mut levels = Hierarchy::described(&described, "a test", 2.5).unwrap();
    levels.ticks_per_cycle = 4;
    levels.homes = (homes > 1).then_some(HierarchyHomes {
        count: homes,
        hash_seed: 5,
        settled_in_groups: settled,
    });
    for (at, core) in levels.cores.iter_mut().enumerate() {
        core.offset_ns = (0..homes).map(|home| f64::from(home * 3 % 5) + at as f64 / 4.0).collect();
    }
    levels.figures.directory_queue.value = queue;
    levels.model("x.toml").unwrap()
}

fn described(name: &str) -> CoherentModel {
    CoherentModel::from_profile(&seatmap_data::machine::catalog::load(name).unwrap(), "", 2.5)
        .unwrap()
}

fn machines() -> Vec<(&'static str, Arc<CoherentModel>)> {
    let phi = include_str!("../../../../../machines/xeon-phi-5110p.toml");
    let scc = include_str!("../../../../../machines/scc-48.toml");
    let bundled = |name: &'static str| (name, catalog::load(name).unwrap().unwrap());
    let mut machines: Vec<_> =
        ["xeon-phi-5110p", "scc-48", "xeon-e5-2680-2s"].map(bundled).to_vec();
    let queue = phi.lines().find(|line| line.starts_with("directory_queue")).unwrap();
    let two = r#"directory_queue = { value = 2, kind = "assumption", source = "a test" }"#;
    machines.push(("ring, queue of 2", Arc::new(changed(phi, &[(queue, two)]))));
    let coherent = ("kind = \"buffers\"", "kind = \"directories\"");
    let threads = ("threads_per_core = 1", "threads_per_core = 3");
    machines.push(("mesh", Arc::new(changed(scc, &[coherent]))));
    let queue = scc.lines().find(|line| line.starts_with("directory_queue")).unwrap();
    machines.push(("mesh, queue of 2", Arc::new(changed(scc, &[coherent, threads, (queue, two)]))));
    machines.push(("buffers, queue of 2", Arc::new(changed(scc, &[threads, (queue, two)]))));
    machines.push(("levels", Arc::new(hierarchical(1, false, 3.0))));
    machines.push(("levels, 5 homes", Arc::new(hierarchical(5, false, 64.0))));
    machines.push(("levels, 5 homes, settled", Arc::new(hierarchical(5, true, 2.0))));
    for name in ["epyc-7r13-2s", "core-i9-12900k"] {
        machines.push((name, Arc::new(described(name))));
    }
    machines
}

#[test]
fn timings_match_the_recorded_ones() {
    let mut lines = Vec::new();
    for (name, model) in machines() {
        let mut runs =
            Runs { bed: CoherentBed::new(model), name: name.to_owned(), lines: Vec::new() };
        runs.all();
        lines.append(&mut runs.lines);
    }
    insta::assert_snapshot!(lines.join("\n"));
}
