//! Fits of synthetic machines.

use super::*;
use proptest::prelude::*;
use seatmap_data::machine::Pu;

const NEAR_NS: f64 = 45.0;
const FAR_NS: f64 = 200.0;

fn distance(pus: u32, ns: impl Fn(usize, usize) -> f64) -> CoreDistance {
    crate::profiles_for_tests::distance(0..pus, ns)
}

fn explained(distance: &CoreDistance) -> HomeModel {
    explain(distance, &Topology::default()).unwrap()
}

fn grouped(offset: &[f64], size: usize) -> CoreDistance {
    distance(offset.len() as u32, |i, j| {
        (if i / size == j / size { NEAR_NS } else { FAR_NS }) + offset[i] + offset[j]
    })
}

proptest! {
    #[test]
    fn fit_recovers_groups_and_offsets(offset in prop::collection::vec(-4f64..4.0, 12)) {
        let model = explained(&grouped(&offset, 4));
        prop_assert_eq!(&model.groups, &vec![vec![0, 1, 2, 3], vec![4, 5, 6, 7], vec![8, 9, 10, 11]]);
        prop_assert!(model.r2 > 1.0 - 1e-9 && model.residual_ns < 1e-6, "{} {}", model.r2, model.residual_ns);
        let mean = |group: usize| offset[4 * group..4 * group + 4].iter().sum::<f64>() / 4.0;
        for (pu, put) in offset.iter().enumerate() {
            prop_assert!((model.offset_ns[pu][0] - (put - mean(pu / 4))).abs() < 1e-6);
        }
        prop_assert!((model.between_ns[(1, 1)] - (NEAR_NS + 2.0 * mean(1))).abs() < 1e-6);
        prop_assert!((model.between_ns[(0, 2)] - (FAR_NS + mean(0) + mean(2))).abs() < 1e-6);
    }

    #[test]
    fn model_predicts_the_fitted_distances(offset in prop::collection::vec(-4f64..4.0, 8)) {
        let distance = grouped(&offset, 4);
        let model = explained(&distance);
        for (i, j, value) in distance.median_ns.pairs() {
            prop_assert!((model.round_trip_ns(&distance.pus, i, j, 0).unwrap() - value).abs() < 1e-6);
        }
    }

    #[test]
    fn any_matrix_has_finite_figures(n in 2u32..9, cells in prop::collection::vec(prop::option::of(0f64..500.0), 64)) {
        let distance = distance(n, |i, j| cells[8 * i + j - 1].unwrap_or(f64::NAN));
        if let Some(model) = explain(&distance, &Topology::default()) {
            prop_assert!(model.r2.is_finite() && model.residual_ns.is_finite());
            prop_assert!(model.offset_ns.iter().flatten().all(|offset| offset.is_finite()));
            prop_assert_eq!(model.groups.iter().flatten().count(), n as usize);
            prop_assert_eq!(model.between_ns.n(), model.groups.len());
        }
    }
}

#[test]
fn two_pus_and_flat_machines_are_one_group() {
    for n in [2, 3, 8] {
        let model = explained(&distance(n, |_, _| 80.0));
        assert_eq!(model.groups, [(0..n).collect::<Vec<_>>()]);
        assert!(
            (model.between_ns[(0, 0)] - 80.0).abs() < 1e-9
                && model.r2 == 1.0
                && model.residual_ns < 1e-9
        );
        assert!(!model.pair_view_empty && model.star_r2.is_none() && model.smt_ns.is_none());
    }
}

#[test]
fn unknown_distances_have_no_model() {
    for pus in [1, 3] {
        assert_eq!(explain(&distance(pus, |_, _| f64::NAN), &Topology::default()), None);
    }
}

#[test]
fn unknown_cells_do_not_hide_the_groups() {
    let mut distance = grouped(&[1.0, 0.0, 2.0, -1.0, 0.0, 3.0, 1.0, 0.0], 4);
    distance.median_ns.set_both(0, 1, f64::NAN);
    distance.median_ns.set_both(2, 6, f64::NAN);
    let model = explained(&distance);
    assert_eq!(model.groups, [[0, 1, 2, 3], [4, 5, 6, 7]]);
    assert!(model.r2 > 0.9999);
    assert!((model.round_trip_ns(&distance.pus, 2, 6, 0).unwrap() - 203.0).abs() < 1e-6);
}

#[test]
fn siblings_are_excluded_from_the_fit() {
    let model = explained(&distance(8, |i, j| {
        if i % 4 == j % 4 { 15.0 } else { 40.0 + (i % 4 + j % 4) as f64 }
    }));
    assert_eq!((model.smt_ns, model.groups.len()), (Some(15.0), 1));
    assert!(model.residual_ns < 1e-6);
}

#[test]
fn lone_siblings_give_no_group_distance() {
    let pus = (0..2).map(|os| Pu { os, core: Some(0), ..Pu::default() }).collect();
    let model = explain(&distance(2, |_, _| 18.0), &Topology { pus }).unwrap();
    assert_eq!((model.smt_ns, model.groups), (Some(18.0), vec![vec![0, 1]]));
    assert!(model.between_ns[(0, 0)].is_nan() && model.r2 == 1.0);
}

#[test]
fn one_wrong_cell_moves_no_group_and_no_block() {
    let mut distance = grouped(&[0.0; 16], 8);
    distance.median_ns.set_both(0, 9, 900.0);
    let model = explained(&distance);
    assert_eq!(model.groups.len(), 2);
    assert!((model.between_ns[(0, 1)] - FAR_NS).abs() < 15.0, "{}", model.between_ns[(0, 1)]);
}

#[test]
fn star_empties_the_pair_view_but_ring_does_not() {
    let star = distance(12, |i, j| 60.0 + ((7 * i) % 12 + (7 * j) % 12) as f64);
    assert!(explained(&star).pair_view_empty);
    let hops = |i: usize, j: usize| i.abs_diff(j).min(12 - i.abs_diff(j)) as f64;
    let model = explained(&distance(12, |i, j| 60.0 + 3.0 * hops(i, j)));
    assert!(!model.pair_view_empty && model.star_r2.unwrap() < 0.1, "{:?}", model.star_r2);
}

#[test]
fn hubs_are_spread_over_groups_and_limited_by_cores() {
    let group: Vec<usize> = (0..24).map(|pu| pu / 12).collect();
    let chosen = hubs::choose(&group, &(0..24).collect::<Vec<_>>(), 4);
    assert_eq!(chosen.iter().filter(|hub| **hub < 12).count(), 2);
    assert_eq!(hubs::choose(&[0, 0, 0, 0], &[0, 0, 1, 1], 9).len(), 2);
    assert!(hubs::choose(&[], &[], 3).is_empty());
}
