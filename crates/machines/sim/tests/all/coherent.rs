//! Coherent models compared with their own formula, and their behaviour when programs fail.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use proptest::prelude::*;
use seatmap_data::port::{Addr, Port, Testbed, Workload};
use seatmap_machines::workload::PingPong;
use seatmap_sim::engine::TaskRefusal;
use seatmap_sim::{CoherentBed, CoherentModel, catalog};
use std::sync::Arc;

fn model(name: &str) -> Arc<CoherentModel> {
    catalog::load(name).unwrap().unwrap()
}

fn bed(name: &str) -> CoherentBed {
    CoherentBed::new(model(name))
}

/// Ticks of a round trip once the two tasks are in step.
fn round_trip(bed: &mut CoherentBed, a: u32, b: u32, line: u32) -> u64 {
    let lines = vec![Addr::line(line)];
    let pair = PingPong { lines, gate: Addr::line(0), batches: 3, round_trips: 1 };
    let stamps = &bed.run(&[a, b], &pair).unwrap()[0].stamps;
    stamps[3].ticks - stamps[2].ticks
}

proptest! {
    #[test]
    fn unloaded_round_trip_matches_the_formula(a in 0_u32..240, b in 0_u32..240, line in 2_u32..5000) {
        for (name, pus) in [("xeon-phi-5110p", 240), ("xeon-e5-2680-2s", 32)] {
            let a = a % pus;
            let b = b % pus;
            prop_assume!(a != b);
            let mut bed = bed(name);
            let wanted = bed.model().round_trip_ticks(a, b, line);
            prop_assert_eq!(Some(round_trip(&mut bed, a, b, line)), wanted, "{} {} {} {}", name, a, b, line);
        }
    }
}

#[test]
fn levels_reproduce_the_distances_of_their_profile() {
    let name = "xeon-e5-2680-2s";
    let profile = seatmap_data::machine::catalog::load("xeon-e5-2680-2s").unwrap();
    let simulated = seatmap_sim::coherent::profile(&model(name)).unwrap();
    simulated.check().unwrap();
    let seen = simulated.core_distance.unwrap().median_ns;
    let wanted = profile.core_distance.unwrap().median_ns;
    // Distances are twice a whole number of cycles.
    let cycle_ns = 1.0 / 2.7;
    assert!(wanted.pairs().all(|(i, j, ns)| (seen[(i, j)] - ns).abs() <= 1.01 * cycle_ns));
}

#[test]
fn ring_profile_knows_its_homes() {
    let model = model("xeon-phi-5110p");
    let profile = seatmap_sim::coherent::profile(&model).unwrap();
    profile.check().unwrap();
    let distance = profile.core_distance.unwrap();
    let homes = profile.home_model.unwrap();
    assert_eq!((homes.homes(), homes.lines.as_ref().unwrap().nearest_pu.len()), (64, 64));
    let home = model.home_of(64).unwrap() as usize;
    let core = |pu: usize| profile.topology.pus[pu].core;
    for (i, j, ns) in distance.median_ns.pairs().filter(|(i, j, _)| core(*i) != core(*j)) {
        let explained =
            homes.between_ns[(0, 0)] + homes.offset_ns[i][home] + homes.offset_ns[j][home];
        assert!((explained - ns).abs() < 1e-6, "{i} {j}");
    }
}

struct Storm {
    tasks: usize,
    which: u8,
}

impl Workload for Storm {
    type Output = u64;

    fn tasks(&self) -> usize {
        self.tasks
    }

    fn lines(&self) -> u32 {
        2
    }

    fn task<P: Port>(&self, port: &P, rank: usize) -> u64 {
        let word = Addr::line(1);
        match (self.which, rank) {
            (0, _) => (0..20).map(|_| port.fetch_add(word, 1)).sum(),
            (1, 0) => port.wait_while(word, 0),
            (2, 1) => assert_failed(),
            (3, _) => loop {
                port.load(word);
                port.pause();
            },
            (4, 0) => port.load(Addr::line(2)),
            (5, 1) => std::panic::resume_unwind(Box::new(TaskRefusal("no such word".into()))),
            _ => 0,
        }
    }
}

fn assert_failed() -> u64 {
    let one = 1;
    let two = 2;
    assert_eq!(one, two, "a task that fails");
    0
}

#[test]
fn contended_line_loses_no_update() {
    for (name, tasks) in [("xeon-phi-5110p", 240), ("xeon-e5-2680-2s", 32), ("scc-48", 48)] {
        let mut bed = bed(name);
        let seats: Vec<u32> = (0..tasks).collect();
        let seen: u64 =
            bed.run(&seats, &Storm { tasks: tasks as usize, which: 0 }).unwrap().iter().sum();
        let last = 20 * u64::from(tasks);
        assert_eq!(seen, last * (last - 1) / 2, "{name}");
        let first = bed.counters().clone();
        let nacks: u64 = first.directories.iter().map(|directory| directory.nacks).sum();
        assert_eq!(nacks > 0, name == "xeon-phi-5110p", "{name}: {nacks}");
        let mut again = CoherentBed::new(model(name));
        again.run(&seats, &Storm { tasks: tasks as usize, which: 0 }).unwrap();
        assert_eq!(*again.counters(), first, "{name}: the same again");
        again.seed = 5;
        again.run(&seats, &Storm { tasks: tasks as usize, which: 0 }).unwrap();
        assert_ne!(again.counters().cycles, first.cycles, "{name}: other starts");
    }
}

#[test]
fn failing_program_error_names_task_and_cause() {
    let failure = |which| {
        let mut bed = bed("xeon-phi-5110p");
        bed.limit_events(10_000);
        bed.run(&[9, 17], &Storm { tasks: 2, which }).unwrap_err().to_string()
    };
    insta::assert_snapshot!([1, 2, 3, 4, 5].map(failure).join("\n"));
}

#[test]
fn invalid_seats_are_refused() {
    let refusal = |seats: &[u32], tasks| {
        bed("scc-48").run(seats, &Storm { tasks, which: 0 }).unwrap_err().to_string()
    };
    insta::assert_snapshot!(
        [refusal(&[0], 2), refusal(&[0, 48], 2), refusal(&[7, 7], 2)].join("\n")
    );
}

#[test]
fn impossible_models_are_refused() {
    let phi = include_str!("../../../../../machines/xeon-phi-5110p.toml");
    let refusal = |from: &str, to: &str| {
        assert!(phi.contains(from), "{from}");
        CoherentModel::from_toml("x.toml", &phi.replacen(from, to, 1)).unwrap_err().to_string()
    };
    let refusals = [
        ("hop_cycles = { value = 3", "hop_cycles = { value = 0"),
        ("[15, 31, 47, 63]", "[15, 31, 47, 64]"),
        ("[15, 31, 47, 63]", "[15, 15, 47, 63]"),
        ("count = 64", "count = 65"),
        ("hash_values = 64", "hash_values = 32"),
        ("hash_values = 64", "hash_values = 128"),
        ("stops = 64", "stops = 4000000000"),
        ("threads_per_core = 4", "threads_per_core = 4000000000"),
        ("frequency_ghz = 1.053", "frequency_ghz = 0"),
        ("kind = \"ring\"", "kind = \"torus\""),
        ("seatmap-coherent/1", "seatmap-coherent/2"),
        ("look_cycles", "lok_cycles"),
    ]
    .map(|(from, to)| refusal(from, to));
    insta::assert_snapshot!(refusals.join("\n"));
    let one_stop = refusal("stops = 64", "stops = 1");
    assert_eq!(one_stop, "x.toml: fabric has 1 stop or tile; give 2 to 1024");
}
