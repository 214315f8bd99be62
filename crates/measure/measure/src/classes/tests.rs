//! Distance classes of synthetic machines.

use super::*;
use crate::profiles_for_tests::measured as profile;
use seatmap_data::machine::{Pu, Topology};

fn eight_cores() -> Topology {
    Topology {
        pus: (0..16)
            .map(|os| Pu {
                os,
                core: Some(os % 8),
                l3: Some(os % 8 / 2),
                die: Some(os % 8 / 4),
                package: Some(os % 8 / 4),
                ..Pu::default()
            })
            .collect(),
    }
}

fn eight_cores_ns(i: usize, j: usize, far_package_ns: f64) -> f64 {
    let a = i % 8;
    let b = j % 8;
    match (a == b, a / 2 == b / 2, a / 4 == b / 4) {
        (true, ..) => 15.0,
        (_, true, _) => 40.0,
        (_, _, true) if a / 4 == 1 => far_package_ns,
        (_, _, true) => 100.0,
        _ => 200.0,
    }
}

fn names(profile: &Profile) -> Vec<(String, usize, f64)> {
    classes(profile).into_iter().map(|class| (class.name, class.pairs, class.median_ns)).collect()
}

fn named(expected: &[(&str, usize, f64)]) -> Vec<(String, usize, f64)> {
    expected.iter().map(|(name, pairs, ns)| ((*name).to_owned(), *pairs, *ns)).collect()
}

#[test]
fn topology_names_the_classes() {
    let profile = profile(eight_cores(), |i, j| eight_cores_ns(i, j, 100.0));
    let expected = [
        ("SMT siblings", 8, 15.0),
        ("same L3", 16, 40.0),
        ("same package", 32, 100.0),
        ("other package", 64, 200.0),
    ];
    assert_eq!(names(&profile), named(&expected));
}

#[test]
fn unequal_packages_get_a_class_each() {
    let profile = profile(eight_cores(), |i, j| eight_cores_ns(i, j, 190.0));
    assert!(names(&profile).contains(&("same package (0)".to_owned(), 16, 100.0)));
    assert!(names(&profile).contains(&("same package (1)".to_owned(), 16, 190.0)));
}

#[test]
fn groups_name_the_classes_without_a_topology() {
    let profile = profile(Topology::unknown(0..16), |i, j| eight_cores_ns(i, j, 100.0));
    let expected = [
        ("SMT siblings", 8, 15.0),
        ("same group", 16, 40.0),
        ("other group, near", 32, 100.0),
        ("other group, far", 64, 200.0),
    ];
    assert_eq!(names(&profile), named(&expected));
}

#[test]
fn groups_finer_than_caches_split_their_class() {
    let pus = (0..12)
        .map(|os| Pu { os, core: Some(os), l3: Some(0), package: Some(0), ..Pu::default() })
        .collect();
    let profile = profile(Topology { pus }, |i, j| if i / 4 == j / 4 { 60.0 } else { 90.0 });
    let expected = [("same L3, same group", 18, 60.0), ("same L3, other group", 48, 90.0)];
    assert_eq!(names(&profile), named(&expected));
}

#[test]
fn siblings_are_adjacent_in_the_grouped_order() {
    let profile = profile(eight_cores(), |i, j| eight_cores_ns(i, j, 100.0));
    assert_eq!(grouped_order(&profile), [0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15]);
}

#[test]
fn profile_without_distances_has_no_classes() {
    let mut profile = profile(Topology::unknown(0..2), |_, _| 80.0);
    assert_eq!(names(&profile), named(&[("same group", 1, 80.0)]));
    profile.core_distance = None;
    assert!(classes(&profile).is_empty() && grouped_order(&profile).is_empty());
}

#[test]
fn unknown_pairs_do_not_count() {
    let profile = profile(Topology::unknown(0..3), |i, _| if i == 0 { f64::NAN } else { 80.0 });
    assert_eq!(names(&profile), named(&[("same group", 1, 80.0)]));
}

#[test]
fn quantiles_use_samples_if_the_profile_has_them() {
    let mut profile = profile(Topology::unknown(0..3), |_, _| 80.0);
    assert_eq!(classes(&profile)[0].quantiles_of, QuantilesOf::PairMedians);
    let steady: Deciles = std::array::from_fn(|tenth| 75.0 + tenth as f64);
    let mut flips = [80.0; 11];
    flips[8..].fill(300.0);
    profile.core_distance.as_mut().unwrap().deciles_ns =
        Some(vec![Some(steady), Some(flips), Some(flips)]);
    let class = &classes(&profile)[0];
    assert_eq!((class.quantiles_of, class.pairs, class.median_ns), (QuantilesOf::Samples, 3, 80.0));
    assert_eq!(class.p90_ns, 300.0, "the medians alone say 80");
    profile.core_distance.as_mut().unwrap().deciles_ns =
        Some(vec![Some(steady), None, Some(flips)]);
    assert_eq!(
        classes(&profile)[0].quantiles_of,
        QuantilesOf::PairMedians,
        "a pair without samples"
    );
}
