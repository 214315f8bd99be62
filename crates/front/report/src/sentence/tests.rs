//! Tests each page's sentence.

use super::*;
use crate::samples::{self, plan};
use seatmap_data::machine::Matrix;

fn shown(profile: &Profile) -> String {
    of_profile(profile, Digits::of(profile))
}

#[test]
fn distance_sentence_recommends_seats() {
    let mut profile = samples::two_groups();
    insta::assert_snapshot!(shown(&profile), @"A cache line's round trip takes 43.0 ns between the nearest cores (same L3) and 103.0 ns between the farthest (same package), 2.4 times as long: seat communicating threads on near cores.");
    let distance = profile.core_distance.as_mut().unwrap();
    (distance.ci95_low_ns, distance.ci95_high_ns) = (None, None);
    distance.median_ns = Matrix::filled(8, 80.0);
    assert_eq!(
        shown(&profile),
        "All cores are about equally far apart (80.0 ns), so seats matter little."
    );
    let unlike = |i: usize, j: usize| 600.0 + 100.0 * (i + j) as f64;
    profile.core_distance.as_mut().unwrap().median_ns = Matrix::from_fn(8, unlike);
    profile
        .topology
        .pus
        .iter_mut()
        .for_each(|pu| (pu.l3, pu.numa, pu.package) = (None, None, Some(0)));
    profile.home_model = None;
    assert!(
        shown(&profile).starts_with("Pairs of cores are 900.0 to 1700.0 ns apart"),
        "{}",
        shown(&profile)
    );
    profile.core_distance = None;
    assert_eq!(shown(&profile), "This profile has no distances: run 'seatmap measure' on sample.");
}

/// Up to six cores under one cache; their pairs' distances repeat this list, each known to within
/// `off_ns`.
fn of_pairs(cores: usize, distances_ns: &[f64], off_ns: f64) -> Profile {
    let mut profile = samples::grouped(cores as u32, 8);
    profile.home_model = None;
    let cell = |i: usize, j: usize| distances_ns[(i.min(j) * 5 + i.max(j)) % distances_ns.len()];
    let around = |by: f64| {
        let ns = move |i: usize, j: usize| if i == j { 0.0 } else { cell(i, j) + by };
        Matrix::from_fn(cores, ns)
    };
    let distance = profile.core_distance.as_mut().unwrap();
    distance.median_ns = around(0.0);
    distance.ci95_low_ns = Some(around(-off_ns));
    distance.ci95_high_ns = Some(around(off_ns));
    profile
}

#[test]
fn noisy_pairs_are_not_ranked() {
    let mut one = of_pairs(2, &[154.0], 97.0);
    // Scattered samples of one pair do not make pairs different.
    let deciles = std::array::from_fn(|at| 57.0 + 30.0 * at as f64);
    one.core_distance.as_mut().unwrap().deciles_ns = Some(vec![Some(deciles)]);
    let only = "The two cores are 154.0 ns apart. With a single pair, seats do not matter.";
    assert_eq!(shown(&one), only);
    let distances = [80.0, 95.0, 140.0];
    for cores in [3, 4] {
        let noisy = shown(&of_pairs(cores, &distances, 40.0));
        assert!(noisy.starts_with("No pair of cores is measurably nearer"), "{noisy}");
        let clear = shown(&of_pairs(cores, &distances, 4.0));
        assert!(clear.starts_with("Pairs of cores are "), "{clear}");
        let equal = shown(&of_pairs(cores, &[80.0], 40.0));
        assert!(equal.starts_with("All cores are about equally far apart (80.0 ns)"), "{equal}");
    }
}

#[test]
fn noisy_classes_are_not_ranked() {
    let mut profile = samples::two_groups();
    let distance = profile.core_distance.as_mut().unwrap();
    distance.ci95_low_ns = Some(Matrix::filled(8, 30.0));
    distance.ci95_high_ns = Some(Matrix::filled(8, 190.0));
    let said = shown(&profile);
    assert!(said.starts_with("No pair of cores is measurably nearer"), "{said}");
}

#[test]
fn far_home_does_not_define_farthest_class() {
    let profile = seatmap_data::machine::catalog::load("epyc-7r13-2s").unwrap();
    let said = shown(&profile);
    assert!(said.contains("394.4 ns between the farthest (other package)"), "{said}");
}

#[test]
fn plan_sentence_compares_with_os_order() {
    let proven = Plan { optimal: true, ..plan(200.0, 200.0, 300.0) };
    let unknown = Plan { lower_bound: None, ..plan(200.0, 250.0, 200.0) };
    let silent = Plan { cost: None, ..plan(1.0, 1.0, 1.0) };
    let all = [plan(200.0, 250.0, 300.0), proven, unknown, silent].map(|plan| of_plan(&plan));
    insta::assert_snapshot!(all.join("\n"), @"
    The plan costs 20.0 % less than OS order; no placement can be more than 5.0 % cheaper.
    No placement was found that costs less than OS order; proven optimal.
    The plan (compact costs the same) costs 20.0 % less than OS order; no lower bound is known.
    This plan has no cost: run it to judge it.
    ");
    let of_nothing = Plan { lower_bound: Some(0.0), ..plan(0.0, 0.0, 0.0) };
    assert!(of_plan(&of_nothing).starts_with("No placement was found"), "{of_nothing:?}");
}

#[test]
fn noise_names_the_cpu_to_use() {
    let two = samples::noise();
    let one = |at: usize| NoiseReport { cpus: vec![two.cpus[at].clone()], ..two.clone() };
    let quiet = NoiseReport {
        cpus: vec![
            two.cpus[1].clone(),
            CpuNoise { cpu: 2, longest_gap_us: 4.0, ..two.cpus[1].clone() },
        ],
        ..two.clone()
    };
    let none = NoiseReport { cpus: Vec::new(), ..two.clone() };
    let all = [two.clone(), one(0), one(1), quiet, none].map(|report| of_noise(&report));
    insta::assert_snapshot!(all.join("\n"), @"
    CPU 0 loses 1.23 % of its time, up to 7.340 ms at once, and CPU 1 loses 0.00 % of its time, up to 300.0 ns at once: run latency-critical work on CPU 1.
    CPU 0 loses 1.23 % of its time, up to 7.340 ms at once: latency-critical work needs a quieter CPU, such as one in a cell.
    CPU 1 loses 0.00 % of its time, up to 300.0 ns at once: it is quiet.
    All CPUs are quiet: even CPU 2 loses 0.00 % of its time, up to 4.000 us at once.
    No CPU was measured.
    ");
}

#[test]
fn pattern_sentence_names_important_edges() {
    let mut heavy = samples::pattern("ring:30");
    heavy.edges[3].bytes = 1e6;
    let even = ["idle:3", "ring:4"].map(|spec| of_pattern(&samples::pattern(spec)));
    insta::assert_snapshot!([&even[0], &even[1], &of_pattern(&heavy)].map(String::as_str).join("\n"), @"
    No messages: all placements are equally good.
    All 4 edges carry the same: seat each task near the tasks it sends to.
    1 of 30 edges carries 90 % of the bytes: seat the tasks at their ends next to each other.
    ");
}
