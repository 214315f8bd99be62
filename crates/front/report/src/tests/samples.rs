//! Profiles for the tests of this crate.

#[path = "noise.rs"]
mod noise_sample;

use crate::floor::{DrawnPlacement, FloorPlan, SeatingComparison};
pub use noise_sample::noise;
use seatmap_data::machine::{
    CoreDistance, HomeModel, Matrix, Origin, OriginKind, Profile, Pu, Topology,
};
use seatmap_data::pattern::Pattern;
use seatmap_data::plan::{Baselines, Plan, Random};

fn origin() -> Origin {
    Origin {
        kind: OriginKind::Measured,
        source: "lab-7".into(),
        date: Some("2026-02-03".into()),
        tool: Some("seatmap 0.1.0".into()),
    }
}

/// `n` single-threaded cores in groups of `size`, one group an L3, two L3s a package: 40 ns within
/// a group, 100 ns within a package and 250 ns between packages, plus offsets of PUs.
pub fn grouped(n: u32, size: u32) -> Profile {
    let l3 = |os: u32| os / size;
    let package = |os: u32| os / (2 * size);
    let base = |a: u32, b: u32| match (l3(a) == l3(b), package(a) == package(b)) {
        (true, _) => 40.0,
        (false, true) => 100.0,
        _ => 250.0,
    };
    let pu = |os| Pu {
        os,
        core: Some(os),
        smt: Some(0),
        l3: Some(l3(os)),
        numa: Some(package(os)),
        package: Some(package(os)),
        ..Pu::default()
    };
    let mut profile = Profile::new("sample", origin(), Topology { pus: (0..n).map(pu).collect() });
    let median_ns = Matrix::from_fn(n as usize, |i, j| {
        let a = i as u32;
        let b = j as u32;
        if i == j { 0.0 } else { base(a, b) + f64::from(a % size + b % size) }
    });
    profile.core_distance = Some(CoreDistance::imported((0..n).collect(), median_ns));
    let groups =
        Vec::from_iter((0..n.div_ceil(size)).map(|g| (g * size..n.min((g + 1) * size)).collect()));
    profile.home_model = Some(HomeModel {
        between_ns: Matrix::from_fn(groups.len(), |g, h| base(g as u32 * size, h as u32 * size)),
        groups,
        inside_ns: None,
        offset_ns: (0..n).map(|pu| vec![f64::from(pu % size)]).collect(),
        r2: 1.0,
        residual_ns: 0.0,
        pair_view_empty: false,
        star_r2: None,
        smt_ns: None,
        lines: None,
    });
    profile
}

/// Eight PUs in two groups of four, with every part of a profile.
pub fn two_groups() -> Profile {
    Profile::from_json(include_str!("two_groups.json")).unwrap()
}

pub fn pattern(spec: &str) -> Pattern {
    seatmap_data::pattern::generate(spec).unwrap()
}

/// A plan with these costs, of OS order and of compact seats.
pub fn plan(cost: f64, os: f64, compact: f64) -> Plan {
    let random = Random { mean: 400.0, best: 300.0 };
    let baselines = Some(Baselines { os, compact, scatter: 500.0, random });
    Plan { cost: Some(cost), baselines, lower_bound: Some(190.0), ..Plan::new("x", vec![0, 1]) }
}

/// A plan on a machine compared with another placement.
pub fn compared<'a>(
    profile: &Profile,
    pattern: &'a Pattern,
    plan: &Plan,
    before: Vec<u32>,
) -> SeatingComparison<'a> {
    let seatings = [
        DrawnPlacement::in_order(profile, pattern, plan, before),
        DrawnPlacement::planned(pattern, plan),
    ];
    SeatingComparison::new(FloorPlan::of(profile, None), pattern, plan, seatings)
}
