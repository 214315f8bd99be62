//! Litmus tests of the memory model. A task waits until its store is done, so exactly the outcomes
//! of sequential consistency must appear.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use seatmap_data::port::{Addr, Barrier, Port, Testbed, Workload};
use seatmap_sim::{CoherentBed, CoherentModel, catalog};
use std::collections::BTreeSet;
use std::sync::Arc;

const RUNS: u64 = 2500;
/// The binary logarithm of the longest delay before each step, in ticks: far longer than an access,
/// so every order of the steps appears.
const LONGEST_DELAY_LOG: u32 = 13;

#[derive(Clone, Copy, Debug)]
enum Step {
    Write(u32),
    Read(u32),
}
use Step::{Read, Write};

const X: u32 = 0;
const Y: u32 = 1;

struct Litmus<'a> {
    tasks: &'a [&'a [Step]],
    seed: u64,
}

impl Litmus<'_> {
    fn word(variable: u32) -> Addr {
        Addr::line(2 + variable)
    }
}

impl Workload for Litmus<'_> {
    type Output = Vec<u64>;

    fn tasks(&self) -> usize {
        self.tasks.len()
    }

    fn lines(&self) -> u32 {
        4
    }

    fn task<P: Port>(&self, port: &P, rank: usize) -> Vec<u64> {
        // Generators with consecutive seeds begin alike, so one generator draws the tasks' seeds.
        let mut seeds = fastrand::Rng::with_seed(self.seed);
        let mut rng = (0..=rank)
            .fold(fastrand::Rng::with_seed(0), |_, _| fastrand::Rng::with_seed(seeds.u64(..)));
        let longest = 1 << rng.u32(0..=LONGEST_DELAY_LOG);
        let barrier = Barrier::new(Addr::line(0), self.tasks.len());
        if rank == 0 {
            [X, Y].into_iter().for_each(|variable| port.store(Litmus::word(variable), 0));
        }
        barrier.wait(port);
        for variable in [X, Y] {
            // Some runs begin with copies that must be invalidated.
            if rng.bool() {
                port.load(Litmus::word(variable));
            }
        }
        barrier.wait(port);
        let mut read = Vec::new();
        for step in self.tasks[rank] {
            port.compute(rng.u64(0..longest));
            match step {
                Write(variable) => port.store(Litmus::word(*variable), 1),
                Read(variable) => read.push(port.load(Litmus::word(*variable))),
            }
        }
        read
    }
}

fn machines() -> Vec<(&'static str, Arc<CoherentModel>)> {
    let bundled = |name: &'static str| (name, catalog::load(name).unwrap().unwrap());
    let mesh = include_str!("../../../../../machines/scc-48.toml")
        .replace("kind = \"buffers\"", "kind = \"directories\"");
    let mut machines = ["xeon-phi-5110p", "xeon-e5-2680-2s", "scc-48"].map(bundled).to_vec();
    machines.push((
        "mesh with directories",
        Arc::new(CoherentModel::from_toml("x.toml", &mesh).unwrap()),
    ));
    machines
}

fn outcomes(model: &Arc<CoherentModel>, tasks: &[&[Step]]) -> BTreeSet<Vec<u64>> {
    let mut bed = CoherentBed::new(Arc::clone(model));
    let pus = Testbed::pus(&bed).to_vec();
    let outcome = |seed: u64| {
        let mut rng = fastrand::Rng::with_seed(seed);
        let mut seats = pus.clone();
        if rng.bool() {
            rng.shuffle(&mut seats);
        }
        bed.seed = seed;
        bed.run(&seats[..tasks.len()], &Litmus { tasks, seed }).unwrap().concat()
    };
    (0..RUNS).map(outcome).collect()
}

fn all_but(reads: u32, forbidden: &[&[u64]]) -> BTreeSet<Vec<u64>> {
    let outcome =
        |bits: u32| (0..reads).map(|read| u64::from(bits >> read & 1)).collect::<Vec<_>>();
    (0..1 << reads)
        .map(outcome)
        .filter(|outcome| !forbidden.contains(&outcome.as_slice()))
        .collect()
}

fn check(tasks: &[&[Step]], reads: u32, forbidden: &[&[u64]]) {
    for (name, model) in machines() {
        assert_eq!(outcomes(&model, tasks), all_but(reads, forbidden), "{name}");
    }
}

#[test]
fn message_passing_is_sequentially_consistent() {
    check(&[&[Write(X), Write(Y)], &[Read(Y), Read(X)]], 2, &[&[1, 0]]);
}

#[test]
fn store_buffering_is_sequentially_consistent() {
    check(&[&[Write(X), Read(Y)], &[Write(Y), Read(X)]], 2, &[&[0, 0]]);
}

#[test]
fn load_buffering_is_sequentially_consistent() {
    check(&[&[Read(X), Write(Y)], &[Read(Y), Write(X)]], 2, &[&[1, 1]]);
}

#[test]
fn independent_reads_of_independent_writes_agree() {
    let readers: [&[Step]; 2] = [&[Read(X), Read(Y)], &[Read(Y), Read(X)]];
    check(&[&[Write(X)], &[Write(Y)], readers[0], readers[1]], 4, &[&[1, 0, 1, 0]]);
}
