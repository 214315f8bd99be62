//! Golden pictures, and properties of every floor plan.

use super::flow::Flow;
use super::*;
use crate::samples;
use proptest::prelude::*;
use seatmap_data::machine::{Level, catalog, import};
use seatmap_data::pattern::{Edge, Pattern};
use seatmap_data::plan::{Baselines, Channel, Objective, Plan, Random};
use std::collections::BTreeSet;
use std::sync::{Arc, LazyLock};

const RING: &str = include_str!("../../../../../machines/xeon-phi-5110p.toml");
const MESH: &str = include_str!("../../../../../machines/scc-48.toml");

/// Changes to the file: (old text, new text).
fn model(text: &str, changes: &[(&str, &str)]) -> Arc<CoherentModel> {
    let changed = changes.iter().fold(text.to_owned(), |text, (from, to)| {
        assert!(text.contains(from), "{from}");
        text.replace(from, to)
    });
    seatmap_sim::catalog::from_toml("small", &changed).unwrap()
}

/// The last stop has no core; cores have two threads.
fn small_ring() -> Arc<CoherentModel> {
    let changes = [
        ("stops = 64", "stops = 8"),
        ("[15, 31, 47, 63]", "[7]"),
        ("count = 64", "count = 8"),
        ("hash_values = 64", "hash_values = 8"),
        ("threads_per_core = 4", "threads_per_core = 2"),
        ("numbering = \"xeon-phi\"", ""),
    ];
    model(RING, &changes)
}

fn small_mesh() -> Arc<CoherentModel> {
    let changes = [
        ("columns = 6", "columns = 3"),
        ("rows = 4", "rows = 2"),
        ("count = 24", "count = 6"),
        ("hash_values = 24", "hash_values = 6"),
        ("memories = [0, 5, 12, 17]", "memories = [0, 2]"),
    ];
    model(MESH, &changes)
}

/// A picture needs only the topology.
fn bare(model: &CoherentModel) -> Profile {
    let mut profile = samples::two_groups();
    (profile.name, profile.topology, profile.home_model) =
        (model.name.clone(), model.topology.clone(), None);
    profile
}

fn golden(
    profile: &Profile,
    model: Option<&CoherentModel>,
    placement: &[u32],
    homes: &[usize],
) -> String {
    let mut pattern = samples::pattern("ring:4");
    pattern.edges.extend(samples::pattern("pairs:4").edges);
    let edges = Vec::from_iter(pattern.edges.drain(..).filter(|edge| edge.from < 3 || edge.to < 3));
    let pattern = Pattern::gathered("a ring and a bit", 5, edges);
    let channel = |(at, home): (usize, &usize)| Channel {
        from: at,
        to: at + 1,
        home: *home,
        line: None,
        distance_ns: 1.0,
    };
    let random = Random { mean: 350.0, best: 210.0 };
    let plan = Plan {
        pattern: Some(pattern.name.clone()),
        cost: Some(120.0),
        baselines: Some(Baselines { os: 300.0, compact: 250.5, scatter: 400.0, random }),
        objective: Some(Objective::Distance),
        channels: homes.iter().enumerate().map(channel).collect(),
        ..Plan::new(profile.name.clone(), placement.to_vec())
    };
    let before = Vec::from_iter(profile.topology.os_indices().take(5));
    let seatings = [
        DrawnPlacement::in_order(profile, &pattern, &plan, before),
        DrawnPlacement::planned(&pattern, &plan),
    ];
    svg(&SeatingComparison::new(FloorPlan::of(profile, model), &pattern, &plan, seatings))
        .replace("><", ">\n<")
}

#[test]
fn small_machines_match_golden_pictures() {
    let [ring, mesh] = [small_ring(), small_mesh()];
    let picture = golden(&bare(&ring), Some(&ring), &[1, 0, 3, 12, 5], &[0, 1, 7]);
    insta::assert_snapshot!("small_ring_matches_golden_picture", picture);
    let picture = golden(&bare(&mesh), Some(&mesh), &[1, 0, 3, 11, 5], &[]);
    insta::assert_snapshot!("small_mesh_matches_golden_picture", picture);
    let picture = golden(&samples::two_groups(), None, &[1, 0, 3, 7, 3], &[]);
    insta::assert_snapshot!("small_levels_match_golden_picture", picture);
}

