//! Hierarchical machines: the simulation gives the distances in the file, and impossible files are
//! refused.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use proptest::prelude::*;
use proptest::sample::{Index, select};
use seatmap_data::machine::description::Basis;
use seatmap_sim::coherent::hierarchy::CoreWritten;
use seatmap_sim::coherent::{self, DistanceParts, Hierarchy, HierarchyHomes, MEASURED_LINE};
use seatmap_sim::figure::ModelFigure;
use seatmap_sim::{CoherentModel, catalog};
use std::sync::Arc;

fn model(levels: &Hierarchy) -> CoherentModel {
    CoherentModel::from_toml("x.toml", &levels.to_toml()).unwrap()
}

/// Two packages of two groups; the second group of each has cores with two threads. Packages are
/// far, groups are near, and one pair is odd.
fn small() -> Hierarchy {
    let core = |at: u32| CoreWritten {
        pus: if at % 4 < 2 { vec![at] } else { vec![at, at + 8] },
        group: at / 2,
        package: Some(at / 4),
        sibling_ns: (at % 4 >= 2).then_some(20.0),
        offset_ns: vec![f64::from(at % 2) * 3.5],
        ..CoreWritten::default()
    };
    let described = seatmap_data::machine::catalog::load("xeon-e5-2680-2s").unwrap();
    let mut levels = Hierarchy::described(&described, "a test", 2.5).unwrap();
    levels.ticks_per_cycle = 4;
    levels.cores = (0..8).map(core).collect();
    let between =
        |a: i32, b: i32| if a == b { 50.0 } else { 90.0 + 60.0 * f64::from((a / 2 - b / 2).abs()) };
    levels.distances.between_ns = (0..4).map(|a| (0..4).map(|b| between(a, b)).collect()).collect();
    levels.distances.rest_ns = (0..8).map(|a| vec![0.0; a]).collect();
    levels.distances.rest_ns[7][1] = -2.5;
    levels
}

fn simulated(model: CoherentModel) -> seatmap_data::machine::Profile {
    coherent::profile(&Arc::new(model)).unwrap()
}

#[test]
fn every_pair_has_the_distance_of_the_file() {
    let levels = small();
    let tick_ns = 0.1;
    let profile = simulated(model(&levels));
    let distance = profile.core_distance.unwrap();
    let core = |pu: u32| levels.cores.iter().position(|core| core.pus.contains(&pu)).unwrap();
    for (i, j, ns) in distance.median_ns.pairs() {
        let a = core(distance.pus[i]);
        let b = core(distance.pus[j]);
        let wanted = if a == b { 20.0 } else { levels.round_trip_ns(a, b, 0) };
        assert!((ns - wanted).abs() < 0.51 * tick_ns, "{i} {j}: {ns}, {wanted}");
    }
}

