//! Coherent models against their own formula, and their behaviour where programs fail.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use proptest::prelude::*;
use seatmap_port::{Addr, Barrier, Port, Testbed, Workload};
use seatmap_sim::{CoherentBed, CoherentModel, catalog};
use std::sync::Arc;

fn model(name: &str) -> Arc<CoherentModel> {
    catalog::coherent(name).unwrap().unwrap()
}

fn bed(name: &str) -> CoherentBed {
    CoherentBed::new(model(name))
}

/// Algorithm 1 of Liu et al. 2015, for pairs of tasks with a line each: core cycles of each round trip.
struct PingPong {
    lines: Vec<u32>,
    rounds: usize,
}

impl Workload for PingPong {
    type Output = Vec<u64>;

    fn tasks(&self) -> usize {
        2 * self.lines.len()
    }

    fn lines(&self) -> u32 {
        self.lines.iter().max().unwrap() + 1
    }

    fn task<P: Port>(&self, port: &P, rank: usize) -> Vec<u64> {
        let (word, own) = (Addr::line(self.lines[rank / 2]), (rank % 2) as u64);
        if own == 0 {
            port.store(word, 1);
        }
        Barrier::new(Addr::line(0), self.tasks()).wait(port);
        let turn = |_| {
            port.wait_while(word, own);
            port.store(word, own);
            port.stamp().ticks
        };
        let ticks: Vec<u64> = (0..=self.rounds).map(turn).collect();
        ticks.windows(2).map(|two| two[1] - two[0]).collect()
    }
}

fn round_trip(bed: &mut CoherentBed, a: u32, b: u32, line: u32) -> u64 {
    let pair = PingPong { lines: vec![line], rounds: 3 };
    let seen = bed.run(&[a, b], &pair).unwrap();
    seen[0][2]
}

proptest! {
    #[test]
    fn an_unloaded_pair_takes_what_the_formula_says(a in 0_u32..240, b in 0_u32..240, line in 1_u32..5000) {
        for (name, pus) in [("xeon-phi-5110p", 240), ("xeon-e5-2680-2s", 32)] {
            let (a, b) = (a % pus, b % pus);
            prop_assume!(a != b);
            let mut bed = bed(name);
            let wanted = bed.model().round_trip_cycles(a, b, line);
            prop_assert_eq!(Some(round_trip(&mut bed, a, b, line)), wanted, "{} {} {} {}", name, a, b, line);
        }
    }
}

#[test]
fn figures() {
    for name in ["xeon-phi-5110p", "xeon-e5-2680-2s"] {
        let model = model(name);
        let all: Vec<u64> = (0..model.topology.pus.len() as u32)
            .flat_map(|a| (0..a).map(move |b| (a, b)))
            .flat_map(|(a, b)| (1..40).map(move |l| (a, b, l)))
            .filter_map(|(a, b, l)| model.round_trip_cycles(a, b, l))
            .collect();
        let mut all = all;
        all.sort();
        eprintln!(
            "{name} {:?} {:?} {:?} {:?} {:?}",
            all[0],
            all[all.len() / 20],
            all[all.len() / 10],
            all[all.len() / 2],
            all.last()
        );
    }
    let m = model("xeon-phi-5110p");
    let best = (0..240)
        .flat_map(|a| (0..a).map(move |b| (a, b)))
        .flat_map(|(a, b)| (1..200).map(move |l| (a, b, l)))
        .filter(|(a, b, _)| m.topology.pus[*a as usize].core != m.topology.pus[*b as usize].core)
        .filter_map(|(a, b, l)| m.round_trip_cycles(a, b, l))
        .min();
    eprintln!("best {best:?}");
    let mut bed = bed("scc-48");
    eprintln!("scc {:?}", [1, 2, 10, 47].map(|b| round_trip(&mut bed, 0, b, 5)));
}

#[test]
fn loaded() {
    for pairs in [1, 4, 10, 30, 60, 120] {
        let mut bed = bed("xeon-phi-5110p");
        bed.limit_events(20_000_000);
        let seats: Vec<u32> = (0..2 * pairs).map(|at| at * 7 % 240).collect();
        let lines = (0..pairs).map(|at| 64 + 2 * at).collect();
        let began = std::time::Instant::now();
        let seen = match bed.run(&seats, &PingPong { lines, rounds: 20 }) {
            Ok(seen) => seen,
            Err(e) => {
                eprintln!("{e}");
                break;
            }
        };
        let s = began.elapsed().as_secs_f64();
        let mut all: Vec<u64> = seen.iter().flat_map(|t| t[2..18].iter().copied()).collect();
        all.sort();
        let c = bed.counters();
        eprintln!(
            "{pairs}: {} {} {} {}  {:.1} M/s {} ev  bounces {} waits {:?}",
            all[0],
            all[all.len() / 2],
            all[all.len() * 9 / 10],
            all[all.len() - 1],
            c.events as f64 / s / 1e6,
            c.events,
            c.directories.iter().map(|d| d.bounces).sum::<u64>(),
            c.lanes.iter().map(|l| l.wait_cycles).collect::<Vec<_>>()
        );
    }
}