#[test]
fn wires_have_the_names_of_the_links() {
    for model in [small_ring(), small_mesh()] {
        let floor = FloorPlan::of(&bare(&model), Some(&model));
        let wires = Vec::from_iter(floor.wires.iter().map(|wire| &wire.name));
        let links = Vec::from_iter(floor.ways.iter().flat_map(|ways| &ways.names));
        assert!(!wires.is_empty() && wires == links, "{wires:?} {links:?}");
    }
}

#[test]
fn simulated_counts_replace_computed_loads() {
    let model = small_ring();
    let pattern = samples::pattern("ring:3");
    let profile = bare(&model);
    let plan = Plan { objective: Some(Objective::Simulated), ..Plan::new("small", vec![0, 2, 4]) };
    let counted = Vec::from_iter((0..16).map(f64::from));
    let seating =
        DrawnPlacement { counted: Some(counted), ..DrawnPlacement::planned(&pattern, &plan) };
    let text = svg(&SeatingComparison::new(
        FloorPlan::of(&profile, Some(&model)),
        &pattern,
        &plan,
        [seating.clone(), seating],
    ));
    assert!(
        text.contains("busiest link, messages") && text.contains("15 (stop 7 to stop 6)"),
        "{text}"
    );
}

#[test]
fn page_colours_match_picture_colours() {
    for step in 1..=super::marks::STEPS {
        let (class, colour) = super::marks::step_at(step);
        assert!(
            crate::html::document::CSS.contains(&format!("--{class}: {colour}")),
            "{class}: {colour}"
        );
    }
}

#[test]
fn hostile_names_are_escaped() {
    let mut profile = samples::two_groups();
    profile.name = "</title><script>alert(1)</script>\u{1b}".into();
    let mut pattern = samples::pattern("ring:2");
    pattern.names = vec!["<script>alert(1)</script>\u{1b}".to_owned(), "b".to_owned()];
    let plan = Plan { names: pattern.names.clone(), ..Plan::new(profile.name.clone(), vec![0, 1]) };
    let text = svg(&samples::compared(&profile, &pattern, &plan, vec![0, 1]));
    assert!(
        !text.contains("<script") && !text.contains('\u{1b}') && text.contains("&lt;script&gt;")
    );
}

/// Bundled ones, models, and published measurements if available.
static MACHINES: LazyLock<Vec<(Profile, Option<Arc<CoherentModel>>)>> = LazyLock::new(|| {
    let described = catalog::names().filter_map(|name| Some((catalog::load(name).ok()?, None)));
    let models = ["scc-48", "xeon-phi-5110p"];
    let models = models.iter().map(|name| seatmap_sim::catalog::load(name).unwrap().unwrap());
    let models =
        models.chain([small_ring(), small_mesh()]).map(|model| (bare(&model), Some(model)));
    described.chain(models).chain(published().into_iter().map(|profile| (profile, None))).collect()
});

fn published() -> Vec<Profile> {
    let Some(folder) = seatmap_needs::published("core-to-core") else { return Vec::new() };
    let files = std::fs::read_dir(folder).unwrap();
    let paths = BTreeSet::from_iter(files.map(|file| file.unwrap().path()));
    let matrices = paths.iter().filter(|path| path.extension().is_some_and(|end| end == "csv"));
    let read = |path: &std::path::PathBuf| {
        import::read(&std::fs::read(path).unwrap(), &path.to_string_lossy(), None).ok()
    };
    let explained = |mut profile: Profile| {
        let distance = profile.core_distance.as_ref();
        profile.home_model = distance
            .and_then(|distance| seatmap_measure::fit::explain(distance, &profile.topology));
        profile
    };
    matrices.filter_map(read).map(explained).collect()
}

