//! Twins of known machines.

use super::*;
use crate::load;
use crate::plan::{Effort, SurveyPlan};
use crate::profiles_for_tests::measured;
use crate::testbed_probe::TestbedProbe;
use seatmap_data::machine::{LoadedPoint, Topology};
use seatmap_sim::CoherentBed;
use std::ops::ControlFlow;
use std::sync::Arc;

fn profile(n: u32, ns: impl Fn(usize, usize) -> f64) -> Profile {
    Profile { name: "synthetic".to_owned(), ..measured(Topology::unknown(0..n), ns) }
}

fn groups(i: usize, j: usize) -> f64 {
    let offset = |at: usize| [0.0, 1.25, 4.5, 2.75][at % 4];
    let base = match (i / 4 == j / 4, i / 8 == j / 8) {
        (true, _) => 40.0,
        (_, true) => 120.0,
        _ => 260.0,
    };
    base + offset(i) + offset(j)
}

#[test]
fn far_home_makes_no_packages() {
    let far_home = |i: usize, j: usize| match (i.min(j) >= 8, i / 4 == j / 4) {
        (true, false) => 260.0,
        _ => groups(i, j),
    };
    let twin = fit(&profile(16, far_home), Needs::default()).unwrap();
    let package_of: Vec<Option<u32>> = twin.levels.cores.iter().map(|core| core.package).collect();
    assert_eq!(package_of, [[Some(0); 8], [Some(1); 8]].concat());
}

#[test]
fn synthetic_machine_is_reproduced_to_the_tick() {
    let twin = fit(&profile(16, groups), Needs::default()).unwrap();
    let report = &twin.report;
    assert_eq!(
        (report.cores, report.groups, report.has_rest, report.by_class.len()),
        (16, 4, false, 3)
    );
    assert!(report.all.worst_ns <= 0.51 * report.tick_ns, "{report:?}");
    assert_eq!(twin.levels.cores[9].package, Some(1), "found in the distances");
}

#[test]
fn single_pairs_keep_their_residuals() {
    let odd = |i: usize, j: usize| groups(i, j) + if (i + j).is_multiple_of(5) { 6.0 } else { 0.0 };
    let report = fit(&profile(16, odd), Needs::default()).unwrap().report;
    assert!(report.has_rest && report.all.worst_ns <= 0.51 * report.tick_ns + 0.01, "{report:?}");
}

#[test]
fn homes_are_reproduced_by_their_offsets() {
    let original = seatmap_sim::catalog::load("xeon-phi-5110p").unwrap().unwrap();
    let profile = seatmap_sim::coherent::profile(&original).unwrap();
    let twin = fit(&profile, Needs { homes: true, loaded: false }).unwrap();
    let all = twin.report.all;
    let by_home = twin.report.by_home.unwrap();
    // Groups and offsets are rounded separately; each loses up to half a tick.
    assert!(all.worst_ns <= 1.01 * twin.report.tick_ns + 0.01, "{all:?}");
    // Twelve ways of a tick each.
    assert!(by_home.worst_ns <= 12.5 * twin.report.tick_ns, "{by_home:?}");
    assert_eq!((twin.report.homes, by_home.pairs), (64, 64 * (240 * 239 / 2 - 60 * 6)));
}

fn loaded(model: CoherentModel, seed: u64) -> Vec<LoadedPoint> {
    let plan =
        SurveyPlan { seed, ..SurveyPlan::new(Effort::Quick, model.ns_per_tick()).without_noise() };
    let pus = model.topology.os_indices().collect::<Vec<_>>();
    let model = Arc::new(model);
    let bed = CoherentBed::new(Arc::clone(&model));
    let mut probe = TestbedProbe::new(bed, &model.topology, load::lines_needed(pus.len())).unwrap();
    load::curve(&mut probe, &pus, &plan, &mut |_, _| ControlFlow::Continue(())).unwrap()
}

fn busy(factor: f64, seed: u64) -> Profile {
    let mut profile = profile(16, groups);
    let assumed = fit(&profile, Needs::default()).unwrap().levels;
    profile.loaded = loaded(capacity::busier(&assumed, factor).model("busy").unwrap(), seed);
    profile.loaded_seed = Some(seed);
    profile
}

fn followed(profile: &Profile) -> Followed {
    fit(profile, Needs { homes: false, loaded: true }).unwrap().report.loaded.unwrap()
}

#[test]
fn capacities_are_recovered_from_the_loaded_curve() {
    for (factor, seed) in [(8.0, 1), (24.0, 2), (24.0, 3)] {
        let followed = followed(&busy(factor, seed));
        assert!((followed.busy_factor / factor - 1.0).abs() < 0.1, "{factor}: {followed:?}");
        assert!(
            followed.rmse_percent < 1.0 && followed.held_out_percent.unwrap() < 2.0,
            "{followed:?}"
        );
        assert!(
            followed.same_pairs
                && followed.points.iter().all(|point| point.twin_range_ns == [point.twin_ns; 2])
        );
    }
}

#[test]
fn undetermined_capacities_stay_as_assumed() {
    let followed = followed(&busy(1.0, 1));
    assert!(followed.busy_factor == 1.0 && followed.busy_range[0] < 1.0, "{followed:?}");
}

#[test]
fn curve_without_usable_points_counts_as_absent() {
    let mut profile = profile(4, |_, _| 80.0);
    let point =
        LoadedPoint { pairs: 1, median_ns: 0.0, p10_ns: 0.0, p90_ns: 0.0, draws: 1, samples: 1 };
    profile.loaded = vec![point, LoadedPoint { pairs: 3, median_ns: 80.0, ..point }];
    assert_eq!(fit(&profile, Needs::default()).unwrap().report.loaded, None);
    assert!(fit(&profile, Needs { homes: false, loaded: true }).is_err());
}

#[test]
fn unknown_pairs_are_given_as_a_range() {
    let unknown = Profile { loaded_seed: None, ..busy(24.0, 5) };
    let followed = followed(&unknown);
    assert!(!followed.same_pairs);
    let ranges = followed.points.iter().map(|point| point.twin_range_ns);
    assert!(
        ranges.clone().any(|[low, high]| high > low)
            && ranges.into_iter().all(|[low, high]| high >= low)
    );
}

#[test]
fn missing_profile_parts_are_refused() {
    let mut empty = profile(2, |_, _| 80.0);
    let refusal = |profile: &Profile, homes, loaded| {
        fit(profile, Needs { homes, loaded }).unwrap_err().to_string()
    };
    let mut refusals = vec![refusal(&empty, true, false), refusal(&empty, false, true)];
    refusals.push(refusal(&profile(2, |_, _| f64::NAN), false, false));
    refusals.push(refusal(&profile(1, |_, _| 0.0), false, false));
    empty.core_distance = None;
    refusals.push(refusal(&empty, false, false));
    insta::assert_snapshot!(refusals.join("\n"));
}
