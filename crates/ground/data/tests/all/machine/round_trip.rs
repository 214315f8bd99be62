//! An exported profile is imported again unchanged, as far as the other format can express it.

use proptest::prelude::*;
use seatmap_data::machine::{
    CoreDistance, CoreKind, Matrix, Origin, OriginKind, Profile, Pu, Topology, export, import,
};
use std::collections::BTreeMap;

fn origin() -> Origin {
    Origin { kind: OriginKind::Measured, source: "test".into(), date: None, tool: None }
}

#[derive(Clone, Debug)]
struct Shape {
    packages: u32,
    dies: u32,
    caches: u32,
    cores: u32,
    threads: u32,
    /// Levels in the profile, one bit each.
    known: u32,
    stride: u32,
}

fn topology(shape: &Shape) -> Topology {
    let Shape { packages, dies, caches, cores, threads, known, stride } = *shape;
    let per_package = dies * caches * cores;
    let all_cores = packages * per_package;
    let if_known = |bit: u32, number: u32| (known >> bit & 1 == 1).then_some(number);
    let pu = |index: u32| {
        // As Linux numbers them: the first threads of all cores, then the second.
        let core = index % all_cores;
        let kind = if core.is_multiple_of(per_package) {
            CoreKind::Performance
        } else {
            CoreKind::Efficiency
        };
        Pu {
            os: 3 + index * stride,
            core: if_known(0, core),
            smt: if_known(0, index / all_cores),
            l2: if_known(1, core),
            l3: if_known(2, core / cores),
            die: if_known(3, core / (cores * caches)),
            numa: if_known(4, core / (cores * caches)),
            package: if_known(5, core / per_package),
            kind: if_known(6, 0).map(|_| kind),
            cluster: if_known(7, core / (2 * cores)),
            book: if_known(8, core / (2 * per_package)),
            drawer: if_known(9, core / (4 * per_package)),
            ..Pu::default()
        }
    };
    Topology { pus: (0..all_cores * threads).map(pu).collect() }
}

prop_compose! {
    fn any_shape()(
        packages in 1u32..3, dies in 1u32..3, caches in 1u32..3, cores in 1u32..4, threads in 1u32..3,
        known in 0u32..1024, stride in prop::sample::select(vec![1, 2, 37]),
    ) -> Shape {
        Shape { packages, dies, caches, cores, threads, known, stride }
    }
}

/// Distances like measured ones: any finite positive number, some unknown.
fn with_distances(topology: Topology, seed: u64, hole_every: u64) -> Profile {
    let pus: Vec<u32> = topology.os_indices().collect();
    let mut random = seed;
    let mut next = move || {
        random =
            random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        random >> 33
    };
    let mut median_ns = Matrix::filled(pus.len(), 0.0);
    for (i, j) in (0..pus.len()).flat_map(|i| (0..i).map(move |j| (i, j))) {
        let hole = (i, j) != (1, 0) && next().is_multiple_of(hole_every);
        median_ns.set_both(i, j, if hole { f64::NAN } else { 1.0 + next() as f64 / 3e6 });
    }
    let mut profile = Profile::new("test", origin(), topology);
    profile.core_distance = Some(CoreDistance::imported(pus, median_ns));
    profile
}

/// The numbers of each level in order of their first appearance: they mean nothing else.
fn renumbered(topology: &Topology) -> Topology {
    let mut topology = topology.clone();
    let fields: [fn(&mut Pu) -> &mut Option<u32>; 4] =
        [|pu| &mut pu.core, |pu| &mut pu.l2, |pu| &mut pu.l3, |pu| &mut pu.die];
    for field in fields {
        let mut numbers = BTreeMap::new();
        for number in topology.pus.iter_mut().filter_map(|pu| field(pu).as_mut()) {
            let next = numbers.len() as u32;
            *number = *numbers.entry(*number).or_insert(next);
        }
    }
    topology
}

fn largest_difference(a: &CoreDistance, b: &CoreDistance) -> f64 {
    assert_eq!(a.pus, b.pus);
    let difference = |(i, j, ns): (usize, usize, &f64)| {
        assert_eq!(ns.is_nan(), b.median_ns[(i, j)].is_nan(), "{i} {j}");
        if ns.is_nan() { 0.0 } else { (ns - b.median_ns[(i, j)]).abs() }
    };
    a.median_ns.pairs().map(difference).fold(0.0, f64::max)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn csv_keeps_every_median(n in 2u32..40, seed in any::<u64>(), hole_every in 2u64..50) {
        let profile = with_distances(Topology::unknown(0..n), seed, hole_every);
        let text = export::csv::write(&profile).unwrap();
        let back = import::read(text.as_bytes(), "test.csv", None).unwrap();
        prop_assert_eq!(&back.topology, &profile.topology);
        let difference = largest_difference(profile.core_distance.as_ref().unwrap(), &back.core_distance.unwrap());
        prop_assert_eq!(difference, 0.0);
    }

    #[test]
    fn json_keeps_every_bit(shape in any_shape(), seed in any::<u64>(), hole_every in 2u64..50) {
        let json = with_distances(topology(&shape), seed, hole_every).to_json();
        prop_assert_eq!(Profile::from_json(&json).unwrap().to_json(), json);
    }

    #[test]
    fn hwloc_xml_keeps_topology_and_picoseconds(shape in any_shape(), seed in any::<u64>(), hole_every in 2u64..50) {
        let mut profile = with_distances(topology(&shape), seed, hole_every);
        profile.environment.cpu_model = Some("A \"B\" <C> & D".into()).filter(|_| shape.known >> 5 & 1 == 1);
        let text = export::hwloc_xml::write(&profile).unwrap();
        let back = import::read(text.as_bytes(), "test.xml", None).unwrap();
        prop_assert_eq!(renumbered(&back.topology), renumbered(&profile.topology));
        prop_assert_eq!(&back.environment, &profile.environment);
        match back.core_distance {
            // Rounding to the picosecond moves a figure by half of one, and the check itself by a
            // little more.
            Some(distances) => {
                prop_assert!(largest_difference(profile.core_distance.as_ref().unwrap(), &distances) < 0.000_51);
            }
            None => prop_assert_eq!(profile.topology.pus.len(), 1),
        }
    }
}

#[test]
fn hwloc_xml_keeps_more_than_1024_sparse_pus() {
    let pus: Vec<u32> = (0..1100).map(|k| 2 * k + 1).collect();
    let topology = Topology {
        pus: pus
            .iter()
            .map(|os| Pu { os: *os, package: Some(os / 1024), ..Pu::default() })
            .collect(),
    };
    let text = export::hwloc_xml::write(&with_distances(topology.clone(), 1, 100)).unwrap();
    let back = import::read(text.as_bytes(), "test.xml", None).unwrap();
    assert_eq!(back.topology, topology);
    assert_eq!(back.core_distance.unwrap().pus, pus);
}