/// Whether seats overlap by more than rounding.
fn overlap(a: &FloorSeat, b: &FloorSeat) -> bool {
    let across = (a.at.0 - b.at.0).abs();
    let down = (a.at.1 - b.at.1).abs();
    let apart = (a.size + b.size) / 2.0 - 1e-6;
    if a.is_round && b.is_round {
        across.hypot(down) < apart
    } else {
        across < apart && down < apart
    }
}

#[test]
fn seats_are_separate_and_inside_areas() {
    for (profile, model) in MACHINES.iter() {
        let floor = FloorPlan::of(profile, model.as_deref());
        let name = &profile.name;
        let drawn = BTreeSet::from_iter(floor.seats.iter().map(|seat| seat.os));
        assert_eq!([drawn.len(), floor.seats.len()], [profile.topology.pus.len(); 2], "{name}");
        for (at, seat) in floor.seats.iter().enumerate() {
            let over = floor.seats[..at].iter().find(|other| overlap(seat, other));
            assert!(over.is_none(), "{name}: {seat:?} over {over:?}");
            assert!(seat.size >= 9.0, "{name}: {} is too small to be read", seat.size);
        }
        let size = [floor.width, floor.height];
        assert!(size.iter().all(|length| *length <= SIDE), "{name}: {size:?}");
        let inside = |(x, y): (f64, f64), half: f64| {
            x - half >= 0.0
                && y - half >= 0.0
                && x + half <= floor.width
                && y + half <= floor.height
        };
        assert!(floor.seats.iter().all(|seat| inside(seat.at, seat.size / 2.0)), "{name}");
        assert!(floor.homes.iter().all(|home| inside(home.at, 6.5)), "{name}");
        assert!(floor.labels.iter().all(|label| inside(label.at, 4.0)), "{name}");
        let far = |area: &FloorArea| (area.corner.0 + area.width, area.corner.1 + area.height);
        assert!(
            floor.areas.iter().all(|area| inside(area.corner, 0.0) && inside(far(area), 0.0)),
            "{name}"
        );
    }
}

#[test]
fn areas_contain_exactly_their_seats() {
    for (profile, model) in MACHINES.iter() {
        let floor = FloorPlan::of(profile, model.as_deref());
        for area in &floor.areas {
            let is_in = |seat: &&FloorSeat| {
                let x = seat.at.0 - area.corner.0;
                let y = seat.at.1 - area.corner.1;
                (0.0..=area.width).contains(&x) && (0.0..=area.height).contains(&y)
            };
            let seats = BTreeSet::from_iter(floor.seats.iter().filter(is_in).map(|seat| seat.os));
            let pus = area.pus.iter().copied().collect();
            assert_eq!(seats, pus, "{}: {:?}", profile.name, area.names);
        }
    }
}

#[test]
fn areas_match_topology_levels() {
    let profile = catalog::load("epyc-7r13-2s").unwrap();
    let floor = FloorPlan::of(&profile, None);
    for (level, word) in [(Level::Package, "package "), (Level::L3, "L3 "), (Level::Core, "core ")]
    {
        let is_of_level = |area: &&FloorArea| area.names.iter().any(|name| name.starts_with(word));
        let count = floor.areas.iter().filter(is_of_level).count();
        assert_eq!(count, profile.topology.count(|pu| level.of(pu)), "{word}");
    }
}

/// A machine's index, a pattern of at most one task more than PUs, and seats.
fn seated() -> impl Strategy<Value = (usize, Pattern, Vec<u32>)> {
    (0..MACHINES.len(), any::<u64>(), 1_usize..60).prop_flat_map(|(machine, seed, tasks)| {
        let pus = Vec::from_iter(MACHINES[machine].0.topology.os_indices());
        let tasks = tasks.min(pus.len()) + seed as usize % 2;
        let edge = (0..tasks, 0..tasks, 1_u32..1000).prop_map(|(from, to, bytes)| Edge {
            from,
            to,
            bytes: f64::from(bytes),
            messages: 1.0,
        });
        let edges = proptest::collection::vec(edge, 0..80);
        let seats = proptest::sample::subsequence(pus.clone(), tasks.min(pus.len())).prop_shuffle();
        (edges, seats).prop_map(move |(edges, mut seats)| {
            seats.resize(tasks, pus[0]);
            let edges = edges.into_iter().filter(|edge| edge.from != edge.to);
            (machine, Pattern::gathered("any", tasks, edges), seats)
        })
    })
}