/// Cores in groups with offsets by home, which are smaller than the differences of distances.
fn machines() -> impl Strategy<Value = Hierarchy> {
    let hundredths = |range: std::ops::Range<u32>| range.prop_map(|value| f64::from(value) / 100.0);
    let core = (0_u32..4, prop::collection::vec(hundredths(0..500), 6), 0_u32..2);
    (
        prop::collection::vec(core, 3..14),
        hundredths(3000..9000),
        hundredths(10_000..30_000),
        1_u32..7,
        1_u32..99,
        any::<bool>(),
    )
        .prop_map(|(cores, inside, outside, homes, seed, settled)| {
            let mut levels = small();
            levels.distances.rest_ns.clear();
            let cell = |a: usize, b: usize| if a == b { inside } else { outside };
            levels.distances.between_ns =
                (0..4).map(|a| (0..4).map(|b| cell(a, b)).collect()).collect();
            levels.homes = (homes > 1).then_some(HierarchyHomes {
                count: homes,
                hash_seed: seed,
                settled_in_groups: settled,
            });
            let core =
                |(at, (group, offsets, package)): (usize, (u32, Vec<f64>, u32))| CoreWritten {
                    pus: vec![at as u32],
                    group,
                    package: Some(package),
                    offset_ns: offsets[..homes as usize].to_vec(),
                    ..CoreWritten::default()
                };
            levels.cores = cores.into_iter().enumerate().map(core).collect();
            levels
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn simulation_formula_and_file_agree(levels in machines()) {
        prop_assert_eq!(&Hierarchy::read("x", &levels.to_toml()).unwrap(), &levels);
        let model = model(&levels);
        let tick_ns = model.ns_per_tick();
        let home = levels.home_of(MEASURED_LINE);
        let profile = simulated(model.clone());
        profile.check().unwrap();
        for (i, j, ns) in profile.core_distance.unwrap().median_ns.pairs() {
            let formula = model.round_trip_ticks(i as u32, j as u32, MEASURED_LINE).unwrap() as f64 * tick_ns;
            prop_assert!((ns - formula).abs() < 1e-6, "{} {}: simulated {}, by formula {}", i, j, ns, formula);
            let wanted = levels.round_trip_ns(i, j, home);
            prop_assert!((ns - wanted).abs() < 0.51 * tick_ns, "{} {}: simulated {}, wanted {}", i, j, ns, wanted);
        }
    }

    /// Distances to lines of other homes differ by their offsets, up to a tick of each of the
    /// twelve routes and half a tick of each direction, which is rounded as a whole.
    #[test]
    fn every_home_has_its_offsets(levels in machines()) {
        let model = model(&levels);
        for line in MEASURED_LINE..MEASURED_LINE + 40 {
            let home = levels.home_of(line);
            prop_assert_eq!(model.home_of(line).map_or(0, |home| home as usize), home);
            for (a, b) in (0..levels.cores.len()).flat_map(|a| (0..a).map(move |b| (a, b))) {
                let settled = levels.homes.as_ref().is_none_or(|homes| homes.settled_in_groups);
                if settled && levels.cores[a].group == levels.cores[b].group {
                    continue;
                }
                let ticks = model.round_trip_ticks(a as u32, b as u32, line).unwrap();
                let off = ticks as f64 * model.ns_per_tick() - levels.round_trip_ns(a, b, home);
                prop_assert!(off.abs() <= 13.0 * model.ns_per_tick(), "{} {} line {}: off by {}", a, b, line, off);
            }
        }
    }

    #[test]
    fn corrupted_file_is_refused_or_runs(
        changes in prop::collection::vec((any::<Index>(), 0_usize..12, select(&POISON)), 1..4)
    ) {
        let mut text = small().to_toml();
        for (at, length, poison) in changes {
            let mut from = at.index(text.len());
            while !text.is_char_boundary(from) {
                from -= 1;
            }
            let to = (from + length).min(text.len());
            if text.is_char_boundary(to) {
                text.replace_range(from..to, poison);
            }
        }
        if let Ok(model) = catalog::from_toml("x.toml", &text) {
            prop_assert!(model.topology.pus.len() >= 2);
            let [a, b] = [0, 1].map(|at: usize| model.topology.pus[at].os);
            prop_assert!(model.round_trip_ticks(a, b, MEASURED_LINE).is_some_and(|ticks| ticks > 0));
        }
    }
}

const POISON: [&str; 16] = [
    "",
    "nan",
    "inf",
    "-1",
    "0",
    "1e300",
    "4294967296",
    "]",
    "[",
    "}",
    "\"",
    "\n",
    "=",
    "null",
    "é",
    "[[1.0]]",
];

#[test]
fn impossible_files_are_refused() {
    let text = small().to_toml();
    let refusal = |from: &str, to: &str| {
        assert!(text.contains(from), "{from}");
        CoherentModel::from_toml("x.toml", &text.replacen(from, to, 1)).unwrap_err().to_string()
    };
    let refusals = [
        ("seatmap-coherent/1", "seatmap-coherent/7"),
        ("ticks_per_cycle = 4", "ticks_per_cycle = 0"),
        ("value = 2.5", "value = -2.5"),
        ("pus = [1]", "pus = [0]"),
        ("pus = [1]", "pus = []"),
        ("pus = [1]", "pus = [4000000000]"),
        ("group = 3", "group = 4"),
        ("offset_ns = [3.5]", "offset_ns = [3.5, 1.0]"),
        ("offset_ns = [3.5]", "offset_ns = [nan]"),
        ("offset_ns = [3.5]", "offset_ns = [1e308]"),
        ("offset_ns = [3.5]", "sibling_ns = -1, offset_ns = [3.5]"),
        ("sibling_ns = 20.0", "sibling_ns = 900.0"),
        ("50.0, 90.0", "50.0, 91.0"),
        ("50.0, 90.0", "50.0"),
        ("[50.0, 90.0", "[nan, 90.0"),
        ("[50.0, 90.0", "[-50.0, 90.0"),
        ("    [0.0],\n", "    [],\n"),
        ("directory_busy_cycles = { value = 1.0", "directory_busy_cycles = { value = 0.0"),
    ]
    .map(|(from, to)| refusal(from, to));
    insta::assert_snapshot!(refusals.join("\n"));
}

#[test]
fn far_siblings_become_as_near_as_the_nearest_core() {
    let mut profile = seatmap_data::machine::catalog::load("xeon-e5-2680-2s").unwrap();
    let topology = profile.topology.clone();
    let distance = profile.core_distance.as_mut().unwrap();
    let pus = distance.pus.clone();
    let far = |i: usize, j: usize| topology.are_smt_siblings(pus[i], pus[j]);
    let known = distance.median_ns.clone();
    distance.median_ns = seatmap_data::machine::Matrix::from_fn(pus.len(), |i, j| {
        if far(i, j) { 900.0 } else { known[(i, j)] }
    });
    let levels = Hierarchy::described(&profile, "a test", 2.7).unwrap();
    let nearest = levels.round_trip_ns(0, 1, 0);
    assert!(
        levels.cores.iter().all(|core| core.sibling_ns == Some(nearest)),
        "{nearest}: {:?}",
        levels.cores[0]
    );
    assert!(levels.model("a test").is_ok());
}

#[test]
fn profile_with_one_core_has_no_levels() {
    let parts = DistanceParts {
        core_of: vec![0, 0],
        group_of: vec![0],
        package_of: vec![None],
        offset_ns: vec![vec![0.0]],
        homes: None,
        frequency_ghz: ModelFigure { value: 3.0, kind: Basis::Assumption, source: String::new() },
        ticks_per_cycle: 1,
    };
    let profile = seatmap_data::machine::import::read(b",\n10.5,\n", "duo.csv", None).unwrap();
    assert!(parts.levels(&profile).unwrap_err().to_string().contains("one core"));
}