fn seating(floor: &FloorPlan, pattern: &Pattern, seats: &[u32]) -> DrawnPlacement {
    let homes =
        (0..pattern.edges.len()).map(|at| (at * 7).checked_rem(floor.homes.len())).collect();
    DrawnPlacement { homes, ..DrawnPlacement::planned(pattern, &Plan::new("any", seats.to_vec())) }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn links_conserve_traffic_and_tasks_appear_once((machine, pattern, seats) in seated()) {
        let (profile, model) = &MACHINES[machine];
        let floor = FloorPlan::of(profile, model.as_deref());
        let seating = seating(&floor, &pattern, &seats);
        let flow = Flow::of(&floor, &pattern, &seating);
        let mut tasks = Vec::from_iter(flow.tasks.values().flatten().copied());
        tasks.sort_unstable();
        prop_assert_eq!(tasks, Vec::from_iter(0..pattern.tasks));
        if let Some(ways) = &floor.ways {
            // Every node conserves traffic.
            let mut balance = vec![0.0; ways.fabric.nodes()];
            for (link, load) in ways.fabric.links().iter().zip(&flow.wires) {
                balance[link.from as usize] -= load;
                balance[link.to as usize] += load;
            }
            let mut hops = 0.0;
            for (at, edge) in pattern.edges.iter().enumerate() {
                let from = seats[edge.from];
                let to = seats[edge.to];
                balance[ways.node_of_pu[&from] as usize] += edge.bytes;
                balance[ways.node_of_pu[&to] as usize] -= edge.bytes;
                hops += edge.bytes * ways.links(from, to, seating.home(at)).len() as f64;
            }
            prop_assert!(balance.iter().all(|left| left.abs() < 1e-6), "{:?}", balance);
            prop_assert!((flow.wires.iter().sum::<f64>() - hops).abs() < 1e-6);
        }
        for (area, load) in floor.areas.iter().zip(&flow.borders) {
            let crosses = |edge: &&Edge| area.pus.contains(&seats[edge.from]) != area.pus.contains(&seats[edge.to]);
            let crossed: f64 = pattern.edges.iter().filter(crosses).map(|edge| edge.bytes).sum();
            prop_assert!((load - crossed).abs() < 1e-6, "{:?}: {} for {}", area.names, load, crossed);
        }
    }

    #[test]
    fn every_picture_is_valid((machine, pattern, seats) in seated()) {
        let (profile, model) = &MACHINES[machine];
        let plan = Plan::new("any", seats.clone());
        let floor = FloorPlan::of(profile, model.as_deref());
        let seatings = [seating(&floor, &pattern, &seats), DrawnPlacement::planned(&pattern, &plan)];
        let text = svg(&SeatingComparison::new(floor, &pattern, &plan, seatings));
        prop_assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
        let taken = seats.iter().collect::<BTreeSet<_>>().len();
        prop_assert_eq!(text.matches("class=\"taken\"").count(), 2 * taken);
    }
}

#[test]
fn isolated_cpus_are_marked_and_named() {
    let profile = bare(&small_ring());
    let floor = |isolated: &[u32]| {
        let floor = FloorPlan::of(&profile, None);
        machine(&FloorPlan { isolated: isolated.to_vec(), ..floor }).into_string()
    };
    let [plain, marked] = [floor(&[]), floor(&[1, 2])];
    assert!(!plain.contains("stroke-dasharray") && !plain.contains("isolated"));
    assert_eq!(marked.matches("stroke-dasharray").count(), 2);
    assert!(marked.contains("are isolated: 1,2."), "{marked}");
}
